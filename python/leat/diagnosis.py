"""diagnosis.py: finds out if training waits for its loader. leat.diagnose() takes training steps with real batches and
with one batch in memory, in turns; the difference in time is the loader's."""
from __future__ import annotations

import statistics
import sys
import time
from collections import namedtuple

from leat._values import whole
from leat.loader import Loader

ROUNDS = 5  # turns; the share is the median of their shares
LITTLE = 0.01  # a share of a step that is too small to matter

# {name in stats(): (what the loader's thread does, what helps if this takes most of its time)}
WORK = {
    "storage": ("reading from storage", "a faster disk, or more memory to keep the files in"),
    "gather": ("copying rows",
               "a core for the loader's thread; more of them (threads=4); io=leat.IO(verify=False) for files that were "
               "verified before"),
    "documents": ("finding documents and reading masks",
                  "ask for positions, documents and sequences only if they are used"),
    "outputs": ("making outputs",
                "outputs=leat.Outputs(dtype=\"int32\"), or device=\"cuda\", where the GPU makes them"),
    "copy": ("copying to the device", "pinned memory (ulimit -l); larger batches"),
    "order": ("computing the order of samples", "longer sequences, or fewer sources"),
}
# replaces storage's entry while pages come from a server
SERVER = ("waiting for a server", "leat pull beforehand, or a disk with room for all of it (LEAT_CACHE)")


class Diagnosis(namedtuple("Diagnosis", "share real synthetic waiting steps tokens thread stats")):
    """The result of leat.diagnose(); str() gives it in ten lines.

    share      the part of a step with a real batch that the loader takes, 0 to 1: the median of several turns
    real, synthetic   seconds of a step, with real batches and with one that is in memory
    waiting    seconds of a step in next(loader)
    steps      number of steps with real batches, and with the one in memory
    tokens     tokens of a batch of this rank
    thread     seconds that the loader worked, by what it did, most first
    stats      loader.stats() at the end
    """

    __slots__ = ()

    @property
    def is_the_loader(self):
        return self.share >= LITTLE

    def __str__(self):
        most = next(iter(self.thread), None) if any(self.thread.values()) else None
        what, help_ = WORK[most] if most else ("no work that is measured", "nothing")
        remote = self.stats["remote_share"]
        if most == "storage" and remote > 0:
            what, help_ = SERVER
        if not self.is_the_loader:
            help_ = "nothing needs to be done"
        whole_time = sum(self.thread.values()) or 1
        parts = ", ".join(f"{name} {100 * seconds / whole_time:.0f} %" for name, seconds in self.thread.items())
        answer = f"{'the loader' if self.is_the_loader else 'it is not the loader: it'} takes " \
            f"{100 * self.share:.1f} % of a step"
        return "\n".join((
            f"Is it the loader?  {answer}",
            f"  real batches     {_ms(self.real)} per step, {_rate(self.tokens / max(self.real, 1e-9))}",
            f"  one in memory    {_ms(self.synthetic)} per step",
            f"  next(loader)     {_ms(self.waiting)} per step",
            f"  measured         {self.steps} steps of each kind, in {ROUNDS} turns",
            f"  batches          {self.tokens:,} tokens on {self.stats['device']}",
            f"  loader           engine {self.stats['engine']}; ring of {self.stats['slots']} slots"
            + (f"; {100 * remote:.0f} % of its pages from a server" if remote > 0 else ""),
            f"  its work         {parts}",
            f"  most of it       {what}",
            f"  what helps       {help_}"))


def _ms(seconds):
    return f"{1000 * seconds:.3f} ms"


def _rate(per_second):
    unit = next(((name, size) for name, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)) if per_second >= size), ("", 1))
    return f"{per_second / unit[1]:.1f} {unit[0]}tokens/s"


def _wait_for_device():
    """Waits for the GPU, because a step returns before the GPU has done its work."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _turn(steps, take, step):
    """Returns the seconds of `steps` steps, and the seconds of them in `take`."""
    _wait_for_device()
    began, waited = time.perf_counter(), 0.0
    for _ in range(steps):
        asked = time.perf_counter()
        batch = take()
        waited += time.perf_counter() - asked
        step(batch)
    _wait_for_device()
    return time.perf_counter() - began, waited, batch


def _settle(loader, slots, step):
    """Brings the ring to the state that training finds. While a batch in memory is used, the loader's thread fills its
    ring, and these batches would hide a slow loader. It drops them, and then takes steps."""
    for _ in range(slots):
        next(loader)
    for _ in range(slots):
        step(next(loader))


def diagnose(loader, step, steps=50, warm_up=5):
    """Finds out whether training waits for its loader. It takes `steps` steps with batches of `loader` and as many with
    one batch that is in memory, in turns, and returns a Diagnosis, which print() shows in ten lines.

        print(leat.diagnose(loader, train_step))

    loader    a leat.Loader; afterwards it is where it was before, so that no batch of the run is lost
    step      called with each batch, as next(loader) gives it: forward, backward, optimizer. What it changes stays
              changed: use a model that is thrown away, or go back to a checkpoint. With jax, it has to wait for its
              results (jax.block_until_ready)
    warm_up   steps before these, for what a first step compiles and allocates

    Before each of the five turns with real batches, as many batches as the ring has slots (stats()["slots"]) are left
    out, and as many more steps are not measured, as the ring has filled meanwhile.
    """
    if not isinstance(loader, Loader):
        raise TypeError(f"expected a leat.Loader, not {type(loader).__name__}")
    if not callable(step):
        raise TypeError(f"step must be a function of a batch, not {step!r}")
    each = -(-whole("steps", steps, 1) // ROUNDS)
    warm_up = whole("warm_up", warm_up)
    slots = loader.stats()["slots"]
    with loader.kept_place():
        try:
            if warm_up:
                _turn(warm_up, lambda: next(loader), step)
            before, turns = loader.stats(), []
            for _ in range(ROUNDS):
                _settle(loader, slots, step)
                real, waited, batch = _turn(each, lambda: next(loader), step)
                turns.append((real, _turn(each, lambda kept=batch: kept, step)[0], waited))
            after = loader.stats()
        except StopIteration:
            raise ValueError(f"the loader ends before {warm_up + ROUNDS * (each + 2 * slots)} batches: give fewer "
                             "steps or slots, or a plan with more epochs") from None
    real, synthetic, waited = (sum(values) / len(turns) / each for values in zip(*turns))
    share = statistics.median(max(0.0, 1 - kept / real) for real, kept, _ in turns)
    tokens = (after["tokens"] - before["tokens"]) // (after["batches"] - before["batches"])
    work = {name: after[name] - before[name] for name in WORK}
    return Diagnosis(share, real, synthetic, waited, ROUNDS * each, tokens,
                     dict(sorted(work.items(), key=lambda item: -item[1])), after)
