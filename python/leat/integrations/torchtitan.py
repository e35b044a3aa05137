"""torchtitan.py: batches of packed tokens for torchtitan's Trainer and Validator.

It meets the contract of torchtitan 0.3.0, and that of its main of August 2026, whose batches have no dimension for
rows.
"""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any

import tyro  # torchtitan reads its command line with it

try:
    from torchtitan.components.dataloader import BaseDataLoader  # 0.3.0
except ModuleNotFoundError:
    from torchtitan.components.data.loader import BaseDataLoader

from leat._values import entry
from leat.loader import Loader
from leat.options import Outputs
from leat.plan import Plan


class DataLoader(BaseDataLoader):
    """Batches of a plan, in torchtitan's configuration: dataloader=DataLoader.Config(dataset="tokens").

    Positions begin at 0 in each document and each row, which is what torchtitan keeps attention within, and no label is
    the first token of another document.

    dataset  a name that leat.Plan takes; a mixture stands in `plan`
    plan     options of leat.Plan, such as dict(sources={"web": 3, "code": 1}, seed=7, order="fit"). Sequence length and
             passes are torchtitan's; epochs, if given, ends training with the data
    loader   options of leat.Loader, such as dict(threads=2, balance="attention")
    repeat, infinite    whether batches have no end; the Validator of main, or 0.3.0, sets one of them to False for
             steps=-1, one pass. All ranks then have the same number of batches: the last ones are padded

    The state is the same on all ranks, and training goes on from it with any number of them.
    """

    @dataclass(kw_only=True, slots=True)
    class Config(BaseDataLoader.Config):
        dataset: str = ""
        plan: Annotated[dict[str, Any], tyro.conf.Suppress] = field(default_factory=dict)
        loader: Annotated[dict[str, Any], tyro.conf.Suppress] = field(default_factory=dict)
        repeat: Annotated[bool, tyro.conf.Suppress] = True
        infinite: Annotated[bool, tyro.conf.Suppress] = True

    def __init__(self, config, *, dp_world_size, dp_rank, seq_len=None, local_batch_size=None, max_context_length=None,
                 num_tokens_per_batch=None, **unused):
        self._flat = num_tokens_per_batch is not None
        if self._flat:
            seq_len, (local_batch_size, rest) = max_context_length, divmod(num_tokens_per_batch, max_context_length)
            if rest:
                raise ValueError(f"a microbatch of {num_tokens_per_batch} tokens is no whole number of rows of "
                                 f"{max_context_length}: let max_context_length divide num_tokens_per_microbatch_per_"
                                 "dp_rank")
        options = {"sources": config.dataset, "seed": 42, **config.plan, "seq_len": seq_len}
        if not (config.repeat and config.infinite):
            options.setdefault("epochs", 1)
        self.loader = Loader(Plan(**options), local_batch_size, rank=dp_rank, world=dp_world_size, style="tuple",
                             outputs=Outputs(("inputs", "position_ids", "labels"), mask_first=True),
                             **{"last": "padded", **config.loader})

    def __iter__(self):
        for batch in self.loader:
            inputs, positions, labels = (rows.flatten() for rows in batch) if self._flat else batch
            yield {"input": inputs, "positions": positions}, labels

    def state_dict(self):
        return {"leat": json.dumps(self.loader.state_dict())}  # one value: a checkpoint is read by its keys

    def load_state_dict(self, state):
        if state:
            self.loader.load_state_dict(json.loads(entry(state, "leat")))

    def close(self):
        self.loader.close()
