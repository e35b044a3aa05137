"""check_loops.py NAME: lightning, fabric, accelerate, deepspeed or ray-train, by the lines of its page: two processes
train 20 steps and evaluate to the end of a set of rows that does not divide evenly; one process goes on to 30 from the
checkpoint. Every row is compared with the token file."""
import json
import os
import pathlib
import subprocess
import sys

import common

import leat

LENGTH, GLOBAL, STOP, STEPS = 64, 4, 20, 30
PAGES = {"fabric": "lightning"}  # of two trainers
MODULES = {"fabric": "lightning", "ray-train": "ray"}


class Notes:
    """What one process trained on, and evaluated: a line for each batch."""

    def __init__(self, out, rank):
        self.file = open(f"{out}.{rank}", "a", encoding="ascii")

    def __call__(self, what, batch):
        self.file.write(json.dumps([what, batch.inputs.tolist(), batch.labels.tolist()]) + "\n")
        self.file.flush()


def a_model():
    import torch
    torch.manual_seed(1)
    torch.set_num_threads(1)
    return torch.nn.Sequential(torch.nn.Embedding(500, 8), torch.nn.Linear(8, 500))


def summed(model, batch):
    import torch
    return torch.nn.functional.cross_entropy(model(batch.inputs).flatten(0, 1), batch.labels.flatten(), reduction="sum")


# ---- The programs that train

def lightning(lines, out, world, steps, resume, save):
    import lightning.pytorch as pl
    import torch

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = a_model()

        def on_fit_start(self):
            self.note = Notes(out, self.global_rank)

        def training_step(self, batch, index):
            self.note("train", batch)
            return summed(self.model, batch) / batch.labels.numel()

        def validation_step(self, batch, index, dataloader_idx=0):
            self.note(list(self.trainer.datamodule.valid)[dataloader_idx], batch)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    # validation at 16 lies before the checkpoint, which so is one from the middle of an interval
    trainer = pl.Trainer(accelerator="cpu", devices=world, strategy="ddp" if world > 1 else "auto", max_steps=steps,
                         val_check_interval=16, check_val_every_n_epoch=None, num_sanity_val_steps=0, logger=False,
                         enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False)
    trainer.fit(Module(), datamodule=lines["data"](), ckpt_path=resume or None, weights_only=False)
    if save:
        trainer.save_checkpoint(save)


def loop(note, batches, model, optimizer, steps, backward, step=None):
    """Trains up to the global step `steps`."""
    import torch
    for batch in batches:
        note("train", batch)
        loss = summed(model, batch) / batch.labels.numel()
        backward(loss)
        if step:
            step()
        else:
            optimizer.step()
            optimizer.zero_grad()
        if batch.cursor == steps * GLOBAL:
            break
    assert torch.isfinite(loss)


def fabric(lines, out, world, steps, resume, save):
    import lightning
    import torch
    run = lightning.Fabric(accelerator="cpu", devices=world, strategy="ddp" if world > 1 else "auto")
    run.launch()
    model = a_model()
    model, optimizer = run.setup(model, torch.optim.SGD(model.parameters(), 0.1))
    batches, note = lines["loader"](run), Notes(out, run.global_rank)
    if resume:
        lines["resume"](run, resume, model, optimizer, batches)
    loop(note, batches, model, optimizer, steps, run.backward)
    if save:
        lines["save"](run, save, model, optimizer, batches)


def accelerate(lines, out, world, steps, resume, save):
    import torch
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True)
    model = a_model()
    model, optimizer, batches = lines["prepare"](accelerator, model, torch.optim.SGD(model.parameters(), 0.1))
    assert accelerator.prepare(batches) is batches
    note = Notes(out, accelerator.process_index)
    if resume:
        accelerator.load_state(resume)
    loop(note, batches, model, optimizer, steps, accelerator.backward)

    def loss(model, batch):
        note("web", batch)
        with torch.no_grad():
            return summed(model, batch)

    found = lines["evaluate"](accelerator, model, loss)
    tokens, plan = common.Tokens("web"), leat.Plan("web", LENGTH, seed=7, epochs=1)
    rows = [tokens.row(plan.order(n).token, LENGTH) for n in range(len(plan))]
    inputs, labels = (torch.tensor(part) for part in (common.numpy.stack(side) for side in zip(*rows)))
    with torch.no_grad():
        mean = torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), labels.flatten())
    assert abs(found - float(mean)) < 1e-4, (found, float(mean))
    if save:
        accelerator.save_state(save)
    accelerator.end_training()


def deepspeed(lines, out, world, steps, resume, save):
    import deepspeed.comm.torch
    import torch
    # a kernel for reductions on one node takes minutes of a compiler; deepspeed.comm.torch is torch itself as a name
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None
    for name, value in {"RANK": 0, "LOCAL_RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1",
                        "MASTER_PORT": 29577}.items():
        os.environ.setdefault(name, str(value))
    deepspeed.init_distributed("gloo")
    model = a_model()
    engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.SGD(model.parameters(), 0.1), config={
        "train_micro_batch_size_per_gpu": GLOBAL // world, "gradient_accumulation_steps": 1})
    batches, note = lines["loader"](engine, "train"), Notes(out, os.environ["RANK"])
    if resume:
        lines["resume"](engine, resume, batches)
    loop(note, batches, engine, None, steps, engine.backward, engine.step)
    for batch in lines["loader"](engine, "web", epochs=1):
        note("web", batch)
    # engine.deepspeed_io(), as the page keeps it
    plan = leat.Plan("train", LENGTH, seed=7)
    data = leat.MapDataset(plan, STEPS * GLOBAL)
    sampler = torch.utils.data.DistributedSampler(data, world, int(os.environ["RANK"]), shuffle=False)
    tokens, rows = common.Tokens("train"), []
    for inputs, labels in engine.deepspeed_io(data, data_sampler=sampler):
        rows += zip(inputs, labels)
    assert len(rows) == STEPS * GLOBAL // world
    for n, row in zip(range(int(os.environ["RANK"]), STEPS * GLOBAL, world), rows):
        common.equal(torch.stack(row), tokens.row(plan.order(n).token, LENGTH), f"sample {n} by deepspeed_io()")
    if save:
        lines["save"](engine, save, batches)


def ray_train(lines, out, world, steps, resume, save):
    import ray.train.torch
    import torch

    def worker():
        os.chdir(folder)
        rank = ray.train.get_context().get_world_rank()
        note, model = Notes(out, rank), ray.train.torch.prepare_model(a_model())
        batches = lines["loader"]("train")
        lines["resume"](batches, model)
        loop(note, batches, model, optimizer := torch.optim.SGD(model.parameters(), 0.1), steps, torch.Tensor.backward)
        del optimizer
        for batch in lines["loader"]("web", epochs=1):
            note("web", batch)
        lines["report"]({"steps": steps}, batches, model.module if world > 1 else model)

    folder = os.getcwd()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    trainer = ray.train.torch.TorchTrainer(
        worker, scaling_config=ray.train.ScalingConfig(num_workers=world),
        torch_config=ray.train.torch.TorchConfig(backend="gloo"),
        run_config=ray.train.RunConfig(storage_path=f"{folder}/ray", name="run"))
    trainer.fit()
    ray.shutdown()


def train(name, out, world, steps, resume="", save=""):
    world = int(world)
    page = common.page(PAGES.get(name, name), pathlib.Path.cwd(), BATCH=GLOBAL // world)
    page.take()
    if name == "fabric":
        page.take()
    lines = page.python()
    globals()[name.replace("-", "_")](lines, out, world, int(steps), resume, save)


# ---- What they were to do

def compare(out, world, first, steps, valid, times):
    """Training rows from global step `first` on, and each set of `valid` so many times."""
    ranks = [[json.loads(line) for line in pathlib.Path(f"{out}.{rank}").read_text().splitlines()]
             for rank in range(world)]
    assert len({len(rank) for rank in ranks}) == 1, "ranks have different numbers of batches"
    rows = {"train": [], **{name: [] for name in valid}}
    for parts in zip(*ranks):
        rows[parts[0][0]] += [(*row, number) for _, inputs, labels in parts
                              for number, row in enumerate(zip(inputs, labels))]
    for name, found in rows.items():
        tokens, seed = common.Tokens(name), 0 if name in valid and valid[name] is None else 7
        if name == "train":
            plan, samples = leat.Plan(name, LENGTH, seed=seed), list(range(first * GLOBAL, steps * GLOBAL))
        else:
            plan = leat.Plan(name, LENGTH, seed=seed, epochs=1)
            assert len(plan) % GLOBAL, "the set divides evenly, and tests no padding"
            samples = list(range(len(plan))) * times
            found = [row for row in found if any(label != -100 for label in row[1])]
        assert len(found) == len(samples), f"{name}: {len(found)} rows, not {len(samples)}"
        for n, (row, labels, _) in zip(samples, found):
            inputs, after = tokens.row(plan.order(n).token, LENGTH)
            common.equal(row, inputs, f"inputs of sample {n} of {name}")
            common.equal(labels, after, f"labels of sample {n} of {name}")


def run(name, out, world, steps, resume="", save=""):
    words = [__file__, "train", name, out, world, steps, resume, save]
    if world > 1 and name != "ray-train":
        common.torchrun(world, *words)
        return
    done = subprocess.run([sys.executable, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    assert done.returncode == 0, done.stdout


def main(name):
    common.need(MODULES.get(name, name))
    os.environ.update(CUDA_VISIBLE_DEVICES="", DS_ACCELERATOR="cpu", RAY_TRAIN_V2_ENABLED="1")
    with common.own_folder() as folder:
        common.vocabulary()
        common.corpus("texts/a.jsonl")
        common.corpus("heldout/web.jsonl", length=200, count=23)
        common.corpus("heldout/code.jsonl", length=250, count=18)
        common.page(PAGES.get(name, name), folder).shell()
        valid = {"lightning": {"web": None, "code": None}, "fabric": {}}.get(name, {"web": 7})
        save = f"{folder}/checkpoint"
        run(name, "two", 2, STOP, save=save)
        compare("two", 2, 0, STOP, valid, 1)
        run(name, "one", 1, STEPS, resume=save)
        compare("one", 1, STOP, STEPS, valid, 0 if name == "lightning" else 1)


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(*sys.argv[2:])
    else:
        main(sys.argv[1])
