#!/usr/bin/env python3
"""check_curator.py: leat.integrations.nemo_curator with a real NeMo Curator, on what it runs without a GPU: its
executors on Ray Data, on a pool of Ray's actors and on Xenna; a worker that dies, an exception, a program that is
killed around the commit, attempts that both finish, a full disk."""
import os
import shutil
import sys

import common

common.skip_without("nemo_curator")
import leat
import pyarrow
import ray
from deaths import DEATHS, killed, once, raises
from leat.integrations.nemo_curator import Pack, in_order
from nemo_curator.backends.ray_actor_pool import RayActorPoolExecutor
from nemo_curator.backends.ray_data import RayDataExecutor
from nemo_curator.backends.xenna import XennaExecutor
from nemo_curator.pipeline import Pipeline
from nemo_curator.stages.base import ProcessingStage
from nemo_curator.stages.resources import Resources
from nemo_curator.stages.text.io.reader import ParquetReader
from nemo_curator.tasks import DocumentBatch
from ray.cluster_utils import Cluster

FILES = 6
os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))  # for workers in another folder
A_LITTLE = Resources(cpus=0.25)  # so that all stages have room on two processors


class Disturb(ProcessingStage[DocumentBatch, DocumentBatch]):
    """What happens to the third partition, once; and the last ones come first."""

    name = "disturb"
    resources = A_LITTLE

    def __init__(self, how=None):
        self.how, self.folder = how, os.getcwd()

    def process(self, task):
        if task._metadata["partition_index"] == 2 and self.how and once(f"{self.folder}/{self.how}"):
            if self.how == "exception":
                raise ZeroDivisionError("a document that divides by zero")
            os._exit(1)
        return task

    def xenna_stage_spec(self):
        return {"num_run_attempts_python": 2}


def stages(pack, how=None):
    reader = ParquetReader(os.path.abspath("texts"), files_per_partition=1)
    return [reader, Disturb(how), pack.with_(resources=A_LITTLE)]


def begin():
    return Pack("corpus", common.TOKENIZER, id="url")


def check_same(rows, wanted):
    common.check_documents("corpus", rows)
    assert common.contents("corpus") == wanted, "other bytes than those of plain leat"
    common.check_nothing_left("corpus")


def clean():
    shutil.rmtree("corpus")


def check_executor(rows, wanted, executor, how=None, fails=False):
    pack = begin()
    if fails:
        raises(Exception, "", lambda: Pipeline("packing", stages=stages(pack, how)).run(executor()))
        assert os.path.exists(how)
        common.check_no_dataset("corpus")
        pack = begin()
    pack.commit(Pipeline("packing", stages=stages(pack, how)).run(executor()))
    assert not how or os.path.exists(how)
    check_same(rows, wanted)
    clean()
    if how:
        os.remove(how)


# ---- Without an executor ----

def batches(rows):
    """A batch for each file, as a reader gives them, the last first."""
    tasks = []
    for n in reversed(range(FILES)):
        part = rows[n * len(rows) // FILES:(n + 1) * len(rows) // FILES]
        tasks.append(DocumentBatch("texts", pyarrow.Table.from_pylist(part), _metadata={"partition_index": n}))
        tasks[-1]._set_task_id("0", f"file{n}")
    return tasks


def in_fork(work):
    """The signal by which a process dies that does this."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


def check_killed(rows, wanted):
    def work():
        with killed(moment):
            pack = begin()
            pack.commit([pack.process(task) for task in batches(rows)])

    for moment, death in DEATHS.items():
        assert in_fork(work) == death, moment
        if moment == "after":
            raises(leat.Error, "is a finished dataset", begin)
        else:
            common.check_no_dataset("corpus")
            pack = begin()
            pack.commit([pack.process(task) for task in batches(rows)])
        check_same(rows, wanted)
        clean()


def check_attempts(rows, wanted):
    pack = begin()
    first, second = ([pack.process(task) for task in batches(rows)] for _ in range(2))
    late = pack.run.part("0_file1")
    begin().commit(first[:3] + second[3:])  # as another program does, after a Slurm array
    check_same(rows, wanted)
    pack.commit(first[:3] + second[3:])  # again
    raises(leat.Error, "is committed already", lambda: pack.commit(second))
    raises(leat.Error, "committed without this attempt", late.finish)
    late.abandon()
    check_same(rows, wanted)
    clean()


def check_order():
    def task(name, **metadata):
        made = DocumentBatch("texts", pyarrow.table({"text": ["x"]}), _metadata=metadata)
        made.task_id = name
        return made

    def ids(tasks):
        return [one.task_id for one in in_order(tasks)]

    assert ids([task("0_b_10", partition_index=2), task("0_b_9", partition_index=2), task("0_z", partition_index=0)]) \
        == ["0_z", "0_b_9", "0_b_10"]
    assert ids([task("b", source_files=["b"]), task("c", source_files=["a"])]) == ["c", "b"]
    assert ids([task("b", source_files=["b"]), task("c", partition_index=0)]) == ["b", "c"]


def check_refused(rows):
    pack = begin()
    empty = DocumentBatch("texts", pyarrow.table({}))
    assert pack.process(empty) is None
    raises(ValueError, "no documents", lambda: pack.commit([]))
    assert not os.path.exists("corpus")
    pack = begin()
    os.environ.update(SLURM_ARRAY_TASK_ID="1", SLURM_ARRAY_TASK_COUNT="3")
    raises(ValueError, "shard 1 of 3", lambda: pack.commit([pack.process(batches(rows)[0])]))
    del os.environ["SLURM_ARRAY_TASK_ID"], os.environ["SLURM_ARRAY_TASK_COUNT"]
    pack.abort()
    assert not os.path.exists("corpus")


def check_full_disk(rows, wanted):
    with common.small_disk("corpus", "1m") as enlarge:
        if enlarge:
            raises(leat.Error, "No space left", lambda: [begin().process(task) for task in batches(rows)])
            common.check_no_dataset("corpus")
            enlarge()
            pack = begin()
            pack.commit([pack.process(task) for task in batches(rows)])
            check_same(rows, wanted)
    clean()


# ---- The example of docs/engines.md ----

def example():
    reader = ParquetReader(os.path.abspath("texts"), files_per_partition=1)
    pack = Pack("corpus", "gpt2", id="url")
    pipeline = Pipeline(name="packing", stages=[reader, pack])
    return pack.commit(pipeline.run(RayDataExecutor()))


def main():
    with common.own_folder():
        rows = common.rows()
        common.write_parquet("texts", rows, FILES)
        run = leat.Run("plain", common.TOKENIZER, id="url")
        pieces = []
        for n in range(FILES):
            with run.part(n) as packer:
                packer.extend(rows[n * len(rows) // FILES:(n + 1) * len(rows) // FILES])
            pieces.append(packer.piece)
        run.commit(pieces)
        wanted = common.contents("plain")
        check_order()
        check_killed(rows, wanted)
        check_attempts(rows, wanted)
        check_refused(rows)
        check_full_disk(rows, wanted)
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 4, "object_store_memory": 100 << 20,
                                                                 "include_dashboard": True})
        try:
            os.environ["RAY_ADDRESS"] = cluster.address
            assert len(example()) == len(rows)
            common.check_tokens("corpus", rows)
            check_same(rows, wanted)
            common.train("corpus")
            clean()
            check_executor(rows, wanted, RayDataExecutor, "death")
            check_executor(rows, wanted, RayDataExecutor, "exception", fails=True)
            check_executor(rows, wanted, RayActorPoolExecutor, "death", fails=True)
            check_executor(rows, wanted, XennaExecutor, "exception")
        finally:
            cluster.shutdown()


if __name__ == "__main__":
    main()
