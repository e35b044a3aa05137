#!/usr/bin/env python3
"""packers.py BUILD [--python NAME=PYTHON]... [--source NAME=FOLDER]...: other tools make tokens of the same JSON lines:
whole programs with their start, gpt2, on all cores, each by the Python that has its packages (NAME is a file of
bench/peers/packers/), in turns; it prints medians. The scripts of nanoGPT and Megatron run from a copy of their
repository; preprocess_data_fast, which no release has yet, from that which LEAT_MEGATRON names.

After each run its output is compared with what leat packed: the same ids, without those between documents; from
nanoGPT, which shuffles, the same documents. The figures: MB of text per second; CPU time of all processes; the start,
which is the time for ten documents; the most memory of all processes, without mapped files, looked at every 0.1 s or
more often; and the time that the same command (leat's and tokbin's with --resume) takes after a kill at half time. A
tool that cannot run says why. `make bench-packers` makes the environments. The text is English, from LEAT_CORPORA, else
../shared/corpora, and the vocabulary from LEAT_VOCAB, else ../shared/vocab; exit code 77: these are missing.

    packers.py BUILD [--only leat --only tiktoken] [--megabytes 10] [--rounds 3] [--json] [--keep FILE]
"""
import argparse
import array
import itertools
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import measured

END = 50256
AT_ONCE = 4096  # documents
FEW = 10
MOST_SECONDS = 1800  # of a run: some tools hang where others report an error
FIGURES = [("MB/s", "mb_per_s", ".2f"), ("CPU s/100 MB", "cpu_s_per_100_mb", ".2f"), ("start s", "start_s", ".2f"),
           ("after a kill s", "resume_s", ".2f"), ("MiB", "memory_mib", ".0f")]

# ---- What is run of packages that have no command for it, by the Python that has them (--here): JSON lines to a file
# of ids, two bytes each, with END after each document where the package does not decide that. As their documents show
# it, on all cores.


def texts(path):
    with open(path, encoding="utf-8") as lines:
        while some := [json.loads(line)["text"] for line in itertools.islice(lines, AT_ONCE)]:
            yield some


def write(out, lists):
    import numpy
    with open(os.path.join(out, "ids"), "ab") as file:
        for ids in lists:
            numpy.array([*ids, END], "<u2").tofile(file)


def encoding(vocabulary):
    """tiktoken's gpt2, from ranks that are here: it would fetch them."""
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe
    from tiktoken_ext import openai_public
    ranks = load_tiktoken_bpe(os.path.join(vocabulary, "r50k_base.tiktoken"))
    openai_public.data_gym_to_mergeable_bpe_ranks = lambda *a, **k: ranks
    return tiktoken.Encoding(**openai_public.gpt2())


def gigatoken(vocabulary, path, out):
    """Its best path for the job: it writes no files itself."""
    import awkward
    import gigatoken as package
    import numpy
    opened = package.Tokenizer(os.path.join(vocabulary, "gpt2.tokenizer.json"))
    documents = opened.encode_files(package.JsonlFileSource([path]))
    awkward.to_numpy(awkward.flatten(documents)).astype(numpy.uint16).tofile(os.path.join(out, "ids"))
    awkward.to_numpy(awkward.num(documents)).astype(numpy.int64).tofile(os.path.join(out, "ids.lengths"))


def tiktoken(vocabulary, path, out):
    gpt2 = encoding(vocabulary)
    for some in texts(path):
        write(out, gpt2.encode_ordinary_batch(some, num_threads=os.cpu_count()))


def tokenizers(vocabulary, path, out):
    import tokenizers as package
    gpt2 = package.Tokenizer.from_file(os.path.join(vocabulary, "gpt2.tokenizer.json"))
    gpt2.encode_special_tokens = True
    for some in texts(path):
        write(out, (one.ids for one in gpt2.encode_batch_fast(some, add_special_tokens=False)))


def datatrove(vocabulary, path, out):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer
    folder, name = os.path.split(path)
    model = os.path.join(vocabulary, "gpt2.tokenizer.json")
    LocalPipelineExecutor([JsonlReader(folder, glob_pattern=name),
                           DocumentTokenizer(out, model, shuffle_documents=False)],
                          tasks=1, logging_dir=out + "/logs").run()
    (made,) = (name for name in os.listdir(out) if name.endswith(".ds"))
    os.rename(os.path.join(out, made), os.path.join(out, "00000.ds"))


def nanogpt(vocabulary, path, out, source):
    """Its script with these texts, in one piece: it cuts its splits into 1024, which only millions of documents fill.
    It writes beside itself."""
    import datasets
    import tiktoken as package
    package.get_encoding = lambda name, gpt2=encoding(vocabulary): gpt2
    load = datasets.load_dataset
    datasets.load_dataset = lambda name, num_proc: load("json", data_files=path).select_columns("text")
    with open(os.path.join(source, "data/openwebtext/prepare.py"), encoding="utf-8") as file:
        text = file.read()
    assert text.count("total_batches = 1024") == 1
    with open(os.path.join(out, "prepare.py"), "w", encoding="utf-8") as file:
        file.write(text.replace("total_batches = 1024", "total_batches = 1"))
    runpy.run_path(os.path.join(out, "prepare.py"), run_name="__main__")


def megatron_fast(vocabulary, path, out, source):
    """Its script, also by a Python before 3.12, whose typing has no override."""
    import typing
    typing.override = getattr(typing, "override", lambda method: method)
    name = os.path.join(source, "tools/preprocess_data_fast.py")
    sys.argv = [name, "--input", path, "--output-prefix", out + "/packed", "--tokenizer-type", "HuggingFaceTokenizer",
                "--tokenizer-model", os.path.join(vocabulary, "gpt2"), "--use-gigatoken", "--append-eod"]
    runpy.run_path(name, run_name="__main__")


# ---- The tools: each gives a command, and where its ids are


def leat(o, path, out, resume=False):
    return [os.path.join(o.build, "leat"), "pack", "-t", "gpt2", "-o", out + "/packed", *(["--resume"] * resume), path]


def script(name):
    def make(o, path, out):
        return [o.pythons[name], os.path.abspath(__file__), "--here", name, o.vocabulary, path, out]
    return make


def megatron(o, path, out):
    return [o.pythons["megatron"], os.path.join(o.sources["megatron"], "tools/preprocess_data.py"), "--input", path,
            "--output-prefix", out + "/packed", "--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model",
            o.transformers, "--workers", str(os.cpu_count()), "--append-eod"]


def megatron_fast_script(o, path, out):
    return [*script("megatron_fast")(o, path, out), o.sources["megatron_fast"]]


def tokbin(o, path, out, resume=False):
    """It takes folders; --resume is its own way after a kill."""
    folder = path + ".folder"
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(folder + "/texts.jsonl"):
        os.symlink(path, folder + "/texts.jsonl")
    return [os.path.join(os.path.dirname(o.pythons["tokbin"]), "tokbin"), "build", out + "/corpus",
            *(["--resume"] if resume and os.path.exists(out + "/corpus.partial") else
              ["--from-jsonl", folder, "--tokenizer", os.path.join(o.vocabulary, "gpt2.tokenizer.json")])]


def nanogpt_script(o, path, out):
    return [*script("nanogpt")(o, path, out), o.sources["nanogpt"]]


# what it is called: the file of bench/peers/packers/ that names its packages; its command; files of ids in its folder
PACKERS = {
    "leat": (None, leat, ["packed.tokens"]),
    "gigatoken, numpy": ("gigatoken", script("gigatoken"), ["ids"]),
    "tiktoken": ("tiktoken", script("tiktoken"), ["ids"]),
    "tokenizers": ("tokenizers", script("tokenizers"), ["ids"]),
    "datatrove": ("datatrove", script("datatrove"), ["00000.ds"]),
    "Megatron's preprocess_data": ("megatron", megatron, ["packed_text_document.bin"]),
    "Megatron's preprocess_data_fast": ("megatron_fast", megatron_fast_script, ["packed_text_document.bin"]),
    "tokbin": ("tokbin", tokbin, ["corpus/train-00000.bin"]),
    "nanoGPT's prepare": ("nanogpt", nanogpt_script, ["train.bin", "val.bin"]),
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
                return {"not_measured": f"it cannot be installed: no {what}"}
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
        again, _, _ = run(make(o, o.many, out, *[True] * (name in ("leat", "tokbin"))), out, folder, files)
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
    o.sources = {name: f"(--source {name}=FOLDER)" for name in ("megatron", "megatron_fast", "nanogpt")}
    o.sources.update((key, os.path.abspath(value)) for key, value in (word.split("=", 1) for word in o.source))
    o.build = os.path.abspath(o.build)
    return o


def prepare(o, folder):
    """The texts, and the vocabulary in the forms that the tools want."""
    o.vocabulary = os.path.join(folder, "vocabulary")
    os.mkdir(o.vocabulary)
    for name in "gpt2.tokenizer.json.zst", "r50k_base.tiktoken.zst":
        path = os.path.join(measured.VOCAB, name)
        measured.unpacked(o.vocabulary, path) or measured.skip(f"no {path}")
    o.transformers = os.path.join(o.vocabulary, "gpt2")  # as AutoTokenizer wants it
    os.mkdir(o.transformers)
    os.symlink("../gpt2.tokenizer.json", os.path.join(o.transformers, "tokenizer.json"))
    with open(os.path.join(o.transformers, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump({"tokenizer_class": "GPT2TokenizerFast", "eos_token": "<|endoftext|>"}, file)
    corpus = measured.corpus("english")
    whole = measured.unpacked(folder, corpus) or measured.skip(f"no {corpus}")
    o.many, o.few = (os.path.join(folder, name) for name in ("many.jsonl", "few.jsonl"))
    o.size = measured.head(whole, o.many, o.megabytes * 1e6)
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
        machine = measured.machine(os.path.join(o.build, "leat-bench"), os.path.join(out, "packed"))
        names = measured.names(PACKERS, o.only)
        rounds = {name: [] for name in names}
        for k in range(o.rounds):  # in turns, so that all see the same machine
            for name in names:
                if not any("not_measured" in x for x in rounds[name]):
                    rounds[name].append(measure(name, o, folder, expected, k == 0))
    measured.say(o, {"work": "packing", "text_bytes": o.size, "tokenizer": "gpt2", "rounds": o.rounds,
                     "machine": machine,
                     "peers": [{"name": name, **measured.medians(all_of, [key for _, key, _ in FIGURES])}
                               for name, all_of in rounds.items()]}, FIGURES)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        globals()[sys.argv[2]](*sys.argv[3:])
    else:
        main()
