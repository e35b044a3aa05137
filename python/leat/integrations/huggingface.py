"""huggingface.py: leat's loader in transformers' Trainer. (Accelerate needs nothing: accelerator.prepare() leaves a
leat.Loader as it is; give it rank=accelerator.process_index, world=accelerator.num_processes and
device=accelerator.device.)"""
from __future__ import annotations

import json
import os

from transformers import TrainerCallback

STATE_FILE = "leat_state.json"


class _SaveState(TrainerCallback):
    """Saves the loader's state with each checkpoint."""

    def __init__(self, loader):
        self.loader = loader

    def on_save(self, args, state, control, **more):
        if state.is_world_process_zero:
            path = os.path.join(args.output_dir, f"checkpoint-{state.global_step}", STATE_FILE)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self.loader.state_dict(), file)


class LoaderMixin:
    """For a Trainer that takes its batches from a leat.Loader with style="huggingface":

        class MyTrainer(LoaderMixin, transformers.Trainer):
            pass

        MyTrainer(model, args, loader=leat.Loader(plan, 8, style="huggingface"), eval_loader=...).train()

    loader       for training; if its plan has no end, set args.max_steps
    eval_loader  for evaluation: of a finite plan, with restart=True

    The loader's state is saved with each checkpoint (leat_state.json). train(resume_from_checkpoint=...) continues with
    the batch after the last one that was trained on, at any world size.
    """

    def __init__(self, *args, loader, eval_loader=None, **options):
        for given in (loader, eval_loader):
            if given is not None and getattr(given, "_style", None) != "huggingface":
                raise ValueError("the Trainer needs dicts with the models' names: leat.Loader(..., "
                                 "style=\"huggingface\")")
        self.leat_loader, self.leat_eval_loader = loader, eval_loader
        super().__init__(*args, **options)
        # the loader begins where the run stopped, so the Trainer must not skip batches to get there
        self.args.ignore_data_skip = True
        self.add_callback(_SaveState(loader))

    def get_train_dataloader(self):
        return self.leat_loader

    def get_eval_dataloader(self, eval_dataset=None):
        if self.leat_eval_loader is None or eval_dataset is not None:
            return super().get_eval_dataloader(eval_dataset)
        return self.leat_eval_loader

    def _load_from_checkpoint(self, resume_from_checkpoint, model=None):
        with open(os.path.join(resume_from_checkpoint, STATE_FILE), encoding="utf-8") as file:
            self.leat_loader.load_state_dict(json.load(file))
        return super()._load_from_checkpoint(resume_from_checkpoint, model)
