"""check_nanochat.py: nanochat's scripts/base_train.py, in a copy of the checkout that LEAT_NANOCHAT names, with the
lines of docs/trainers/nanochat.md.

Its tokenizer is trained, its shards are packed, and a model of two layers is trained on the CPU for 30 steps. Each row
that the model sees, in training and evaluation, is that of the token file; a run that goes on from step 20 sees the
rows and ends with the weights of the one that did not stop; two ranks (gloo in place of NCCL) share each global batch.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pyarrow
import pyarrow.parquet
import torch
from common import checkout, corpus, equal, need, order, own_folder, page, torchrun

import leat

LENGTH, ROWS, STEPS, ACCUMULATED = 64, 4, 30, 2
# as base_train is started, but for what a model sees, which is noted, and for what only NCCL has
RECORDER = """
import os, pickle, runpy, sys
import torch
import torch.distributed as dist
sys.argv = ["scripts.base_train", *sys.argv[1:]]
class Done:
    def get_future(self):
        future = torch.futures.Future()
        future.set_result(None)
        return future
def all_reduce(tensor, op=dist.ReduceOp.SUM, async_op=False, reduce=dist.all_reduce):
    reduce(tensor)
    if op == dist.ReduceOp.AVG:
        tensor /= dist.get_world_size()
    return Done()
def reduce_scatter(output, whole, op, async_op):
    all_reduce(whole := whole.clone(), op)
    output.copy_(whole.chunk(dist.get_world_size())[dist.get_rank()])
    return Done()
def all_gather(whole, part, async_op, gather=dist.all_gather_into_tensor):
    gather(whole, part)
    return Done()
if int(os.environ.get("WORLD_SIZE", 1)) > 1:
    dist.init_process_group("gloo")
    dist.all_reduce, dist.reduce_scatter_tensor, dist.all_gather_into_tensor = all_reduce, reduce_scatter, all_gather
from nanochat.gpt import GPT
seen, forward = [], GPT.forward
def noted(self, idx, targets=None, *args, **options):
    if targets is not None:
        seen.append((self.training, idx.numpy().copy(), targets.numpy().copy()))
    return forward(self, idx, targets, *args, **options)
GPT.forward = noted
sys.path.insert(0, os.getcwd())
runpy.run_module("scripts.base_train", run_name="__main__", alter_sys=True)
with open(f"seen-{os.environ.get('RANK', 0)}.pickle", "wb") as file:
    pickle.dump(seen, file)
"""


def seen(rank=0):
    """What the model was given: in training, and in evaluations."""
    import pickle
    with open(f"seen-{rank}.pickle", "rb") as file:
        noted = pickle.load(file)
    return [[(x, y) for training, x, y in noted if training == which] for which in (True, False)]


def rows_of(name, first, count):
    """Inputs (-1 where nothing is), and targets, of samples of the order `fit`, read from the token file."""
    tokens = numpy.fromfile(f"{name}.tokens", "<u2").astype(numpy.int64)
    inputs, targets = numpy.full((count, LENGTH), -1), numpy.full((count, LENGTH), -1)
    epochs = ("--epochs", "1") if name.endswith("val") else ()
    for n, sample in enumerate(order("--source", name, "--seq-len", LENGTH, "--order", "fit", "--seed", 42, *epochs,
                                     first=first, count=count)):
        for piece in sample["pieces"]:
            at, token, size = piece["at"], piece["token"], piece["count"] - 1
            inputs[n, at:at + size] = tokens[token:token + size]
            inputs[n, at] = tokens[0]  # the begin token, also of what continues a document
            targets[n, at:at + size] = tokens[token + 1:token + 1 + size]
    return inputs, targets


def check_batch(batch, name, first, what):
    inputs, targets = rows_of(name, first, len(batch[0]))
    equal(numpy.where(inputs < 0, -1, batch[0]), inputs, f"inputs of {what}")
    equal(batch[1], targets, f"targets of {what}")


def main():
    nanochat = checkout("LEAT_NANOCHAT", "https://github.com/karpathy/nanochat")
    for module in ("rustbpe", "tiktoken", "wandb"):
        need(module)
    with own_folder() as folder:
        for part in ("nanochat", "scripts", "tasks"):
            shutil.copytree(nanochat / part, folder / part)
        texts = corpus("texts.jsonl", length=400)
        (folder / "base/base_data_climbmix").mkdir(parents=True)
        for k in range(4):
            pyarrow.parquet.write_table(pyarrow.table({"text": texts[k::4]}),
                                        f"base/base_data_climbmix/shard_{k:05d}.parquet", row_group_size=16)
        (folder / "record.py").write_text(RECORDER)
        os.environ.update(NANOCHAT_BASE_DIR=str(folder / "base"), TORCHDYNAMO_DISABLE="1", WANDB_MODE="disabled",
                          PATH=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")
        os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
        sys.path.insert(0, str(folder))
        subprocess.run([sys.executable, "-m", "scripts.tok_train", "--vocab-size", "512", "--max-chars", "200000"],
                       check=True, stdout=subprocess.PIPE)

        lines = page("nanochat", folder)
        assert "pip install /path/to/leat" in lines.take()[1]
        lines.shell()
        check_datasets(texts)
        lines.shell()
        assert pathlib.Path("train.tokens").read_bytes() == pathlib.Path("base/leat/train.tokens").read_bytes()
        lines.shell()
        valid = len(leat.Plan("base/leat/val", LENGTH, seed=42, order=leat.fit(begin=True), epochs=1))
        steps = -(-valid // ROWS)
        words = (f"--depth=2 --head-dim=16 --aspect-ratio=16 --max-seq-len={LENGTH} --device-batch-size={ROWS} "
                 f"--total-batch-size={ROWS * LENGTH * ACCUMULATED} --num-iterations={STEPS} --eval-every=25 "
                 f"--eval-tokens={steps * ROWS * LENGTH} --core-metric-every=-1 --sample-every=-1 --window-pattern=L "
                 "--device-type=cpu")
        os.environ["TRAIN"] = f"python record.py {words}"
        lines.shell()
        train, evaluated = seen()
        assert len(train) == STEPS * ACCUMULATED and len(evaluated) == 3 * steps, "steps 0, 25 and the end"
        for n, batch in enumerate(train):
            check_batch(batch, "base/leat/train", n * ROWS, f"training batch {n}")
        for n, batch in enumerate(evaluated):
            real = min(ROWS, valid - n % steps * ROWS)
            check_batch([part[:real] for part in batch], "base/leat/val", n % steps * ROWS, f"evaluation batch {n}")
            assert (batch[1][real:] == -1).all()
        states = pathlib.Path("base/base_checkpoints/d2")
        whole = torch.load(states / f"model_{STEPS:06d}.pt")

        lines.shell()
        lines.done()
        resumed, _ = seen()
        assert len(resumed) == (STEPS - 20) * ACCUMULATED
        for batch, want in zip(resumed, train[20 * ACCUMULATED:]):
            equal(batch[0], want[0], "inputs after the resumption")
            equal(batch[1], want[1], "targets after the resumption")
        for name, value in torch.load(states / f"model_{STEPS:06d}.pt").items():
            assert torch.equal(value, whole[name]), f"{name} differs after the resumption"
        check_other_world(states, train)

        torchrun(2, "record.py", *words.replace(f"--total-batch-size={ROWS * LENGTH * ACCUMULATED}",
                                                f"--total-batch-size={2 * ROWS * LENGTH}").split())
        for rank in range(2):
            for n, batch in enumerate(seen(rank)[0]):
                check_batch(batch, "base/leat/train", (2 * n + rank) * ROWS, f"batch {n} of rank {rank}")
            assert n + 1 == STEPS


def check_datasets(texts):
    """The token files have what nanochat's tokenizer gives for the shards' texts."""
    from nanochat.tokenizer import get_tokenizer
    theirs = get_tokenizer()
    begin = theirs.get_bos_token_id()
    for name, shards in (("train", (0, 1, 2)), ("val", (3,))):
        want = [id for k in shards for ids in theirs.encode(texts[k::4], prepend=begin, append=begin) for id in ids]
        equal(numpy.fromfile(f"base/leat/{name}.tokens", "<u2"), want, f"tokens of {name}")


def check_other_world(states, train):
    """The data goes on from the checkpoint of one rank with two, whose batches are half as large."""
    from nanochat.tokenizer import get_tokenizer

    from leat.integrations import nanochat
    state = json.loads((states / "meta_000020.json").read_text())["dataloader_state_dict"]
    for rank in range(2):
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
        batches = nanochat.tokenizing_distributed_data_loader_with_state_bos_bestfit(
            get_tokenizer(), ROWS // 2, LENGTH, "train", device="cpu", resume_state_dict=state)
        for want, (inputs, targets, _) in zip(train[20 * ACCUMULATED:], batches):
            mine = slice(rank * ROWS // 2, (rank + 1) * ROWS // 2)
            equal(inputs, want[0][mine], "inputs of two ranks that go on")
            equal(targets, want[1][mine], "targets of two ranks that go on")
        batches.close()
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"):
        del os.environ[name]


if __name__ == "__main__":
    main()
