"""megatron_bridge.py: a dataset configuration for Megatron-Bridge: its own loop takes leat's batches as they are
(dataloader_type="external"). It meets Megatron-Bridge's main of August 2026 (commit 067f987)."""
from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from megatron.bridge.data.base import DatasetProvider

from leat.integrations.megatron import Dataset, Loader
from leat.plan import Plan

__all__ = ["Packed"]


class _Loader(Loader):
    """Whose place Megatron-Bridge saves with its checkpoints; it is the same on all ranks."""

    def save_state(self) -> dict:
        return self.loader.state_dict()

    def restore_state(self, state: dict) -> None:
        self.loader.load_state_dict(state)


@dataclass
class Packed(DatasetProvider):
    """For ConfigContainer(dataset=Packed(...)).

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
        """The Loaders for training, validation and test, of which the last is None."""
        config = SimpleNamespace(sequence_length=self.seq_length, tokenizer=context.tokenizer,
                                 reset_position_ids=self.reset_position_ids, reset_attention_mask=False,
                                 eod_mask_loss=self.eod_mask_loss, create_attention_mask=False,
                                 allow_ambiguous_pad_tokens=False)
        group = context.pg_collection.dp if context.pg_collection is not None else None
        ranks = {} if group is None else dict(rank=group.rank(), world=group.size())
        made = []
        for use, rows, samples in (("train", self.micro_batch_size, context.train_samples),
                                   ("valid", self.eval_micro_batch_size or self.micro_batch_size,
                                    context.valid_samples)):
            plan = Plan(self.sources, self.seq_length, self.random_seed, split=self.split, use=use,
                        **(self.options or {}))
            made.append(_Loader(Dataset(plan, config, use), rows, **ranks) if samples else None)
        return made[0], made[1], None

    build_datasets = build
