"""grain.py: a plan as a Grain RandomAccessDataSource."""
from __future__ import annotations

from leat._lazy import numpy
from leat._values import samples_of


class GrainSource:
    """Random access to a plan, for grain.MapDataset.source() and Grain's DataLoader: record p is the sample at position
    p, as a dict of numpy arrays "inputs" and "labels" (int32). The plan is already shuffled; do not shuffle again.

    samples  how many there are; needed if the plan has no end
    """

    def __init__(self, plan, samples=None):
        self.plan, self.samples = plan, samples_of(plan, samples)

    def __len__(self):
        return self.samples

    def __getitem__(self, position):
        if not 0 <= position < self.samples:
            raise IndexError(f"no sample {position}: there are {self.samples}")
        row = numpy("GrainSource").asarray(self.plan._native.rows([int(position)], 4))[0]
        return {"inputs": row[:-1], "labels": row[1:]}

    def __repr__(self):
        # Grain saves this in its checkpoints and compares it when it loads one
        return f"GrainSource(samples={self.samples}, seed={self.plan.info.seed}, seq_len={self.plan.seq_len})"
