"""grain.py: a plan as a Grain RandomAccessDataSource."""
from __future__ import annotations

from leat._lazy import numpy
from leat._values import ROW_OUTPUTS, flag, outputs_of, sample_number, samples_of


class GrainSource:
    """Random access to a plan, for grain.MapDataset.source(), grain.experimental.ElasticIterator and Grain's
    DataLoader: record p is the sample at position p, as a dict of numpy arrays. The plan is already shuffled; do not
    shuffle again.

    samples     how many there are; needed if the plan has no end
    outputs     "inputs", "labels" (int32), "loss_mask", "loss_weights", "position_ids", "document_ids" and
                "attention_mask", as a Loader's. Rows of order fit are padded to the plan's longest
    mask_first  as in leat.Outputs: labels have no loss that begin another document, for attention within documents
    """

    def __init__(self, plan, samples=None, outputs=("inputs", "labels"), mask_first=False):
        self.plan, self.samples, self.mask_first = plan, samples_of(plan, samples), flag("mask_first", mask_first)
        self.outputs = outputs_of("an output of single samples", outputs, ROW_OUTPUTS)

    def __len__(self):
        return self.samples

    def __getitem__(self, position):
        arrays = self.plan._rows([sample_number(position, self.samples)], 4, self.outputs,
                                 numpy("GrainSource").asarray, self.mask_first)
        return {name: array[0] for name, array in zip(self.outputs, arrays)}

    def __repr__(self):
        # Grain saves this text in checkpoints, and compares it when it loads one.
        return f"GrainSource(samples={self.samples}, seed={self.plan.info.seed}, seq_len={self.plan.seq_len})"
