"""transformers.py: leat's loader in transformers' Trainer (5.23), and in TRL's SFTTrainer (1.16), which asks for a data
set that it will not use."""
from __future__ import annotations

import itertools
import json
import operator
import os
import sys

import torch
from transformers import TrainerCallback
from transformers.trainer import TRAINER_STATE_NAME
from transformers.trainer_utils import get_last_checkpoint

from leat._own_file import own_file
from leat._passes import batches_in
from leat.integrations.model_check import check_model
from leat.loader import Loader

STATE_FILE = "leat_state.json"


def _read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


class _LoadState(TrainerCallback):
    """Brings the loader to where a checkpoint was saved. Not before training begins: the Trainer takes the loader's
    length as that of an epoch, so it must ask for it where the first epoch begins."""

    def __init__(self, loader):
        self.loader, self.state = loader, None

    def on_train_begin(self, args, state, control, **more):
        if self.state is not None:
            self.loader.load_state_dict(self.state)
            self.loader._leave_finished_pass()  # the Trainer has counted that epoch


class _Turns:
    """Stands in for indices: yields one for each batch that the loader may have. Each iterator begins a pass."""

    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        iter(self.loader)
        return ((turn,) for turn in itertools.count())


class _Batches:
    """Stands in for a dataset: any of its items is the loader's next batch, whatever the index."""

    def __init__(self, loader):
        self.loader = loader

    def __getitem__(self, turn):
        return next(self.loader)


class _Resumed:
    """The loader of a run that goes on in the middle of an epoch. To count right, the Trainer skips the batches before:
    it calls skip_first_batches(), which makes a DataLoader of the parts named here, without the first indices. The
    loader's state has brought it to the first batch that is left, so the indices only count. In later epochs, the
    Trainer iterates over this object itself."""
    sampler = prefetch_factor = None
    collate_fn = staticmethod(operator.itemgetter(0))

    def __init__(self, loader):
        self.loader, self.dataset, self.batch_sampler = loader, _Batches(loader), _Turns(loader)

    def __iter__(self):
        return iter(self.loader)

    def __len__(self):
        return len(self.loader)


class _Mean:
    """The mean loss over the labels that count, of batches and ranks that have different numbers of them."""

    def __init__(self):
        self._sums = torch.zeros(2, dtype=torch.float64)

    def add(self, loss, inputs):
        """Adds a batch's mean loss, and returns it: 0 for a batch without labels that count, whose mean is NaN."""
        labels = inputs.get("shift_labels")
        if labels is None:
            labels = inputs["labels"][..., 1:]  # the model shifts them, so the first of each row is that of no input
        count = int((labels != -100).sum())
        if count == 0:
            return torch.zeros_like(loss)
        self._sums += torch.tensor([float(loss) * count, count], dtype=torch.float64)
        return loss

    def over_ranks(self, accelerator):
        sums = self._sums
        if accelerator.num_processes > 1:
            sums = accelerator.reduce(sums.to(accelerator.device), "sum")
        return float(sums[0] / sums[1])


def _check_end(loader):
    if loader.plan.info.positions is None and loader._steps is None:
        raise ValueError("the plan for evaluation has no end: use leat.Plan(..., epochs=1)")


def _check_labels(trainer, loader):
    if "shift_labels" in loader._style.names and (trainer.label_smoother is not None or
                                                  trainer.compute_loss_func is not None):
        raise ValueError("label_smoothing_factor and compute_loss_func take labels, not shift_labels: use \"labels\" "
                         "among the outputs of leat.Loader")


def _check_trl(loader):
    """Raises ValueError if SFTTrainer, which counts tokens by them, finds neither position_ids nor an
    attention_mask."""
    if loader is not None and not {"position_ids", "attention_mask"} & set(loader._style.names):
        raise ValueError("SFTTrainer needs \"position_ids\" among the outputs of leat.Loader, which also keep the "
                         "documents of a row apart; or \"attention_mask\", for rows of one document")


def _trl_dataset():
    """Returns a data set of one token: SFTTrainer prepares one before anybody asks for batches."""
    from datasets import Dataset
    return Dataset.from_dict({"input_ids": [[0]], "labels": [[0]]})


class LoaderMixin:
    """For a Trainer that takes its batches from a leat.Loader with style="huggingface":

        class MyTrainer(LoaderMixin, transformers.Trainer):
            pass

        MyTrainer(model, args, loader=leat.Loader(plan, 8, style="huggingface"), eval_loader=...).train()

    loader       for training; if its plan has no end, set args.max_steps. A train_dataset is not needed, by TRL's
                 SFTTrainer neither
    eval_loader  for evaluation, in place of eval_dataset: of a finite plan, or with steps; each evaluation starts it
                 again. Or a dict of several by name, for metrics of each (eval_NAME_loss). evaluate() and predict()
                 take such loaders too

    With several ranks the last batches of a plan that ends are padded, so that ranks stay in step (`last` of
    leat.Loader). eval_loss is the mean over all labels that count, of all batches and ranks.

    The loader's state is saved with each checkpoint (leat_state.json), by one process; with save_on_each_node, by one
    on each node. train(resume_from_checkpoint=...) continues with the batch after the last one that was trained on, at
    any world size; every process reads the state, so without a shared folder set save_on_each_node.
    """

    def __init__(self, *args, loader, eval_loader=None, **options):
        evaluated = eval_loader.values() if isinstance(eval_loader, dict) else (eval_loader,)
        for given in (loader, *evaluated):
            if given is not None and getattr(given, "style", None) != "huggingface":
                raise ValueError("the Trainer needs dicts with the models' names: leat.Loader(..., "
                                 "style=\"huggingface\")")
        for given in evaluated:
            if given is not None:
                _check_end(given)
        self.leat_loader, self._leat_mean = loader, None
        self._leat_start, self._leat_load = loader._place, _LoadState(loader)
        if eval_loader is not None and options.get("eval_dataset") is not None:
            raise TypeError("eval_loader and eval_dataset exclude each other: give one of them")
        trl, stand_in = sys.modules.get("trl.trainer.sft_trainer"), None
        if trl is not None and isinstance(self, trl.SFTTrainer):
            for given in (loader, *evaluated):
                _check_trl(given)
            options["train_dataset"] = stand_in = _trl_dataset()
        if eval_loader is not None:  # the Trainer asks for a data set if it is to evaluate while it trains
            options["eval_dataset"] = stand_in or eval_loader
        super().__init__(*args, **options)
        if eval_loader is not None:
            self.eval_dataset = eval_loader  # from where it goes to get_eval_dataloader()
        self.add_callback(self._leat_load)
        for given in (loader, *evaluated):
            if given is not None:
                _check_labels(self, given)
                check_model(self.model, given)

    def get_train_dataloader(self):
        return self.leat_loader if self._leat_load.state is None else _Resumed(self.leat_loader)

    def get_eval_dataloader(self, eval_dataset=None):
        chosen = self.eval_dataset if eval_dataset is None else eval_dataset
        if isinstance(chosen, str):
            chosen = self.eval_dataset[chosen]
        return chosen if isinstance(chosen, Loader) else super().get_eval_dataloader(eval_dataset)

    def get_test_dataloader(self, test_dataset):
        return test_dataset if isinstance(test_dataset, Loader) else super().get_test_dataloader(test_dataset)

    def evaluate(self, eval_dataset=None, *args, **options):
        """Loaders go past what TRL does with a data set before it evaluates."""
        loaders = eval_dataset.values() if isinstance(eval_dataset, dict) else (eval_dataset,)
        if not all(isinstance(given, Loader) for given in loaders):
            return super().evaluate(eval_dataset, *args, **options)
        usual, self.eval_dataset = self.eval_dataset, eval_dataset
        try:
            return super().evaluate(None, *args, **options)
        finally:
            self.eval_dataset = usual

    def evaluation_loop(self, dataloader, *args, metric_key_prefix="eval", **options):
        options["metric_key_prefix"] = metric_key_prefix
        if isinstance(dataloader, Loader):
            _check_end(dataloader)
            dataloader._start_over()
        if not isinstance(dataloader, Loader) or "labels" not in dataloader._given:
            return super().evaluation_loop(dataloader, *args, **options)
        # each rank's loss is to be the mean over its own labels, which _Mean then weighs; see compute_loss()
        averaged = getattr(self.args, "average_tokens_across_devices", False)
        self.args.average_tokens_across_devices, self._leat_mean = False, _Mean()
        try:
            output = super().evaluation_loop(dataloader, *args, **options)
            if f"{metric_key_prefix}_loss" in output.metrics:
                output.metrics[f"{metric_key_prefix}_loss"] = self._leat_mean.over_ranks(self.accelerator)
        finally:
            self.args.average_tokens_across_devices, self._leat_mean = averaged, None
        return output

    def compute_loss(self, *args, **options):
        if self._leat_mean is not None and getattr(self, "compute_loss_func", None) is None:
            # the model takes the mean itself: the Trainer's number counts labels that have no input, of some models
            options.pop("num_items_in_batch", None)
        return super().compute_loss(*args, **options)

    def prediction_step(self, model, inputs, *args, **options):
        mean, given = self._leat_mean, dict(inputs)
        loss, *more = super().prediction_step(model, inputs, *args, **options)
        if mean is not None and loss is not None:
            loss = mean.add(loss, given)
        return loss, *more

    def train(self, resume_from_checkpoint=None, trial=None, *args, **options):
        folder = resume_from_checkpoint
        if folder is True:
            folder = get_last_checkpoint(self.args.output_dir)
        if folder:
            self._leat_load.state = _read(folder, STATE_FILE)
        if (folder or trial is not None) and self.leat_loader._place != self._leat_start:
            # train() was called before; each trial of a search sees the same batches
            self.leat_loader._alone(lambda: self.leat_loader._go_to(self._leat_start))
        # it counts what it skips, which _Resumed makes free
        self.args.ignore_data_skip = bool(folder) and self._leat_skips_too_much(folder)
        try:
            return super().train(resume_from_checkpoint, trial, *args, **options)
        finally:
            self._leat_load.state = None

    def _leat_skips_too_much(self, folder):
        """Returns True if the Trainer, which skips as many batches as it counts steps, leaves out some that were not
        trained on, as after a change of the ranks or of the batches. Without skipping, it takes all that are left."""
        loader, state = self.leat_loader, self._leat_load.state
        if not os.path.isfile(os.path.join(folder, TRAINER_STATE_NAME)):
            return False  # it counts none
        try:
            total = len(loader)
        except TypeError:  # without end, and so an epoch that ends with max_steps
            return False
        left = total
        if loader.plan.info.positions is not None:
            left = batches_in(len(loader.plan) - state["position"], loader.batch_size, loader.rank, loader.world,
                              loader._last, loader.balance)
        if loader._steps is not None:
            left = min(left, loader._steps - state.get("step", 0))
        accumulated = self.args.gradient_accumulation_steps
        steps = _read(folder, TRAINER_STATE_NAME)["global_step"] % max(-(-total // accumulated), 1)
        return (left if left > 0 else total) > total - steps * accumulated  # 0: a new pass begins

    def save_model(self, output_dir=None, _internal_call=False):
        super().save_model(output_dir, _internal_call)
        # a checkpoint; here because this knows its folder (that of a trial, too), and comes before it is uploaded
        if _internal_call and output_dir is not None and self.args.should_save:
            os.makedirs(output_dir, exist_ok=True)
            with open(os.path.join(output_dir, STATE_FILE), "w", encoding="utf-8", opener=own_file) as file:
                json.dump(self.leat_loader.state_dict(), file)
