#!/usr/bin/env python3
"""fit.py: rows of whole documents: leat's order fit beside TRL's pack_dataset, which writes all rows as a new dataset.
TRL packs each run of 1,000 documents by itself (the default of datasets' map), or all together (batch_size). Its
strategy bfd cuts documents at L tokens and drops their rest, as SFTTrainer does by default; bfd_split puts the rest
into other rows.

Both get the same documents, with lognormal lengths of median 540 tokens. Each run is a process of its own, in turns;
modules are imported and files written before the clock starts. It prints the rows; the share of their places that is
filled, as each counts it (TRL: tokens; leat: predictions); the share of all predictions (tokens with a token before
them in the same document) that an epoch shows; the seconds until the rows are known, and until all of them are read
(batches of 16: leat.Loader; datasets, as numpy), the least of all rounds; and the bytes written. TRL needs no torch
for this. litgpt is not here: it pads batches and packs no rows of documents. `make bench-fit-peers` runs it.

    fit.py [--documents 1e5] [--seq-len 2048] [--rounds 3] [--folder DIR] [--json]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

KINDS = {"leat": "leat, order fit", "bfd": "TRL, bfd", "bfd_split": "TRL, bfd_split",
         "bfd_all": "TRL, bfd, all together", "bfd_split_all": "TRL, bfd_split, all together"}
END = 50256
BATCH = 16


os.environ.update(HF_DATASETS_DISABLE_PROGRESS_BARS="1", HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical")


def write(folder, count):
    """The documents for leat and for TRL, with an end token each; returns how many tokens."""
    import datasets
    import leat
    import numpy
    import pyarrow
    rng = numpy.random.default_rng(1)
    lengths = numpy.maximum(numpy.exp(rng.normal(numpy.log(540), 1, count)).astype(numpy.int64), 1)
    ends = numpy.cumsum(lengths + 1)
    ids = rng.integers(0, END, ends[-1], dtype=numpy.int32)
    ids[ends - 1] = END
    with leat.Packer(os.path.join(folder, "leat"), "gpt2", end="none") as packer:
        for end, length in zip(ends, lengths + 1):
            packer.add(ids[end - length:end])
    offsets = pyarrow.array(numpy.concatenate([[0], ends]), pyarrow.int64())
    table = pyarrow.table({"input_ids": pyarrow.LargeListArray.from_arrays(offsets, pyarrow.array(ids))})
    datasets.Dataset(table).save_to_disk(os.path.join(folder, "trl"))
    return int(ends[-1])


def run_leat(folder, length):
    import leat
    yield
    plan = leat.Plan([(os.path.join(folder, "leat"), 1)], length, order="fit", epochs=1)
    rows = len(plan)
    yield rows
    loader = leat.Loader(plan, BATCH, framework="numpy", outputs=leat.Outputs(dtype="int32"))
    shown = sum(int((batch.labels >= 0).sum()) for batch in loader)
    yield shown, shown / rows / length, 0


def run_trl(folder, length, strategy, together):
    import datasets
    from trl import pack_dataset
    datasets.disable_progress_bars()
    data = datasets.load_from_disk(os.path.join(folder, "trl"))
    out = os.path.join(folder, "packed.arrow")
    yield
    how = {"cache_file_name": out, "load_from_cache_file": False, **({"batch_size": None} if together else {})}
    rows = pack_dataset(data, length, strategy, map_kwargs=how)
    yield len(rows)
    shown = tokens = 0
    for batch in rows.with_format("numpy").iter(BATCH):
        tokens += sum(len(ids) for ids in batch["input_ids"])
        shown += sum(int(sum(lengths)) - len(lengths) for lengths in batch["seq_lengths"])
    yield shown, tokens / len(rows) / length, os.path.getsize(out)
    os.remove(out)


def child(kind, folder, length):
    strategy = kind.removesuffix("_all")
    run = run_leat(folder, length) if kind == "leat" else run_trl(folder, length, strategy, strategy != kind)
    next(run)
    begin = time.perf_counter()
    rows = next(run)
    known = time.perf_counter() - begin
    shown, fill, written = next(run)
    read = time.perf_counter() - begin
    next(run, None)
    print(json.dumps({"rows": rows, "fill": fill, "shown": shown, "known": known, "read": read, "written": written}))


def measure(kind, folder, length):
    command = [sys.executable, "-W", "ignore", __file__, "--child", kind, folder, str(length)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=float, default=1e5)
    parser.add_argument("--seq-len", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    count, found = int(given.documents), {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        tokens = write(folder, count)
        for _ in range(given.rounds):
            for kind, runs in found.items():
                runs.append(measure(kind, folder, given.seq_len))
    if not given.json:
        print(f"{count} documents, {tokens} tokens, L = {given.seq_len}")
    for kind, runs in found.items():
        best = {**runs[0], **{key: min(run[key] for run in runs) for key in ("known", "read")}}
        best["shown"] /= tokens - count
        if given.json:
            print(json.dumps({"kind": kind, "documents": count, "tokens": tokens, "seq_len": given.seq_len, **best}))
        else:
            print(f"{KINDS[kind]:30} {best['rows']:8} rows, {best['fill']:9.4%} filled, {best['shown']:9.4%} of "
                  f"predictions, known after {best['known']:8.3f} s, read after {best['read']:7.2f} s, "
                  f"{best['written'] / 2**20:6.0f} MiB written")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
