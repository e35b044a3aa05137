"""olmo_core.py: a data loader and an evaluator for the Trainer of OLMo-core.

They meet the contract of OLMo-core 2 and 3 (tried with 2.6.0 and 3.0.0): a TextDataLoaderBase, whose batch sizes are in
tokens.
"""
from __future__ import annotations

from dataclasses import replace

from olmo_core.data import DataCollator, TextDataLoaderBase
from olmo_core.distributed.utils import get_fs_local_rank, get_rank, get_world_size
from olmo_core.eval.lm_evaluator import LMEvaluator
from torch.nn.utils.rnn import pad_sequence

from leat._values import check_plan, flag, entry
from leat.loader import Loader
from leat.options import Outputs


def _outputs(outputs, doc_lens, **more):
    return replace(outputs, names=("inputs", "labels", "cu_seqlens") if flag("doc_lens", doc_lens) else
                   ("inputs", "labels"), **more)


def _documents(batch):
    """Returns the lengths of the documents in each row, if the loader was asked for them."""
    if batch.cu_seqlens is None:
        return {}
    row = batch.cu_seqlens[:-1] // batch.length
    lengths = [batch.cu_seqlens.diff()[row == number] for number in range(batch.rows)]
    return {"doc_lens": pad_sequence(lengths, batch_first=True), "max_doc_lens": [int(row.max()) for row in lengths]}


class DataLoader(TextDataLoaderBase):
    """Batches of a plan for OLMo-core's Trainer: trainer_config.build(train_module, DataLoader(plan, ...)).

    plan               a leat.Plan whose rows have one length. One without end (no epochs) is a single epoch of the
                       Trainer: give max_duration in tokens or steps. All passes of leat.Plan(..., epochs=N) together
                       are one epoch of the Trainer, Duration.epochs(1)
    global_batch_size  in tokens; it can change at any time, as by BatchSizeSchedulerCallback, and no sample is lost or
                       comes twice
    work_dir           a local folder, which the Trainer asks for; nothing is written there
    dp_process_group   the ranks that share the data: train_module.dp_process_group
    doc_lens           batches have doc_lens and max_doc_lens, for attention within documents, which needs flash
                       attention: generate_doc_lengths of OLMo-core's datasets
    outputs            further options of the outputs: leat.Outputs(mask_first=True)
    collator           for callbacks that make batches of their own (downstream evaluation)
    options            further options of leat.Loader, such as threads and balance. `last` is "dropped", as in OLMo-core

    The state is the same on all ranks: a run goes on with any number of them, and with another batch size.
    """

    def __init__(self, plan, global_batch_size, *, work_dir, dp_process_group=None, doc_lens=False, outputs=Outputs(),
                 collator=None, **options):
        if check_plan(plan).info.max_seq_len != plan.seq_len or plan.info.max_tokens:
            raise ValueError("OLMo-core's batches have a fixed number of tokens, so that all rows of the plan must "
                             "have one length: begin another run with a plan of the new length at the change")
        super().__init__(collator=collator or DataCollator(pad_token_id=0), work_dir=work_dir,
                         global_batch_size=global_batch_size, dp_world_size=get_world_size(dp_process_group),
                         dp_rank=get_rank(dp_process_group), fs_local_rank=get_fs_local_rank())
        self._options = {"last": "dropped", **options, "outputs": _outputs(outputs, doc_lens)}
        self._over = False  # True after reset()
        self.plan, self.loader = plan, None
        self.loader = self._opened(global_batch_size)

    def _opened(self, tokens):
        """Returns leat's loader for global batches of `tokens` tokens, at the place of the loader before it."""
        rows, rest = divmod(tokens, self.plan.seq_len * self.dp_world_size)
        if rest or not rows:
            raise ValueError(f"a global batch of {tokens} tokens is no whole number of rows of {self.plan.seq_len} "
                             f"tokens for each of {self.dp_world_size} ranks")
        return Loader(self.plan, rows, rank=self.dp_rank, world=self.dp_world_size,
                      state=self.loader and self.loader.state_dict(), **self._options)

    @property
    def global_batch_size(self):
        return self._global_batch_size

    @global_batch_size.setter
    def global_batch_size(self, tokens):
        before, self.loader = self.loader, self._opened(tokens)
        before.close()
        self._global_batch_size = tokens
        self._count()

    def _count(self):
        """Sets the counts that the Trainer reads: batches of the present size, and tokens."""
        self.tokens_processed = self.loader.cursor * self.plan.seq_len
        self.batches_processed = self.tokens_processed // self.global_batch_size

    @property
    def total_batches(self):
        left = self.loader._left_from(self.loader.cursor)
        return None if left is None else self.batches_processed + left

    def reshuffle(self, epoch=None, **unused):
        """Begins at the plan's start after reset(); otherwise continues."""
        if (epoch or 1) > 1:
            raise ValueError("the plan has ended, and would have the same order again: use leat.Plan(..., epochs=N) "
                             "for N passes, each in another order, and Duration.epochs(1); or no epochs, and a "
                             "duration in tokens")
        self._epoch = 1
        if self._over:
            self._over = False
            self.loader._start_over()

    def reset(self):
        super().reset()
        self._over = True

    def _iter_batches(self):
        iter(self.loader)
        while (batch := next(self.loader, None)) is not None:  # a change of size replaces self.loader
            yield {"input_ids": batch.inputs, "labels": batch.labels, **_documents(batch)}

    def get_mock_batch(self):
        """Returns the plan's first batch, for the Trainer's dry run."""
        with self.loader.kept_place():
            self.loader._start_over()
            return next(iter(self._iter_batches()))

    def state_dict(self):
        return {"leat": self.loader.state_dict()}

    def load_state_dict(self, state):
        self.loader.load_state_dict(entry(state, "leat"))
        self._over = False
        self._count()


class Evaluator(LMEvaluator):
    """The loss and perplexity of a finite plan, for each of its sources, over all predictions, each once:
    EvaluatorCallback(evaluators=[Evaluator("valid", plan, 8)]).

    name        what the metrics begin with, before the source's name
    plan        a leat.Plan with epochs; rows are one token longer than its seq_len, because OLMo-core makes the labels
    batch_size  rows of each rank; all ranks have the same number of batches, the last ones with padding that does not
                count
    options     dp_process_group, doc_lens and outputs as in DataLoader, device as in LMEvaluator; further options of
                leat.Loader

    LMEvaluator takes a token's mask for its loss, which stands one place before; this does not. Not with context
    parallelism.
    """

    def __init__(self, name, plan, batch_size, *, dp_process_group=None, doc_lens=False, outputs=Outputs(), device=None,
                 **options):
        if check_plan(plan).info.positions is None:
            raise ValueError("the plan for evaluation has no end: use leat.Plan(..., epochs=1)")
        self.loader = Loader(plan, batch_size, rank=get_rank(dp_process_group), world=get_world_size(dp_process_group),
                             restart=True, last="padded", **options,
                             outputs=_outputs(outputs, doc_lens, unshifted=True))
        self._names = [source.name for source in plan.sources]
        super().__init__(name=name, batches=self.loader, labels=self._names, device=device)

    def __iter__(self):
        for batch in self.loader:
            yield {"input_ids": batch.inputs, "label_mask": batch.labels != -100, **_documents(batch),
                   "metadata": [{"label": self._names[source or 0]} for source in batch.sources]}

    def update_metrics(self, batch, ce_loss, logits):
        for row, losses, counts in zip(batch["metadata"], ce_loss, batch["label_mask"], strict=True):
            self.metrics[row["label"]].update(losses[:-1].masked_select(counts[1:]))
