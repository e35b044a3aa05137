"""Lightning and transformers' Trainer with leat's batches: each trains on exactly the plan's batches, and
goes on after a checkpoint with the one that follows."""
import json
import shutil
import warnings

import pytest
import torch

import leat

warnings.filterwarnings("ignore", module="lightning|transformers|torch")
lightning = pytest.importorskip("lightning.pytorch")


def sums(plan, batch_size, count, position=0, unshifted=False):
    """A number that tells each batch: the sum of its inputs, which unshifted have the last label too."""
    loader = leat.Loader(plan, batch_size, position=position)
    batches = [next(loader) for _ in range(count)]
    return [int(b.inputs.sum()) + (int(b.labels[:, -1].sum()) if unshifted else 0) for b in batches]


class Model(lightning.LightningModule):
    """Remembers what it was trained and validated on."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.seen, self.validated = [], []

    def inputs(self, batch):
        """Those of a batch of any style."""
        return next(iter(batch.values())) if isinstance(batch, dict) else batch[0]

    def training_step(self, batch, batch_index):
        self.seen.append(int(self.inputs(batch).sum()))
        return self.weight ** 2

    def validation_step(self, batch, batch_index):
        self.validated.append(int(self.inputs(batch).sum()))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def trainer(folder, **options):
    return lightning.Trainer(accelerator="cpu", devices=1, logger=False, enable_progress_bar=False,
                             enable_model_summary=False, default_root_dir=folder, **options)


def test_lightning_takes_a_loader(corpus, tmp_path):
    plan = leat.Plan(corpus, 512, 5)
    model = Model()
    trainer(tmp_path, max_steps=12, enable_checkpointing=False).fit(model, leat.Loader(plan, 4, steps=5))
    assert model.seen == sums(plan, 4, 12)


@pytest.mark.parametrize("options, epochs, count", [({}, 1, 5), ({"steps": 3}, 2, 5), ({"restart": True}, 2, 10)])
def test_lightning_resumes_a_plan_with_an_end(corpus, tmp_path, options, epochs, count):
    """Lightning counts from the beginning of an epoch, but the loader's length was what was left: it stopped early.
    test_lightning.py has the same of a DataModule."""
    plan = leat.Plan(corpus, 512, 5, epochs=1)
    size = len(plan) // 5 + 1
    settings = {"max_epochs": epochs, "num_sanity_val_steps": 0}

    def fit(path=None, **more):
        model = Model()
        trainer(tmp_path, **settings, **more).fit(model, leat.Loader(plan, size, **options), ckpt_path=path,
                                                  weights_only=False)
        return model.seen

    save = lightning.callbacks.ModelCheckpoint(tmp_path, filename="{step}", every_n_train_steps=1, save_top_k=-1)
    whole = fit(callbacks=[save])
    assert len(whole) == count
    for step in range(1, count):
        if step == len(leat.Loader(plan, size, **options)):
            continue  # the end of an epoch, which only a DataModule can know that Lightning has counted
        assert fit(tmp_path / f"step={step}.ckpt", enable_checkpointing=False) == whole[step:], step


def state_after(tmp_path, model, data, precision, steps=5):
    """Of a checkpoint that is saved in the middle."""
    save = lightning.callbacks.ModelCheckpoint(tmp_path, filename="{step}", every_n_train_steps=steps, save_top_k=-1)
    trainer(tmp_path, max_steps=steps + 2, precision=precision, callbacks=[save]).fit(model, datamodule=data)
    saved = torch.load(tmp_path / f"step={steps}.ckpt", weights_only=False)
    return saved["loops"]["fit_loop"]["state_dict"]["combined_loader"][0]


@pytest.mark.parametrize("style", ["batch", "tuple", "dict", "huggingface"])
@pytest.mark.parametrize("precision", ["32-true", "bf16-true", "16-true"])
def test_lightning_saves_what_was_trained_on(corpus, tmp_path, style, precision):
    """The short precisions make new tuples and dicts; the saved state then stayed that of the beginning."""
    state = state_after(tmp_path, Model(), leat.DataModule(leat.Plan(corpus, 512, 5), 4, style=style), precision)
    assert state["position"] == 5 * 4


def test_lightning_says_that_batches_are_not_followed(corpus, tmp_path):
    class Data(leat.DataModule):
        def on_before_batch_transfer(self, batch, dataloader_idx):
            return batch

    with pytest.raises(RuntimeError, match="super"):
        state_after(tmp_path, Model(), Data(leat.Plan(corpus, 512, 5), 4), "32-true")


def test_lightning_validates(corpus, tmp_path):
    parts = dict(split="train=0.5,valid=0.5")
    train = leat.Plan(corpus, 512, 5, use="train", **parts)
    valid = leat.Plan(corpus, 512, 5, use="valid", epochs=1, **parts)
    model = Model()
    data = leat.DataModule(train, 4, steps=3, valid=valid, valid_batch_size=16)
    trainer(tmp_path, max_epochs=2, enable_checkpointing=False, num_sanity_val_steps=2).fit(model, datamodule=data)
    once = [int(b.inputs.sum()) for b in leat.Loader(valid, 16)]
    assert model.validated == once[:2] + once + once
    assert model.seen == sums(train, 4, 6)


def test_lightning_validates_on_several(corpus, tmp_path):
    class Several(Model):
        def validation_step(self, batch, batch_index, dataloader_idx=0):
            self.validated.append((list(self.trainer.datamodule.valid)[dataloader_idx], int(self.inputs(batch).sum())))

    plans = {"a": finite(corpus, 9), "b": finite(corpus, 5)}
    model = Several()
    data = leat.DataModule(leat.Plan(corpus, 64, 5), 4, steps=3, valid=plans)
    trainer(tmp_path, max_epochs=2, enable_checkpointing=False, num_sanity_val_steps=0).fit(model, datamodule=data)
    assert model.validated == 2 * [(name, n) for name, plan in plans.items()
                                   for n in sums(plan, 4, len(leat.Loader(plan, 4)))]
    with pytest.raises(ValueError, match="has no end"):
        leat.DataModule(data.plan, 4, valid={**plans, "c": data.plan})


def small_model():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=50257, n_positions=65, n_embd=8, n_layer=1, n_head=1, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))


def hf_trainer(loader, folder, max_steps, eval_loader=None, **more):
    transformers = pytest.importorskip("transformers")

    class Trainer(leat.LoaderMixin, transformers.Trainer):
        def training_step(self, model, inputs, *args, **options):
            self.seen.append(int(inputs["input_ids"].sum()))
            return super().training_step(model, inputs, *args, **options)

    Trainer.seen = []
    arguments = transformers.TrainingArguments(str(folder), **{
        "max_steps": max_steps, "save_steps": 3, "logging_steps": 1, "report_to": [], "use_cpu": True,
        "disable_tqdm": True, "gradient_accumulation_steps": 2, "learning_rate": 1e-2, "lr_scheduler_type": "constant",
        **more})
    return Trainer(small_model(), arguments, loader=loader, eval_loader=eval_loader)


def losses(trainer):
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_transformers(corpus, tmp_path):
    """Labels are unshifted: the model's loss is that of the next token; a resumed run has the same losses."""
    plan = leat.Plan(corpus, 64, 5)
    whole = hf_trainer(leat.Loader(plan, 4, style="huggingface", outputs=("inputs", "labels")), tmp_path, 7)
    whole.train()
    model = small_model()
    first = next(leat.Loader(plan, 4))
    second = next(leat.Loader(plan, 4, position=4))
    with torch.no_grad():
        want = [torch.nn.functional.cross_entropy(model(b.inputs).logits.flatten(0, 1), b.labels.flatten())
                for b in (first, second)]
    # of this class, the Trainer divides by all labels, the first of each row included, which no input predicts
    assert losses(whole)[0] == pytest.approx(float(sum(want)) / 2 * 64 / 65, abs=1e-4)
    state = json.loads((tmp_path / "checkpoint-3" / "leat_state.json").read_text())
    assert state["position"] == 3 * 2 * 4
    after = hf_trainer(leat.Loader(plan, 4, style="huggingface", outputs=("inputs", "labels")), tmp_path, 7)
    after.train(resume_from_checkpoint=str(tmp_path / "checkpoint-3"))
    assert losses(after)[-4:] == losses(whole)[-4:]


def finite(corpus, count, seed=5):
    """A plan of `count` samples."""
    plan = leat.Plan(corpus, 64, seed, epochs=1, skip=[(count, len(leat.Plan(corpus, 64, seed, epochs=1)))])
    assert len(plan) == count
    return plan


# options of the Loader, epochs, and batches to a step: 10 batches in an epoch (of 4, 4 and 2 with steps), which 5
# divides, and 4 does not
MIDDLES = [({}, 1, 4), ({"restart": True}, 2, 4), ({"restart": True}, 2, 5), ({"steps": 4}, 2, 3)]


@pytest.mark.parametrize("options, epochs, accumulated", MIDDLES)
def test_transformers_resumes_in_the_middle_of_an_epoch(corpus, tmp_path, options, epochs, accumulated):
    """The Trainer took the batches that were left for those of an epoch, and stopped before the end, or at once; or it
    counted the batches of the resumed epoch from 0, against the length of a whole one: the gradients of its last,
    partial step stayed over. At the end of an epoch, the loader still had to end the pass that the Trainer had counted.
    """
    plan = finite(corpus, 38)
    settings = {"num_train_epochs": epochs, "save_steps": 1, "gradient_accumulation_steps": accumulated, "optim": "sgd"}

    def run(folder=None, **more):
        made = hf_trainer(leat.Loader(plan, 4, style="huggingface", **options), tmp_path, -1, **{**settings, **more})
        made.train(resume_from_checkpoint=folder)
        weights = torch.cat([weight.detach().flatten() for weight in made.model.parameters()])
        return made.seen, losses(made), made.state.global_step, made.state.epoch, weights

    seen, loss, steps, epoch, weights = run()
    in_epoch = len(leat.Loader(plan, 4, **options))
    per_epoch = -(-in_epoch // accumulated)
    assert (len(seen), steps, epoch) == (in_epoch * epochs, per_epoch * epochs, epochs)
    for step in range(1, steps):
        trained = step // per_epoch * in_epoch + step % per_epoch * accumulated
        again = run(str(tmp_path / f"checkpoint-{step}"), save_strategy="no")
        assert again[:4] == (seen[trained:], loss, steps, epoch), step
        assert torch.equal(again[4], weights), step
    # the same Trainer, whose loader is at the end by now
    made = hf_trainer(leat.Loader(plan, 4, style="huggingface", **options), tmp_path, -1, **settings)
    for _ in range(2):
        made.seen.clear()
        made.train(resume_from_checkpoint=str(tmp_path / "checkpoint-1"))
        assert made.seen == seen[accumulated:]


@pytest.mark.parametrize("options", [{}, {"steps": 5}])
def test_transformers_resumes_with_other_batches(corpus, tmp_path, options):
    """At another number of ranks, say. The Trainer skips 3 batches of 5, as it was at step 3 of 19, but 4 are left."""
    plan = finite(corpus, 38)
    settings = {"num_train_epochs": 2, "save_steps": 3, "gradient_accumulation_steps": 1}
    hf_trainer(leat.Loader(plan, 2, style="huggingface"), tmp_path, 3, **settings).train()
    after = hf_trainer(leat.Loader(plan, 8, style="huggingface", restart=True, **options), tmp_path, -1, **settings)
    after.train(resume_from_checkpoint=str(tmp_path / "checkpoint-3"))
    left = sums(plan, 8, 4, 6, True) if not options else sums(plan, 8, 2, 6, True)
    assert after.seen == (left + sums(plan, 8, 5, 0, True))[:7]


def test_transformers_resumes_otherwise_loaded(corpus, tmp_path):
    """With DeepSpeed, the Trainer does not call _load_from_checkpoint(), where the loader's state was loaded."""
    plan = finite(corpus, 20)
    whole = hf_trainer(leat.Loader(plan, 4, style="huggingface"), tmp_path, 2, save_steps=1)
    whole.train()
    after = hf_trainer(leat.Loader(plan, 4, style="huggingface"), tmp_path, 2)
    after._load_from_checkpoint = lambda *args: None
    shutil.rmtree(tmp_path / "checkpoint-2")
    after.train(resume_from_checkpoint=True)
    assert after.seen == whole.seen[2:4]


def test_transformers_saves_where_the_trainer_does(corpus, tmp_path):
    """The state of a trial of a hyperparameter search went to the folder above the trial's. With save_on_each_node, the
    first process of each node saves."""
    plan = finite(corpus, 20)
    trial = hf_trainer(leat.Loader(plan, 4, style="huggingface"), tmp_path, 1, save_steps=1)
    trial._get_output_dir = lambda trial: str(tmp_path / "run-0")
    trial.train()
    assert [p.parent.parent.name for p in tmp_path.rglob("leat_state.json")] == ["run-0"]
    node = hf_trainer(leat.Loader(plan, 4, style="huggingface"), tmp_path / "node", 1, save_steps=1)
    for saves in (False, True):
        type(node.args).should_save, saved = saves, type(node.args).should_save
        try:
            node.save_model(str(tmp_path / "node" / str(saves)), _internal_call=True)
        finally:
            type(node.args).should_save = saved
        assert (tmp_path / "node" / str(saves) / "leat_state.json").exists() == saves


@pytest.mark.parametrize("restart", [True, False])
def test_transformers_evaluates(corpus, tmp_path, restart):
    """Without restart=True, the second evaluation had no batches, and no loss."""
    plan = leat.Plan(corpus, 64, 5)
    valid = finite(corpus, 9)
    loaders = [leat.Loader(plan, 4, style="huggingface"),
               leat.Loader(valid, 4, style="huggingface", restart=restart)]
    trainer = hf_trainer(loaders[0], tmp_path, 1, loaders[1])
    first, second = trainer.evaluate()["eval_loss"], trainer.evaluate()["eval_loss"]
    assert first == second
    predicted = trainer.predict(leat.Loader(valid, 4, style="huggingface"))  # was taken for a dataset
    assert len(predicted.predictions) == 9 and predicted.metrics["test_loss"] == first
    some = leat.Loader(plan, 4, style="huggingface", steps=2)
    assert trainer.evaluate(some)["eval_loss"] == trainer.evaluate(some)["eval_loss"]
    with pytest.raises(ValueError, match="has no end"):  # went on for ever
        trainer.evaluate(leat.Loader(plan, 4, style="huggingface"))
    with pytest.raises(ValueError, match="has no end"):
        hf_trainer(loaders[0], tmp_path, 1, {"a": loaders[1], "b": leat.Loader(plan, 4, style="huggingface")})
    with pytest.raises(ValueError, match="huggingface"):
        hf_trainer(leat.Loader(plan, 4), tmp_path, 1)


def mean_loss(model, plan, batch_size):
    """Over all labels of a plan; documents see each other."""
    total = count = 0
    with torch.no_grad():
        for batch in leat.Loader(plan, batch_size):
            logits, labels = model(batch.inputs).logits.flatten(0, 1), batch.labels.flatten()
            total += float(torch.nn.functional.cross_entropy(logits, labels, reduction="sum"))
            count += labels.numel()
    return total / count


@pytest.mark.parametrize("several", [False, True])
def test_transformers_evaluates_while_it_trains(corpus, tmp_path, several):
    """The Trainer refused to, for want of an eval_dataset, and with one took that instead of the loader. The last
    batch, of fewer rows, counts as much as its rows."""
    plan = leat.Plan(corpus, 64, 5)
    plans = {"a": finite(corpus, 9), "b": finite(corpus, 5, seed=6)}
    loaders = {name: leat.Loader(p, 4, style="huggingface", outputs=("inputs", "labels"), restart=True)
               for name, p in plans.items()}
    trainer = hf_trainer(leat.Loader(plan, 4, style="huggingface"), tmp_path, 4,
                         loaders if several else loaders["a"], eval_strategy="steps", eval_steps=2)
    trainer.train()
    names = {"eval_a_loss": "a", "eval_b_loss": "b"} if several else {"eval_loss": "a"}
    seen = {key: [entry[key] for entry in trainer.state.log_history if key in entry] for key in names}
    again = trainer.evaluate()
    for key, name in names.items():
        assert len(seen[key]) == 2 and seen[key][1] == again[key]
        assert again[key] == pytest.approx(mean_loss(trainer.model, plans[name], 4), rel=1e-5)
    assert trainer.evaluate(loaders["b"])["eval_loss"] == pytest.approx(mean_loss(trainer.model, plans["b"], 4), 1e-5)
    given = [{"input_ids": row, "labels": row} for row in next(leat.Loader(plan, 4)).inputs]
    assert trainer.evaluate(given)["eval_loss"] > 0  # a dataset of one's own, by the Trainer's own ways
    with pytest.raises(TypeError, match="exclude each other"):
        type(trainer)(small_model(), trainer.args, loader=loaders["a"], eval_loader=loaders["a"], eval_dataset=given)
