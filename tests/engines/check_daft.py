"""check_daft.py: leat.integrations.daft on Daft's native runner and on its Ray runner with three raylets: orders,
queries that fail, drivers that are killed before, in and after the commit, workers that are killed, attempts that
finish twice, a full disk; each time the documents, their order where one is asked for, and then the bytes of an
undisturbed run, or no dataset and a reason. Then what docs/engines.md shows of Daft, word by word, and a model that
trains on it.

It is also its second half, and the driver that is killed: check_daft.py ray, check_daft.py drive OUTPUT MOMENT."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

import common

common.skip_without("daft")
os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
os.environ["DAFT_PROGRESS_BAR"] = "0"
import daft
import pyarrow
from daft import col

import leat
from leat.integrations.daft import Sink, read

ROWS = [dict(row, n=n) for n, row in enumerate(common.rows())]
BY_URL = sorted(ROWS, key=lambda row: row["url"])
PARTS = 12  # row groups, which are morsels
EACH = len(ROWS) // PARTS


def texts():
    return daft.read_parquet("texts/*.parquet")


class Twice(Sink):
    """Two attempts at each part finish, and the results of one count."""

    def write(self, micropartitions):
        given = list(micropartitions)
        list(super().write(given))
        yield from super().write(given)


def written(output, documents=None, kind=Sink, parts=None, **options):
    """Writes documents, all if there are none given, and checks what write_sink() returns."""
    sink = kind(output, common.TOKENIZER, id="url", **options)
    (row,) = (texts() if documents is None else documents).write_sink(sink).to_pylist()
    with leat.open(output) as dataset:
        assert len(sink.dataset) == len(dataset) == row["documents"], row
        assert dataset.info.tokens == row["tokens"] and len(common.listed(output)) == (row["parts"] or 1), row
    assert parts in (None, row["parts"]), row
    common.check_nothing_left(output)
    return row


def check_ordered(output, wanted, undisturbed):
    common.check_documents(output, wanted)
    common.check_nothing_left(output)
    assert common.contents(output) == common.contents(undisturbed), f"{output} has other bytes than {undisturbed}"


def check_gone(output):
    """Nothing is left, as soon as the attempts that were still running when the run ended have removed what is theirs.
    On Ray, one that was beginning may leave an empty file, which the next run removes."""
    on_ray = daft.get_or_infer_runner_type() == "ray"
    while os.path.exists(output) and not (on_ray and all(".partial." in name for name in os.listdir(output))):
        time.sleep(0.02)


def failure_of(output, documents, **options):
    """Why this write fails; after the `with` block there is nothing of it."""
    try:
        with Sink(output, common.TOKENIZER, id="url", **options) as sink:
            documents.write_sink(sink)
    except Exception as error:  # Daft's, or leat's own
        check_gone(output)
        return str(error)
    raise AssertionError(f"{output} was written, and must not be")


@daft.func
def broken_at_1000(n: int) -> int:
    if n == 1000:
        raise ArithmeticError("the text of the row 1000 is broken")
    return n


# ---- On both runners ----

def check_writing(runner):
    row = written(f"{runner}-any")
    assert row["rejected"] == 0 and row["text_bytes"] == sum(len(row["text"].encode()) for row in ROWS), row
    common.check_documents(f"{runner}-any", ROWS, any_order=True)
    by_url = {row["url"]: row for row in ROWS}
    common.check_tokens(f"{runner}-any", [by_url[id] for id, _ in common.documents(f"{runner}-any")])

    written(f"{runner}-sorted", texts().sort("url"), order="url")
    common.check_documents(f"{runner}-sorted", BY_URL)
    written(f"{runner}-again", texts().sort("url"), order="url")
    common.check_documents(f"{runner}-again", BY_URL)

    written(f"{runner}-numbered", order="n", parts=PARTS)  # as collected: morsels come as they are ready
    common.check_documents(f"{runner}-numbered", ROWS)
    common.check_tokens(f"{runner}-numbered", ROWS)
    for name, how in (("twice", dict(kind=Twice)), ("threads", dict(threads=3)), ("repeated", dict())):
        written(f"{runner}-{name}", order="n", parts=PARTS, **how)
        check_ordered(f"{runner}-{name}", ROWS, f"{runner}-numbered")


def check_refusals(runner):
    """What cannot be put in order, what has no text, a column that is not there, a dataset that is there."""
    output = f"{runner}-refused"
    two = pyarrow.Table.from_pylist(ROWS[0::2]), pyarrow.Table.from_pylist(ROWS[1::2])
    overlapping = daft.from_arrow(two[0]).concat(daft.from_arrow(two[1]))
    none = daft.from_pydict({"url": ["a", "b"], "text": ["one", None], "n": [1, None]})
    for documents, options, reason in (
            (texts(), dict(order="url"), "the values do not ascend where Daft has rows together: sort by url last"),
            (overlapping, dict(order="n"), "so parts cannot be put in order: sort by n last"),
            (none, dict(order="n"), "a row has no n"), (none, {}, "the text of row 1 is missing"),
            (texts(), dict(text="body"), "no column body"), (texts(), dict(order="body"), "body"),
            (texts().where(col("n") < 0), {}, "no documents"),
            (texts().where(broken_at_1000(col("n")) >= 0), dict(order="n"), "the row 1000 is broken"),
            (texts().where(broken_at_1000(col("n")) >= 0), {}, "the row 1000 is broken")):
        why = failure_of(output, documents, **options)
        assert reason in why, why
    before = common.contents(f"{runner}-any")
    why = str(raised(lambda: texts().write_sink(Sink(f"{runner}-any", common.TOKENIZER, id="url"))))
    assert "force" in why and common.contents(f"{runner}-any") == before, why
    written(output, none, nulls="skip")
    assert common.documents(output) == [("a", "one")]
    shutil.rmtree(output)
    assert written(output, texts().where(col("n") < 0), allow_empty=True)["documents"] == 0


def raised(what):
    try:
        what()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def check_failed_query(runner):
    """Without a `with` block: no dataset, and the next run sweeps what is left, or abort() does."""
    output, broken = f"{runner}-failed", texts().where(broken_at_1000(col("n")) >= 0)
    for order in (None, "n"):
        sink = Sink(output, common.TOKENIZER, id="url", order=order)
        assert "is broken" in str(raised(lambda: broken.write_sink(sink)))
        common.check_no_dataset(output)
        sink.abort()
        check_gone(output)
    assert "is broken" in str(raised(lambda: broken.write_sink(sink)))
    common.check_no_dataset(output)
    written(output, order="n")
    check_ordered(output, ROWS, f"{runner}-numbered")


def check_full_disk(runner):
    with common.small_disk(f"disk-{runner}", "300k") as enlarge:
        if not enlarge:
            return
        for order in (None, "n"):
            why = failure_of(f"disk-{runner}/full", texts(), order=order)
            assert "No space left on device" in why, why
            assert os.listdir(f"disk-{runner}") in ([], ["full"]), os.listdir(f"disk-{runner}")
        enlarge()
        written(f"disk-{runner}/full", order="n")
        check_ordered(f"disk-{runner}/full", ROWS, f"{runner}-numbered")


def check_reading(runner):
    with leat.open(f"{runner}-numbered") as dataset:
        wanted = pyarrow.table(dataset.arrow()).to_pylist()
    for tasks in (None, 7):
        documents = read(f"{runner}-numbered", tasks=tasks)
        assert documents.sort("number").to_pylist() == wanted
        assert documents.count_rows() == len(ROWS)
    assert documents.where(col("number") >= 1190).select("tokens", "id").sort("id").to_pylist() == sorted(
        ({"tokens": row["tokens"], "id": row["id"]} for row in wanted[1190:]), key=lambda row: row["id"])
    assert len(documents.limit(5).to_pylist()) == 5
    assert documents.select(col("text").length_bytes().alias("bytes")).sum("bytes").to_pylist() == [
        {"bytes": sum(len(row["text"].encode()) for row in ROWS)}]
    assert read(f"{runner}-numbered", ["id"]).column_names == ["id"]
    written(f"{runner}-read", read(f"{runner}-numbered", tasks=3).with_column("url", col("id")), order="number")
    common.check_documents(f"{runner}-read", ROWS)
    assert read(f"{runner}-refused", tasks=3).to_pylist() == []  # a dataset without documents
    assert "columns must be" in str(raised(lambda: read(f"{runner}-read", ["url"])))


# ---- On the native runner ----

class Driven(Sink):
    def __init__(self, output, moment):
        super().__init__(output, common.TOKENIZER, id="url", order="n")
        self.moment = moment

    def write(self, micropartitions):
        yield from super().write(micropartitions)
        if self.moment == "part":
            self.run.part("half").add("an attempt that is not finished")
            os.kill(os.getpid(), signal.SIGKILL)

    def finalize(self, write_results):
        commit = self.run.commit

        def die(pieces):
            if self.moment == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.moment == "in":  # the list of the parts is larger than that
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
                resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
            commit(pieces)
            os.kill(os.getpid(), signal.SIGKILL)

        self.run.commit = die
        return super().finalize(write_results)


def check_drivers():
    for moment, code in (("part", signal.SIGKILL), ("before", signal.SIGKILL), ("in", signal.SIGXFSZ),
                         ("after", signal.SIGKILL)):
        output = f"driver-{moment}"
        driver = subprocess.run([sys.executable, __file__, "drive", output, moment], stderr=subprocess.PIPE, text=True)
        assert driver.returncode == -code, (driver.returncode, driver.stderr)
        if moment == "after":
            assert "force" in str(raised(lambda: written(output, order="n")))
        else:
            common.check_no_dataset(output)
            written(output, order="n")
        check_ordered(output, ROWS, "native-numbered")


def check_page():
    # page: from here
    import daft
    import leat
    from daft import col
    from leat.integrations.daft import Sink

    documents = (daft.read_parquet("texts/*.parquet")
                 .distinct("text")                                # exact deduplication
                 .with_column("place", col("text").hash(seed=7))  # a global shuffle: the order of a hash
                 .sort("place"))
    with Sink("corpus", "gpt2", id="url", order="place") as sink:
        documents.write_sink(sink).show()

    plan = leat.Plan(["corpus"], seq_len=128, seed=3)
    loader = leat.Loader(plan, 8, style="tuple", framework="numpy")  # or torch, jax
    for step, (inputs, labels) in zip(range(20), loader):
        assert inputs.shape == labels.shape == (8, 128)              # here a model trains
    # page: to here
    by_url, found = {row["url"]: row for row in ROWS}, common.documents("corpus")
    assert sorted(text for _, text in found) == sorted({row["text"] for row in ROWS}) and step == 19
    assert all(by_url[id]["text"] == text for id, text in found)
    places = {row["text"]: row["place"] for row in documents.select("text", "place").to_pylist()}
    places = [places[text] for _, text in found]
    assert places == sorted(places)
    common.check_nothing_left("corpus")
    common.train("corpus")
    # page: from here
    from leat.integrations.daft import read

    long = read("corpus").where(col("tokens").list_count() > 500).select("id", "text")
    long.show()
    # page: to here
    with leat.open("corpus") as dataset:
        assert long.count_rows() == sum(len(tokens) > 500 for tokens in dataset) > 0


# ---- On the Ray runner ----

class Dies(Sink):
    """The first worker that comes here is killed: while it makes an attempt, or when one is finished."""

    def __init__(self, moment, *given, **options):
        super().__init__(*given, **options)
        self.moment, self.flag = moment, os.path.abspath(f"died-{moment}")

    def write(self, micropartitions):
        given = list(micropartitions)
        try:
            os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            yield from super().write(given)
        else:
            if self.moment == "finished":
                list(super().write(given))
            self.run.part("half").add("an attempt that is not finished")
            os.kill(os.getpid(), signal.SIGKILL)


def check_workers():
    for moment in ("unfinished", "finished"):
        output = f"worker-{moment}"
        sink = Dies(moment, output, common.TOKENIZER, id="url", order="n")
        texts().write_sink(sink)
        assert os.path.exists(sink.flag)
        check_ordered(output, ROWS, "ray-numbered")


def check_ray():
    common.skip_without("ray")
    import ray
    from ray.cluster_utils import Cluster
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(3):
            cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
        ray.init(address=cluster.address, log_to_driver=False)
        daft.set_runner_ray()
        check_both("ray")
        assert common.contents("ray-numbered") == common.contents("native-numbered")
        check_workers()
    finally:
        ray.shutdown()
        cluster.shutdown()


def check_both(runner):
    check_writing(runner)
    check_refusals(runner)
    check_failed_query(runner)
    check_full_disk(runner)
    check_reading(runner)


def main():
    with common.own_folder():
        common.write_parquet("texts", ROWS)
        daft.set_runner_native()
        check_both("native")
        check_drivers()
        check_page()
        subprocess.run([sys.executable, __file__, "ray"], check=True)


if sys.argv[1:] == ["ray"]:
    check_ray()
elif len(sys.argv) > 1:
    texts().write_sink(Driven(*sys.argv[2:]))
else:
    main()
