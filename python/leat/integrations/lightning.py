"""lightning.py: a LightningDataModule (Lightning 2.6) over leat's loader."""
from __future__ import annotations

from collections import deque

try:
    from lightning.pytorch import LightningDataModule
except ImportError:
    from pytorch_lightning import LightningDataModule  # type: ignore[assignment,no-redef]

from leat._values import check_plan, entry
from leat.loader import Loader, check_options


class _Followed:
    """A loader whose state is that after the last batch that was trained on. Lightning takes one batch ahead if a
    loader has no length, so the loader's own state would be a batch too far. It counts batches, because plugins and
    hooks replace them by others."""

    def __init__(self, loader, trainer):
        self.loader, self._trainer = loader, trainer
        self._ahead = deque()  # cursors after batches that were taken, but not trained on yet
        self._before = self._after = loader.cursor  # cursors before and after the last batch in training
        self._begun = None  # Lightning's count of trained batches before that batch
        self._count = None  # Lightning's count of batches at the start of the pass

    def __iter__(self):
        count = None if self._trainer is None else self._trainer.fit_loop.total_batch_idx
        if self._ahead and count is not None and count == self._count:
            # a second fit() begins twice, the first time with a batch that it does not use
            self.load_state_dict(self.state_dict())
        iter(self.loader)
        self._start()
        self._count = count
        return self

    def __next__(self):
        if self.loader._place.resumes and self._trainer is not None:
            self._follow_epoch()
        batch = next(self.loader)
        self._ahead.append(self.loader.cursor)
        return batch

    def __len__(self):
        return len(self.loader)

    def _start(self):
        self._ahead.clear()
        self._before = self._after = self.loader.cursor
        self._begun = None

    def _trained(self):
        return None if self._trainer is None else self._trainer.fit_loop.epoch_loop.batch_progress.total.processed

    def _follow_epoch(self):
        """Begins or ends a pass with Lightning's epoch, after a state was loaded. Only Lightning knows if it has
        counted an epoch that was saved at its end, and limit_train_batches ends an epoch before the loader does."""
        trained = self._trainer.fit_loop.epoch_loop.batch_progress.current.ready
        if trained == 0:
            self.loader._next_pass()
        elif trained >= self._trainer.num_training_batches:
            raise StopIteration  # With max_steps, Lightning asks once more before it ends such an epoch.

    def trained(self):
        """Notes that the next batch is being trained on."""
        if self._ahead:
            self._before, self._after = self._after, self._ahead.popleft()
            self._begun = self._trained()

    def state_dict(self):
        if len(self._ahead) > 2:  # one batch that Lightning takes ahead, and one on its way to training
            raise RuntimeError("leat.DataModule does not know which batches were trained on, because Lightning does "
                               "not call its on_before_batch_transfer(): call super() where a subclass overrides it, "
                               "and take a batch, not dataloader_iter, in training_step()")
        # Lightning does not count a batch whose step failed or is not done, so the batch comes again
        within = self._begun is not None and self._begun == self._trained()
        return self.loader.state_dict(after=self._before if within else self._after)

    def load_state_dict(self, state):
        self.loader.load_state_dict(state)
        self._start()


class DataModule(LightningDataModule):
    """Batches of a plan for a Lightning Trainer, with exact checkpoints: a resumed run continues with the batch after
    the last one it trained on.

    plan, batch_size  as in leat.Loader; batch_size is per rank
    valid             a finite plan for validation; every validation starts it again. Or a dict of several by name, of
                      which validation_step(batch, batch_idx, dataloader_idx) gets one after the other:
                      list(self.trainer.datamodule.valid)[dataloader_idx] is the name
    valid_batch_size  None: batch_size
    steps             batches per epoch; None: to the plan's end
    options           further options of leat.Loader. Rank and world are those that the strategy gives Lightning's own
                      samplers, unless rank and world, or ranks, are given here

    A second fit() with the same Trainer goes on with the batch after the last one it trained on, in a new epoch;
    another Trainer begins the plan; fit(ckpt_path=...) continues from the checkpoint. (With both max_epochs and
    max_steps, Lightning 2.6 counts an epoch twice if it resumes from its end, whatever the data.) With overfit_batches,
    every epoch has the first batches of the plan.

    With several ranks the last batches of a plan that ends are padded, so that ranks stay in step (`last` of
    leat.Loader). A mean over batches and ranks weighs each batch by its labels that count. A rank can have none, and
    the mean over no labels is NaN. (Not batch_size= and sync_dist=True of self.log(): Lightning 2.6 rounds the mean of
    the ranks' batch sizes down.)

        self.val_loss = torchmetrics.MeanMetric()  # in __init__

        def validation_step(self, batch, index):
            count = int((batch.labels != -100).sum())
            loss = cross_entropy(..., reduction="sum") / max(count, 1)
            self.val_loss.update(loss, count)
            self.log("val_loss", self.val_loss)
    """

    def __init__(self, plan, batch_size, *, valid=None, valid_batch_size=None, steps=None, **options):
        super().__init__()
        check_options(options)
        for given in () if valid is None else valid.values() if isinstance(valid, dict) else (valid,):
            if check_plan(given).info.positions is None:
                raise ValueError("the plan for validation has no end: use leat.Plan(..., epochs=1)")
        self.plan, self.batch_size = check_plan(plan), batch_size
        self.valid, self.valid_batch_size = valid, valid_batch_size or batch_size
        self.steps, self.options = steps, options
        # loader of the training, the trainer that it belongs to, and the state that it begins with
        self._train = self._of = self._state = None

    def __getstate__(self):
        """Leaves out the loader and the Trainer, which holds one, for spawned processes: loaders cannot be pickled, and
        another Trainer needs neither."""
        given = self._state if self._of is None else None  # a state of load_state_dict() stays
        return {**self.__dict__, "trainer": None, "_train": None, "_of": None, "_state": given}

    def change(self, plan, *, group=None):
        """Continues with another plan, as Loader.change() does, after the last batch that Lightning took, which may be
        one ahead of the batch it trains on."""
        if self._train is not None:
            self._train.loader.change(plan, group=group)
        self.plan = check_plan(plan)

    def _ranks(self):
        if any(name in self.options for name in ("rank", "world", "ranks")):
            return {}
        given = getattr(getattr(self.trainer, "strategy", None), "distributed_sampler_kwargs", None)
        if given is None:
            return {"rank": 0, "world": 1} if self.trainer is not None and self.trainer.world_size == 1 else {}
        return {"rank": given["rank"], "world": given["num_replicas"]}

    def _loader(self):
        options = dict(self.options)
        if self._state is not None:
            options["state"] = self._state
        if self.trainer is not None and self.trainer.overfit_batches:
            options["restart"] = True  # gives every epoch equal batches
        return Loader(self.plan, self.batch_size, steps=self.steps, **self._ranks(), **options)

    def _know_trainer(self):
        """Begins the plan again for another Trainer, which also counts from 0."""
        if self._of is not None and self._of is not self.trainer:
            self._train = self._state = None
        self._of = self.trainer

    def train_dataloader(self):
        """Returns the loader. Lightning asks for it in each fit(), and in each epoch with
        reload_dataloaders_every_n_epochs."""
        self._know_trainer()
        if self._train is not None:
            self._state = self._train.state_dict()
            self._train.loader.close()
        self._train = _Followed(self._loader(), self.trainer)
        return self._train

    def state_dict(self):
        """Returns the state, which Lightning saves and loads with each checkpoint. Lightning also saves the loader's
        own state, but loads it only into an unfinished epoch, and not if it asked for the loader before."""
        self._know_trainer()
        if self._train is not None:
            return {"train": self._train.state_dict()}
        if self._state is None:  # a checkpoint from before the training, as lr_find() loads it
            with self._loader() as loader:
                self._state = loader.state_dict()
        return {"train": self._state}

    def load_state_dict(self, state):
        if self.trainer is not None and self.trainer.state.fn != "fit":
            return  # validate() and test() use only the weights of a checkpoint
        self._know_trainer()
        self._state = entry(state, "train")
        if self._train is not None:
            self._train.load_state_dict(self._state)

    def val_dataloader(self):
        if self.valid is None:
            return []
        options = {**self.options, "position": 0, "state": None, "restart": True}

        def loader(plan):
            return Loader(plan, self.valid_batch_size, **self._ranks(), **options)

        if isinstance(self.valid, dict):
            return {name: loader(plan) for name, plan in self.valid.items()}
        return loader(self.valid)

    def on_before_batch_transfer(self, batch, dataloader_idx):
        if self._train is not None and self.trainer is not None and self.trainer.training:
            self._train.trained()
        return batch

    def teardown(self, stage):
        if self._train is not None:
            self._train.loader.close()  # its state can still be asked for
