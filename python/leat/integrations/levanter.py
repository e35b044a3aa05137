"""levanter.py: rows of a plan for Levanter (tried with marin-levanter 0.2.227), in the place of its caches, its mixture
and its shuffles.

Levanter asks an AsyncDataset for rows by number. Step s begins at row s * batch size, or where a schedule of batch
sizes says, and each host asks for the rows of its own devices. A resumed run begins at Levanter's own step.

A row has no labels. Each place but the last predicts the next token of its row, and loss_weight says which places
count. So a row has one token more than predictions; with order="fit", one more for each document.
"""
from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import draccus
import fsspec
import jax
import numpy
from levanter.data.dataset import AsyncDataset
from levanter.data.text.datasets import LmDataConfig, NamedLmDataset
from levanter.data.text.examples import GrugLmExample
from levanter.grug.attention import AttentionMask

from leat._own_file import write_to
from leat._values import check_plan, flag, whole
from leat.plan import Plan

draccus.encode.register(Plan, lambda plan, declared_type=None: plan.text)  # trackers keep the config
FAR = 2**53  # a sample number beyond all changes
OUTPUTS = ("inputs", "labels", "loss_weights", "document_ids", "attention_mask")


def longest_row(plan):
    """Returns the number of tokens of the longest row that a plan gives to Levanter."""
    info = check_plan(plan).info
    more = 1
    if info.order == "fit":
        more = max(plan.fit_report(info.max_seq_len, source).max_pieces for source in range(len(plan.sources)))
    return info.max_seq_len + more


class Dataset(AsyncDataset[GrugLmExample]):
    """A plan as Levanter's AsyncDataset: item n is the sample at position n. The plan is already shuffled; do not
    shuffle again.

    plan        a leat.Plan
    length      tokens of a row, that of the model; None: the plan's longest. Padding has no loss, and segment -1
    mask_first  as in leat.Outputs: places that another document follows have no loss
    """

    def __init__(self, plan, length=None, mask_first=True):
        longest = longest_row(plan)
        self.plan, self.mask_first = plan, flag("mask_first", mask_first)
        self.length = longest if length is None else whole("length", length, 1)
        if self.length < longest:
            raise ValueError(f"rows of this plan have up to {longest} tokens, more than the model's {self.length}: "
                             f"give the plan a seq_len of {self.length - longest + plan.info.max_seq_len}")

    def is_finite(self):
        return self.plan.info.positions is not None

    async def async_len(self):
        if not self.is_finite():
            raise ValueError("this plan has no end: use leat.Plan(..., epochs=1)")
        return self.plan.info.positions

    async def get_batch(self, indices):
        return [self._example(whole("the number of a sample", index)) for index in indices]

    def _example(self, position):
        found = self.plan._rows([position], 4, OUTPUTS, numpy.asarray, self.mask_first)
        inputs, labels, weights, documents, present = (array[0] for array in found)
        # A label that counts but does not follow in the row is put there: the row's last one, and in order fit each
        # document's.
        following = numpy.append(numpy.where(present, inputs, -1)[1:], -1)
        last = numpy.flatnonzero((weights > 0) & (labels != following))

        def row(array, values, padding):
            made = numpy.insert(array, last + 1, values)
            return numpy.pad(made, (0, self.length - len(made)), constant_values=padding)

        segments = row(numpy.where(present, documents, -1), documents[last], -1)
        return GrugLmExample(tokens=row(inputs, labels[last], 0), loss_weight=row(weights, 0, 0),
                             attn_mask=AttentionMask.causal().with_segment_ids(segments))


class Watched(Dataset):
    """A Dataset that compares its plan with that of an earlier run, up to the first samples that Levanter asks for.

    name      a file with that plan, which then has this one
    schedule  Levanter's BatchSchedule
    """

    def __init__(self, plan, length, name, schedule):
        super().__init__(plan, length)
        self.name, self.schedule = name, schedule

    async def get_batch(self, indices):
        # Levanter's DataLoader reads item 0 before it knows its step.
        if self.name is not None and list(indices) != [0]:
            step = self.schedule.find_step_containing_offset(min(indices))
            check_plan_file(self.plan, self.name, self.schedule.global_data_offset_by_step(step))
            self.name = None
        return await super().get_batch(indices)


def check_plan_file(plan, name, position):
    """Raises leat.Error if the plan in the file `name` gave other samples before `position`; otherwise writes this plan
    to the file."""
    files, path = fsspec.url_to_fs(name)
    if files.exists(path):
        kept = json.loads(files.cat_file(path))
        before = Plan.parse(kept["plan"], label=name)
        before.load_state(kept["state"])  # fails if a dataset of these names is another one by now
        plan.load_state(before.state(position))
    else:
        files.makedirs(path.rpartition("/")[0] or ".", exist_ok=True)
    end = plan.info.positions
    state = plan.state(FAR if end is None else end)  # includes datasets that a change adds
    write_to(files, path, json.dumps({"plan": plan.text, "state": state}, indent=1).encode())


def plan_file(trainer):
    """Returns LmData's `state` for the run of a TrainerConfig: plan.json beside its checkpoints. A run without an id
    gives None: Levanter gives it a random one, so no later run continues it."""
    beside = trainer.checkpointer
    run = trainer.id or os.environ.get("RUN_ID") or getattr(trainer.wandb, "id", None)  # as Levanter does
    if run is None and beside.append_run_id_to_base_path:
        return None
    return os.path.join(beside.expanded_path(run), "plan.json")


@dataclass(frozen=True)
class LmData(LmDataConfig):
    """The data of Levanter's train_lm: TrainLmConfig(data=LmData(tokenizer=..., train=plan), ...). Of Levanter's own
    fields it uses the tokenizer only.

    train  a leat.Plan; one that ends, ends training
    valid  names and plans, with an end each, for evaluation
    state  a file, as Levanter names files, for the plan: Levanter's checkpoints have a step only, and with this a plan
           that gave other samples before the checkpoint is an error
    """

    train: Plan | None = None
    valid: Mapping[str, Plan] = field(default_factory=dict)
    state: str | None = None

    def train_set(self, Pos, batch_schedule, *, key):  # noqa: N803 (as in Levanter)
        watched = self.state if jax.process_index() == 0 else None
        return NamedLmDataset(Watched(self.train, Pos.size, watched, batch_schedule), Pos)

    def validation_sets(self, Pos):  # noqa: N803
        return {name: NamedLmDataset(Dataset(plan, Pos.size), Pos) for name, plan in self.valid.items()}

    def tagged_eval_sets(self, Pos):  # noqa: N803
        return [(dataset, [name]) for name, dataset in self.validation_sets(Pos).items()]
