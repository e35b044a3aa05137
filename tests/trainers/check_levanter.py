#!/usr/bin/env python3
"""check_levanter.py: Levanter's own train_lm with the lines of docs/trainers/levanter.md: one host with two devices
trains and evaluates to the end of a finite set, and the batch size changes; two hosts with one device each go on from
its checkpoint to the plan's end. Another run has phases of other weights and lengths, and does not go on with a plan
that changes before its checkpoint; and one has rows of whole documents, to their end. Every row that the trainer takes
is compared with the token file, and torch must not have been imported."""
import asyncio
import collections
import itertools
import os
import pathlib
import pickle
import sys

import common
import numpy

LENGTH, ROWS, STEPS, EVERY = 64, 16, 30, 12  # as in CONFIG; ROWS: at first
FEWER, SHRINKS = 12, 20  # rows of a batch, from this step on
PLACES = LENGTH - 1  # the last one predicts nothing
DOCUMENTS = 4  # of a fitted row, each of which needs a place more
PHASES = dict(base_len=PLACES, phases=[(100, {"corpus": 1, "corpus.valid": 3}, PLACES // 3)])  # more for leat.Plan
KEYS = "tokens", "loss_weight", "segments"
CONFIG = f"""
model: {{type: llama, tokenizer: ., max_seq_len: {LENGTH}, hidden_dim: 32, intermediate_dim: 64, num_layers: 1,
        num_heads: 2, num_kv_heads: 2}}
optimizer: {{learning_rate: 0.01}}
trainer:
  tracker: {{type: noop}}
  mp: f32
  log_jaxprs: false
  log_xla_hlo: false
  train_batch_size: [{{start: 0, value: {ROWS}}}, {{start: {SHRINKS}, value: {FEWER}}}]
  steps_per_eval: {EVERY}
  require_accelerator: false
  checkpointer: {{base_path: run, keep: [{{every: 10}}]}}
"""


def arrays(batch):
    """The rows of an LmExample that are on this host's devices."""
    named = {"tokens": batch.tokens, "loss_weight": batch.loss_weight, "segments": batch.attn_mask.segment_ids[0]}
    return {name: numpy.concatenate([numpy.asarray(part.data) for part in sorted(
        found.array.addressable_shards, key=lambda part: part.index[0].start or 0)]) for name, found in named.items()}


def host(what, steps, port, process, processes):
    """One host: the page's program, with a DataLoaderIterator that keeps what the trainer takes from it."""
    import leat
    from levanter.data import loader
    run = {"train": "a", "resume": "a", "fitted": "c"}.get(what, "b")
    change = 50 if what == "refused" else None
    made = leat.Plan

    def plan(name, *given, **options):
        if run == "a" or name != "corpus":
            return made(name, *given, **options)
        if run == "c":
            return made(name, PLACES + 1 - DOCUMENTS, **options, order=leat.fit(max_per_row=DOCUMENTS))
        phased = made({"corpus": 3, "corpus.valid": 1}, *given, **options, **PHASES)
        pathlib.Path(f"{what}.plan").write_text(phased.text)
        return phased.change(change, weights=[1, 1]) if change else phased

    leat.Plan = plan
    give, kept = loader.DataLoaderIterator.__next__, {"train": [], "valid": []}

    def kept_next(self):
        batch = give(self)
        kind, rows = ("valid", batch[0]) if isinstance(batch, tuple) else ("train", batch)
        kept[kind].append(arrays(rows))
        return batch

    loader.DataLoaderIterator.__next__ = kept_next
    words = {"config_path": "config.yaml", "data.tokenizer": os.getcwd(), "trainer.id": run,
             "trainer.num_train_steps": steps}
    if processes > 1:
        words.update({"trainer.distributed.coordinator_address": f"127.0.0.1:{port}",
                      "trainer.distributed.num_processes": processes, "trainer.distributed.process_id": process})
    sys.argv = ["train.py", *(word for name, value in words.items() for word in (f"--{name}", str(value)))]
    page = common.page("levanter", ".")
    page.take()  # the shell's
    page.names["__name__"] = "__main__"
    page.python()
    pathlib.Path(f"{what}-{process}.pickle").write_bytes(pickle.dumps(kept))
    assert "torch" not in sys.modules, "torch was imported"


def batches(what, kind, processes):
    """Each batch, of the rows of all hosts."""
    parts = [pickle.loads(pathlib.Path(f"{what}-{p}.pickle").read_bytes())[kind] for p in range(processes)]
    return [{name: numpy.concatenate([part[name] for part in step]) for name in KEYS}
            for step in zip(*parts, strict=True)]


def check_row(tokens, row, at, what, places=PLACES):
    begins = numpy.isin(numpy.arange(at + 1, at + places + 1), tokens.starts)
    wanted = {"tokens": tokens.all[at:at + places + 1].copy(), "loss_weight": numpy.append(~begins, 0),
              "segments": numpy.append(0, begins.cumsum())}
    if begins[-1]:  # no place of the row predicts its last token, so it is padding
        wanted["tokens"][-1], wanted["segments"][-1] = 0, -1
    for name, padding in zip(KEYS, (0, 0, -1)):
        padded = numpy.pad(wanted[name], (0, PLACES - places), constant_values=padding)
        common.equal(row[name], padded, f"{what}, {name}")


def check_batches(sizes, found, samples, what):
    """The rows of batches of these sizes are these samples, each (tokens, place, length), and after them padding."""
    assert [len(batch["tokens"]) for batch in found] == sizes, f"{what}: {[len(batch['tokens']) for batch in found]}"
    samples = iter(samples)
    for step, batch in enumerate(found):
        for place in range(len(batch["tokens"])):
            row, sample = {name: batch[name][place] for name in KEYS}, next(samples, None)
            if sample:
                tokens, at, length = sample
                check_row(tokens, row, at, f"{what}, step {step}, row {place}", length)
            else:
                assert not row["loss_weight"].any(), f"{what}: padding has loss"
    assert next(samples, None) is None, f"{what}: samples are missing"


def size(step):
    return ROWS if step < SHRINKS else FEWER


def check_training(sources, what, first, last, processes, *plan):
    """Steps of a run; `plan`: options of leat order. To the plan's end if last is None."""
    offset = sum(map(size, range(first)))
    found, sizes = batches(what, "train", processes), []
    samples = common.order(*plan, first=offset, count=10**4 if last is None else sum(map(size, range(first, last))))
    for step in itertools.count(first):
        if sum(sizes) >= len(samples):
            break
        sizes.append(size(step))
    check_batches(sizes, found, [(sources[sample["source"]], sample["offset"], sample["length"]) for sample in samples],
                  what)
    return first + len(sizes), sum(sizes) - len(samples)


def check_evaluation(tokens, what, times, processes):
    found = batches(what, "valid", processes)
    windows = [(tokens, at * PLACES, PLACES) for at in range((len(tokens.all) - 1) // PLACES)]
    count = -(-len(windows) // ROWS)
    assert len(windows) % ROWS and len(found) == times * count, f"{what}: {len(found)} batches"
    for first in range(0, times * count, count):
        check_batches([ROWS] * count, found[first:first + count], windows, f"{what}, evaluation")


def check_fitted(tokens, rows, what):
    """These rows of whole documents have each prediction of the corpus once, and nothing else."""
    found = collections.Counter()
    for row in rows:
        assert {row[name].shape for name in KEYS} == {(LENGTH,)}
        counts = numpy.flatnonzero(row["loss_weight"])
        begins = row["segments"][counts]
        assert (begins == row["segments"][counts + 1]).all() and (begins >= 0).all()
        found.update(zip(row["tokens"][counts].tolist(), row["tokens"][counts + 1].tolist()))
    inside = numpy.setdiff1d(numpy.arange(1, len(tokens.all)), tokens.starts)
    wanted = collections.Counter(zip(tokens.all[inside - 1].tolist(), tokens.all[inside].tolist()))
    assert found == wanted, f"{what}: {found.total()} predictions of {wanted.total()}"


def fitted_rows(plan):
    """All rows of a plan, as Levanter's dataset has them."""
    from leat.integrations.levanter import Dataset
    for row in asyncio.run(Dataset(plan, LENGTH).get_batch(range(len(plan)))):
        yield dict(zip(KEYS, map(numpy.asarray, (row.tokens, row.loss_weight, row.attn_mask.segment_ids[0]))))


def trained_rows(what):
    """All rows that one host trained on, with those without loss that fill the last batch."""
    found = batches(what, "train", 1)
    assert [len(batch["tokens"]) for batch in found] == list(map(size, range(len(found))))
    for batch in found:
        for place in range(len(batch["tokens"])):
            yield {name: batch[name][place] for name in KEYS}


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


def check_plan_file(folder):
    """A run goes on with a plan that gave the same samples so far, also if it changes later; and with no other."""
    import leat
    from leat.integrations.levanter import check_plan_file as compare
    name, last = "run/a/plan.json", STEPS * ROWS
    plan = leat.Plan("corpus", PLACES, seed=7, epochs=1)
    with_seed, changed = leat.Plan("corpus", PLACES, seed=8, epochs=1), plan.change(last, add="corpus.valid",
                                                                                   weights=[1, 1])
    compare(plan, name, last)
    for other, position, why in ((with_seed, last, "seed"), (plan.change(last - 1, weights=[2]), last, "phases")):
        refused(compare, other, name, position, why)
    compare(changed, name, last)
    compare(changed, name, last + 10)
    refused(compare, plan, name, last + 10, "phases")
    compare(plan, name, last)  # an older checkpoint
    for more in ("leat", "tokens"):
        (folder / f"corpus.{more}").write_bytes((folder / f"corpus.valid.{more}").read_bytes())
    refused(compare, leat.Plan("corpus", PLACES, seed=7, epochs=1), name, last, "another plan")


def check_plan_file_name():
    """The plan lies beside the checkpoints of the run that Levanter finds; a run without an id has none."""
    from leat.integrations.levanter import plan_file
    from levanter.checkpoint import CheckpointerConfig
    from levanter.trainer import TrainerConfig
    before = os.environ.pop("RUN_ID", None)
    for more, environment, wanted in (({}, {}, None), ({"id": "a"}, {"RUN_ID": "b"}, "run/a/plan.json"),
                                      ({}, {"RUN_ID": "b"}, "run/b/plan.json")):
        os.environ.update(environment)
        found = plan_file(TrainerConfig(checkpointer=CheckpointerConfig(base_path="run"), **more))
        assert found == wanted, (more, environment, found)
        os.environ.pop("RUN_ID", None)
    found = plan_file(TrainerConfig(checkpointer=CheckpointerConfig("run", append_run_id_to_base_path=False)))
    assert found == "run/plan.json", found
    if before is not None:
        os.environ["RUN_ID"] = before


def refused(compare, plan, name, position, why):
    import leat
    try:
        compare(plan, name, position)
    except leat.Error as error:
        assert why in str(error), error
    else:
        raise AssertionError(f"a plan with other {why} goes on at sample {position}")


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
        plan = "--source", "corpus", "--seq-len", PLACES, "--seed", 7, "--epochs", 1
        common.hosts(__file__, "train", 1, STEPS)
        check_training([train], "train", 0, STEPS, 1, *plan)
        check_evaluation(valid, "train", STEPS // EVERY + 1, 1)  # the last one at the end
        common.hosts(__file__, "resume", 2, 1000)
        end, padding = check_training([train], "resume", STEPS, None, 2, *plan)
        assert end > STEPS + 10 and padding, f"the end is step {end}, with {padding} rows of padding"
        check_evaluation(valid, "resume", end // EVERY - STEPS // EVERY + 1, 2)
        common.hosts(__file__, "phases", 1, 10)
        check_training([train, valid], "phases", 0, 10, 1, "--plan", "phases.plan")
        said = common.hosts(__file__, "refused", 1, 20, status=1)
        assert "leat.Error: " in said and "phases" in said, said[-3000:]
        page.python()  # the program, which only hosts run
        fitted = page.python()["fitted"](PLACES, DOCUMENTS)
        page.done()
        check_fitted(train, fitted_rows(fitted), "the plan")
        common.hosts(__file__, "fitted", 1, 1000)
        check_fitted(train, trained_rows("fitted"), "training")
        check_mixture(fitted)
        check_plan_file(folder)
        check_plan_file_name()
        assert "torch" not in sys.modules, "torch was imported"


if len(sys.argv) > 1:
    host(sys.argv[1], *map(int, sys.argv[2:]))
else:
    main()
