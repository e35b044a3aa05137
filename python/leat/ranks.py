"""ranks.py: which rows of a global batch are this process's: given by rank and world, a mesh or "ddp", not guessed."""
from __future__ import annotations

import os
import sys

from leat._values import whole

# Variables that launchers set to the number of processes; for a single process, to 1 or not at all.
LAUNCHERS = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")


def _torch_distributed():
    """torch.distributed, if the program uses it."""
    module = sys.modules.get("torch.distributed")
    return module if module is not None and module.is_available() and module.is_initialized() else None


def _distributed_by():
    """Why this looks like one of several processes; None if it does not."""
    group = _torch_distributed()
    if group is not None and group.get_world_size() > 1:
        return f"torch.distributed has {group.get_world_size()} processes"
    jax = sys.modules.get("jax")
    is_initialized = getattr(getattr(jax, "distributed", None), "is_initialized", None)
    if is_initialized is not None and is_initialized() and jax.process_count() > 1:
        return f"jax has {jax.process_count()} processes"
    for name in LAUNCHERS:
        if os.environ.get(name, "1") not in ("", "1"):
            return f"{name} is {os.environ[name]}"
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
    try:
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    except (KeyError, ValueError):
        raise ValueError("ranks=\"ddp\" takes rank and world from torch.distributed, which is not initialized, or from "
                         "RANK and WORLD_SIZE, which are not set: start the program with torchrun, give rank and "
                         "world, or leave ranks out if there is only one process") from None


def rank_and_world(rank, world, ranks=None):
    """(rank, world) from what was given; (0, 1) if nothing is given and the program is not distributed."""
    if ranks is not None:
        if rank is not None or world is not None:
            raise TypeError("ranks excludes rank and world: give one of them")
        if isinstance(ranks, str) and ranks == "ddp":
            return _of_environment()
        if not isinstance(ranks, (tuple, list)) or len(ranks) != 2:
            return _of_mesh(ranks)
        rank, world = ranks
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
