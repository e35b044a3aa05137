#!/usr/bin/env python3
"""check_levanter.py: Levanter's own train_lm with the lines of docs/trainers/levanter.md: one host with two devices
trains and evaluates to the end of a finite set; two hosts with one device each go on from its checkpoint to the plan's
end. Every row that the trainer takes is compared with the token file, and torch must not have been imported."""
import asyncio
import collections
import os
import pathlib
import socket
import subprocess
import sys

import common
import numpy

LENGTH, ROWS, STEPS, EVERY = 64, 16, 30, 12  # as in CONFIG
PLACES = LENGTH - 1  # the last one predicts nothing
KEYS = "tokens", "loss_weight", "segments"
CONFIG = """
model: {type: llama, tokenizer: ., max_seq_len: 64, hidden_dim: 32, intermediate_dim: 64, num_layers: 1, num_heads: 2,
        num_kv_heads: 2}
optimizer: {learning_rate: 0.01}
trainer:
  id: a
  tracker: {type: noop}
  mp: f32
  log_jaxprs: false
  log_xla_hlo: false
  train_batch_size: 16
  steps_per_eval: 12
  require_accelerator: false
  checkpointer: {base_path: run, keep: [{every: 10}]}
"""


def arrays(batch):
    """The rows of an LmExample that are on this host's devices."""
    named = {"tokens": batch.tokens, "loss_weight": batch.loss_weight, "segments": batch.attn_mask.segment_ids[0]}
    return {name: numpy.concatenate([numpy.asarray(part.data) for part in sorted(
        found.array.addressable_shards, key=lambda part: part.index[0].start or 0)]) for name, found in named.items()}


def host(what, steps, port, process, processes):
    """One host: the page's program, with a DataLoaderIterator that keeps what the trainer takes from it."""
    from levanter.data import loader
    give, kept = loader.DataLoaderIterator.__next__, {"train": [], "valid": []}

    def kept_next(self):
        batch = give(self)
        kind, rows = ("valid", batch[0]) if isinstance(batch, tuple) else ("train", batch)
        kept[kind].append(arrays(rows))
        return batch

    loader.DataLoaderIterator.__next__ = kept_next
    words = {"config_path": "config.yaml", "data.tokenizer": os.getcwd(), "trainer.num_train_steps": steps}
    if processes > 1:
        words.update({"trainer.distributed.coordinator_address": f"127.0.0.1:{port}",
                      "trainer.distributed.num_processes": processes, "trainer.distributed.process_id": process})
    sys.argv = ["train.py", *(word for name, value in words.items() for word in (f"--{name}", str(value)))]
    page = common.page("levanter", ".")
    page.take()  # the shell's
    page.names["__name__"] = "__main__"
    page.python()
    for kind, batches in kept.items():
        numpy.savez(f"{what}-{kind}-{process}.npz", **{name: [batch[name] for batch in batches] for name in KEYS})
    assert "torch" not in sys.modules, "torch was imported"


def hosts(what, steps, processes):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "JAX_PLATFORMS": "cpu",
           "XLA_FLAGS": f"--xla_force_host_platform_device_count={2 // processes}"}
    running = [subprocess.Popen([sys.executable, __file__, what, *map(str, (steps, port, p, processes))], env=env,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for p in range(processes)]
    said = [r.communicate()[0] for r in running]
    assert [r.returncode for r in running] == [0] * processes, f"{what} with {processes} hosts:\n{said[0][-6000:]}"


def got(what, kind, processes):
    """Batches of all hosts, row by row: step, row, place."""
    parts = [numpy.load(f"{what}-{kind}-{p}.npz") for p in range(processes)]
    return {name: numpy.concatenate([part[name] for part in parts], axis=1) for name in KEYS}


def check_row(tokens, row, at, what):
    begins = numpy.isin(numpy.arange(at + 1, at + LENGTH), tokens.starts)
    wanted = {"tokens": tokens.all[at:at + LENGTH].copy(), "loss_weight": numpy.append(~begins, 0),
              "segments": numpy.append(0, begins.cumsum())}
    if begins[-1]:  # no place of the row predicts its last token, so it is padding
        wanted["tokens"][-1], wanted["segments"][-1] = 0, -1
    for name in KEYS:
        common.equal(row[name], wanted[name], f"{what}, {name}")


def check_batches(tokens, windows, rows, steps, what):
    """The rows of so many batches are these windows, and after them padding."""
    assert rows["tokens"].shape == (steps, ROWS, LENGTH), f"{what}: {rows['tokens'].shape}, not {steps} batches"
    for n in range(steps * ROWS):
        row = {name: rows[name][divmod(n, ROWS)] for name in KEYS}
        if n < len(windows):
            check_row(tokens, row, windows[n] * PLACES, f"{what}, step {n // ROWS}, row {n % ROWS}")
        else:
            assert not row["loss_weight"].any(), f"{what}: padding has loss"


def check_training(tokens, what, first, last, processes):
    samples = common.order("--source", "corpus", "--seq-len", PLACES, "--seed", 7, "--epochs", 1, first=first * ROWS,
                           count=(last - first) * ROWS)
    check_batches(tokens, [sample["window"] for sample in samples], got(what, "train", processes), last - first, what)


def check_evaluation(tokens, what, times, processes):
    rows, windows = got(what, "valid", processes), range((len(tokens.all) - 1) // PLACES)
    batches = -(-len(windows) // ROWS)
    assert len(windows) % ROWS and len(rows["tokens"]) == times * batches, f"{what}: {len(rows['tokens'])} batches"
    for first in range(0, times * batches, batches):
        check_batches(tokens, windows, {name: rows[name][first:first + batches] for name in KEYS}, batches,
                      f"{what}, evaluation")


def check_fitted(tokens, plan):
    """The rows of an epoch of whole documents have each prediction of the corpus once, and nothing else."""
    from leat.integrations.levanter import Dataset
    dataset, found = Dataset(plan, LENGTH), collections.Counter()
    for row in asyncio.run(dataset.get_batch(range(len(plan)))):
        segments = row.attn_mask.segment_ids[0]
        assert row.tokens.shape == segments.shape == row.loss_weight.shape == (LENGTH,)
        counts = numpy.flatnonzero(row.loss_weight)
        assert (segments[counts] == segments[counts + 1]).all() and (segments[counts] >= 0).all()
        found.update(zip(row.tokens[counts].tolist(), row.tokens[counts + 1].tolist()))
    inside = numpy.setdiff1d(numpy.arange(1, len(tokens.all)), tokens.starts)
    wanted = collections.Counter(zip(tokens.all[inside - 1].tolist(), tokens.all[inside].tolist()))
    assert found == wanted, f"{found.total()} predictions of {wanted.total()}"


def check_mixture(plan):
    """In a mixture of Levanter's own, a block has the plan's rows, each once."""
    import jax
    from haliax import Axis
    from leat.integrations.levanter import Dataset
    from levanter.data.text.datasets import DirectDatasetComponent, LmDataConfig
    from levanter.schedule import BatchSchedule
    dataset = Dataset(plan, LENGTH)
    mixture = LmDataConfig(components={"leat": DirectDatasetComponent(datasets={"train": dataset})}, shuffle=False,
                           mixture_block_size=16)
    mixed = mixture.train_set(Axis("position", LENGTH), BatchSchedule(ROWS), key=jax.random.key(0))
    rows = [sorted(numpy.asarray(getattr(row.tokens, "array", row.tokens)).tolist() for row in asyncio.run(
        each.get_batch(range(16, 32)))) for each in (dataset, mixed)]
    common.equal(rows[1], rows[0], "a block of Levanter's mixture")


def check_state():
    """A run does not go on with another plan."""
    import leat
    from leat.integrations.levanter import check_state as compare
    compare(leat.Plan("corpus", PLACES, seed=7, epochs=1), "run/a/plan.state")
    try:
        compare(leat.Plan("corpus", PLACES, seed=8, epochs=1), "run/a/plan.state")
    except leat.Error as error:
        assert "seed" in str(error), error
    else:
        raise AssertionError("a plan with another seed goes on")


def main():
    if sys.version_info < (3, 12):
        common.not_run("Levanter needs Python 3.12")
    common.need("levanter")
    with common.own_folder() as folder:
        common.vocabulary()
        common.corpus("data/texts.jsonl")
        pathlib.Path("config.yaml").write_text(CONFIG)
        # so that transformers looks for no model's configuration
        pathlib.Path("tokenizer_config.json").write_text(
            '{"eos_token": "<|endoftext|>", "tokenizer_class": "PreTrainedTokenizerFast"}')
        page = common.page("levanter", folder)
        page.shell()
        train, valid = common.Tokens("corpus"), common.Tokens("corpus.valid")
        hosts("train", STEPS, 1)
        check_training(train, "train", 0, STEPS, 1)
        check_evaluation(valid, "train", STEPS // EVERY + 1, 1)  # the last one at the end
        hosts("resume", 1000, 2)
        windows = (len(train.all) - 1) // PLACES
        end = -(-windows // ROWS)
        assert end > STEPS and windows % ROWS, f"a corpus of {windows} windows"
        check_training(train, "resume", STEPS, end, 2)
        check_evaluation(valid, "resume", end // EVERY - STEPS // EVERY + 1, 2)
        page.python()  # the program, which only hosts run
        check_state()
        fitted = page.python()["fitted"](PLACES, 4)
        page.done()
        check_fitted(train, fitted)
        check_mixture(fitted)
        assert "torch" not in sys.modules, "torch was imported"


if len(sys.argv) > 1:
    host(sys.argv[1], *map(int, sys.argv[2:]))
else:
    main()
