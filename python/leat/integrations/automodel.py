"""automodel.py: a dataset for the recipes of NeMo AutoModel, in the place of its NanogptDataset. It meets AutoModel's
main of August 2026 (commit 36044ad): ParallelAwareDataloader shards it, and saves its state."""
from __future__ import annotations

from typing import Any, Iterator

from leat._values import flag
from leat.integrations.torch_data import IterableDataset
from leat.plan import Plan

__all__ = ["Dataset"]


class Dataset(IterableDataset):
    """Rows of a dataset, one by one, as dicts of input_ids and labels, the next tokens.

        dataset:
          _target_: leat.integrations.automodel.Dataset
          name: tokens
          seq_len: 1024

    name       a dataset, or any files that leat.open() takes, as AutoModel's own .bin; or a list of them, in order
    documents  whether position_ids begin at 0 in each document, and its first token has no loss
    options    of leat.Plan

    The state is the same on all ranks: how far the plan is.
    """

    def __init__(self, name: Any, seq_len: int, *, seed: int = 0, documents: bool = False, rank: int = 0,
                 world: int = 1, **options: Any):
        from leat.dataset import open as opened
        from leat.options import Outputs

        self._made = dict(name=name, seq_len=seq_len, seed=seed, documents=documents, **options)
        plan = Plan(opened(list(name)) if isinstance(name, (list, tuple)) else name, seq_len, seed, **options)
        outputs = ("inputs", "labels", *(["position_ids"] if flag("documents", documents) else []))
        super().__init__(plan, 1, rank=rank, world=world, outputs=Outputs(outputs, mask_first=documents))

    def shard(self, count: int, index: int) -> Dataset:
        """Returns the rows of one data-parallel rank."""
        return type(self)(**self._made, rank=index, world=count)

    def __iter__(self) -> Iterator[dict]:
        for batch in super().__iter__():
            batch["input_ids"] = batch.pop("inputs")
            yield batch
