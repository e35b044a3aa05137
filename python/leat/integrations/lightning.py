"""lightning.py: a LightningDataModule over leat's loader."""
from __future__ import annotations

from collections import deque

try:
    from lightning.pytorch import LightningDataModule
except ImportError:
    from pytorch_lightning import LightningDataModule  # type: ignore[assignment,no-redef]

from leat._values import check_plan
from leat.loader import Loader, check_options


class _Followed:
    """A loader whose state is the one after the last batch that was trained on. Lightning takes one batch ahead of that
    if a loader has no length, so the loader's own state would be one batch too far. Batches are counted, not
    recognised: plugins and hooks make new ones of them."""

    def __init__(self, loader):
        self.loader = loader
        self._ahead = deque()  # the cursors after batches that were taken, but not trained on yet
        self._after = loader.cursor

    def __iter__(self):
        iter(self.loader)
        self._start()
        return self

    def __next__(self):
        batch = next(self.loader)
        self._ahead.append(self.loader.cursor)
        return batch

    def __len__(self):
        return len(self.loader)

    def _start(self):
        self._ahead.clear()
        self._after = self.loader.cursor

    def trained(self):
        """Notes that the next batch is being trained on."""
        if self._ahead:
            self._after = self._ahead.popleft()

    def state_dict(self):
        if len(self._ahead) > 2:  # one that Lightning takes ahead, and one on its way to the training
            raise RuntimeError("leat.DataModule does not know which batches were trained on, because Lightning does "
                               "not call its on_before_batch_transfer(): call super() where a subclass overrides it, "
                               "and take a batch, not dataloader_iter, in training_step()")
        return self.loader.state_dict(after=self._after)

    def load_state_dict(self, state):
        self.loader.load_state_dict(state)
        self.loader._leave_finished_pass()  # Lightning begins the next epoch
        self._start()


class DataModule(LightningDataModule):
    """Batches of a plan for a Lightning Trainer, with exact checkpoints: a resumed run continues with the batch after
    the last one it trained on.

    plan, batch_size  as in leat.Loader; batch_size is per rank
    valid             a finite plan for validation; every validation starts it again
    valid_batch_size  None: batch_size
    steps             batches per epoch; None: to the plan's end
    options           further options of leat.Loader. Rank and world are those that the strategy gives Lightning's own
                      samplers, unless rank, world, mesh or parallel are given here

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
        if valid is not None and check_plan(valid).info.positions is None:
            raise ValueError("the plan for validation has no end: use leat.Plan(..., epochs=1)")
        self.plan, self.batch_size = check_plan(plan), batch_size
        self.valid, self.valid_batch_size = valid, valid_batch_size or batch_size
        self.steps, self.options = steps, options
        self._train = None

    def _ranks(self):
        if any(name in self.options for name in ("rank", "world", "mesh", "parallel")):
            return {}
        given = getattr(getattr(self.trainer, "strategy", None), "distributed_sampler_kwargs", None)
        if given is None:
            return {"rank": 0, "world": 1} if self.trainer is not None and self.trainer.world_size == 1 else {}
        return {"rank": given["rank"], "world": given["num_replicas"]}

    def train_dataloader(self):
        self._train = _Followed(Loader(self.plan, self.batch_size, steps=self.steps, **self._ranks(), **self.options))
        return self._train

    def val_dataloader(self):
        if self.valid is None:
            return []
        options = {**self.options, "position": 0, "state": None}
        return Loader(self.valid, self.valid_batch_size, restart=True, **self._ranks(), **options)

    def on_before_batch_transfer(self, batch, dataloader_idx):
        if self._train is not None and self.trainer is not None and self.trainer.training:
            self._train.trained()
        return batch

    def teardown(self, stage):
        if self._train is not None:
            self._train.loader.close()
            self._train = None
