"""packers_made.py NAME VOCABULARY INPUT OUT [SOURCE]: what packers.py runs of packages that have no command for it:
JSON lines to a file of ids, two bytes each, with 50256 after each document where the package has no opinion. As their
documents show it, on all cores. A run has the packages of one tool only."""
import itertools
import json
import os
import runpy
import sys

END = 50256
AT_ONCE = 4096  # documents


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
    import pack
    pack.gigatoken_here(os.path.join(vocabulary, "gpt2.tokenizer.json"), path, os.path.join(out, "ids"))


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
    """Its script with these texts, and in one piece: it cuts its splits into 1024, which only millions of documents
    fill. It writes where it stands."""
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


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
