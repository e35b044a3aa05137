"""nanotron.py: batches for nanotron's trainer, in the place of Nanoset and its collators: the keys that its models
take, and TensorPointers on pipeline stages that need no data. It meets nanotron's main of April 2026
(commit 2411b02)."""
from __future__ import annotations

from leat._lazy import need
from leat._values import flag
from leat.loader import Loader
from leat.options import Outputs

TYPE_CHECKING = False  # in place of typing.TYPE_CHECKING, because typing is slow to import
if TYPE_CHECKING:
    from typing import Any, Iterator

__all__ = ["batches"]


def batches(plan: Any, micro_batch_size: int, parallel_context: Any, *, input_pp_rank: int = 0,
            output_pp_rank: int | None = None, position_ids: bool = False, consumed_train_samples: int = 0,
            **options: Any) -> Iterator[dict]:
    """Micro batches of this rank, without end, or to the plan's end.

    output_pp_rank          None: the last one
    position_ids            Qwen2's keys: position_ids from 0 in each document, and no loss of a document's first token,
                            as DataCollatorForCLMWithPositionIds has them; else input_mask, as DataCollatorForCLM
    consumed_train_samples  where to begin: nanotron's own count, with any number of ranks
    options                 of leat.Loader
    """
    dist = need("nanotron.distributed", "leat.integrations.nanotron.batches")
    pointer = need("nanotron.parallel.pipeline_parallel.tensor_pointer",
                   "leat.integrations.nanotron.batches").TensorPointer
    stage = dist.get_rank(parallel_context.pp_pg)
    last = parallel_context.pipeline_parallel_size - 1 if output_pp_rank is None else output_pp_rank
    second = "position_ids" if flag("position_ids", position_ids) else "input_mask"
    away = {"input_ids": pointer(group_rank=input_pp_rank), second: pointer(group_rank=input_pp_rank),
            "label_ids": pointer(group_rank=last), "label_mask": pointer(group_rank=last)}
    if stage not in (input_pp_rank, last):
        while True:
            yield dict(away)
    # Ranks of context parallelism share rows, and each has its stretch; Qwen2 takes all positions.
    part, parts = dist.get_rank(parallel_context.cp_pg), parallel_context.context_parallel_size
    length = plan.seq_len // parts
    mine = slice(part * length, (part + 1) * length)
    outputs = Outputs(("inputs", "labels", "loss_mask", "position_ids"), mask_first=position_ids)
    loader = Loader(plan, micro_batch_size, rank=dist.get_rank(parallel_context.dp_pg),
                    world=parallel_context.data_parallel_size, position=consumed_train_samples,
                    outputs=outputs, **{"last": "dropped", **options})
    for batch in loader:
        made = dict(away)
        if stage == input_pp_rank:
            made["input_ids"] = batch.inputs[:, mine]
            made[second] = batch.position_ids if position_ids else (batch.inputs[:, mine] >= 0)
        if stage == last:
            made["label_ids"] = batch.labels[:, mine].clamp(min=0)
            made["label_mask"] = batch.loss_mask[:, mine].bool()
        yield made
