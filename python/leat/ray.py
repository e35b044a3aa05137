"""ray.py: packs a run in parts on a Ray cluster whose nodes share a file system.

Each part is a task, which packs it in its worker (leat.Run.step()): no text passes through Ray's object store, and what
a killed worker had done is in the run's folder, where another node goes on.
"""
from __future__ import annotations

import os
import sys
import time
from typing import Any, Sequence

from leat._lazy import need
from leat._leat import Error
from leat.run import Run

__all__ = ["PackError", "pack"]


class PackError(RuntimeError):
    """Some parts failed for good. `parts` has the reason for each; calling pack() again goes on with what is left. No
    part is named if only joining them failed."""

    def __init__(self, message: str, parts: dict[int, str]):
        super().__init__(message, parts)
        self.parts = parts

    def __str__(self) -> str:
        return str(self.args[0])


class _MayPass(RuntimeError):
    """A part failed for a reason that may pass: a full disk, a node that is shut down."""


def pack(inputs: str | os.PathLike | Sequence[str | os.PathLike], output: str | os.PathLike,
         tokenizer: str | os.PathLike, *, parts: int, run: str | os.PathLike | None = None, cpus_per_part: int = 1,
         memory: int | None = None, retries: int = 3, merge: bool = True, progress: bool = True,
         shuffle: int | None = None, dedup: bool = False, split: str | None = None, **options: Any) -> dict:
    """Packs `inputs` into the dataset `output` in tasks of Ray, one for each of `parts`: four times as many parts as
    can run at once is a good number. All nodes must see the same files under the same names. ray.init() is called if
    the program has not done so.

    run            the folder of the run, on all nodes; by default OUTPUT.run. It is kept
    cpus_per_part  CPUs that a task asks for, and threads of its part
    memory         bytes that a task asks for, and the bound on its part's memory, and on the merge's for sorting
    retries        how often a part is tried again: after its node or worker died, or an error that may pass
    merge          join the parts; without it, the folder `run` is the dataset
    dedup          by the merge, on one node: keep only the first of documents with the same text
    shuffle        likewise, in the order of this seed; both in bounded memory, with files next to `output`
    split          OUTPUT.NAME is the dataset of a split, OUTPUT the rest; without the merge RUN/NAME, and RUN
    options        of leat.pack(): text="body", keep=["lang = en"], special=True, ...

    Returns the Summary of the merge, or the Status of the run, as a dict. PackError names parts that failed.
    """
    ray = need("ray", "leat.ray.pack", "ray[default]")
    if not ray.is_initialized():
        ray.init()
    output = os.path.abspath(output)
    folder = os.path.abspath(run if run is not None else output + ".run")
    if merge and os.path.exists(output + ".leat"):
        raise FileExistsError(f"{output}.leat already exists: choose another name, or remove it")
    if not merge and (dedup or shuffle is not None):
        raise ValueError("merge=False leaves the parts as they are packed, and no part knows the others: dedup and "
                         "shuffle need the merge")
    Run.create(folder, inputs, tokenizer, parts=parts, split=None if merge else split, **options)
    limits = {"threads": cpus_per_part, "memory": memory}
    task = ray.remote(_part).options(num_cpus=cpus_per_part, memory=memory, scheduling_strategy="SPREAD",
                                     max_retries=retries, retry_exceptions=[_MayPass])
    _wait(ray, {task.remote(folder, i, limits): i for i in range(1, parts + 1)}, folder, progress)
    if not merge:
        status = Run.open(folder).status()
        return {**status._asdict(), "items": [part._asdict() for part in status.items]}
    arrange = {"dedup": dedup, "shuffle": shuffle, "split": split, "memory": memory,
               "allow_empty": options.get("allow_empty", False)}
    join = ray.remote(_join).options(num_cpus=cpus_per_part, memory=memory, max_retries=retries,
                                     retry_exceptions=[_MayPass])
    try:
        return ray.get(join.remote(folder, output, arrange))
    except Exception as error:
        raise PackError(f"the parts in {folder} are packed, but not joined: {_reason(error)}", {}) from error


def _try(call: Any) -> Any:
    """What a call of a Run returns, in a task. What may pass is _MayPass, all else RuntimeError."""
    try:
        return call()
    except (Error, MemoryError, OSError) as error:
        advice = getattr(error, "advice", None)
        mend = advice.mend if advice else "again"
        if mend not in ("again", "wait"):
            raise RuntimeError(str(error)) from None
        # what is left of an earlier try needs a moment to end; a disk or network may be back then
        time.sleep(20 if mend == "wait" else 2)
        raise _MayPass(str(error)) from None


def _part(folder: str, part: int, limits: dict[str, Any]) -> None:
    _try(lambda: Run.open(folder).step(part, progress=None, **limits))


def _join(folder: str, output: str, arrange: dict[str, Any]) -> dict:
    return _try(lambda: Run.open(folder).join(output, force=True, **arrange))._asdict()


def _wait(ray: Any, tasks: dict[Any, int], folder: str, progress: bool) -> None:
    """Waits for all parts, then raises PackError if some failed."""
    failed: dict[int, str] = {}
    waiting = list(tasks)
    while waiting:
        ended, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=2)
        for one in ended:
            try:
                ray.get(one)
            except Exception as error:  # of the task, of its node, or of Ray: all of them end this part
                failed[tasks[one]] = _reason(error)
        if progress:
            _show(folder)
    if progress:
        print(file=sys.stderr)
    if failed:
        named = "; ".join(f"part {part}: {failed[part]}" for part in sorted(failed)[:5])
        more = f"; and {len(failed) - 5} more" if len(failed) > 5 else ""
        raise PackError(f"{len(failed)} of {len(tasks)} parts failed (the others are in {folder}): {named}{more}",
                        failed)


def _reason(error: Exception) -> str:
    return str(getattr(error, "cause", None) or error).strip()


def _show(folder: str) -> None:
    try:
        now = Run.open(folder).status()
    except (Error, OSError):  # a file server that hangs is no reason to leave the parts alone
        return
    print(f"\r{now.done} of {now.parts} parts, {now.running} running, {100 * now.share:.0f} %, "
          f"{now.tokens:,} tokens, {now.tokens_per_s / 1e6:.2f} M tokens/s"
          + (f", {now.seconds_left:.0f} s left" if now.seconds_left is not None else "") + "\x1b[K", end="",
          file=sys.stderr, flush=True)
