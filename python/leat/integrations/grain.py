"""grain.py: a plan as a Grain RandomAccessDataSource."""
from __future__ import annotations

from leat._lazy import numpy
from leat._values import samples_of


class GrainSource:
    """A plan by number, for grain.MapDataset.source() and grain's DataLoader: record p is the sample at position p, as
    a dict of numpy arrays "inputs" and "labels" (int32). The plan's order is shuffled already.

    samples  how many there are, where the plan has no end
    """

    def __init__(self, plan, samples=None):
        self.plan, self.samples = plan, samples_of(plan, samples)

    def __len__(self):
        return self.samples

    def __getitem__(self, position):
        if not 0 <= position < self.samples:
            raise IndexError(f"there is no sample {position} among {self.samples}")
        row = numpy("GrainSource").asarray(self.plan._native.rows([int(position)], 4))[0]
        return {"inputs": row[:-1], "labels": row[1:]}

    def __repr__(self):
        # Grain keeps this in its checkpoints, and compares it when one is loaded
        return f"GrainSource(samples={self.samples}, seed={self.plan.info.seed}, seq_len={self.plan.seq_len})"
