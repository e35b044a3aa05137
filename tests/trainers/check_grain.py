#!/usr/bin/env python3
"""check_grain.py: a model in JAX trained from Grain with the lines of docs/trainers/grain.md: one host with two
devices, then two hosts with one device each, from its state; and an evaluation set to its end on two hosts. Every row
is compared with the token file, and torch must not have been imported."""
import json
import pathlib
import sys

import common
import numpy

LENGTH, ROWS, STEPS, MORE = 64, 8, 30, 10
OUTPUTS = "inputs", "labels", "position_ids", "document_ids"


def model_of(jax, vocabulary):
    """Parameters of a small model with attention within documents, and its training step."""
    jnp, width = jax.numpy, 32
    keys = jax.random.split(jax.random.key(0), 5)
    shapes = (vocabulary, width), (LENGTH, width), (width, 3 * width), (width, width), (width, vocabulary)
    model = [jax.random.normal(key, shape) * 0.1 for key, shape in zip(keys, shapes)]

    def loss(model, batch):
        tokens, places, mixed, out, head = model
        x = tokens[batch["inputs"]] + places[batch["position_ids"]]
        q, k, v = jnp.split(x @ mixed, 3, axis=-1)
        same = batch["document_ids"][:, :, None] == batch["document_ids"][:, None, :]
        scores = jnp.where(same & jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), q @ k.swapaxes(1, 2) / width ** 0.5, -1e9)
        found = jax.nn.log_softmax((x + jax.nn.softmax(scores) @ v @ out) @ head)
        counts = batch["labels"] != -100
        wanted = jnp.take_along_axis(found, jnp.maximum(batch["labels"], 0)[..., None], axis=-1)[..., 0]
        return -(wanted * counts).sum() / counts.sum()

    @jax.jit
    def step(model, batch):
        value, slope = jax.value_and_grad(loss)(model, batch)
        return [a - 0.5 * b for a, b in zip(model, slope)], value

    return model, step


def host(what, port, process, processes):
    """One host: trains by the page's lines, or goes on and evaluates; keeps what it got."""
    import jax
    if processes > 1:
        jax.distributed.initialize(f"127.0.0.1:{port}", processes, process)
    page = common.page("grain", ".")
    page.take()  # the shell's
    names, kept = page.names, []
    model, step = model_of(jax, 512)
    names["step"] = step
    for _ in range(4):
        page.python()
    page.done()
    batches = names["batches"]

    class Kept:
        get_state, set_state = batches.get_state, batches.set_state

        def __next__(self):
            kept.append(next(batches))
            return kept[-1]

    names["batches"] = Kept()
    if what == "train":
        model, first = names["train"](model, 1)
        model, last = names["train"](model, STEPS - 1)
        saved = {"first": float(first), **names["state"]()}
        pathlib.Path("state.json").write_text(json.dumps(saved))
        numpy.savez("model.npz", *model)
    else:
        saved = json.loads(pathlib.Path("state.json").read_text())
        names["resume"](saved)
        with numpy.load("model.npz") as arrays:
            model = [*arrays.values()]
        _, last = names["train"](model, MORE)
    assert last < saved["first"], f"the loss is {saved['first']}, then {last}"
    valid = [{name: batch[name] for name in OUTPUTS} for batch in names["evaluation"]()]
    for kind, got in (("train", kept), ("valid", valid)):
        numpy.savez(f"{what}-{kind}-{process}.npz", **{name: [b[name] for b in got] for name in OUTPUTS})
    assert "torch" not in sys.modules, "torch was imported"


def got(what, kind, processes):
    """What all hosts got: host, step, row, place."""
    parts = [numpy.load(f"{what}-{kind}-{p}.npz") for p in range(processes)]
    return {name: numpy.stack([part[name] for part in parts]) for name in OUTPUTS}


def check_row(tokens, row, at, what):
    inputs, labels = tokens.row(at, LENGTH)
    positions = tokens.position_ids(at, LENGTH)
    begins = numpy.isin(numpy.arange(at + 1, at + LENGTH + 1), tokens.starts)
    common.equal(row["inputs"], inputs, f"{what}, inputs")
    common.equal(row["labels"], numpy.where(begins, -100, labels), f"{what}, labels")
    common.equal(row["position_ids"], positions, f"{what}, positions")
    common.equal(row["document_ids"], numpy.concatenate([[0], begins[:-1].cumsum()]), f"{what}, documents")


def check_training(tokens, what, first, steps, processes):
    rows = got(what, "train", processes)
    order = common.order("--source", "corpus", "--seq-len", LENGTH, "--seed", 42, "--epochs", 4, first=first * ROWS,
                         count=steps * ROWS)
    assert rows["inputs"].shape == (processes, steps, ROWS // processes, LENGTH)
    for n, sample in enumerate(order):
        step, place = divmod(n, ROWS)
        row = {name: rows[name][place % processes, step, place // processes] for name in OUTPUTS}
        check_row(tokens, row, sample["window"] * LENGTH, f"{what}, step {first + step}, row {place}")


def check_evaluation(tokens, what, processes):
    rows = got(what, "valid", processes)
    count = (len(tokens.all) - 1) // LENGTH
    assert rows["inputs"].shape[:3] == (processes, -(-count // ROWS), ROWS // processes) and count % ROWS
    for n in range(rows["inputs"].shape[1] * ROWS):
        step, place = divmod(n, ROWS)
        row = {name: rows[name][place // (ROWS // processes), step, place % (ROWS // processes)] for name in OUTPUTS}
        if n < count:
            check_row(tokens, row, n * LENGTH, f"{what}, evaluation, row {n}")
        else:
            assert (row["labels"] == -100).all(), f"{what}, evaluation: padding has labels"


def main():
    common.need("grain")
    common.need("jax")
    with common.own_folder() as folder:
        common.vocabulary()
        common.corpus("data/texts.jsonl")
        common.page("grain", folder).shell()
        train, valid = common.Tokens("corpus"), common.Tokens("corpus.valid")
        common.hosts(__file__, "train", 1)
        common.hosts(__file__, "resume", 2)
        check_training(train, "train", 0, STEPS, 1)
        check_training(train, "resume", STEPS, MORE, 2)
        check_evaluation(valid, "train", 1)
        check_evaluation(valid, "resume", 2)


if len(sys.argv) > 1:
    host(sys.argv[1], *map(int, sys.argv[2:]))
else:
    main()
