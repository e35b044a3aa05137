"""check_llm_c.py: leat's rows beside those of llm.c's own loaders, from the checkout that LEAT_LLM_C names: its C
loader (llmc/dataloader.h), compiled, and the class of its train_gpt2.py; with the lines of docs/trainers/llm.c.md.

Up to the end of the first shard all batches of both ranks are the same. After it leat's rows are those of a reading of
the files by numpy, and what llm.c's loaders leave out is what the page says. A model of llm.c's train_gpt2.py is
trained with the loader for 30 steps."""
import ast
import glob
import os
import pathlib
import re
import shutil
import subprocess

import numpy
import torch
from common import ENGLISH, checkout, equal, own_folder, page

import leat

B, T, WORLD = 2, 64, 2
GLOBAL = B * T * WORLD
C_PROGRAM = r"""
#include "llmc/dataloader.h"
int main(int argc, char **argv)
{
    DataLoader loader;
    dataloader_init(&loader, argv[1], %d, %d, atoi(argv[2]), %d, 0);
    for (int n = atoi(argv[3]); n > 0; n--) {
        dataloader_next_batch(&loader);
        fwrite(loader.inputs, sizeof(int), %d, stdout);
        fwrite(loader.targets, sizeof(int), %d, stdout);
    }
    dataloader_free(&loader);
    return 0;
}
""" % (B, T, WORLD, B * T, B * T)


def of_c(where, rank, count):
    """Batches of the C loader, as pairs of [B, T]."""
    pathlib.Path("loader.c").write_text(C_PROGRAM)
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-w", f"-I{where}", "loader.c", "-o", "loader", "-lm"],
                   check=True)
    out = subprocess.run(["./loader", "dev/data/train*.bin", str(rank), str(count)], check=True,
                         stdout=subprocess.PIPE).stdout
    return numpy.frombuffer(out, "<i4").reshape(count, 2, B, T)


def names_of(where, *names):
    """Parts of train_gpt2.py."""
    import inspect
    import math
    from dataclasses import dataclass
    from torch import nn
    parts = [part for part in ast.parse((where / "train_gpt2.py").read_text(encoding="utf-8")).body
             if getattr(part, "name", "") in names]
    assert len(parts) == len(names), f"train_gpt2.py has not all of {names}"
    space = dict(np=numpy, torch=torch, glob=glob, nn=nn, F=nn.functional, math=math, dataclass=dataclass,
                 inspect=inspect, print0=lambda *a: None, FLASH=0, __name__="train_gpt2")
    exec(compile(ast.Module(parts, []), "train_gpt2.py", "exec"), space)
    return space


def windows(tokens):
    """All rows of a shard, as leat has them: inputs and targets."""
    count = (len(tokens) - 1) // T
    return [(tokens[at:at + T], tokens[at + 1:at + T + 1]) for at in range(0, count * T, T)]


def main():
    where = checkout("LEAT_LLM_C", "https://github.com/karpathy/llm.c")
    with own_folder() as folder:
        shutil.copy(ENGLISH, "english.jsonl")
        shutil.copy(where / "train_gpt2.py", "train_gpt2.py")
        (folder / "dev/data").mkdir(parents=True)
        lines = page("llm.c", folder, B=B, T=T, ddp_rank=0, ddp_world_size=WORLD)
        assert "pip install /path/to/leat" in lines.take()[1]
        lines.shell()
        tokens = numpy.fromfile("dev/data/train.bin", "<u2", offset=1024).astype(numpy.int64)
        # two shards and a validation set of it, whose ends are inside of a batch
        cuts = [0, 21 * GLOBAL + T + 9, 40 * GLOBAL + 3 * T, 44 * GLOBAL + 5]
        pathlib.Path("dev/data/train.bin").unlink()
        shards = [tokens[a:b] for a, b in zip(cuts, cuts[1:])]
        for name, shard in zip(("train_0", "train_1", "val"), shards):
            head = numpy.zeros(256, "<i4")
            head[:3] = 20240520, 1, len(shard)
            pathlib.Path(f"dev/data/{name}.bin").write_bytes(head.tobytes() + shard.astype("<u2").tobytes())

        names = lines.python()
        first = [next(names["train_loader"]) for _ in range(46)]
        lines.shell()
        changed = ast.unparse(ast.parse(pathlib.Path("train_gpt2.py").read_text(encoding="utf-8")))
        for use in ("x, y = next(train_loader)", "train_loader.load_state_dict(first)",
                    "val_batches = iter(val_loader)", "x, y = next(val_batches)"):
            assert use in changed, f"train_gpt2.py has no {use}"
        assert not re.search(r"_loader\.(next_batch|reset)\(", changed)
        evaluated = lines.python()["val_loader"]
        lines.done()
        names["train_loader"].load_state_dict(names["first"])
        for mine, again in zip(first[0], next(names["train_loader"])):
            equal(mine, again, "the first batch after what reset() was")
        second = leat.Loader(names["plan"], B, rank=1, world=WORLD, style="tuple")
        second = [next(second) for _ in range(46)]

        # all rows of leat: the shards' in turn, and the first one's again
        rows = windows(shards[0]) + windows(shards[1])
        for n, (zero, one) in enumerate(zip(first, second)):
            for r, (x, y) in enumerate((x, y) for batch in (zero, one) for x, y in zip(*batch)):
                want = rows[(n * B * WORLD + r) % len(rows)]
                equal(x, want[0], f"inputs of batch {n}, row {r}")
                equal(y, want[1], f"targets of batch {n}, row {r}")
        want = windows(shards[2])
        for _ in range(2):
            batches = iter(evaluated)
            for n in range(6):  # beyond the end
                for r, (x, y) in enumerate(zip(*next(batches))):
                    row = want[(n * B * WORLD + r) % len(want)]
                    equal(x, row[0], "inputs of the evaluation")
                    equal(y, row[1], "targets of the evaluation")
            assert 5 * B * WORLD > len(want)

        # llm.c's: the same up to the shard's end, where whole batches end
        whole = (len(shards[0]) - 1) // GLOBAL
        then = (len(shards[1]) - 1) // GLOBAL
        for rank, mine in enumerate((first, second)):
            theirs = of_c(where, rank, whole + then + 1)
            for n in range(whole):
                equal(numpy.stack(mine[n]), theirs[n], f"batch {n} of the C loader")
            assert (numpy.stack(mine[whole]) != theirs[whole]).any()
            for at, shard in ((whole, shards[1]), (whole + then, shards[0])):
                begin = rank * B * T
                equal(theirs[at][0].reshape(-1), shard[begin:begin + B * T], "the C loader after a shard's end")
            parts = names_of(where, "_peek_data_shard", "_load_data_shard", "DistributedDataLoader")
            reader = parts["DistributedDataLoader"]("dev/data/train*.bin", B, T, rank, WORLD)
            # rank 1 asks for its own offset more than a global batch
            last = max(n for n in range(whole + 1) if n == 0 or
                       n * GLOBAL + rank * B * T + GLOBAL + 1 <= len(shards[0])) + 1
            assert last == whole - rank, (last, whole)
            for n in range(last):
                x, y = reader.next_batch()
                equal(numpy.stack([x, y]), numpy.stack(mine[n]), f"batch {n} of rank {rank} of train_gpt2.py")
            x, _ = reader.next_batch()
            equal(x.reshape(-1), shards[1][rank * B * T:(rank + 1) * B * T], "train_gpt2.py after a shard's end")

        train(where, names["plan"])


def train(where, plan):
    """30 steps of llm.c's GPT; stopped after 20, they go on with the same batches on another number of ranks."""
    names = names_of(where, "NewGELU", "CausalSelfAttention", "MLP", "Block", "GPTConfig", "GPT")
    torch.manual_seed(1)
    model = names["GPT"](names["GPTConfig"](block_size=T, vocab_size=50257, n_layer=1, n_head=2, n_embd=16))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    loader, losses, later = leat.Loader(plan, 2 * B, rank=0, world=1, style="tuple"), [], []
    for step in range(30):
        x, y = next(loader)
        _, loss = model(x, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if step == 19:
            state = loader.state_dict()
        if step > 19:
            later.append((x, y))
    assert losses[-1] < losses[0]
    for rank in range(WORLD):
        again = leat.Loader(plan, B, rank=rank, world=WORLD, style="tuple", state=state)
        for x, y in later:
            for mine, want in zip(next(again), (x, y)):
                equal(mine, want[rank * B:(rank + 1) * B], "a batch after the resumption")


if __name__ == "__main__":
    main()
