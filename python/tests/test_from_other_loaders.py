"""docs/from-other-loaders.md: the lines of each section run on files in the format of the program that they are for,
and give the tokens of these files; where the page says so, in the order of that program's own loader, which is written
again here, from its description."""
import importlib.util
import random
import shutil
import sys
import types

import numpy as np
import pytest
import torch
from test_docs import ENGLISH, Page, folder  # noqa: F401

import leat


def documents_of(seed, tokens, begin=None, end=None):
    """Documents of some hundred ids below 50000, with this token before or after each."""
    r, found = random.Random(seed), []
    while tokens > 0:
        found.append([begin] * (begin is not None) + [r.randrange(50000) for _ in range(r.randint(1, 900))]
                     + [end] * (end is not None))
        tokens -= len(found[-1])
    return found


def write(path, documents, dtype="<u2", header=b""):
    """The ids of all documents, after a header; returns them."""
    tokens = np.concatenate([np.array(d, dtype=dtype) for d in documents])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + tokens.tobytes())
    return tokens.astype(np.int64)


def write_llmc(path, documents):
    head = np.zeros(256, dtype="<i4")
    head[:3] = 20240520, 1, sum(map(len, documents))
    return write(path, documents, header=head.tobytes())


def check_rows(plan, first, inputs, labels, tokens):
    """The rows are samples first, first + 1, ... of the plan; `tokens` are those of its datasets in a list."""
    for i, (row, label) in enumerate(zip(inputs.tolist(), labels.tolist(), strict=True)):
        at = plan.order(first + i).token
        assert row == tokens[at:at + len(row)].tolist() and label == tokens[at + 1:at + 1 + len(row)].tolist()


@pytest.fixture()
def page(folder):  # noqa: F811
    return lambda title: section(folder, title)


def section(where, title):
    """The blocks of one section."""
    whole = Page("docs/from-other-loaders.md", where)
    text = (where / "page.md")
    text.write_text(SECTIONS[title])
    whole.blocks = Page(text, where).blocks
    return whole


def sections():
    from conftest import ROOT
    parts = (ROOT / "docs/from-other-loaders.md").read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.split("\n", 1)[0]: part for part in parts}


SECTIONS = sections()


def test_all_are_run():
    assert list(SECTIONS) == ["nanoGPT", "modded-nanogpt", "llm.c"]


def test_nanogpt(page, tmp_path):
    documents = documents_of(1, 60000, end=50256)
    tokens = write(tmp_path / "data/openwebtext/train.bin", documents)
    lines = page("nanoGPT")
    names = lines.python()
    lines.done()
    assert names["X"].shape == (12, 1024) and names["X"].dtype == torch.int64
    check_rows(names["plan"], 12, names["X"], names["Y"], tokens)
    assert names["plan"].sources[0].dataset.info.documents == len(documents)


def shards_in_turn(shards, batch, rank, world):
    """Of each batch of tokens of all ranks, this rank's: inputs and targets; what is left of a shard is left out."""
    for tokens in shards:
        at = 0
        while at + batch + 1 < len(tokens):
            mine = tokens[at + rank * batch // world:][:batch // world + 1]
            yield mine[:-1], mine[1:]
            at += batch


def test_modded_nanogpt(page, tmp_path):
    shards = [write_llmc(tmp_path / f"data/fineweb10B/fineweb_train_00000{k}.bin", documents_of(k, 65536 * n, 50256))
              for k, n in ((1, 4), (2, 2))]
    lines = page("modded-nanogpt")
    names = lines.python()
    lines.done()
    want = list(shards_in_turn(shards, 2 * 65536, 1, 2))
    got = [(names["inputs"], names["targets"], names["cu_seqlens"])]
    for _ in want[1:]:
        inputs, labels, ends = next(names["loader"])
        got.append((inputs[0], labels[0], ends))
    assert len(want) == 3 and names["inputs"].dtype == torch.int32
    for (inputs, targets, ends), (tokens, after) in zip(got, want):
        assert np.array_equal(inputs, tokens) and np.array_equal(targets, after)
        # a document begins at each begin token, and with the row
        begins = {0, *np.flatnonzero(tokens == 50256).tolist(), len(tokens)}
        assert ends.tolist() == sorted(begins)


def test_llmc(page, tmp_path):
    shutil.copy(ENGLISH, "english.jsonl")
    (tmp_path / "dev/data").mkdir(parents=True)
    lines = page("llm.c")
    lines.shell()
    data = (tmp_path / "dev/data/train.bin").read_bytes()
    tokens = np.frombuffer(data[1024:], dtype="<u2")
    assert np.frombuffer(data[:12], dtype="<i4").tolist() == [20240520, 1, len(tokens)] and tokens[0] == 50256
    assert (tokens == 50256).sum() == leat.open("tokens").info.documents
    names = lines.python()
    lines.done()
    want = shards_in_turn([tokens.astype(np.int64)], 2 * 4 * 64, 1, 2)
    got = [(names["x"], names["y"])]
    for batch, (inputs, targets) in zip(got, want):
        assert np.array_equal(batch[0].reshape(-1), inputs) and np.array_equal(batch[1].reshape(-1), targets)
        if len(got) < 20:
            got.append(next(names["train_loader"]))
    assert len(got) == 20
