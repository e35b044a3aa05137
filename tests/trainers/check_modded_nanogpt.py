"""check_modded_nanogpt.py: leat's batches beside those of modded-nanogpt's own generator, which is taken from the
checkout that LEAT_MODDED_NANOGPT names, with the lines of docs/trainers/modded-nanogpt.md.

train_gpt.py as a whole needs GPUs, Triton and FlashAttention. Its generator runs here with the CPU in place of the GPU
and plain memory in place of pinned memory. Two ranks (gloo) compare: in evaluation all five values are equal; in
training each row is that of the token file, each of the five values has the generator's type and shape, also after
send(), and fits the inputs. A tiny model takes all five for 30 steps. One rank goes on from the state of two."""
import ast
import glob
import itertools
import json
import math
import pathlib
import sys
import threading
import types

import numpy
import torch
import torch.distributed as dist
from common import checkout, corpus, equal, need, order, own_folder, page, torchrun

import leat

BEGIN, ROW, VOCABULARY = 50256, 512, 50304
VALID_BATCHES = 3
STAGES = [(2 * ROW, 128, 1, 10), (4 * ROW, 256, 1, 10), (8 * ROW, 256, 2, 10)]  # tokens, longest, accumulated, steps
TAKEN = {"_load_data_shard", "Shard", "get_bigram_hash", "distributed_data_generator", "BOS_ID", "TRAIN_MAX_NUM_DOCS",
         "next_multiple_of_n"}


def theirs(where):
    """What train_gpt.py has of its generator, for a CPU."""
    text = (where / "train_gpt.py").read_text(encoding="utf-8")
    text = text.replace('device="cuda"', 'device="cpu"').replace("pin_memory=True", "pin_memory=False")
    parts = [part for part in ast.parse(text).body if getattr(part, "name", "") in TAKEN or
             (isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) in TAKEN)]
    assert len(parts) == len(TAKEN), f"train_gpt.py has only {len(parts)} of {sorted(TAKEN)}"
    names = dict(math=math, torch=torch, Tensor=torch.Tensor, np=numpy, dist=dist, threading=threading, glob=glob,
                 Path=pathlib.Path, itertools=itertools,
                 args=types.SimpleNamespace(bigram_vocab_size=VOCABULARY * 15 // 2))
    exec(compile(ast.Module(parts, []), "train_gpt.py", "exec"), names)
    return names


def write_shards(name, texts, count):
    """Shards as modded-nanogpt's data/fineweb.py writes them: a begin token before each document."""
    tokenizer = leat.get_encoding("gpt2")
    for k in range(count):
        tokens = [id for text in texts[k::count] for id in (BEGIN, *tokenizer.encode_ordinary(text))]
        head = numpy.zeros(256, "<i4")
        head[:3] = 20240520, 1, len(tokens)
        path = pathlib.Path(f"{name}_{k:06d}.bin")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(head.tobytes() + numpy.array(tokens, "<u2").tobytes())


def samples(first, count):
    """The inputs, targets and starts of documents of samples of the order `fit`, read from the token file; where
    nothing is, what stands at the row's beginning."""
    tokens = numpy.fromfile("data/fineweb.tokens", "<u2").astype(numpy.int64)
    rows = []
    for sample in order("--source", "data/fineweb", "--seq-len", ROW, "--order", "fit", "--seed", 42, first=first,
                        count=count):
        x, y, starts = [], [], []
        for piece in sample["pieces"]:
            assert piece["at"] == len(x)
            starts.append(len(x))
            x += tokens[piece["token"]:piece["token"] + piece["count"] - 1].tolist()
            y += tokens[piece["token"] + 1:piece["token"] + piece["count"]].tolist()
        size = len(x)
        again = [at % size for at in range(ROW - size)]
        starts += [size + at for at, place in enumerate(again) if place in starts]
        rows.append((x + [x[at] for at in again], y + [y[at] for at in again], starts))
    return rows


def check_training(batch, first, rank, world, tokens, longest, bigram_hash, room):
    """The five values of a batch; returns how many samples all ranks took."""
    each = tokens // ROW
    rows = samples(first + rank * each, each)
    inputs, targets, cum_lengths, bigrams, bigrams_cpu = batch
    equal(inputs, [id for row in rows for id in row[0]], "inputs")
    equal(targets, [id for row in rows for id in row[1]], "targets")
    starts = [n * ROW + start for n, row in enumerate(rows) for start in row[2]] + [tokens]
    split = [at for start, end in zip(starts, starts[1:]) for at in range(start, end, longest)]
    equal(cum_lengths, split + [tokens] * (room - len(split)), "cum_lengths")
    equal(bigrams, bigram_hash(inputs), "bigrams")
    equal(bigrams_cpu, bigrams, "bigrams in numpy")
    return each * world


class Tiny(torch.nn.Module):
    """Takes the values as train_gpt.py's model does: attention within cum_lengths, an embedding of bigrams."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.embed, self.bigrams = torch.nn.Embedding(VOCABULARY, 8), torch.nn.Embedding(VOCABULARY * 15 // 2, 8)
        self.out = torch.nn.Linear(8, VOCABULARY)

    def forward(self, inputs, targets, cum_lengths, bigrams):
        x = self.embed(inputs) + self.bigrams(bigrams)
        document = torch.searchsorted(cum_lengths, torch.arange(len(inputs), dtype=torch.int32), right=True)
        mask = (document[:, None] == document[None]).tril()
        x = torch.nn.functional.scaled_dot_product_attention(*[x[None, None]] * 3, attn_mask=mask)[0, 0]
        return torch.nn.functional.cross_entropy(self.out(x), targets, reduction="none")


def one_rank(where):
    """What each of two ranks does."""
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    names = theirs(where)
    generator, bigram_hash, args = names["distributed_data_generator"], names["get_bigram_hash"], names["args"]
    lines = page("modded-nanogpt", pathlib.Path.cwd(), get_bigram_hash=bigram_hash, args=args)
    lines.at = 3  # what main() has run: installing, packing, shards
    args.val_files, args.val_batch_size = "data/fineweb10B/fineweb_val_*.bin", 4 * ROW
    given = lines.python()["distributed_data_generator"]
    given.keywords.update(row=ROW, device="cpu")
    val = lines.python()["val_loader"]
    lines.done()
    count = 0
    for want in generator(args.val_files, args.val_batch_size, -1, align_to_bos=False):
        batch = next(val)
        for name, mine, other in zip(("inputs", "targets", "cum_lengths", "bigrams", "bigrams_cpu"), batch, want):
            assert mine.dtype == other.dtype and type(mine) is type(other), name
            if name == "cum_lengths":  # a row that begins with a document has 0 twice in the generator's
                assert mine.shape == other.shape
                mine, other = numpy.unique(mine), numpy.unique(other)
            equal(mine, other, f"{name} of evaluation batch {count}")
        count += 1
        if count == VALID_BATCHES:
            break

    train = given("data/fineweb", STAGES[0][0], STAGES[0][1])
    shape = generator("data/fineweb10B/fineweb_train_*.bin", STAGES[0][0], STAGES[0][1])
    model, first, losses = Tiny(), 0, []
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    seen = numpy.zeros(args.bigram_vocab_size, numpy.uint8)
    for tokens, longest, accumulated, steps in STAGES:
        settings = (tokens, longest, accumulated)
        for _ in range(steps):
            batch, want = train.send(settings if first else None), shape.send(settings if first else None)
            settings = None
            for mine, other in zip(batch, want):
                assert mine.dtype == other.dtype and mine.shape == other.shape and type(mine) is type(other)
            first += check_training(batch, first, rank, world, tokens // world // accumulated, longest, bigram_hash,
                                    len(want[2]))
            seen[batch[4]] = 1
            loss = model(*batch[:4]).mean()
            loss.backward()
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    assert len(losses) == 30 and losses[-1] < losses[0] and seen.sum() > 100
    if rank == 0:
        pathlib.Path("state.json").write_text(json.dumps(train.state_dict()))
    assert train.state_dict()["position"] == first
    dist.destroy_process_group()


def main():
    where = checkout("LEAT_MODDED_NANOGPT", "https://github.com/KellerJordan/modded-nanogpt")
    need("torch")
    names = theirs(where)
    with own_folder() as folder:
        texts = corpus("texts.jsonl", length=700) * 4  # enough for the generator, which drops much
        write_shards("data/fineweb10B/fineweb_train", texts, 2)
        write_shards("data/fineweb10B/fineweb_val", texts[:60], 1)
        lines = page("modded-nanogpt", folder, get_bigram_hash=names["get_bigram_hash"])
        assert "pip install /path/to/leat" in lines.take()[1]
        lines.shell()
        lines.python()
        wanted = [id for k in range(2) for text in texts[k::2]
                  for id in (BEGIN, *leat.get_encoding("gpt2").encode_ordinary(text), BEGIN)]
        equal(numpy.fromfile("data/fineweb.tokens", "<u2"), wanted, "the tokens of the shards' documents")
        torchrun(2, __file__, where)

        from leat.integrations.modded_nanogpt import Batches
        state = json.loads(pathlib.Path("state.json").read_text())
        again = Batches("data/fineweb", 4 * ROW, 256, row=ROW, bigram_hash=names["get_bigram_hash"], device="cpu",
                        state=state)
        first = state["position"]
        for _ in range(3):
            first += check_training(next(again), first, 0, 1, 4 * ROW, 256, names["get_bigram_hash"], 128)


if __name__ == "__main__":
    one_rank(pathlib.Path(sys.argv[1])) if len(sys.argv) > 1 and "/" in sys.argv[1] else main()
