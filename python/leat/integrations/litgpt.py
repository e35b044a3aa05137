"""litgpt.py: packed tokens for `litgpt pretrain` (0.5.13): --data leat.integrations.litgpt.Packed --data.name NAME."""
from __future__ import annotations

import gc
from dataclasses import dataclass, field

import torch
from litgpt.data import DataModule

from leat.loader import Loader
from leat.plan import Plan
from leat.ranks import rank_and_world


class _Rows(torch.utils.data.IterableDataset):
    """An iterable dataset of a loader's batches."""

    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        return iter(self.loader)


class _Stateful(torch.utils.data.DataLoader):
    """A DataLoader for litgpt's Fabric, whose state litgpt saves. Before it leaves its loop and saves its last
    checkpoint, litgpt takes a batch that it does not train on. Leaving closes the generator, so that batch is known."""

    def __init__(self, loader):
        super().__init__(_Rows(loader), batch_size=None, collate_fn=self._tokens)
        self.leat_loader, self._trained = loader, None

    @staticmethod
    def _tokens(batch):
        """Returns the inputs and the token after them, from which litgpt makes labels itself."""
        return torch.cat([batch.inputs, batch.labels[:, -1:]], dim=1)

    def __iter__(self):
        self._trained = None
        before = self.leat_loader.cursor
        for batch in super().__iter__():
            try:
                yield batch
            except GeneratorExit:
                self._trained = before
                raise
            before = self.leat_loader.cursor

    def __len__(self):
        return len(self.leat_loader)

    def state_dict(self):
        gc.collect()  # a cycle of references can keep the generator of a loop that was left
        return self.leat_loader.state_dict(after=self._trained)

    def load_state_dict(self, state):
        self._trained = None
        self.leat_loader.load_state_dict(state)


@dataclass
class Packed(DataModule):
    """A dataset that `leat pack` wrote, or tokens of another tool, in leat's order. Resumes with the batch after the
    last one that was trained on, with any number of devices.

    name        the dataset for training
    valid_name  that for validation; None: the last documents of `name`, as many as `valid_share` says
    seed        of the order

    Rows are windows of max_seq_length tokens and one more, as litgpt's own, which can leave out no label. Training
    has no end, because litgpt would begin a finite plan again, in the same order: give the warm-up in steps
    (--train.lr_warmup_steps). Every validation has the same batches on all ranks; the last one is filled up with rows
    from the next epoch, since litgpt takes the mean over batches, and fails without any.
    """

    name: str
    valid_name: str | None = None
    valid_share: float = 0.01
    seed: int = 42
    batch_size: int = field(default=1, init=False, repr=False)
    max_seq_length: int = field(default=-1, init=False, repr=False)

    def __post_init__(self):
        super().__init__()

    def connect(self, tokenizer=None, batch_size=1, max_seq_length=None, **other):
        self.batch_size, self.max_seq_length = batch_size, max_seq_length

    def _plan(self, use, epochs):
        if self.valid_name is not None:
            name, split = self.name if use == "train" else self.valid_name, {}
        else:
            valid = round(self.valid_share, 9)  # rounded, so that both shares add up to 1 in decimals
            name, split = self.name, {"split": f"train={1 - valid:.9f},valid={valid:.9f}", "use": use}
        plan = Plan(name, self.max_seq_length, seed=self.seed, epochs=epochs, **split)
        if any(source.dataset.info.stores_mask for source in plan.sources):
            raise ValueError(f"{name} stores a mask, and litgpt pretrain learns every label: pack it without")
        return plan

    def _loader(self, use, **options):
        return _Stateful(Loader(self._plan(use, None), self.batch_size, ranks=self._ranks(), **options))

    @staticmethod
    def _ranks():
        return rank_and_world(None, None, "ddp" if torch.distributed.is_initialized() else (0, 1))

    def train_dataloader(self):
        return self._loader("train")

    def val_dataloader(self):
        rows = len(self._plan("valid", 1))
        return self._loader("valid", steps=-(-rows // (self.batch_size * self._ranks()[1])), restart=True)
