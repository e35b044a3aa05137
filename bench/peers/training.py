#!/usr/bin/env python3
"""training.py: how long the steps of training a small language model wait for their batches: with leat.Loader, with
PyTorch's DataLoader (a row an item, pinned, without workers and with them), and with nanoGPT's get_batch(). The model
is a GPT of torch's own layers in bfloat16 with AdamW; batches are int64 inputs and labels on its device. All see the
same tokens, in turns; "one batch" trains on a batch that is there already, which no loader can be faster than.

    training.py LEAT_BENCH [--device cuda] [--steps 100] [--layers 8] [--width 512] [--batch 16] [--seq-len 1024]

Printed: the time of a step; how much longer it is than that with the batch that is there, in per cent; the share of the
time for which the program was inside the loader's call; CPU time of all processes for a step.
"""
import argparse
import contextlib
import gc
import json
import statistics
import tempfile
import time

import measured
import numpy
import torch
import torch.utils.data
from dataloader import Windows, cpu_seconds

import leat

VOCABULARY = 65536  # counting tokens are any of two bytes


class Model(torch.nn.Module):
    def __init__(self, o):
        super().__init__()
        self.token = torch.nn.Embedding(VOCABULARY, o.width)
        self.place = torch.nn.Embedding(o.seq_len, o.width)
        layer = torch.nn.TransformerEncoderLayer(o.width, o.width // 64, 4 * o.width, dropout=0, activation="gelu",
                                                 batch_first=True, norm_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, o.layers, enable_nested_tensor=False)
        self.head = torch.nn.Linear(o.width, VOCABULARY, bias=False)
        self.register_buffer("mask", torch.nn.Transformer.generate_square_subsequent_mask(o.seq_len))

    def forward(self, inputs, labels):
        x = self.token(inputs) + self.place(torch.arange(inputs.shape[1], device=inputs.device))
        logits = self.head(self.layers(x, mask=self.mask, is_causal=True))
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


@contextlib.contextmanager
def one_batch(name, o):
    rows = torch.randint(VOCABULARY, (o.batch, o.seq_len + 1), device=o.device)
    yield lambda: (rows[:, :-1], rows[:, 1:])


@contextlib.contextmanager
def leat_loader(name, o):
    with leat.Loader(leat.Plan(name, o.seq_len, 1), o.batch, device=o.device, notices=False) as loader:
        def take():
            batch = next(loader)
            return batch.inputs, batch.labels
        yield take


def dataloader(workers):
    @contextlib.contextmanager
    def opened(name, o):
        loader = torch.utils.data.DataLoader(Windows(name + ".tokens", o.seq_len), batch_size=o.batch, shuffle=True,
                                             drop_last=True, num_workers=workers, pin_memory=o.device != "cpu")
        iterator = iter(loader)

        def take():
            nonlocal iterator
            try:
                inputs, labels, _ = next(iterator)
            except StopIteration:
                iterator = iter(loader)
                inputs, labels, _ = next(iterator)
            return inputs.to(o.device, non_blocking=True), labels.to(o.device, non_blocking=True)
        yield take
        iterator = None
        gc.collect()
    return opened


@contextlib.contextmanager
def nanogpt(name, o):
    """As nanoGPT's train.py has it."""
    def take():
        tokens = numpy.memmap(name + ".tokens", dtype=numpy.uint16, mode="r")
        places = torch.randint(len(tokens) - o.seq_len, (o.batch,))
        both = [torch.stack([torch.from_numpy(tokens[p + k:p + k + o.seq_len].astype(numpy.int64)) for p in places])
                for k in (0, 1)]
        if o.device != "cpu":
            both = [part.pin_memory().to(o.device, non_blocking=True) for part in both]
        return both
    yield take


def train(opened, name, o):
    torch.manual_seed(1)
    model = Model(o).to(o.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=o.device != "cpu")

    def wait():
        if o.device != "cpu":
            torch.cuda.synchronize()

    with opened(name, o) as take:
        for step in range(-o.warm_up, o.steps):
            if step == 0:
                wait()
                waited, cpu, began = 0.0, cpu_seconds(), time.perf_counter()
            before = time.perf_counter()
            inputs, labels = take()
            if step >= 0:
                waited += time.perf_counter() - before
            with torch.autocast(torch.device(o.device).type, dtype=torch.bfloat16):
                loss = model(inputs, labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        wait()
        seconds = time.perf_counter() - began
    return {"step_ms": 1e3 * seconds / o.steps, "waited": waited / seconds,
            "cpu_ms": 1e3 * (cpu_seconds() - cpu) / o.steps, "loss": loss.item()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seq-len", type=int, default=1024)
    parser.add_argument("--tokens", type=measured.number, default=200_000_000)
    parser.add_argument("--workers", type=lambda text: [int(w) for w in text.split(",")], default=[0, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    o = parser.parse_args()
    cases = {"one batch": one_batch, "leat.Loader": leat_loader, "nanoGPT's get_batch": nanogpt,
             **{f"DataLoader, {workers} workers": dataloader(workers) for workers in o.workers}}
    found = {label: [] for label in cases}
    with tempfile.TemporaryDirectory() as folder:
        name = measured.counting(o.leat_bench, folder, o.tokens)
        for _ in range(o.rounds):
            for label, opened in cases.items():
                found[label].append(train(opened, name, o))
    # round by round, beside the batch that is there
    rows = {label: {"step_ms": statistics.median(r["step_ms"] for r in rounds),
                    "longer": [r["step_ms"] / there["step_ms"] - 1 for r, there in zip(rounds, found["one batch"])],
                    "waited": statistics.median(r["waited"] for r in rounds),
                    "cpu_ms": statistics.median(r["cpu_ms"] for r in rounds)} for label, rounds in found.items()}
    if o.json:
        print(json.dumps({"torch": torch.__version__, "device": o.device, "cases": rows}))
        return
    print(f"torch {torch.__version__}; {o.layers} layers of {o.width}, B = {o.batch}, L = {o.seq_len}, "
          f"{o.steps} steps, {o.rounds} rounds in turns")
    print(f"{'':24} {'step, ms':>9} {'longer by, %':>24} {'in the call, %':>15} {'CPU, ms':>9}")
    for label, r in rows.items():
        longer = [100 * x for x in r["longer"]]
        print(f"{label:24} {r['step_ms']:9.2f} {statistics.median(longer):8.2f} ({min(longer):.2f} to "
              f"{max(longer):.2f}) {100 * r['waited']:15.2f} {r['cpu_ms']:9.2f}")


if __name__ == "__main__":
    main()
