"""verl.py: conversations that leat has packed, in verl's trainer for SFT (0.9.1), in the place of its
MultiTurnSFTDataset: data.custom_cls names this file's class."""
from __future__ import annotations

import torch
from verl.utils.dataset.dataset_utils import DatasetPadMode

from leat.dataset import open as opened

__all__ = ["Dataset"]


class Dataset(torch.utils.data.Dataset):
    """The documents of datasets, one by one, as verl's trainer asks for them: data.train_files and data.val_files are
    names of datasets. loss_mask has the weights of the mask, from 0 to 1; the first token of a document has none,
    because nothing predicts it."""

    def __init__(self, parquet_files, tokenizer=None, config=None, processor=None, max_samples=-1):
        config = config or {}
        if config.get("pad_mode", DatasetPadMode.NO_PADDING) != DatasetPadMode.NO_PADDING:
            raise ValueError(f"data.pad_mode must be no_padding, not {config['pad_mode']}")
        self._names = [parquet_files] if isinstance(parquet_files, str) else list(parquet_files)
        self._dataset = opened(self._names)
        self._count = len(self._dataset) if max_samples <= 0 else min(max_samples, len(self._dataset))
        self._longest, self._truncation = config.get("max_length", 1024), config.get("truncation", "error")

    def __len__(self):
        return self._count

    def __getitem__(self, number):
        if not 0 <= number < self._count:
            raise IndexError(f"no document {number}: these datasets have {self._count}")
        ids = torch.from_numpy(self._dataset[int(number)].astype("int64"))
        mask = self._dataset.mask(int(self._dataset.starts(int(number), 1)[0]), len(ids))
        weights = torch.from_numpy(mask.astype("float32")) / 255
        weights[:1] = 0
        if len(ids) > self._longest:
            if self._truncation == "error":
                raise ValueError(f"document {number} of {', '.join(map(str, self._names))} has {len(ids)} tokens, more "
                                 f"than data.max_length ({self._longest}): raise it, or set data.truncation")
            ids, weights = ids[:self._longest], weights[:self._longest]
        return {"input_ids": ids, "position_ids": torch.arange(len(ids)), "loss_mask": weights}
