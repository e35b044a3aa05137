#!/usr/bin/env python3
"""packers.py BUILD [--python NAME=PYTHON]... [--source NAME=FOLDER]...: the same JSON lines made into tokens by other
tools, whole programs with their start, gpt2, on all cores: each by the Python that has its packages (NAME is a file of
bench/peers/packers/), in turns; medians are printed. nanoGPT's and Megatron's scripts are run from a copy of their
repository.

After each run its output is compared with what leat packed: the same ids, those between documents left out; from
nanoGPT, which shuffles, the same documents. Then MB of text per second; CPU time of all processes; the start, which is
the time for ten documents; the most memory of all processes at moments 0.1 s apart or less, without mapped files; and
the time that is needed after a kill at half time: by the same command, leat's with --resume. What cannot run says so.
`make bench-packers` makes the environments. The text is English, from LEAT_CORPORA, else ../shared/corpora, with ids as
in LEAT_VOCAB, else ../shared/vocab; exit code 77: they are not there.

    packers.py BUILD [--only leat --only tiktoken] [--megabytes 10] [--rounds 3] [--json] [--keep FILE]
"""
import argparse
import array
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import measured
import pack

HERE = os.path.dirname(os.path.abspath(__file__))
END = 50256
FEW = 10
MOST_SECONDS = 1800  # of a run: some tools hang where others report an error
FIGURES = [("MB/s", "mb_per_s", ".2f"), ("CPU s/100 MB", "cpu_s_per_100_mb", ".2f"), ("start s", "start_s", ".2f"),
           ("after a kill s", "resume_s", ".2f"), ("MiB", "memory_mib", ".0f")]

# ---- The tools: each gives a command, and where its ids are


def leat(o, path, out, resume=False):
    return [os.path.join(o.build, "leat"), "pack", "-t", "gpt2", "-o", out + "/packed", *(["--resume"] * resume), path]


def script(name):
    def make(o, path, out):
        return [o.pythons[name], os.path.join(HERE, "packers_made.py"), name, o.vocabulary, path, out]
    return make


def megatron(o, path, out):
    return [o.pythons["megatron"], os.path.join(o.sources["megatron"], "tools/preprocess_data.py"), "--input", path,
            "--output-prefix", out + "/packed", "--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model",
            o.transformers, "--workers", str(os.cpu_count()), "--append-eod"]


def nanogpt(o, path, out):
    return [*script("nanogpt")(o, path, out), o.sources["nanogpt"]]


# what it is called: the file of bench/peers/packers/ that names its packages; its command; files of ids in its folder
PACKERS = {
    "leat": (None, leat, ["packed.tokens"]),
    "gigatoken, numpy": ("gigatoken", script("gigatoken"), ["ids"]),
    "tiktoken": ("tiktoken", script("tiktoken"), ["ids"]),
    "tokenizers": ("tokenizers", script("tokenizers"), ["ids"]),
    "datatrove": ("datatrove", script("datatrove"), ["00000.ds"]),
    "Megatron's preprocess_data": ("megatron", megatron, ["packed_text_document.bin"]),
    "nanoGPT's prepare": ("nanogpt", nanogpt, ["train.bin", "val.bin"]),
}

# ---- One run


def started(command, out, folder):
    if not os.path.isdir(out):
        os.mkdir(out)
    with open(os.path.join(folder, "said"), "wb") as said:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
                                env={**os.environ, "HF_HOME": out + "/cache", "HF_HUB_OFFLINE": "1",
                                     "TOKENIZERS_PARALLELISM": "true"})


def run(command, out, folder, files, most_seconds=MOST_SECONDS):
    """Its seconds, CPU seconds and MiB; RuntimeError with its last line, or for one that hangs."""
    began, most, code, apart = time.perf_counter(), 0, None, 0.005
    program = started(command, out, folder)
    while code is None:
        if time.perf_counter() - began > most_seconds:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
            raise RuntimeError(f"it did not end within {most_seconds:.0f} s")
        most = max(most, measured.memory_mib(program.pid))
        apart = min(2 * apart, 0.1)
        until = time.perf_counter() + apart
        while code is None and time.perf_counter() < until:
            got, status, used = os.wait4(program.pid, os.WNOHANG)
            if got:
                code = program.returncode = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.002)
    seconds = time.perf_counter() - began
    if code or not all(os.path.exists(os.path.join(out, name)) for name in files):  # some end with 0 all the same
        with open(os.path.join(folder, "said"), encoding="utf-8", errors="replace") as said:
            raise RuntimeError((said.read().strip() or str(code)).split("\n")[-1][:200])
    return seconds, used.ru_utime + used.ru_stime, most


def documents(out, files):
    """The ids of each document; all in one, where nothing stands between them."""
    ids = array.array("H")
    for name in files:
        with open(os.path.join(out, name), "rb") as file:
            ids.frombytes(file.read())
    return [tuple(group) for end, group in itertools.groupby(ids, END.__eq__) if not end]


def wrong(found, expected, shuffled):
    """What differs from leat's documents; None if nothing does."""
    if shuffled:
        return None if sorted(found) == sorted(expected) else "other documents than leat's"
    same = list(itertools.chain(*found)) == list(itertools.chain(*expected))
    return None if same else "other ids than leat's"


def measure(name, o, folder, expected, killed):
    """One run of a packer, and once with a kill; {"not_measured": why} if it cannot run."""
    packages, make, files = PACKERS[name]
    out = os.path.join(folder, "out")
    try:
        for what in o.pythons.get(packages), o.sources.get(packages):
            if what and not os.path.exists(what):
                return {"not_measured": f"it cannot be installed: there is no {what}"}
        shutil.rmtree(out, ignore_errors=True)
        start, _, _ = run(make(o, o.few, out), out, folder, files)
        shutil.rmtree(out)
        seconds, cpu, memory = run(make(o, o.many, out), out, folder, files)
        differs = wrong(documents(out, files), expected, len(files) > 1) if expected else None
        if differs:
            return {"not_measured": differs}
        result = {"mb_per_s": o.size / 1e6 / seconds, "cpu_s_per_100_mb": cpu / o.size * 1e8, "start_s": start,
                  "memory_mib": memory}
    except (RuntimeError, OSError) as why:
        return {"not_measured": str(why)}
    return {**result, **(after_kill(o, name, folder, expected, seconds) if killed else {})}


def after_kill(o, name, folder, expected, seconds):
    _, make, files = PACKERS[name]
    out = os.path.join(folder, "out")
    shutil.rmtree(out)
    try:
        program = started(make(o, o.many, out), out, folder)
        time.sleep(seconds / 2)
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        again, _, _ = run(make(o, o.many, out, *[True] * (name == "leat")), out, folder, files)
        differs = wrong(documents(out, files), expected, len(files) > 1)
    except (RuntimeError, OSError) as why:
        differs = str(why)
    return {"no_resume": differs} if differs else {"resume_s": again}


# ---- All of them


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--python", action="append", default=[], help="NAME=PYTHON")
    parser.add_argument("--source", action="append", default=[], help="NAME=FOLDER")
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="for the data; default: a temporary one")
    measured.add_options(parser)
    o = parser.parse_args()
    o.pythons = {name: sys.executable for name, _, _ in PACKERS.values() if name}
    o.pythons.update((key, os.path.abspath(value)) for key, value in (word.split("=", 1) for word in o.python))
    o.sources = {name: f"(--source {name}=FOLDER)" for name in ("megatron", "nanogpt")}
    o.sources.update((key, os.path.abspath(value)) for key, value in (word.split("=", 1) for word in o.source))
    o.build = os.path.abspath(o.build)
    return o


def prepare(o, folder):
    """The texts, and the vocabulary in the forms that the tools want."""
    corpus = os.path.join(pack.CORPORA, "large_english.jsonl.zst")
    vocabularies = [os.path.join(pack.VOCAB, name) for name in ("gpt2.tokenizer.json", "r50k_base.tiktoken")]
    if not all(map(os.path.exists, [corpus] + [name + ".zst" for name in vocabularies])) or not shutil.which("zstd"):
        pack.skip(f"there is no {corpus}, no vocabulary in {pack.VOCAB}, or no command zstd")
    o.vocabulary = os.path.join(folder, "vocabulary")
    os.mkdir(o.vocabulary)
    for name in vocabularies:
        subprocess.run(["zstd", "-dqf", name + ".zst", "-o", os.path.join(o.vocabulary, os.path.basename(name))],
                       check=True)
    o.transformers = os.path.join(o.vocabulary, "gpt2")  # as AutoTokenizer wants it
    os.mkdir(o.transformers)
    os.symlink("../gpt2.tokenizer.json", os.path.join(o.transformers, "tokenizer.json"))
    with open(os.path.join(o.transformers, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump({"tokenizer_class": "GPT2TokenizerFast", "eos_token": "<|endoftext|>"}, file)
    o.many, o.few, whole = (os.path.join(folder, name) for name in ("many.jsonl", "few.jsonl", "whole.jsonl"))
    subprocess.run(["zstd", "-dqf", corpus, "-o", whole], check=True)
    o.size = pack.head(whole, o.many, o.megabytes * 1e6)
    os.remove(whole)
    with open(o.many, encoding="utf-8") as lines, open(o.few, "w", encoding="utf-8") as to:
        to.writelines(itertools.islice(lines, FEW))


def main():
    o = options()
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        prepare(o, folder)
        out = os.path.join(folder, "expected")
        run(leat(o, o.many, out), out, folder, PACKERS["leat"][2])
        expected = documents(out, PACKERS["leat"][2])
        names = [name for name in PACKERS if not o.only or any(name.startswith(only) for only in o.only)]
        rounds = {name: [] for name in names}
        for k in range(o.rounds):  # in turns, so that all see the same machine
            for name in names:
                if not any("not_measured" in x for x in rounds[name]):
                    rounds[name].append(measure(name, o, folder, expected, k == 0))
    measured.say(o, {"work": "packing", "text_bytes": o.size, "tokenizer": "gpt2", "rounds": o.rounds,
                     "machine": measured.machine(os.path.join(o.build, "leat-bench")),
                     "peers": [{"name": name, **measured.medians(all_of, [key for _, key, _ in FIGURES])}
                               for name, all_of in rounds.items()]}, FIGURES)


if __name__ == "__main__":
    main()
