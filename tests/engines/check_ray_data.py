"""check_ray_data.py: leat.integrations.ray_data on a real Ray cluster of three raylets on this machine: workers that
die, a raylet that is killed, a task that always fails, attempts that finish twice and too late, drivers that are killed
before, in and after the commit, a full disk; each time the documents, their order and the bytes of an undisturbed run,
or no dataset and a reason. Then the lines that docs/engines.md has of Ray Data, and a model that trains on the folder.

It is also the driver that is killed: check_ray_data.py ADDRESS OUTPUT MOMENT."""
import contextlib
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import common

common.skip_without("ray")
os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
import pyarrow
import ray
from ray.cluster_utils import Cluster

import leat
from leat.integrations import ray_data

ROWS = common.rows()
BLOCKS = 12  # of 100 rows
PARTS = 6


def wait_until(what):
    while not what():
        time.sleep(0.02)


# ---- A sink to which something happens ----

class Watched(ray_data.Datasink):
    """A sink of six parts, of two blocks each, which calls happen(task, moment): "middle", after its first block, and
    "finished", when its piece is made but not yet returned."""

    def __init__(self, output, happen=lambda task, moment: None, **options):
        super().__init__(output, common.TOKENIZER, id="url", min_bytes_per_write=300_000, **options)
        self.happen = happen

    def write(self, blocks, ctx):
        def watched():
            for n, block in enumerate(blocks):
                if n == 1:
                    self.happen(ctx.task_idx, "middle")
                yield block
        piece = super().write(watched(), ctx)
        self.happen(ctx.task_idx, "finished")
        return piece


class Events:
    """Files that all processes see, by which they wait for each other."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        os.mkdir(self.folder)

    def first(self, name, text=""):
        """Makes the event happen; whether this was the first time."""
        try:
            with open(os.path.join(self.folder, f".{name}.{os.getpid()}"), "w") as file:
                file.write(text)
            os.link(file.name, os.path.join(self.folder, name))
            return True
        except FileExistsError:
            return False

    def wait(self, name):
        path = pathlib.Path(self.folder, name)
        wait_until(path.exists)
        return path.read_text()


def blocks():
    """All rows as a Ray dataset, whose blocks are made by tasks, so that they are lost with their node."""
    table = pyarrow.Table.from_pylist(ROWS)
    size = len(ROWS) // BLOCKS
    return ray.data.from_arrow([table.slice(n * size, size) for n in range(BLOCKS)]).map_batches(
        lambda block: block, batch_format="pyarrow", batch_size=None)


def check_whole(name, undisturbed="undisturbed"):
    common.check_documents(name, ROWS)
    assert common.contents(name) == common.contents(undisturbed), f"{name} has other bytes"
    common.check_nothing_left(name)


def failure_of(output, documents, **options):
    """Why this write fails; and there is nothing of it."""
    try:
        documents.write_datasink(Watched(output, **options))
    except Exception as error:  # Ray's, of a class that it makes for the cause
        assert not os.path.exists(output), f"left over: {os.listdir(output)}"
        return str(error)
    raise AssertionError(f"{output} was written, and must not be")


# ---- What is checked ----

def check_undisturbed():
    sink = Watched("undisturbed")
    blocks().write_datasink(sink)
    common.check_documents("undisturbed", ROWS)
    common.check_tokens("undisturbed", ROWS)
    common.check_nothing_left("undisturbed")
    assert len(common.listed("undisturbed")) == PARTS, common.listed("undisturbed")
    assert sink.written == {"documents": len(ROWS), "tokens": sink.dataset.info.tokens, "rejected": 0,
                            "text_bytes": sum(len(row["text"].encode()) for row in ROWS)}, sink.written
    before = common.contents("undisturbed")
    try:
        ray_data.Datasink("undisturbed", common.TOKENIZER)
        raise AssertionError("a finished dataset was begun again")
    except leat.Error as error:
        assert error.status == "exists" and "force" in str(error), error
    assert common.contents("undisturbed") == before


def check_parts():
    """Small blocks are joined, and None leaves them to Ray; pandas frames; no rows."""
    small = blocks().repartition(200).map_batches(lambda frame: frame, batch_format="pandas")
    small.write_datasink(ray_data.Datasink("small", id="url"))
    common.check_documents("small", ROWS)
    assert len(common.listed("small")) == 1, common.listed("small")
    blocks().write_datasink(ray_data.Datasink("fused", id="url", min_bytes_per_write=None))
    common.check_documents("fused", ROWS)
    assert len(common.listed("fused")) == BLOCKS, common.listed("fused")
    none = blocks().filter(expr="score > 1")
    assert "no documents" in failure_of("none", none)
    sink = Watched("none", allow_empty=True)
    none.write_datasink(sink)
    assert len(sink.dataset) == 0
    assert "no column body; the columns are url" in failure_of("wrong", blocks(), text="body")


def check_deaths():
    """Workers that end and are killed in the middle, one that dies when its part is finished, and an attempt that
    finishes after the commit."""
    events = Events("deaths")

    def happen(task, moment):
        if (task, moment) == (1, "middle") and events.first("exit"):
            os._exit(1)
        if (task, moment) == (2, "middle") and events.first("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        if (task, moment) == (3, "finished") and events.first("twice"):
            os._exit(1)

    class Late(Watched):
        def on_write_complete(self, result):
            self.twice = len(list(pathlib.Path("died").glob("3.*.leat")))
            self.late = self.run.part(0)
            self.late.add("too late")
            super().on_write_complete(result)

    sink = Late("died", happen)
    blocks().write_datasink(sink)
    assert {"exit", "kill", "twice"} <= set(os.listdir("deaths")), os.listdir("deaths")
    assert sink.twice == 2, sink.twice
    try:
        sink.late.finish()
        raise AssertionError("an attempt counts that finished after the commit")
    except leat.Error as error:
        assert error.status == "state", error
    sink.late.abandon()
    check_whole("died")


def check_node(cluster):
    events = Events("node")

    def happen(task, moment):
        if moment == "middle" and events.first("dies", ray.get_runtime_context().get_node_id()):
            threading.Event().wait()

    def kill():
        name = events.wait("dies")
        node, = (node for node in cluster.worker_nodes if node.node_id == name)
        cluster.remove_node(node, allow_graceful=False)

    thread = threading.Thread(target=kill)
    thread.start()
    blocks().write_datasink(Watched("node-died", happen))
    thread.join()
    check_whole("node-died")


def check_failing():
    """A task that always fails, while another one is in the middle, which may go on after that."""
    events = Events("failing")

    def happen(task, moment):
        if (task, moment) == (0, "middle"):
            events.first("other", str(os.getpid()))
            try:
                events.wait("failed")
            finally:
                events.first("goes on")
        if (task, moment) == (2, "middle"):
            events.wait("other")
            raise RuntimeError("a reason of task 2")

    assert "a reason of task 2" in failure_of("failing-run", blocks(), happen=happen)
    events.first("failed")
    other = pathlib.Path("/proc", events.wait("other"))
    wait_until(lambda: not other.exists() or "Write" not in (other / "cmdline").read_text())
    assert not os.path.exists("failing-run"), os.listdir("failing-run")


def check_full_disk():
    with common.small_disk("disk", "300k") as enlarge:
        if enlarge:
            why = failure_of("disk/full", blocks())
            assert "No space left on device" in why, why
            assert os.listdir("disk") == [], os.listdir("disk")


# ---- Drivers that are killed ----

# in a driver that loads it, the first name that a commit removes in its sweep ends the process: the list is there then
DIES_IN_SWEEP = r"""
#include <signal.h>
#include <string.h>
#include <unistd.h>
int unlink(const char *path)
{
    return strstr(path, "/driver-") && strstr(path, ".tokens") ? raise(SIGKILL) : unlinkat(-100, path, 0);
}
"""


class Driven(Watched):
    """Part 0 is written twice, so that the commit has something to sweep; the pieces are kept in a file."""

    def __init__(self, output, moment):
        super().__init__(output)
        self.moment = moment

    def write(self, blocks, ctx):
        blocks = list(blocks)
        if ctx.task_idx == 0:
            super().write(iter(blocks), ctx)
        return super().write(iter(blocks), ctx)

    def on_write_complete(self, result):
        with open(self.run.folder + ".pieces", "wb") as file:
            pickle.dump((self.run, sorted(result.write_returns, key=lambda piece: int(piece.key))), file)
        if self.moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        super().on_write_complete(result)
        os.kill(os.getpid(), signal.SIGKILL)


def drive(address, output, moment):
    ray.init(address=address, log_to_driver=False)
    set_options()
    blocks().write_datasink(Driven(output, moment))


def check_drivers(cluster):
    pathlib.Path("dies.c").write_text(DIES_IN_SWEEP)
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", "dies.so", "dies.c"], check=True)
    for moment in ("before", "in", "after"):
        name = f"driver-{moment}"
        environment = {**os.environ, **({"LD_PRELOAD": os.path.abspath("dies.so")} if moment == "in" else {})}
        driver = subprocess.run([sys.executable, __file__, cluster.address, os.path.abspath(name), moment],
                                env=environment, stderr=subprocess.PIPE, text=True)
        assert driver.returncode == -signal.SIGKILL, driver.stderr
        if moment == "before":
            common.check_no_dataset(name)
            blocks().write_datasink(Watched(name))
        else:
            common.check_documents(name, ROWS)
            assert (len(list(pathlib.Path(name).glob("0.*.tokens"))) == 2) == (moment == "in"), os.listdir(name)
            with open(name + ".pieces", "rb") as file:
                run, pieces = pickle.load(file)
            run.commit(pieces)
        check_whole(name)


# ---- What the page shows ----

def check_page():
    common.write_parquet("texts", ROWS)
    # page: from here
    import ray
    from ray.data.expressions import col
    from leat.integrations import ray_data

    def first_of_each(texts):  # all rows that have one of these texts
        return texts.sort_values("url").drop_duplicates("text")

    documents = (ray.data.read_parquet("texts")
                 .filter(expr=col("score") > 0.25)
                 .repartition(4, keys=["text"])
                 .map_batches(first_of_each, batch_size=None, batch_format="pandas")
                 .random_shuffle())

    sink = ray_data.Datasink("corpus", "gpt2", id="url")
    documents.write_datasink(sink)
    print(sink.written)
    # page: to here

    # page: from here
    loader = leat.Loader(leat.Plan(["corpus"], seq_len=256, seed=1, epochs=1), 8, style="tuple", framework="numpy")
    for inputs, labels in loader:
        ...
    # page: to here
    assert inputs.shape == labels.shape and inputs.shape[1] == 256, (inputs.shape, labels.shape)

    # page: from here
    documents = ray.data.read_datasource(ray_data.Datasource("corpus", columns=("id", "text")))
    # page: to here
    assert documents.count() == sink.written["documents"]
    firsts = {}
    for row in sorted(ROWS, key=lambda row: row["url"]):
        if row["score"] > 0.25:
            firsts.setdefault(row["text"], row)
    common.check_documents("corpus", list(firsts.values()), any_order=True)
    common.check_nothing_left("corpus")
    order = [id for id, _ in common.documents("corpus")]
    assert order != sorted(order)
    common.train("corpus")


# ---- Reading ----

def check_reading():
    with leat.open("undisturbed") as dataset:
        columns = ("number", "id", "source", "text", "tokens", "mask")
        wanted = pyarrow.table(dataset.arrow(columns))
        read = ray.data.read_datasource(ray_data.Datasource("undisturbed", columns=columns), override_num_blocks=7)
        assert read.count() == len(ROWS)
        found = pyarrow.concat_tables(ray.get(read.to_arrow_refs()))
        assert found.num_rows == len(ROWS) and found.equals(wanted.cast(found.schema)), found.schema
        assert found.column("text").to_pylist() == [row["text"] for row in ROWS]
        some = ray.data.read_datasource(ray_data.Datasource("undisturbed", first=250, count=500),
                                        override_num_blocks=3)
        assert [(row["id"], row["text"]) for row in some.take_all()] == [
            (row["url"], row["text"]) for row in ROWS[250:750]]
        assert len(some.take(5)) == 5
    ray.data.read_datasource(ray_data.Datasource("undisturbed"), override_num_blocks=4).write_datasink(
        ray_data.Datasink("read", min_bytes_per_write=1))
    common.check_documents("read", ROWS)
    common.check_tokens("read", ROWS)
    source = ray_data.Datasource("read")
    task, *_ = source.get_read_tasks(1)
    blocks().write_datasink(Watched("read", force=True))
    try:
        list(task())
        raise AssertionError("another dataset was read")
    except RuntimeError as error:
        assert "replaced by another dataset" in str(error), error
    for wrong in (dict(columns=("url",)), dict(first=len(ROWS) + 1), dict(count=-1)):
        try:
            ray_data.Datasource("undisturbed", **wrong)
            raise AssertionError(f"{wrong} was taken")
        except (ValueError, IndexError):
            pass


# ---- The cluster ----

def set_options():
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False


@contextlib.contextmanager
def started():
    small = {"object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **small})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1, **small)
        ray.init(address=cluster.address, log_to_driver=False)
        set_options()
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def main():
    with common.own_folder(), started() as cluster:
        check_undisturbed()
        check_parts()
        check_deaths()
        check_failing()
        check_full_disk()
        check_drivers(cluster)
        check_page()
        check_reading()
        check_node(cluster)


if len(sys.argv) > 1:
    drive(*sys.argv[1:])
else:
    main()
