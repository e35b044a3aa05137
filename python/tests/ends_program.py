"""ends_program.py KIND CORPUS OUT SAMPLES RANKS BATCH: a training program of several processes that trains to the end
of a plan of SAMPLES samples, with a collective in each step, and then takes the mean loss over the plan (test_ends.py).
Each process writes to OUT.RANK, as JSON: the length that it was told, the batches that it got, the rows among them that
count, and the mean loss."""
import json
import os
import sys
import warnings

import torch
import torch.distributed as dist
import torch.nn.functional as F

import leat

warnings.filterwarnings("ignore")
LENGTH, WIDTH, VOCABULARY = 16, 4, 50257


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.out = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, inputs, labels):
        """The sum of the losses of the labels that count."""
        return F.cross_entropy(self.out(self.tokens(inputs)).flatten(0, 1), labels.flatten(), reduction="sum")


def counted(labels):
    return int((labels != -100).sum())


def say(rank, **facts):
    with open(f"{OUT}.{rank}", "w", encoding="ascii") as file:
        json.dump(facts, file)


def where():
    return dict(ranks="ddp") if RANKS > 1 else dict(rank=0, world=1)


def own_loop(make):
    """With torch's DistributedDataParallel, which averages the ranks' gradients."""
    rank = int(os.environ.get("RANK", "0"))
    if RANKS > 1:
        dist.init_process_group("gloo")
    model = Model()
    learning = torch.nn.parallel.DistributedDataParallel(model) if RANKS > 1 else model
    optimizer = torch.optim.SGD(model.parameters(), 1)
    batches = rows = 0
    for batch in make():
        labels = torch.tensor(counted(batch["labels"]))
        batches, rows = batches + 1, rows + int(labels) // LENGTH
        if RANKS > 1:
            dist.all_reduce(labels)
        (learning(batch["inputs"], batch["labels"]) * RANKS / labels).backward()
        optimizer.step()
        optimizer.zero_grad()
    sums = torch.zeros(2, dtype=torch.float64)
    with torch.no_grad():
        for batch in make():
            sums += torch.tensor([float(model(batch["inputs"], batch["labels"])), counted(batch["labels"])])
    if RANKS > 1:
        dist.all_reduce(sums)
    say(rank, length=len(make()), batches=batches, rows=rows, loss=float(sums[0] / sums[1]))


def loader(plan):
    own_loop(lambda: leat.Loader(plan, BATCH, **where()))


def dataset(plan):
    own_loop(lambda: torch.utils.data.DataLoader(leat.IterableDataset(plan, BATCH, **where()), batch_size=None,
                                                 num_workers=2))


def lightning(plan):
    import lightning.pytorch as pl
    import torchmetrics

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model, self.batches, self.rows, self.mean = Model(), 0, 0, torchmetrics.MeanMetric()

        def training_step(self, batch, index):
            self.batches, self.rows = self.batches + 1, self.rows + batch.real_rows
            return self.model(batch.inputs, batch.labels) * RANKS / (LENGTH * (batch.cursor - batch.position))

        def validation_step(self, batch, index):
            count = counted(batch.labels)
            self.mean.update(self.model(batch.inputs, batch.labels) / max(count, 1), count)
            self.log("val_loss", self.mean)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 1)

    trainer = pl.Trainer(accelerator="cpu", devices=RANKS, strategy="ddp" if RANKS > 1 else "auto", logger=False,
                         max_epochs=1, enable_checkpointing=False, enable_progress_bar=False,
                         enable_model_summary=False, num_sanity_val_steps=0)
    module = Module()
    trainer.fit(module, datamodule=leat.DataModule(plan, BATCH, valid=plan))
    say(trainer.global_rank, length=trainer.num_training_batches, batches=module.batches, rows=module.rows,
        loss=float(trainer.callback_metrics["val_loss"]))


def transformers(plan):
    import transformers as hf

    class Trainer(leat.LoaderMixin, hf.Trainer):
        batches = rows = 0

        def training_step(self, model, inputs, *more):
            self.batches, self.rows = self.batches + 1, self.rows + counted(inputs["labels"][:, 1:]) // LENGTH
            return super().training_step(model, inputs, *more)

    arguments = hf.TrainingArguments(f"{OUT}.run", num_train_epochs=1, report_to=[], use_cpu=True, disable_tqdm=True,
                                     save_strategy="no", eval_strategy="epoch", per_device_train_batch_size=BATCH,
                                     per_device_eval_batch_size=BATCH, learning_rate=0.1)
    model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=VOCABULARY, n_positions=LENGTH + 1, n_embd=8, n_layer=1,
                                             n_head=1, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))
    train, valid = (leat.Loader(plan, BATCH, style="huggingface", outputs=("inputs", "labels"), restart=True, **where())
                    for _ in range(2))
    trainer = Trainer(model, arguments, loader=train, eval_loader=valid)
    trainer.train()
    loss, = (entry["eval_loss"] for entry in trainer.state.log_history if "eval_loss" in entry)
    assert trainer.evaluate()["eval_loss"] == loss
    say(int(os.environ.get("RANK", "0")), length=len(train), batches=trainer.batches, rows=trainer.rows, loss=loss)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    every = len(leat.Plan(CORPUS, LENGTH, 5, epochs=1))
    globals()[KIND](leat.Plan(CORPUS, LENGTH, 5, epochs=1, skip=[(SAMPLES, every)]))
    if dist.is_initialized(): # else gloo's threads, at the end, may end the process with SIGABRT
        dist.destroy_process_group()


if __name__ == "__main__":
    KIND, CORPUS, OUT = sys.argv[1:4]
    SAMPLES, RANKS, BATCH = map(int, sys.argv[4:])
    main()
