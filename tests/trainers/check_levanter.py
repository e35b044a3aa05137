#!/usr/bin/env python3
"""check_levanter.py: Levanter's own train_lm with the lines of docs/trainers/levanter.md: one host with two devices trains
and evaluates to the end of a finite set; two hosts with one device each go on from its checkpoint. Every row that the
trainer takes is compared with the token file, and torch must not have been imported."""
import os
import pathlib
import socket
import subprocess
import sys

import common
import numpy

LENGTH, ROWS, STEPS, MORE = 64, 8, 30, 10
PLACES = LENGTH - 1  # the last one predicts nothing
KEYS = "tokens", "loss_weight", "segments"
CONFIG = """
model: {type: llama, tokenizer: ., max_seq_len: 64, hidden_dim: 32, intermediate_dim: 64, num_layers: 1, num_heads: 2, num_kv_heads: 2}
optimizer: {learning_rate: 0.01}
trainer:
  id: a
  tracker: {type: noop}
  mp: f32
  train_batch_size: 8
  steps_per_eval: 10
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


def check_training(tokens, what, first, steps, processes):
    rows = got(what, "train", processes)
    assert rows["tokens"].shape == (steps, ROWS, LENGTH), rows["tokens"].shape
    order = common.order("--source", "corpus", "--seq-len", PLACES, "--seed", 7, "--epochs", 4, first=first * ROWS,
                         count=steps * ROWS)
    for n, sample in enumerate(order):
        step, place = divmod(n, ROWS)
        check_row(tokens, {name: rows[name][step, place] for name in KEYS}, sample["window"] * PLACES,
                  f"{what}, step {first + step}, row {place}")


def check_evaluation(tokens, what, times, processes):
    rows = got(what, "valid", processes)
    count = (len(tokens.all) - 1) // PLACES
    batches = -(-count // ROWS)
    assert rows["tokens"].shape == (times * batches, ROWS, LENGTH) and count % ROWS, rows["tokens"].shape
    for n in range(times * batches * ROWS):
        step, place = divmod(n, ROWS)
        row, at = {name: rows[name][step, place] for name in KEYS}, n % (batches * ROWS)
        if at < count:
            check_row(tokens, row, at * PLACES, f"{what}, evaluation, row {n}")
        else:
            assert not row["loss_weight"].any(), f"{what}, evaluation: padding has loss"


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
        common.page("levanter", folder).shell()
        train, valid = common.Tokens("corpus"), common.Tokens("corpus.valid")
        hosts("train", STEPS, 1)
        check_training(train, "train", 0, STEPS, 1)
        check_evaluation(valid, "train", 4, 1)  # after each 10 steps, and at the end
        hosts("resume", STEPS + MORE, 2)
        check_training(train, "resume", STEPS, MORE, 2)
        check_evaluation(valid, "resume", 2, 2)


if len(sys.argv) > 1:
    host(sys.argv[1], *map(int, sys.argv[2:]))
else:
    main()
