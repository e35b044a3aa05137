"""check_megatron.py: leat's order megatron against megatron-core itself: random files written by Megatron's builder,
random settings (splits, weights, seeds, numbers of samples, surplus, types of tokens, documents of several sequences);
each sample's tokens are compared, and what Megatron refuses, leat has to refuse.

The vectors of docs/ORDER.md are compared first.

usage: check_megatron.py LEAT FOLDER [SEED [CONFIGURATIONS]]     LEAT: the command
"""
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder  # noqa: E402
from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig  # noqa: E402
from megatron.core.datasets.indexed_dataset import IndexedDatasetBuilder  # noqa: E402

RANGES = ["train", "valid", "test"]
END = 0  # the end token of the files made here


class Tokenizer:
    """What a GPTDatasetConfig needs of one."""

    def __init__(self, vocab_size):
        self.vocab_size, self.eod, self.unique_identifiers = vocab_size, END, {"class": "none"}


def write(prefix, r, dtype):
    """Writes PREFIX.bin and .idx; returns the tokens of each sequence."""
    sequences = []
    builder = IndexedDatasetBuilder(prefix + ".bin", dtype=dtype)
    shape = r.choice(["short", "mixed", "long", "equal"])
    several = r.random() < 0.2
    count = r.choice([1, 2, 3, r.randint(4, 40), r.randint(40, 300)])
    token = 1
    while len(sequences) < count:
        document = []
        for _ in range(r.randint(1, 4) if several else 1):
            n = {"short": r.randint(1, 8), "mixed": r.choice([0, 1, 2, r.randint(1, 30), r.randint(30, 400)]),
                 "long": r.randint(200, 600), "equal": 64}[shape]
            ids = np.arange(token, token + n, dtype=np.int64)
            token += n
            if dtype == np.uint16:
                ids %= 65521
            if n and r.random() < 0.9:
                ids[-1] = END
            sequences.append(ids)
            document.append(ids)
        builder.add_document(np.concatenate(document).tolist(), [len(d) for d in document])
    builder.finalize(prefix + ".idx")
    return sequences


class Case:
    def __init__(self, r, folder):
        self.r, self.folder = r, folder
        self.dtype = r.choice([np.uint16, np.int32, np.int32])
        self.prefixes = [os.path.join(folder, f"data{i}") for i in range(r.choice([1, 1, 1, 2, 2, 3, 4, 9]))]
        self.files = [write(p, r, self.dtype) for p in self.prefixes]
        self.tokens = [np.fromfile(p + ".bin", dtype=self.dtype) for p in self.prefixes]
        tokens = sum(map(len, self.tokens))
        self.seq_len = r.choice([n for n in (1, 2, 3, 8, 16, 31, 64, 100, 256, 1000) if tokens < 1000 * n])
        self.seed = r.choice([0, 1, 1234, 2**32 - 1, r.getrandbits(32), r.getrandbits(32)])
        self.split = r.choice([None, "969, 30, 1", "969,30,1", "99,1,0", "1,1,1", "100", "8,1,1", "99.5,.5", "0,1,0",
                               ",".join(str(r.random()) for _ in range(3))])
        self.use = 0 if self.split is None else r.choice([0, 0, 0, 1, 2])
        self.weights = None
        if r.random() < (0.7 if len(self.prefixes) > 1 else 0.3):
            self.weights = [r.choice([1, 1, 2, 0.5, 0.3, 0.1, 17.25, 30, 70,
                                      round(r.random() + 1e-3, r.randint(3, 17))]) for _ in self.prefixes]
        epoch = max(tokens // self.seq_len, 1)
        self.samples = r.choice([None, 1, r.randint(1, epoch), epoch, r.randint(1, 4 * epoch), r.randint(1, 9 * epoch)])
        self.samples = self.samples and min(self.samples, 3000)
        self.surplus = r.choice([0.005, 0.005, 0.0, 0.05, 0.5])

    def config(self):
        options = {"split": self.split, "blend": (self.prefixes, self.weights)}
        if self.split is None:
            blends = [None] * 3
            blends[self.use] = (self.prefixes, self.weights)
            options = {"blend_per_split": blends}
        return GPTDatasetConfig(
            random_seed=self.seed, sequence_length=self.seq_len, **options, reset_position_ids=False,
            reset_attention_mask=False, eod_mask_loss=False, create_attention_mask=False, path_to_cache=None,
            mid_level_dataset_surplus=self.surplus, tokenizer=Tokenizer(1000 if self.dtype == np.uint16 else 10**6))

    def has_empty_range(self, config):
        """Of a range without a token Megatron makes epochs for ever."""
        for begin, end in filter(None, config.split_matrix or [(0.0, 1.0)]):
            for sequences in self.files:
                used = sequences[int(round(begin * float(len(sequences)))):int(round(end * float(len(sequences))))]
                if sum(map(len, used)) == 0:
                    return True
        return False

    def megatron(self):
        """Megatron's dataset, or None if it refuses; "skip": it would not end, or make nothing of this range."""
        config = self.config()
        if self.has_empty_range(config) or (config.split_matrix and config.split_matrix[self.use] is None):
            return "skip"
        sizes = [0, 0, 0] if self.samples is not None else [None] * 3
        sizes[self.use] = self.samples
        try:
            return BlendedMegatronDatasetBuilder(GPTDataset, sizes, lambda: True, config).build()[self.use]
        except (AssertionError, IndexError, ValueError):
            return None

    def options(self):
        args = ["--order", "megatron", "--seq-len", str(self.seq_len), "--seed", str(self.seed),
                "--mid-level-dataset-surplus", repr(self.surplus)]
        for i, prefix in enumerate(self.prefixes):
            args += ["--source", prefix + (f":{self.weights[i]}" if self.weights else "")]
        if self.split is not None:
            args += ["--split", self.split, "--use", RANGES[self.use]]
        return args + (["--samples", str(self.samples)] if self.samples else [])

    def row(self, line):
        return np.concatenate([self.tokens[p["source"]][p["token"]:p["token"] + p["count"]] for p in line["pieces"]])


def samples_of(dataset, n):
    """The tokens of sample n of either kind of Megatron's datasets, as its __getitem__ has them."""
    item = dataset[n]
    return np.concatenate([item["tokens"].numpy(), item["labels"].numpy()[-1:]])


def ask(leat, args, count, more=()):
    got = subprocess.run([leat, "order", *args, "--count", str(count), "--json", *more], capture_output=True, text=True)
    return got.returncode, [json.loads(line) for line in got.stdout.splitlines()], got.stderr


def check_ranks(leat, case, lines):
    """Rank r takes rows [r mb, (r + 1) mb) of each mb * world rows, counted from consumed_samples: what Megatron's
    MegatronPretrainingSampler does."""
    r = case.r
    world, rows = r.choice([1, 2, 4]), r.choice([1, 2, 3])
    rank, consumed = r.randrange(world), r.randrange(4) * world * rows
    batch = world * rows
    want = [n for n in range(consumed, len(lines)) if n % batch // rows == rank]
    code, got, error = ask(leat, case.options(), len(lines) - consumed, ["--from", str(consumed), "--batch", str(batch),
                           "--rank", str(rank), "--world", str(world)]) if consumed < len(lines) else (0, [], "")
    assert code == 0, error
    assert [line["n"] for line in got] == want, (world, rows, rank, consumed)


def check(leat, r, folder, number):
    case = Case(r, folder)
    dataset = case.megatron()
    about = f"configuration {number}: leat order {' '.join(case.options())}"
    if isinstance(dataset, str):
        return "skipped"
    size = 0 if dataset is None else len(dataset)
    code, lines, error = ask(leat, case.options(), size + 10)
    if size == 0:
        assert code != 0, f"{about}\nMegatron refuses it or has no samples, and leat does not"
        return "refused"
    assert code == 0, f"{about}\n{error}"
    assert len(lines) == size, f"{about}\n{len(lines)} samples, and Megatron has {size}"
    for n, line in enumerate(lines):
        want, got = samples_of(dataset, n), case.row(line)
        assert line["n"] == n and np.array_equal(got, want), f"{about}\nsample {n}: {got}, and Megatron's is {want}"
    check_ranks(leat, case, lines)
    return "compared", size


class Vectors(Case):
    """The vectors of docs/ORDER.md for one plan: NAME=LENGTHS ... | LINE; LINE; ..."""

    def __init__(self, line, folder):
        data, text = line.split("|")
        keys = [line.strip().split(" ", 1) for line in text.split(";")]
        one, given = dict(keys), dict(word.split("=") for word in data.split())
        sources = [value.split(":") for key, value in keys if key == "source"]
        self.dtype, self.prefixes = np.int32, [os.path.join(folder, name) for name, *_ in sources]
        self.files = [self.write(prefix, given[name]) for prefix, (name, *_) in zip(self.prefixes, sources)]
        self.tokens = [np.concatenate(sequences) for sequences in self.files]
        self.weights = [float(weight) for _, *w in sources for weight in w] or None
        self.seq_len, self.seed = int(one["seq-len"]), int(one.get("seed", 1234))
        self.split, self.use = one.get("split"), RANGES.index(one.get("use", "train"))
        self.samples = int(one["samples"]) if "samples" in one else None
        self.surplus = float(one.get("mid-level-dataset-surplus", 0.005))

    @staticmethod
    def write(prefix, text):
        sequences, token = [], 0
        builder = IndexedDatasetBuilder(prefix + ".bin", dtype=np.int32)
        for word in text.replace("+", ",").split(","):
            length, count = map(int, (word.split("x") + ["1"])[:2])
            for _ in range(count):
                sequences.append(np.arange(token, token + length))
                token += length
                builder.add_document(sequences[-1].tolist(), [length])
        builder.finalize(prefix + ".idx")
        return sequences


def check_vectors(folder):
    with open("docs/ORDER.md", encoding="utf-8") as page:
        lines = page.read().splitlines()
    dataset, count = None, 0
    for line in lines:
        word = line.split(" ", 1)[0]
        if word == "megatron":
            here = os.path.join(folder, f"vectors{count}")
            os.makedirs(here)
            case = Vectors(line.split(" ", 1)[1], here)
            dataset = case.megatron()
        elif word == "ends" and dataset is not None:
            assert len(dataset) == int(line.split()[1]), line
            dataset = None
        elif word == "window" and dataset is not None:
            question, answer = line.split(":")
            source, _, _, *pieces = answer.split()
            row = np.concatenate([case.tokens[int(source)][int(first):int(first) + int(size)]
                                  for first, size in (piece.split(".") for piece in pieces)])
            want = samples_of(dataset, int(question.split()[1]))
            assert np.array_equal(row, want), f"docs/ORDER.md: {line}: Megatron's is {want}"
            count += 1
    return count


def main():
    leat, folder, seed, count = (*sys.argv[1:3], *map(int, sys.argv[3:5]), *(1, 200)[len(sys.argv) - 3:])
    counts, samples, number = {"compared": 0, "refused": 0, "skipped": 0}, 0, 0
    print(f"{check_vectors(folder)} vectors of docs/ORDER.md are Megatron's")
    while counts["compared"] < count:
        number += 1
        here = os.path.join(folder, f"megatron{number}")
        os.makedirs(here)
        found = check(leat, random.Random(f"{seed} {number}"), here, number)
        if isinstance(found, tuple):
            found, more = found
            samples += more
        counts[found] += 1
        shutil.rmtree(here)
    print(f"seed {seed}: {counts['compared']} configurations with {samples} samples are equal; {counts['refused']} are "
          f"refused by both; {counts['skipped']} give Megatron nothing")


if __name__ == "__main__":
    main()
