#!/usr/bin/env python3
"""randomness.py BUILD [--only report|loss] [--seeds 3] [--steps 1024] [--folder FOLDER]

What an order in stretches costs in randomness, beside `shuffled`: for a corpus that is sorted by topic, and for one
whose documents are in no order. A topic is the source that a document's id names. The texts are those of LEAT_CORPORA,
else of ../shared/corpora, as bytes.
  report  batches of 256 and 1,024 rows of 256 tokens, all over the corpora: what `leat order --locality-report` says,
          and how uneven topics are in a batch (chi-square per degree of freedom: 1 by chance)
  loss    a small model is trained on one pass over 32 topics of equal size, with AdamW and a rate that falls to 0: its
          loss on held-out text of all of them. What counts of a pool is its share of the corpus, and of how many
          stretches it is; `sequential` shows a sorted corpus topic after topic.
Exit code 77: texts or torch are missing."""
import argparse
import collections
import itertools
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
import measured  # noqa: E402 (a script of another folder)

POOLS = 1000, 250, 64, 16, 4  # a pool is one part of so many
STRETCHES = 64 << 10, 512 << 10, 8 << 20
MIXES = 4, 32  # of training
TOPICS, DOCUMENT, HELD_OUT = 32, 4096, 8 << 10
LENGTH, BATCH = 64, 32


def topics(folder):
    """The texts of each topic, the largest topics first."""
    found = collections.defaultdict(list)
    for name in measured.TEXTS:
        path = measured.unpacked(folder, measured.corpus(name)) or measured.skip(f"no {measured.corpus(name)}")
        with open(path, encoding="utf-8") as lines:
            for document in map(json.loads, lines):
                found[document["id"].partition("/")[0]].append(document["text"])
    return sorted(found.values(), key=lambda texts: -sum(map(len, texts)))


class Corpora:
    """A dataset that is sorted by topic and one that is not, and the topic of each of their documents."""

    def __init__(self, o, name, texts):
        documents = [(number, text) for number, all_of_it in enumerate(texts) for text in all_of_it]
        self.names, self.topics = {}, {}
        for how in "sorted", "unsorted":
            if how == "unsorted":
                random.Random(5).shuffle(documents)
            self.names[how] = os.path.join(o.folder, f"{name}-{how}")
            self.topics[how] = [number for number, _ in documents]
            with open(self.names[how] + ".jsonl", "w", encoding="utf-8") as to:
                to.writelines(json.dumps({"text": text}) + "\n" for _, text in documents)
            subprocess.run([o.leat, "pack", "--force", "-t", "bytes", "-o", self.names[how],
                            self.names[how] + ".jsonl"], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)


# ---- The report


def unevenness(of_windows, windows, rows):
    """The chi-square of topics in batches of so many rows, per degree of freedom."""
    import numpy
    expected = numpy.bincount(of_windows) * (rows / len(of_windows))
    there = expected > 0
    batches = [windows[at:at + rows] for at in range(0, len(windows) - rows + 1, len(windows) // 64)]
    sums = [(((numpy.bincount(of_windows[b], minlength=len(expected)) - expected) ** 2)[there] / expected[there]).sum()
            for b in batches]
    return statistics.mean(sums) / (there.sum() - 1)


def report(o):
    import leat
    import numpy
    corpora = Corpora(o, "all", topics(o.folder))
    data = {how: leat.Dataset(name) for how, name in corpora.names.items()}
    of_windows = {}
    for how, dataset in data.items():
        document = numpy.searchsorted(dataset.starts(), numpy.arange(dataset.info.tokens // 256) * 256, "right") - 1
        of_windows[how] = numpy.array(corpora.topics[how])[document]
    total = 2 * data["sorted"].info.tokens
    print(f"{total / 1e6:,.0f} MB of tokens, {len(set(corpora.topics['sorted']))} topics")
    print("   pool  stretch   mix |  256 rows: parts of 1000  uneven, places  documents shared, %  topics sorted  not"
          " | 1,024 rows: parts  places  shared  topics sorted  not")
    for share, stretch in [(0, 0), *itertools.product(POOLS, STRETCHES)]:
        mix = round(total / share / stretch) if share else 0
        if share and mix < 1:
            continue
        near = {"stretch": stretch, "mix": mix} if share else {}
        words = [word for key, value in near.items() for word in (f"--{key}", str(value))]
        said = json.loads(subprocess.run([o.leat, "order", "--source", corpora.names["sorted"], "--seq-len", "256",
                                          *words, "--locality-report", "--json"], check=True,
                                         stdout=subprocess.PIPE).stdout)
        line = f"{'1/' + str(share) if share else 'all':>7} {stretch >> 10:5} KiB {mix:5} |"
        plans = {how: leat.Plan([dataset], seq_len=256, **near) for how, dataset in data.items()}
        shown = {how: plan.samples(0, len(of_windows[how]))["window"] for how, plan in plans.items()}
        for batch in said["batches"]:
            batch = batch if share else {**batch["shuffled"], "rows": batch["rows"]}
            uneven = [unevenness(of_windows[how], shown[how], batch["rows"]) for how in data]
            line += (f" {batch['parts']:9.0f} {batch['chi_square']:9.2f} {100 * batch['sharing']:9.1f} "
                     f"{uneven[0]:9.2f} {uneven[1]:6.2f} |")
        print(line, flush=True)


# ---- The loss


def train(name, seed, held_out, near, o):
    """The loss on held-out text after one pass over the dataset."""
    import leat
    import torch
    torch.manual_seed(seed)
    width, heads = 48, 4

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = torch.nn.Embedding(257, width), torch.nn.Embedding(LENGTH, width)
            torch.nn.init.normal_(self.tokens.weight, std=0.1)
            self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(3))
            self.mix, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
            self.wide, self.back = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

        def forward(self, ids):
            x = self.tokens(ids) + self.places.weight
            parts = self.mix(self.norms[0](x)).view(*ids.shape, 3, heads, -1).permute(2, 0, 3, 1, 4)
            seen = torch.nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
            x = x + self.out(seen.transpose(1, 2).reshape(x.shape))
            x = x + self.back(torch.nn.functional.gelu(self.wide(self.norms[1](x))))
            return self.norms[2](x) @ self.tokens.weight.T

    def loss(ids, labels):
        return torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten())

    model = Model()
    learner = torch.optim.AdamW(model.parameters(), lr=3e-3)
    falling = torch.optim.lr_scheduler.OneCycleLR(learner, 3e-3, total_steps=o.steps + 1, pct_start=0.05)
    plan = leat.Plan([name], seq_len=LENGTH, seed=seed, epochs=1, **near)
    with leat.Loader(plan, batch_size=BATCH) as loader:
        for inputs, labels in itertools.islice(loader, o.steps):
            learner.zero_grad()
            loss(torch.as_tensor(inputs), torch.as_tensor(labels)).backward()
            learner.step()
            falling.step()
    with torch.no_grad():
        rows = held_out[:len(held_out) // (LENGTH + 1) * (LENGTH + 1)].view(-1, LENGTH + 1)
        return float(loss(rows[:, :-1], rows[:, 1:]))


def cut(texts, size):
    """Documents of at most DOCUMENT bytes, `size` bytes in all."""
    text = "".join(texts).encode()[:size]
    return [text[at:at + DOCUMENT].decode(errors="ignore") for at in range(0, len(text), DOCUMENT)]


def losses(o):
    import torch
    torch.set_num_threads(1)
    size = o.steps * BATCH * LENGTH // TOPICS
    large = [texts for texts in topics(o.folder) if sum(map(len, texts)) > size + HELD_OUT][:TOPICS]
    pieces = [cut(texts, size + HELD_OUT) for texts in large]
    held = max(1, HELD_OUT // DOCUMENT)
    corpora = Corpora(o, "small", [documents[held:] for documents in pieces])
    held_out = torch.tensor(list("".join(text for documents in pieces for text in documents[:held]).encode()))
    total = 2 * len(pieces) * size
    orders = {"shuffled": {}, "sequential": {"order": "sequential"}}
    for share, mix in itertools.product(POOLS, MIXES):
        stretch = total // share // mix // (2 * LENGTH) * 2 * LENGTH
        if stretch >= 2 * LENGTH:
            orders[f"pools of 1/{share}, {mix} stretches"] = {"stretch": stretch, "mix": mix}
    print(f"{total / 2e6:.1f} MB of text of {len(pieces)} topics, {o.steps} steps of {BATCH} rows of {LENGTH} bytes, "
          f"{o.seeds} seeds: loss in nats per byte, its spread, and more than shuffled")
    base = {}
    for label, near in orders.items():
        line = f"{label:32}"
        for how, name in corpora.names.items():
            found = [train(name, seed, held_out, near, o) for seed in range(1, o.seeds + 1)]
            base.setdefault(how, found)
            more = [a - b for a, b in zip(found, base[how])]
            line += (f" {how} {statistics.mean(found):.3f} ({min(found):.3f}-{max(found):.3f}) "
                     f"{statistics.mean(more):+.3f}")
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", default="", choices=("", "report", "loss"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1024)
    parser.add_argument("--folder")
    o = parser.parse_args()
    o.leat = os.path.abspath(os.path.join(o.build, "leat"))
    o.folder = o.folder or os.path.join(o.build, "randomness")
    pathlib.Path(o.folder).mkdir(parents=True, exist_ok=True)
    if o.only != "loss":
        report(o)
    if o.only != "report":
        losses(o)


if __name__ == "__main__":
    main()
