#!/usr/bin/env python3
"""check_maxtext.py: MaxText's own train.py with the lines of docs/trainers/maxtext.md: one host with two devices trains
and evaluates to the end of a finite set; two hosts with one device each go on from its checkpoint, and one from theirs;
and one trains on rows of whole documents, to their end. Every batch that the trainer's iterators give is compared with
the token file, and torch must not have been imported."""
import collections
import os
import pathlib
import sys
import types

import common
import numpy

LENGTH, ROWS, STEPS, MORE = 64, 8, 30, 10
CLOUDLESS = {"DECOUPLE_GCLOUD": "TRUE"}  # of the environment
KEYS = tuple(f"{what}{more}" for what in ("inputs", "targets") for more in ("", "_position", "_segmentation"))


def host(what, steps, port, process, processes):
    """One host: the page's program, with a MultiHostDataLoadIterator that keeps what it gives to the trainer."""
    if processes > 1:
        import jax
        jax.distributed.initialize(f"127.0.0.1:{port}", processes, process)
    from maxtext.input_pipeline import multihost_dataloading
    made, give = [], multihost_dataloading.MultiHostDataLoadIterator.__next__

    def kept(self):
        batch = give(self)
        if self not in made:
            made.append(self)
            self.kept = []
        self.kept.append({name: numpy.concatenate([numpy.asarray(part.data) for part in sorted(
            array.addressable_shards, key=lambda part: part.index[0].start or 0)]) for name, array in batch.items()})
        return batch

    multihost_dataloading.MultiHostDataLoadIterator.__next__ = kept
    import maxtext
    base = pathlib.Path(maxtext.__file__).parent / "configs/base.yml"
    own = what == "fitted"
    if own:
        import leat.integrations.maxtext as integration
        use = integration.use
        integration.use = lambda: use(train=fitted)
    sys.argv = ["train.py", str(base), *(
        f"run_name={'b' if own else 'a'} base_output_directory={os.getcwd()}/out dataset_type=grain "
        "grain_train_files=corpus num_epoch=4 data_shuffle_seed=7 grain_eval_files=corpus.valid eval_interval=10 "
        f"eval_steps=-1 hardware=cpu vocab_size=512 steps={steps} max_target_length={LENGTH} "
        f"per_device_batch_size={ROWS // 2} checkpoint_period=10 head_dim=32 "
        "base_emb_dim=64 base_num_query_heads=2 base_num_kv_heads=2 base_mlp_dim=128 base_num_decoder_layers=1 "
        "attention=dot_product skip_jax_distributed_system=true").split()]
    page = common.page("maxtext", ".")
    page.take()  # the shell's
    try:
        page.names["__name__"] = "__main__"
        page.python()
    except SystemExit as end:
        assert not end.code, end
    if own:
        integration.use = use
    assert made[0].dataloader.loader.plan.info.order == ("fit" if own else "shuffled")
    for kind, iterator in zip(("train", "valid"), made):
        numpy.savez(f"{what}-{kind}-{process}.npz",
                    **{name: numpy.array([batch[name] for batch in iterator.kept]) for name in KEYS})
    page.python()
    page.done()
    assert "torch" not in sys.modules, "torch was imported"


def fitted(config):
    """An epoch of rows of whole documents."""
    import leat
    return leat.Plan("corpus", config.max_target_length, seed=7, epochs=1, order="fit")


def got(what, kind, processes):
    """Batches of all hosts, row by row: step, row, place."""
    parts = [numpy.load(f"{what}-{kind}-{p}.npz") for p in range(processes)]
    return {name: numpy.concatenate([part[name] for part in parts], axis=1) for name in KEYS}


def check_row(tokens, row, at, what):
    inputs, labels = tokens.row(at, LENGTH)
    begins = numpy.isin(numpy.arange(at + 1, at + LENGTH + 1), tokens.starts)
    positions = tokens.position_ids(at, LENGTH)
    documents = numpy.concatenate([[1], 1 + begins[:-1].cumsum()])
    wanted = {"inputs": inputs, "inputs_position": positions, "inputs_segmentation": documents,
              "targets": numpy.where(begins, 0, labels), "targets_position": positions,
              "targets_segmentation": numpy.where(begins, 0, documents)}
    for name in KEYS:
        common.equal(row[name], wanted[name], f"{what}, {name}")


def check_training(tokens, what, first, steps, processes):
    rows = got(what, "train", processes)
    assert rows["inputs"].shape == (steps, ROWS, LENGTH), rows["inputs"].shape
    order = common.order("--source", "corpus", "--seq-len", LENGTH, "--seed", 7, "--epochs", 4, first=first * ROWS,
                         count=steps * ROWS)
    for n, sample in enumerate(order):
        step, place = divmod(n, ROWS)
        check_row(tokens, {name: rows[name][step, place] for name in KEYS}, sample["window"] * LENGTH,
                  f"{what}, step {first + step}, row {place}")


def check_evaluation(tokens, what, times, processes):
    rows = got(what, "valid", processes)
    count = (len(tokens.all) - 1) // LENGTH
    batches = -(-count // ROWS)
    assert rows["inputs"].shape == (times * batches, ROWS, LENGTH), rows["inputs"].shape
    for n in range(times * batches * ROWS):
        step, place = divmod(n, ROWS)
        row, at = {name: rows[name][step, place] for name in KEYS}, n % (batches * ROWS)
        if at < count:
            check_row(tokens, row, at * LENGTH, f"{what}, evaluation, row {n}")
        else:
            assert not row["targets_segmentation"].any(), f"{what}, evaluation: padding has loss"


def check_fitted(tokens, steps):
    """Training on rows of whole documents had each prediction of the corpus once, and nothing else."""
    rows, found = got("fitted", "train", 1), collections.Counter()
    assert rows["inputs"].shape == (steps, ROWS, LENGTH), rows["inputs"].shape
    for batch in range(steps):
        for place in range(ROWS):
            row = {name: rows[name][batch, place] for name in KEYS}
            counts = row["targets_segmentation"] != 0
            assert (row["inputs_segmentation"][counts] == row["targets_segmentation"][counts]).all()
            found.update(zip(row["inputs"][counts].tolist(), row["targets"][counts].tolist()))
    inside = numpy.setdiff1d(numpy.arange(1, len(tokens.all)), tokens.starts)
    wanted = collections.Counter(zip(tokens.all[inside - 1].tolist(), tokens.all[inside].tolist()))
    assert found == wanted, f"{found.total()} predictions of {wanted.total()}"


def main():
    common.need("maxtext")
    with common.own_folder() as folder:
        common.vocabulary()
        common.corpus("data/texts.jsonl")
        common.page("maxtext", folder).shell()
        train, valid = common.Tokens("corpus"), common.Tokens("corpus.valid")
        common.hosts(__file__, "train", 1, STEPS, **CLOUDLESS)
        check_training(train, "train", 0, STEPS, 1)
        check_evaluation(valid, "train", 3, 1)
        for what, first, processes in (("resume", STEPS, 2), ("again", STEPS + MORE, 1)):
            common.hosts(__file__, what, processes, first + MORE, **CLOUDLESS)
            check_training(train, what, first, MORE, processes)
            check_evaluation(valid, what, 1, processes)
        steps = -(-len(fitted(types.SimpleNamespace(max_target_length=LENGTH))) // ROWS)
        common.hosts(__file__, "fitted", 1, steps, **CLOUDLESS)
        check_fitted(train, steps)


if len(sys.argv) > 1:
    host(sys.argv[1], *map(int, sys.argv[2:]))
else:
    main()
