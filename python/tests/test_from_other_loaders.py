"""docs/from-other-loaders.md: the lines of each section run on files in the format of the program that they are for,
and give the tokens of these files; where the page says so, in the order of that program's own loader, which is written
again here, from its description."""
import dataclasses
import importlib.util
import random
import sys
import types

import lightning
import numpy as np
import pytest
import torch
import torch.distributed.checkpoint
from test_docs import Page, folder  # noqa: F401

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
    assert list(SECTIONS) == ["torchtitan", "nanotron", "OLMo-core", "litgpt"]


def a_torchtitan(monkeypatch):
    """What the page takes from torchtitan, where it is not installed: a config builds the class that it stands in."""
    class Base:
        @dataclasses.dataclass(kw_only=True, slots=True)
        class Config:
            dataset: str = ""
            dataset_path: str | None = None

            def build(self, **given):
                return self.owner(config=dataclasses.replace(self), **given)

        def __init_subclass__(cls):
            cls.Config.owner = cls

    names = "torchtitan", "torchtitan.components", "torchtitan.components.dataloader"
    for name in names:
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules[names[-1]].BaseDataLoader = Base


def test_torchtitan(page, tmp_path, monkeypatch):
    if importlib.util.find_spec("torchtitan") is None:
        a_torchtitan(monkeypatch)
    tokens = write_llmc(tmp_path / "c4.bin", documents_of(3, 5000, begin=50256))
    lines = page("torchtitan")
    monkeypatch.setitem(sys.modules, lines.name, types.ModuleType(lines.name))  # for dataclass()
    config = lines.python()["PackedLoader"].Config(dataset="llmc:c4.bin?begin=50256")
    lines.done()

    def loader(infinite):
        """As its trainer and its validator build one."""
        return dataclasses.replace(config, infinite=infinite).build(
            dp_world_size=2, dp_rank=1, tokenizer=None, seq_len=128, local_batch_size=2, snapshot_every_n_steps=None)

    first = loader(False)
    batches = list(first)
    assert len(batches) == 10 and list(batches[0][0]) == ["input", "positions"]
    for step, (inputs, labels) in enumerate(batches[:-1]):
        begins = labels == -100
        for row, positions, begin in zip(inputs["input"], inputs["positions"], begins):
            starts = {0, *(row == 50256).nonzero()[:, 0].tolist()}
            assert positions.tolist() == [i - max(s for s in starts if s <= i) for i in range(128)]
            assert torch.equal(row[1:] == 50256, begin[:-1])
        labels[begins] = 50256
        check_rows(first.loader.plan, step * 4 + 2, inputs["input"], labels, tokens)
    second, third = loader(True), loader(True)
    batches = iter(second)
    for _ in range(13):  # past the end of the first epoch
        next(batches)
    torch.distributed.checkpoint.save({"dataloader": second}, checkpoint_id=tmp_path / "step-13", no_dist=True)
    torch.distributed.checkpoint.load({"dataloader": third}, checkpoint_id=tmp_path / "step-13", no_dist=True)
    for _, (inputs, labels), (wanted, after) in zip(range(3), third, batches):
        assert torch.equal(inputs["input"], wanted["input"]) and torch.equal(labels, after)


def test_nanotron(page, tmp_path):
    tokens = []
    for k in range(2):
        documents = documents_of(k, 40000)
        tokens.append(write(tmp_path / f"datasets/web/{k}.ds", documents))
        ends = np.cumsum([len(d) for d in documents]).astype("<u8")
        (tmp_path / f"datasets/web/{k}.ds.index").write_bytes(ends.tobytes())
        (tmp_path / f"datasets/web/{k}.ds.metadata").write_text(f"gpt2|2\n{len(tokens[-1])}\n40 KT")
    lines = page("nanotron")
    names = lines.python()
    lines.done()
    for step, batch in enumerate(names["batches"]()):
        check_rows(names["plan"], step * 4 + 2, batch["input_ids"], batch["label_ids"], np.concatenate(tokens))
        assert list(batch) == ["input_ids", "input_mask", "label_ids", "label_mask"]
        for mask in (batch["input_mask"], batch["label_mask"]):
            assert mask.dtype == torch.bool and mask.shape == (2, 2048) and mask.all()
        if step == 3:
            break


def test_olmo_core(page, tmp_path):
    parts = [write(tmp_path / f"preprocessed/dolma/part-{k}.npy", documents_of(k, 70000, end=100257), "<u4")
             for k in range(2)]
    lines = page("OLMo-core")
    names = lines.python()
    lines.done()
    batch = next(names["batches"]())
    assert list(batch) == ["input_ids", "labels"] and batch["input_ids"].shape == (2, 4096)
    check_rows(names["loader"].plan, 2, batch["input_ids"], batch["labels"], np.concatenate(parts))


@pytest.fixture()
def litgpt(page, tmp_path, monkeypatch):
    """What makes a Packed of the page with these changes of its text, on a file; and the tokens of that file."""
    if importlib.util.find_spec("litgpt") is None:
        base = types.ModuleType("litgpt.data")
        base.DataModule = object
        monkeypatch.setitem(sys.modules, "litgpt", types.ModuleType("litgpt"))
        monkeypatch.setitem(sys.modules, "litgpt.data", base)
    tokens = write_llmc(tmp_path / "tokens.bin", documents_of(4, 200000, 50256))

    def make(alone=False):
        lines = page("litgpt")
        monkeypatch.setitem(sys.modules, lines.name, types.ModuleType(lines.name))  # for dataclass()
        if alone:
            lines.blocks = [("", *block[1:]) for block in lines.blocks]
        data = lines.python()["Packed"](name="llmc:tokens.bin?begin=50256")
        lines.done()
        data.connect(batch_size=2, max_seq_length=32)
        return data

    return make, tokens


def test_litgpt(litgpt):
    make, tokens = litgpt
    data = make()
    for use, epochs, rows in (("train", None, data.train_dataloader()), ("valid", 1, data.val_dataloader())):
        plan = leat.Plan(data.name, 32, seed=42, split="train=0.99,valid=0.01", use=use, epochs=epochs)
        count = 0
        for step, batch in zip(range(4000), rows):  # the file has about 1550 batches of two ranks
            assert batch.shape == (2, 33)
            check_rows(plan, step * 4 + 2, batch[:, :-1], batch[:, 1:], tokens)
            count += 1
        assert count == (len(plan) // 4 if epochs else 4000) > 0


def test_litgpt_resumes(litgpt, tmp_path):
    """litgpt saves its DataLoader with the model, by Fabric. A DataLoader of torch has no state, was pickled whole, and
    --resume ended with "Weights only load failed". With one process and no ranks, there was no DataLoader at all."""
    make, _ = litgpt
    fabric = lightning.Fabric(accelerator="cpu", devices=1)

    def state():
        return {"train_dataloader": fabric.setup_dataloaders(make(alone=True).train_dataloader()), "iter_num": 0}

    first, second = state(), state()
    batches = iter(first["train_dataloader"])
    for _ in range(10):
        next(batches)
    fabric.save(tmp_path / "lit_model.pth", first)
    torch.load(tmp_path / "lit_model.pth", weights_only=True)
    fabric.load(tmp_path / "lit_model.pth", second)
    for batch, resumed in zip(range(3), second["train_dataloader"]):
        assert torch.equal(next(batches), resumed)
