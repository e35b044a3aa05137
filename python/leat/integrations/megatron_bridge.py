"""megatron_bridge.py: a dataset configuration for Megatron-Bridge: its own loop takes leat's batches as they are
(dataloader_type="external"). It meets Megatron-Bridge 0.6.2 and its main of August 2026 (commit 067f987).

Megatron-Bridge does not inspect batches, and an iterator that ends raises a bare StopIteration in the middle of its
loop. So everything that can be checked is checked when the loaders are made."""
from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from megatron.bridge.data.base import DatasetProvider
from megatron.core.num_microbatches_calculator import get_micro_batch_size

from leat.integrations.megatron import Dataset, Loader
from leat.plan import Plan

__all__ = ["Packed"]


class _Loader(Loader):
    """A Loader whose place Megatron-Bridge saves with its checkpoints. The place is equal on all ranks."""

    def save_state(self) -> dict:
        return self.loader.state_dict()

    def restore_state(self, state: dict) -> None:
        self.loader.load_state_dict(state)


@dataclass
class Packed(DatasetProvider):
    """The dataset of a configuration: ConfigContainer(dataset=Packed(...)).

    sources           what leat.Plan() takes: a name, a list, or a dict of names and weights
    micro_batch_size  that of the training configuration
    options           of leat.Plan, such as {"order": "fit"}
    """

    sources: Any = None
    seq_length: int = 0
    micro_batch_size: int = 1
    eval_micro_batch_size: int | None = None
    random_seed: int = 1234
    split: str = "train=0.99,valid=0.01"
    eod_mask_loss: bool = False
    reset_position_ids: bool = False
    options: dict | None = None
    dataloader_type: Any = "external"

    def build(self, context: Any) -> tuple[Any, Any, Any]:
        """Returns the Loaders for training and validation, and None for test."""
        config = SimpleNamespace(sequence_length=self.seq_length, tokenizer=context.tokenizer,
                                 reset_position_ids=self.reset_position_ids, reset_attention_mask=False,
                                 eod_mask_loss=self.eod_mask_loss, create_attention_mask=False,
                                 allow_ambiguous_pad_tokens=False)
        self._check_rows()
        group = context.pg_collection.dp if context.pg_collection is not None else None
        ranks = {} if group is None else dict(rank=group.rank(), world=group.size())
        train = valid = None
        if context.train_samples:
            plan = self._plan("train")
            if plan.info.positions is not None and plan.info.positions < context.train_samples:
                raise ValueError(f"training takes {context.train_samples} samples (train_iters times "
                                 f"global_batch_size), and the plan ends after {plan.info.positions}: lower train_iters"
                                 ", or give options more epochs, or none")
            train = _Loader(Dataset(plan, config, "train"), self.micro_batch_size, **ranks)
        if context.valid_samples:
            # A finite set begins again at its end: each evaluation continues where the last one stopped.
            valid = _Loader(Dataset(self._plan("valid"), config, "valid"),
                            self.eval_micro_batch_size or self.micro_batch_size, cycle=1, **ranks)
        return train, valid, None

    def _plan(self, use: str) -> Plan:
        return Plan(self.sources, self.seq_length, self.random_seed, split=self.split, use=use, **(self.options or {}))

    def _check_rows(self) -> None:
        try:
            rows = get_micro_batch_size()
        except AttributeError:  # Megatron-Bridge is not initialized
            return
        if rows != self.micro_batch_size:
            raise ValueError(f"micro_batch_size is {self.micro_batch_size} in the dataset's configuration and {rows} in"
                             " the training configuration: give both the same")

    build_datasets = build
