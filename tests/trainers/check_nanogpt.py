"""check_nanogpt.py: nanoGPT's train.py, from the checkout that LEAT_NANOGPT names, changed by the patch that
docs/trainers/nanogpt.md is.

A model of two layers is trained on the CPU for 40 steps. Each row that it sees, in training and evaluation, is that of
the token file. A run that is stopped between two checkpoints goes on with the same rows, losses and weights; and with
two ranks (gloo) it sees the same global batches."""
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys

import pyarrow
import torch
from common import ROOT, Tokens, checkout, corpus, equal, order, own_folder, page, torchrun

LENGTH, ROWS, STEPS, ACCUMULATED = 64, 2, 40, 2
# train.py, but for what the model sees, which is noted, and for GPUs
RECORDER = """
import os, pickle, runpy
from model import GPT
seen, forward = [], GPT.forward
def noted(self, idx, targets=None):
    seen.append((self.training, idx.numpy().copy(), targets.numpy().copy()))
    return forward(self, idx, targets)
GPT.forward = noted
runpy.run_path("train.py", run_name="__main__")
with open(f"seen-{os.environ.get('RANK', 0)}.pickle", "wb") as file:
    pickle.dump(seen, file)
"""
OPTIONS = dict(device="cpu", dtype="float32", compile=False, n_layer=2, n_head=2, n_embd=64, block_size=LENGTH,
               batch_size=ROWS, gradient_accumulation_steps=ACCUMULATED, eval_interval=10, eval_iters=3,
               learning_rate=1e-3, warmup_iters=5, lr_decay_iters=STEPS)


def words(out, stop, *more):
    return [*(f"--{key}={value}" for key, value in {**OPTIONS, "out_dir": out, "max_iters": stop}.items()), *more]


def train(out, stop, *more):
    """What is printed of each step, without times; what the model sees in training, and in evaluations."""
    done = subprocess.run([sys.executable, "record.py", *words(out, stop, *more)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    lines = [line.split(", time ")[0] for line in done.stdout.splitlines() if re.match("(iter|step) [0-9]", line)]
    return lines, *seen(0)


def seen(rank):
    with open(f"seen-{rank}.pickle", "rb") as file:
        noted = pickle.load(file)
    return [[batch[1:] for batch in noted if batch[0] == which] for which in (True, False)]


class Rows:
    """Batches of a part of the tokens, read by numpy."""

    def __init__(self, use, seed):
        self._tokens = Tokens("data/openwebtext/tokens")
        self._words = ("--source", "data/openwebtext/tokens", "--seq-len", LENGTH, "--seed", seed, "--split",
                       "train=0.99,val=0.01", "--use", use)

    def check(self, first, batches, what):
        """They are samples first, first + 1, ... of the plan."""
        samples = order(*self._words, first=first, count=sum(len(x) for x, _ in batches))
        for n, (x, y) in enumerate((x, y) for batch in batches for x, y in zip(*batch)):
            inputs, labels = self._tokens.row(samples[n]["pieces"][0]["token"], LENGTH)
            equal(x, inputs, f"inputs of {what}, row {n}")
            equal(y, labels, f"labels of {what}, row {n}")


def main():
    nanogpt = checkout("LEAT_NANOGPT", "https://github.com/karpathy/nanoGPT")
    with own_folder() as folder:
        for name in ("train.py", "model.py", "configurator.py"):
            shutil.copy(nanogpt / name, folder)
        shutil.copy(ROOT / "docs/trainers/nanogpt.md", folder)
        (folder / "record.py").write_text(RECORDER)
        subprocess.run(["git", "init", "-q"], check=True)
        corpus("a.jsonl", length=300)
        (folder / "openwebtext").mkdir()
        lines = pathlib.Path("a.jsonl").read_bytes()
        pathlib.Path("openwebtext/a.jsonl.zst").write_bytes(pyarrow.compress(lines, "zstd", asbytes=True))
        (folder / "data/openwebtext").mkdir(parents=True)
        os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
        lines = page("nanogpt", folder)
        assert "pip install /path/to/leat" in lines.take()[1]
        lines.shell()
        lines.shell()
        assert (folder / "train.py").read_bytes() != (nanogpt / "train.py").read_bytes()

        printed, rows, evaluated = train("whole", STEPS)
        assert len(rows) == (STEPS + 1) * ACCUMULATED
        training = Rows("train", 1337)
        training.check(0, rows, "training")
        for use, at in (("train", 0), ("val", 3)):
            for first in range(at, len(evaluated), 6):
                Rows(use, 1338).check(0, evaluated[first:first + 3], f"the evaluation on {use}")

        # stopped at 27, it goes on from the checkpoint of 20
        at = next(n for n, line in enumerate(printed) if line.startswith("step 20:"))
        stopped, _, _ = train("parts", 27)
        assert stopped == printed[:len(stopped)] and len(stopped) > at + 1
        shutil.copytree("parts", "two")
        resumed, again, _ = train("parts", STEPS, "--init_from=resume")
        assert resumed == printed[at:], "losses after the resumption"
        for batch, want in zip(again, rows[20 * ACCUMULATED:], strict=True):
            equal(batch, want, "a batch after the resumption")
        whole, parts = (torch.load(f"{name}/ckpt.pt", weights_only=True) for name in ("whole", "parts"))
        assert whole["loader"] == parts["loader"] and whole["loader"]["position"] == STEPS * ROWS * ACCUMULATED
        assert all(torch.equal(value, parts["model"][key]) for key, value in whole["model"].items())

        # with two ranks; DDP of the CPU
        text = (folder / "train.py").read_text()
        for old, new in (("f'cuda:{ddp_local_rank}'", "'cpu'"), ("    torch.cuda.set_device(device)\n", ""),
                         ("device_ids=[ddp_local_rank]", "device_ids=None")):
            assert old in text
            text = text.replace(old, new)
        (folder / "train.py").write_text(text)
        torchrun(2, "record.py", *words("two", STEPS, "--init_from=resume", "--backend=gloo"))
        for rank in range(2):
            mine, _ = seen(rank)
            for n, batch in enumerate(mine):
                equal(batch, rows[20 * ACCUMULATED + 2 * n + rank], f"batch {n} of rank {rank}")
            assert len(mine) == STEPS + 1 - 20


if __name__ == "__main__":
    main()
