"""leat.DataModule in every way in which Lightning asks for its loader: whatever checkpoint a run goes on from, it
trains on exactly the batches that a run without a stop trains on."""
import pickle

import pytest
import torch
from test_trainers import Model, finite, lightning, sums, trainer

import leat


class Saves(lightning.callbacks.ModelCheckpoint):
    """Several of these can be in one Trainer, also if they save equally often."""

    @property
    def state_key(self):
        return self.filename


def saves(folder, at_validation):
    """All checkpoints that Lightning can write by itself: in the middle, after an epoch, and after a validation."""
    found = [Saves(folder, filename="{step}-{epoch}", every_n_train_steps=3, save_top_k=-1),
             Saves(folder, filename="end-{step}-{epoch}", every_n_epochs=1, save_on_train_epoch_end=True,
                   save_top_k=-1)]
    if at_validation:
        found.append(Saves(folder, filename="valid-{step}-{epoch}", every_n_epochs=1, save_on_train_epoch_end=False,
                           save_top_k=-1))
    return found


# samples of the plan (None: no end), options of the DataModule and of the Trainer, batches of 4 in all
RUNS = {
    "endless": (None, {}, {"max_steps": 9}, 9),
    "epochs": (None, {"steps": 5}, {"max_epochs": 3}, 15),
    "epochs, max_steps": (None, {"steps": 5}, {"max_steps": 12}, 12),
    "epochs, validated within": (None, {"steps": 5}, {"max_epochs": 2, "val_check_interval": 2}, 10),
    "accumulated": (None, {"steps": 5}, {"max_epochs": 3, "accumulate_grad_batches": 2}, 15),
    "limited": (None, {}, {"max_epochs": 3, "limit_train_batches": 5}, 15),
    "limited, max_steps": (None, {}, {"max_steps": 12, "limit_train_batches": 5}, 12),
    "limited below steps": (None, {"steps": 5}, {"max_epochs": 3, "limit_train_batches": 4}, 12),
    "limited above steps": (None, {"steps": 3}, {"max_epochs": 3, "limit_train_batches": 4}, 9),
    "reloaded": (None, {"steps": 5}, {"max_epochs": 3, "reload_dataloaders_every_n_epochs": 1}, 15),
    "limited, reloaded": (None, {}, {"max_epochs": 4, "limit_train_batches": 5, "reload_dataloaders_every_n_epochs": 2},
                          20),
    "with an end": (38, {"restart": True}, {"max_epochs": 2}, 20),
    "with an end, reloaded": (38, {"restart": True}, {"max_epochs": 2, "reload_dataloaders_every_n_epochs": 1}, 20),
    "with an end, limited": (38, {"restart": True}, {"max_epochs": 3, "limit_train_batches": 4}, 12),
    "with an end, limited, max_steps": (38, {"restart": True}, {"max_steps": 10, "limit_train_batches": 4}, 10),
    "with an end, in steps": (38, {"steps": 4}, {"max_epochs": 3}, 10),
}


@pytest.mark.parametrize("validated", [False, True])
@pytest.mark.parametrize("run", RUNS)
def test_every_checkpoint_resumes(corpus, tmp_path, run, validated):
    """A checkpoint from the end of an epoch began the plan again, where Lightning had only epochs to count. An epoch
    after one that limit_train_batches cut short had only the batches that were cut off. A loader that Lightning asked
    for anew began the plan again."""
    samples, options, settings, count = RUNS[run]
    plan = leat.Plan(corpus, 64, 5) if samples is None else finite(corpus, samples)
    if validated:
        options = {**options, "valid": finite(corpus, 9, 6), "valid_batch_size": 3}

    def fit(path=None, **more):
        model = Model()
        trainer(tmp_path, **settings, **more).fit(model, datamodule=leat.DataModule(plan, 4, **options),
                                                  ckpt_path=path, weights_only=False)
        return model.seen

    whole = fit(callbacks=saves(tmp_path, validated))
    assert len(whole) == count
    if not options.get("restart"):
        assert whole == sums(plan, 4, count)
    paths = sorted(tmp_path.glob("*.ckpt"))
    assert len(paths) > 2
    for path in paths:
        saved = torch.load(path, weights_only=False)["loops"]["fit_loop"]["epoch_loop.batch_progress"]
        trained = saved["total"]["ready"]
        assert fit(path, enable_checkpointing=False) == whole[trained:], path.name


@pytest.mark.parametrize("run", ["endless", "epochs"])
@pytest.mark.parametrize("trained", [0, 3, 5])
def test_a_step_that_fails_comes_again(corpus, tmp_path, run, trained):
    """A checkpoint that was written when a step failed, or within it, was one after the step's batch: no run trained on
    that batch. Lightning does not count it."""
    _, options, settings, count = RUNS[run]
    plan = leat.Plan(corpus, 64, 5)

    class Fails(Model):
        def training_step(self, batch, batch_index):
            if len(self.seen) == trained:
                self.trainer.save_checkpoint(tmp_path / "within.ckpt")
                raise MemoryError
            return super().training_step(batch, batch_index)

    def fit(model, path=None, **more):
        trainer(tmp_path, **settings, **more).fit(model, datamodule=leat.DataModule(plan, 4, **options),
                                                  ckpt_path=path, weights_only=False)
        return model.seen

    failed = Fails()
    with pytest.raises(MemoryError):
        fit(failed, callbacks=[lightning.callbacks.OnExceptionCheckpoint(tmp_path, "failed")])
    assert len(failed.seen) == trained
    for name in ("failed", "within"):
        again = fit(Model(), tmp_path / f"{name}.ckpt", enable_checkpointing=False)
        assert failed.seen + again == sums(plan, 4, count), name


@pytest.mark.parametrize("options", [{}, {"steps": 5}])
def test_a_second_fit_goes_on(corpus, tmp_path, options):
    """As the Trainer's own counters do, unless it is given a checkpoint. It began the plan again. Another Trainer
    counts from 0, and so begins the plan."""
    plan, data = leat.Plan(corpus, 64, 5), {}

    def fit(t, path=None):
        model = Model()
        t.fit(model, datamodule=data["module"], ckpt_path=path, weights_only=False)
        return model.seen

    data["module"] = leat.DataModule(plan, 4, **options)
    first = trainer(tmp_path, max_steps=8, enable_checkpointing=False)
    seen = fit(first)
    first.save_checkpoint(tmp_path / "8.ckpt")
    first.fit_loop.epoch_loop.max_steps = 11
    seen += fit(first)
    data["module"].valid = finite(corpus, 9)
    first.validate(Model(), datamodule=data["module"], ckpt_path=tmp_path / "8.ckpt", weights_only=False)
    first.fit_loop.epoch_loop.max_steps = 14
    seen += fit(first)
    assert seen == sums(plan, 4, 14)
    first.fit_loop.epoch_loop.max_steps = 16
    assert fit(first, tmp_path / "8.ckpt") == sums(plan, 4, 16)[8:]
    second = trainer(tmp_path, max_steps=3, enable_checkpointing=False)
    assert fit(second) == sums(plan, 4, 3)
    third = trainer(tmp_path, max_steps=10, enable_checkpointing=False)
    assert fit(third, tmp_path / "8.ckpt") == sums(plan, 4, 10)[8:]


def test_a_state_that_is_loaded_by_hand(corpus, tmp_path):
    """For a run that takes no more than the place in the data from another one."""
    plan = leat.Plan(corpus, 64, 5)
    before, after = leat.DataModule(plan, 4), leat.DataModule(plan, 4)
    trainer(tmp_path, max_steps=3, enable_checkpointing=False).fit(Model(), datamodule=before)
    after.load_state_dict(before.state_dict())
    model = Model()
    trainer(tmp_path, max_steps=3, enable_checkpointing=False).fit(model, datamodule=after)
    assert model.seen == sums(plan, 4, 6)[3:]


def test_goes_to_spawned_processes(corpus, tmp_path):
    """After a fit(), it could not be pickled for a Trainer with ddp_spawn, because of its loader."""
    plan = leat.Plan(corpus, 64, 5)

    def fit(data):
        model = Model()
        trainer(tmp_path, max_steps=3, enable_checkpointing=False).fit(model, datamodule=data)
        return model.seen

    data, loaded = leat.DataModule(plan, 4), leat.DataModule(plan, 4)
    assert fit(data) == sums(plan, 4, 3)
    loaded.load_state_dict(data.state_dict())
    assert fit(pickle.loads(pickle.dumps(data))) == sums(plan, 4, 3)
    assert fit(pickle.loads(pickle.dumps(loaded))) == sums(plan, 4, 6)[3:]


def test_checkpoints_of_before(corpus, tmp_path):
    """They have the loader's state only where Lightning keeps it, which it loads itself in the middle of an epoch."""
    plan = leat.Plan(corpus, 64, 5)
    trainer(tmp_path, max_steps=8, callbacks=saves(tmp_path, False)).fit(Model(), datamodule=leat.DataModule(plan, 4))
    saved = torch.load(tmp_path / "step=6-epoch=0.ckpt", weights_only=False)
    del saved["DataModule"]
    torch.save(saved, tmp_path / "before.ckpt")
    model = Model()
    trainer(tmp_path, max_steps=8, enable_checkpointing=False).fit(
        model, datamodule=leat.DataModule(plan, 4), ckpt_path=tmp_path / "before.ckpt", weights_only=False)
    assert model.seen == sums(plan, 4, 8)[6:]


class Asks(Model):
    """Has Lightning ask for the loader before it loads the state of the loops, as schedules of the learning rate do."""

    def configure_optimizers(self):
        assert self.trainer.estimated_stepping_batches > 0
        return super().configure_optimizers()


class Late(lightning.strategies.SingleDeviceStrategy):
    """Loads checkpoints where strategies for sharded models do."""

    @property
    def restore_checkpoint_after_setup(self):
        return True


@pytest.mark.parametrize("strategy", ["auto", "late"])
def test_resumes_where_lightning_asked_early(corpus, tmp_path, strategy):
    """Lightning did not load the loader's state then."""
    plan = leat.Plan(corpus, 64, 5)

    def fit(path=None, **more):
        model = Asks()
        t = trainer(tmp_path, max_epochs=3, strategy=Late("cpu") if strategy == "late" else "auto", **more)
        t.fit(model, datamodule=leat.DataModule(plan, 4, steps=5), ckpt_path=path,
              **({} if strategy == "late" else {"weights_only": False}))
        return model.seen

    whole = fit(callbacks=saves(tmp_path, False))
    assert whole == sums(plan, 4, 15)
    for path in tmp_path.glob("*.ckpt"):
        saved = torch.load(path, weights_only=False)["loops"]["fit_loop"]["epoch_loop.batch_progress"]
        assert fit(path, enable_checkpointing=False) == whole[saved["total"]["ready"]:], path.name


def test_a_search_for_the_learning_rate(corpus, tmp_path):
    """It trains on some batches, and goes back to a checkpoint from before the first."""
    class Tuned(Model):
        lr = 0.1

        def training_step(self, batch, batch_index):
            super().training_step(batch, batch_index)
            return (self.weight - 1) ** 2

    plan = leat.Plan(corpus, 64, 5)
    data, model = leat.DataModule(plan, 4), Tuned()
    t = trainer(tmp_path, max_steps=4, enable_checkpointing=False)
    lightning.tuner.Tuner(t).lr_find(model, datamodule=data, num_training=12)
    model.seen.clear()
    t.fit(model, datamodule=data)
    assert model.seen == sums(plan, 4, 4)


def test_loaders_that_are_replaced_are_closed(corpus, tmp_path):
    made = []

    class Data(leat.DataModule):
        def train_dataloader(self):
            made.append(super().train_dataloader())
            return made[-1]

    t = trainer(tmp_path, max_epochs=3, reload_dataloaders_every_n_epochs=1, enable_checkpointing=False)
    t.fit(Model(), datamodule=Data(leat.Plan(corpus, 64, 5), 4, steps=2))
    assert len(made) == 3 and all("closed" in repr(one.loader) for one in made)


def test_overfits(corpus, tmp_path):
    """Lightning trains on the same few batches in every epoch then."""
    plan, model = leat.Plan(corpus, 64, 5), Model()
    t = trainer(tmp_path, max_epochs=3, overfit_batches=3, enable_checkpointing=False)
    t.fit(model, datamodule=leat.DataModule(plan, 4))
    assert model.seen == sums(plan, 4, 3) * 3
