"""_last.py: how many batches each rank gets, and what becomes of the last rows."""
from __future__ import annotations

from leat._values import choice

LAST = {"short": 0, "padded": 1, "dropped": 2}


def batches_in(left, batch_size, rank, world, last):
    """The number of batches that a rank gets from `left` samples."""
    whole_batches, rest = divmod(max(left, 0), batch_size * world)
    if last == "padded":
        return whole_batches + (rest > 0)
    return whole_batches + (last == "short" and rest > rank * batch_size)


def last_of(last, world):
    """What becomes of the last rows, where nothing was said: several ranks stay in step, because a rank that is done
    before the others leaves them waiting in the next collective."""
    if last is None:
        return "padded" if world > 1 else "short"
    choice("last", last, LAST)
    return last
