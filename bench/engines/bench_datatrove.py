#!/usr/bin/env python3
"""bench_datatrove.py: what packing takes in a datatrove pipeline, beyond reading: leat's step, datatrove's own
DocumentTokenizer, and `leat pack --threads 1` on the same Parquet files. One process, one thread; the ids are compared.

    PYTHONPATH=build/python build/engines-venv/bin/python bench/engines/bench_datatrove.py [--corpus FILE.jsonl[.zst]]
        [--tokenizer tokenizer.json[.zst]] [--mb 20] [--runs 3] [--profile]

Without files it takes those of ../shared if present, else examples/corpus with variations and a tokenizer that is
trained on it. Each run is a process of its own; the table has the least of all runs."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
RANKS = 6


def opened(path):
    import pyarrow
    return pyarrow.input_stream(str(path), compression="zstd" if str(path).endswith(".zst") else None)


def documents(path, size):
    """Texts of about so many bytes."""
    if path is None:
        lines = (ROOT / "examples/corpus/english.jsonl").read_bytes().splitlines()
    else:
        lines = opened(path).read(4 * size).splitlines()[:-1]
    texts, taken = [], 0
    for n in range(10**9):
        if taken >= size or (path is not None and n == len(lines)):
            return texts
        text = json.loads(lines[n % len(lines)])["text"]
        texts.append(text if path is not None else f"{n} {text}")
        taken += len(texts[-1].encode())


def make_tokenizer(path, texts):
    if path is not None:
        pathlib.Path("tokenizer.json").write_bytes(opened(path).read())
        return
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(texts[:2000], trainers.BpeTrainer(
        vocab_size=30000, show_progress=False, special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.save("tokenizer.json")


# ---- One run ----

def step(way):
    if way == "pack":
        from leat.integrations.datatrove import Pack
        return [Pack(f"out-{way}", "tokenizer.json", end="<|endoftext|>")]
    if way == "DocumentTokenizer":
        from datatrove.pipeline.tokens import DocumentTokenizer
        return [DocumentTokenizer(f"out-{way}", "tokenizer.json", eos_token="<|endoftext|>", shuffle_documents=False)]
    return []


def run(way, profile):
    """Prints (wall, CPU) seconds, without those of imports."""
    import pyarrow.dataset
    import pyarrow.parquet
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import ParquetReader
    executor = LocalPipelineExecutor([ParquetReader("texts", glob_pattern="*.parquet"), *step(way)], tasks=RANKS,
                                     workers=1, logging_dir=f"logs-{way}")
    if profile:
        import cProfile
        import pstats
        watch = cProfile.Profile()
        watch.runcall(executor.run)
        pstats.Stats(watch).sort_stats("tottime").print_stats(18)
        return
    began, before = time.monotonic(), time.process_time()
    executor.run()
    print("took", time.monotonic() - began, time.process_time() - before)


def timed(command, folder):
    """(wall, CPU) seconds of a program that prints what it took, or of all of it."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    said = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("took ")]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return tuple(map(float, said[0])) if said else (wall, cpu)


def check_ids():
    import leat
    import numpy
    names = [line.split()[1] for line in pathlib.Path("out-pack/leat-run.list").read_text().splitlines()
             if line.startswith("part ")]
    for rank, name in enumerate(names):
        theirs = numpy.fromfile(f"out-DocumentTokenizer/{rank:05d}_unshuffled.ds", "<u2")
        with leat.open(f"out-pack/{name}") as part:
            ours = numpy.concatenate([part[n] for n in range(len(part))])
        assert (ours == theirs).all(), f"rank {rank} has other ids"


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("corpus", SHARED / "corpora/large_multi.jsonl.zst"),
                          ("tokenizer", SHARED / "vocab/gpt2.tokenizer.json.zst")):
        parser.add_argument(f"--{name}", type=pathlib.Path, default=default if default.exists() else None)
    parser.add_argument("--mb", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--way")
    given = parser.parse_args()
    if given.way:
        run(given.way, given.profile)
        return
    import pyarrow
    import pyarrow.parquet
    with tempfile.TemporaryDirectory(prefix="leat-bench-") as folder:
        texts = documents(given.corpus and given.corpus.resolve(), given.mb * 10**6)
        tokenizer = given.tokenizer and given.tokenizer.resolve()
        program, leat = pathlib.Path(__file__).resolve(), os.environ.get("LEAT_BUILD", str(ROOT / "build")) + "/leat"
        os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        os.chdir(folder)
        make_tokenizer(tokenizer, texts)
        os.mkdir("texts")
        for n in range(RANKS):
            part = texts[n * len(texts) // RANKS:(n + 1) * len(texts) // RANKS]
            ids = [f"{n}-{i}" for i in range(len(part))]
            pyarrow.parquet.write_table(pyarrow.table({"id": ids, "text": part}), f"texts/{n}.parquet")
        ways = ("reading", "pack", "DocumentTokenizer")
        commands = {way: [sys.executable, str(program), "--way", way] for way in ways}
        commands["leat pack"] = [os.path.abspath(leat), "pack", "-o", "out-command", "-t", "tokenizer.json", "--end",
                                 "<|endoftext|>", "--id", "id", "--threads", "1", "--progress", "never", "texts"]
        if given.profile:
            subprocess.run([*commands["pack"], "--profile"], check=True, stderr=subprocess.DEVNULL)
            return
        took = {way: [] for way in commands}
        for _ in range(given.runs):
            for way, command in commands.items():
                subprocess.run(["rm", "-rf", f"out-{way}", f"logs-{way}", "out-command.leat", "out-command.tokens"],
                               check=True)
                took[way].append(timed(command, folder))
        check_ids()
        least = {way: tuple(min(one[i] for one in runs) for i in (0, 1)) for way, runs in took.items()}
        size = sum(len(text.encode()) for text in texts)
        print(f"{size / 1e6:.1f} MB in {len(texts)} documents, {RANKS} ranks, one process, least of {given.runs} runs")
        print(f"{'':20}{'wall s':>8}{'CPU s':>8}{'beyond reading: wall':>24}{'CPU':>8}")
        for way, (wall, cpu) in least.items():
            beyond = (0, 0) if way == "leat pack" else least["reading"]
            print(f"{way:20}{wall:8.2f}{cpu:8.2f}{wall - beyond[0]:24.2f}{cpu - beyond[1]:8.2f}")


if __name__ == "__main__":
    main()
