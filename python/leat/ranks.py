"""ranks.py: says which rows of a global batch this process has, by rank and world, a mesh or "ddp"."""
from __future__ import annotations

import os
import sys

from leat._leat import show
from leat._values import digits, whole

# Variables that launchers set to the number of processes; for a single process, to 1 or not at all.
LAUNCHERS = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")


def _torch_distributed():
    """Returns torch.distributed if the program uses it, else None."""
    module = sys.modules.get("torch.distributed")
    return module if module is not None and module.is_available() and module.is_initialized() else None


def _distributed_by():
    """Returns why this looks like one of several processes, or None if it does not."""
    group = _torch_distributed()
    if group is not None and group.get_world_size() > 1:
        return f"torch.distributed has {group.get_world_size()} processes"
    jax = sys.modules.get("jax")
    is_initialized = getattr(getattr(jax, "distributed", None), "is_initialized", None)
    if is_initialized is not None and is_initialized() and jax.process_count() > 1:
        return f"jax has {jax.process_count()} processes"
    for name in LAUNCHERS:
        if os.environ.get(name, "1") not in ("", "1"):
            return f"{name} is {show(os.environ[name][:40])}"
    return None


def _of_mesh(mesh):
    if not hasattr(mesh, "get_local_rank") or not hasattr(mesh, "ndim"):
        raise TypeError("ranks must be (rank, world), \"ddp\", or a DeviceMesh of torch, such as mesh[\"dp\"], not "
                        f"{mesh!r}")
    size, dimensions = mesh.size(), mesh.ndim
    if dimensions != 1:
        names = mesh.mesh_dim_names or "no names"
        raise ValueError(
            f"the mesh has {dimensions} dimensions ({names}): give the one of data parallelism, such as mesh[\"dp\"]; "
            "join several with mesh[\"dp_replicate\", \"dp_shard\"]._flatten(\"dp\")")
    return mesh.get_local_rank(), size


def _of_environment():
    group = _torch_distributed()
    if group is not None:
        return group.get_rank(), group.get_world_size()
    given = {name: os.environ[name] for name in ("RANK", "WORLD_SIZE") if os.environ.get(name)}
    for name, text in given.items():
        if digits(text) is None:
            raise ValueError(f"the environment variable {name} must be a whole number, not {text[:40]!r}")
    if len(given) < 2:
        raise ValueError("ranks=\"ddp\" takes rank and world from torch.distributed, which is not initialized, or from "
                         "RANK and WORLD_SIZE, which are not set: start the program with torchrun, give rank and "
                         "world, or leave ranks out if there is only one process")
    return tuple(map(int, given.values()))


def rank_and_world(rank, world, ranks=None):
    """Returns (rank, world) from the arguments, or (0, 1) without arguments in a program that is not distributed."""
    if ranks is not None:
        if rank is not None or world is not None:
            raise TypeError("ranks excludes rank and world: give one of them")
        if isinstance(ranks, str) and ranks == "ddp":
            rank, world = _of_environment()
        else:
            rank, world = ranks if isinstance(ranks, (tuple, list)) and len(ranks) == 2 else _of_mesh(ranks)
    if (rank is None) != (world is None):
        raise TypeError("give both rank and world")
    if rank is None:
        why = _distributed_by()
        if why:
            raise ValueError(
                f"{why}, and a loader never guesses which rows are its own: give rank= and world= of data parallelism, "
                "or ranks=device_mesh[\"dp\"], or, where every process is a data rank, ranks=\"ddp\"")
        return 0, 1
    world = whole("world", world, 1)
    rank = whole("rank", rank)
    if rank >= world:
        raise ValueError(f"rank {rank} must be below world {world}: ranks count from 0")
    return rank, world


# ---- What all ranks must agree on


def group_of(ranks):
    """Returns the group of a mesh that was given as `ranks`, or None for anything else."""
    return ranks.get_group() if hasattr(ranks, "get_group") and hasattr(ranks, "ndim") else None


def exchange(group, world, value):
    """Returns the values of all processes of a group in the order of their ranks, or [value] without a group. `group`
    None means all processes of torch.distributed if their number is `world`; False means no group."""
    distributed = _torch_distributed()
    if group is False or distributed is None or group is None and distributed.get_world_size() != world:
        if group not in (None, False):
            raise ValueError("torch.distributed is not initialized: a group cannot be asked")
        return [value]
    values = [None] * distributed.get_world_size(group)
    distributed.all_gather_object(values, value, group=group)
    return values


def _differing(values):
    """Returns the ranks whose value differs from rank 0's, as in "ranks 1 and 3", or None if all agree."""
    ranks = [str(rank) for rank, value in enumerate(values) if value != values[0]]
    if not ranks:
        return None
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(ranks[:-1])} and {ranks[-1]}"


def agree(group, world, place, plan, check):
    """Compares the plan that each rank changes to and the place of the change. Raises on all ranks if they differ, or
    if check() raises on one."""
    import hashlib
    failure = None
    try:
        check()
        said = hashlib.blake2b(plan._native.text().encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    except Exception as error:
        failure, said = error, None
    values = exchange(group, world, (said, place, None if failure is None else str(failure)))
    if failure is not None:
        raise failure
    for rank, (_, _, words) in enumerate(values):
        if words is not None:
            raise ValueError(f"no rank has changed its plan, because rank {rank} cannot: {words}")
    for what, found in (("to another plan than rank 0", _differing([text for text, _, _ in values])),
                        (f"at another place than rank 0, which is at position {values[0][1]}",
                         _differing([at for _, at, _ in values]))):
        if found:
            raise ValueError(f"no rank has changed its plan, because {found} would change {what}: all ranks must "
                             "change to the same plan after the same batch")
