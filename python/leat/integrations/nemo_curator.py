"""nemo_curator.py: leat.integrations.nemo_curator.Pack, the last stage of a NeMo Curator pipeline, which makes a
dataset of its documents. A task is a part of a leat.Run. Curator has no hook for a commit, so the caller commits in the
line after run()."""
from __future__ import annotations

import hashlib
import os
import re
from typing import Any, Iterable

from leat._lazy import need

need("nemo_curator", __name__, "nemo-curator")

import leat
from leat.dataset import Dataset
from leat.integrations import _sink
from nemo_curator.backends.slurm_array import SlurmArrayConfig
from nemo_curator.stages.base import ProcessingStage
from nemo_curator.tasks import DocumentBatch, FileGroupTask, Task


class Pack(ProcessingStage[DocumentBatch, FileGroupTask]):
    """Packs the documents of a pipeline into the dataset `output`.

        pack = Pack("corpus", "gpt2", id="url")
        pipeline.add_stage(pack)
        dataset = pack.commit(pipeline.run(executor))

    output          a folder that all nodes share, or s3://BUCKET/FOLDER, gs:// or az://
    tokenizer       a name or a path, as all nodes find it
    text, id, mask  columns of the batches
    threads         number of threads that encode, for each worker
    memory          limit for the process of a worker; None: 320 MiB more than it has when it begins
    options         those of leat.Run

    The run begins when the stage is made, as the modes of Curator's own writers take effect then. What a program has
    left that was killed or has failed before the commit, the same program sweeps when it runs again; abort() removes it
    at once. The stage cannot be resumed (checkpoint_path): the pieces of an earlier run are not in the tasks of the
    next one.
    """

    name = "leat_pack"
    is_resumable = False

    def __init__(self, output: str | os.PathLike, tokenizer: str | os.PathLike = "gpt2", *, text: str = "text",
                 id: str | None = "id", threads: int = 1, memory: int | str | None = None, **options: Any):
        self.threads, self.memory = threads, memory
        self.run = leat.Run(output, tokenizer, text=text, id=id, **options)

    def inputs(self) -> tuple[list[str], list[str]]:
        return ["data"], []

    def outputs(self) -> tuple[list[str], list[str]]:
        return ["data"], []

    def process(self, task: DocumentBatch) -> FileGroupTask | None:
        piece = _sink.pack(self.run, _key(task.task_id), [task.to_pyarrow()], threads=self.threads, memory=self.memory)
        if piece is None:
            return None
        self._log_metrics({"documents": piece.documents, "tokens": piece.tokens, "rejects": piece.rejected})
        return FileGroupTask(dataset_name=task.dataset_name, data=[self.run.folder], _stage_perf=task._stage_perf,
                             _metadata={**task._metadata, "format": "leat", "piece": piece})

    def commit(self, tasks: Iterable[Task] | None) -> Dataset:
        """Makes the output the dataset of these tasks, which pipeline.run() has returned, and returns it. Their order
        is that of partitions: `partition_index` of the tasks' metadata, as the readers of files give it; without that,
        `source_files`; batches of one partition as they follow in it. Tasks without both, for example of an own source,
        stay as they are given. Succeeds again with the same tasks. Of several programs, such as those of a Slurm array,
        one has to commit the tasks of all."""
        shard = SlurmArrayConfig.from_env()
        if shard is not None and shard.total_shards > 1:
            raise ValueError(f"this program has shard {shard.shard_index} of {shard.total_shards} of a Slurm array: "
                             "pickle its tasks, and commit those of all in one program, outside of the array")
        return _sink.commit(self.run, [task._metadata["piece"] for task in in_order(tasks or ())])

    def abort(self) -> None:
        """Ends the run, which must not be committed, and removes all of it."""
        self.run.abort()


def _key(task_id):
    """Returns the key of a part. A task's id is a path of hashes and numbers, which grows with each stage."""
    if re.fullmatch(r"[A-Za-z0-9_=-][A-Za-z0-9_.=-]{0,127}", task_id):
        return task_id
    return hashlib.sha256(task_id.encode()).hexdigest()


def in_order(tasks: Iterable[Task]) -> list[Task]:
    tasks = list(tasks)
    for name in ("partition_index", "source_files"):
        if all(task._metadata.get(name) is not None for task in tasks):
            return sorted(tasks, key=lambda task: (task._metadata[name], _path(task.task_id)))
    return tasks


def _path(task_id):
    """Returns a sort key in which the numbers of a path count as numbers."""
    return [(0, int(step), "") if step.isdigit() else (1, 0, step) for step in task_id.split("_")]
