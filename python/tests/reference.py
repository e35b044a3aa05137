"""reference.py: batches by another way: from what `leat order` prints and the token files alone, with numpy."""
import json

import numpy as np
from conftest import command


class Reference:
    """Rows of a plan that is given by the command's words over one dataset (or a list, in the order of its parts)."""

    def __init__(self, names, words, kind="<u2", starts=None):
        self.files = [np.memmap(name + ".tokens", dtype=kind, mode="r") for name in names]
        self.starts = starts  # of the documents of each file
        self.words = words

    def rows(self, first, count):
        """(tokens, starts) of samples first to first + count: the L + 1 tokens of each, and its documents' begins."""
        printed = command("leat", "order", *self.words, "--from", first, "--count", count, "--json")
        for line in printed.splitlines():
            row = json.loads(line)
            at, part = row["offset"], row.get("part", 0)
            tokens = self.files[part][at:at + row["length"] + 1].astype(np.int64)
            begins = np.zeros(len(tokens), bool)
            begins[0] = True
            if self.starts is not None:
                inside = self.starts[part]
                begins[inside[(inside >= at) & (inside < at + len(tokens))] - at] = True
            yield tokens, begins

    def batch(self, first, count):
        """All outputs of `count` rows of one length."""
        tokens, begins = map(np.stack, zip(*self.rows(first, count)))
        begun = begins[:, :-1]
        at = np.arange(begun.shape[1])
        last = np.maximum.accumulate(np.where(begun, at, 0), axis=1)
        ends = np.append(np.flatnonzero(begun.ravel()), begun.size)
        return {"inputs": tokens[:, :-1], "labels": tokens[:, 1:], "position_ids": at - last,
                "document_ids": np.cumsum(begun, axis=1) - 1, "loss_mask": np.ones(begun.shape, bool),
                "loss_weights": np.ones(begun.shape, np.float32), "source_ids": np.zeros(begun.shape, np.int64),
                "attention_mask": np.ones(begun.shape, bool), "cu_seqlens": ends, "begins": begins}
