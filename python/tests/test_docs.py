"""The code of the documents runs: Python of the READMEs and of pages that need no package but those of
requirements-test.txt, a shell's of docs/packing.md and docs/trainers/nanogpt.md, in its order, on the sample corpus in
a folder of its own; and what the pages promise of it holds. page.py says how a page is written. check_pages.py runs
these tests where only the wheel is, and what each page says is to be installed: a test imports no more than that."""
import array
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
from conftest import BUILD, ROOT
from page import Page, clone

import leat

ENGLISH = ROOT / "examples/corpus/english.jsonl"
# what makes a page's inputs may need packages that the page does not
PYTHON = os.environ.get("LEAT_TEST_PYTHON", sys.executable)


@pytest.fixture()
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def inputs(folder, *names, field="text", length=None, **more):
    """The sample corpus by these names, its texts in this field, too; cut to documents of that length."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        texts = [json.loads(line)["text"] for line in ENGLISH.read_text(encoding="utf-8").splitlines()]
        if length:
            texts = [text[at:at + length] for text in texts for at in range(0, len(text), length)]
        records = ({"text": text, field: text, "id": n, "lang": "en", "score": 4, **more}
                   for n, text in enumerate(texts))
        lines = "".join(json.dumps(record) + "\n" for record in records).encode()
        if name.endswith(".zst"):
            lines = elsewhere("import pyarrow, sys; sys.stdout.buffer.write("
                              "pyarrow.compress(sys.stdin.buffer.read(), 'zstd', asbytes=True))", given=lines)
        (folder / name).write_bytes(lines)


def elsewhere(code, *words, given=b""):
    """What a program with all packages writes."""
    return subprocess.run([PYTHON, "-c", code, *words], input=given, stdout=subprocess.PIPE, check=True).stdout


A_VOCABULARY = """
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
t = Tokenizer(models.BPE())
t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
t.train(sys.argv[1:2], trainers.BpeTrainer(vocab_size=700, special_tokens=["<|endoftext|>"], show_progress=False,
                                           initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
t.save(sys.argv[2])
"""


def a_vocabulary(path):
    """A tokenizer.json with <|endoftext|>, as people train them."""
    elsewhere(A_VOCABULARY, ENGLISH, path)
    path.with_name("tokenizer_config.json").write_text('{"eos_token": "<|endoftext|>"}')


def limited(monkeypatch, steps=3):
    """Loaders of plans without end give so many batches in a `for`."""
    real = leat.Loader
    monkeypatch.setattr(leat, "Loader", lambda *args, **options: real(*args, **{"steps": steps, **options}))


# ---- Pages for people who come from elsewhere


def changes(page, signs):
    """What each change of the page's patch has in lines with these signs: " +" is the new text, "+" what is added."""
    patch = "".join(text for _, kind, text in page.blocks if kind == "diff")
    return ["".join(line[1:] + "\n" for line in hunk.splitlines() if (line or " ")[0] in signs)
            for hunk in re.split(r"^@@.*\n", patch, flags=re.MULTILINE)[1:]]


@pytest.mark.parametrize("ddp", [False, True])
def test_from_nanogpt(folder, monkeypatch, ddp):
    """What the page adds to train.py, without train.py."""
    import torch
    inputs(folder, *(f"openwebtext/{k}.jsonl.zst" for k in range(10)), length=40)
    (folder / "data/openwebtext").mkdir(parents=True)
    if ddp:
        monkeypatch.setenv("RANK", "1")
        monkeypatch.setenv("WORLD_SIZE", "2")
    page = Page("docs/trainers/nanogpt.md", folder)
    page.take()  # pip install
    page.shell()
    with leat.open("data/openwebtext/tokens") as d:
        assert d.info.end_token == 50256 and d.info.token_width == 2 and list(d[0][-1:]) == [50256]
    names = dict(os=os, dataset="openwebtext", block_size=16, batch_size=4, device="cpu", device_type="cpu",
                 dtype="float32", ddp=ddp)
    for text in changes(page, " +")[:2]:
        exec(text, names)
    resume, batches, state = (textwrap.dedent(text) for text in changes(page, "+")[2:])
    # as train.py goes: a batch is taken ahead of each step, evaluations in between, and the checkpoint written then
    get_batch = names["get_batch"]
    seen = []

    def evaluate():
        for names["split"] in ("train", "val"):
            exec(batches.splitlines()[0], names)
            seen.append(torch.stack([torch.stack(next(names["batches"])) for _ in range(3)]))

    batch = get_batch("train")
    assert [tuple(t.shape) for t in batch] == [(4, 16)] * 2 and (batch[0][:, 1:] == batch[1][:, :-1]).all()
    for _ in range(3):
        evaluate()
        batch = get_batch("train")
    evaluate()
    assert all((seen[k] == seen[k % 2]).all() for k in range(8)) and (seen[0] != seen[1]).any()
    names["checkpoint"] = eval("{" + state + "}", names)
    assert names["checkpoint"]["loader"]["position"] == (2 if ddp else 1) * 4 * 3
    exec(resume, names)
    again = get_batch("train")  # the one that was taken, and not trained on
    assert (again[0] == batch[0]).all() and (again[1] == batch[1]).all()


# ---- Tutorials, which begin in one folder, as in a reader's clone, and leave their own

@pytest.fixture(scope="module")
def cloned(tmp_path_factory):
    return clone(tmp_path_factory.mktemp("clone"))


def goes(page, monkeypatch):
    """Runs a block of a shell, and goes to the folder where it ends."""
    page.folder = page.shell()
    monkeypatch.chdir(page.folder)


def test_tutorial_researcher(cloned, monkeypatch, capsys):
    """The page's Python prints what is shown behind it; its commands are run by tests/docs/test_tutorials.sh."""
    page = Page("docs/tutorial-researcher.md", cloned)
    run = 0
    for at, (note, kind, text) in enumerate(page.blocks):
        page.at = at
        if kind == "sh" and not note and any(word in text for word in ("mkdir ", "-o corpus")):
            goes(page, monkeypatch)
        elif kind == "python":
            page.python()
            assert capsys.readouterr().out == page.blocks[at + 1][2]
            run += 1
    assert run == 2, f"{run} blocks of Python"


def test_tutorial_pretraining(folder, monkeypatch):
    """Its loop, with a plan as the page's."""
    import torch
    subprocess.run([BUILD / "leat", "pack", "-o", "corpus", "-t", "gpt2", ROOT / "examples/corpus"], check=True)
    (folder / "train.plan").write_text(leat.Plan("corpus", 256).text)
    limited(monkeypatch)
    page = Page("docs/tutorial-pretraining.md", folder, model=torch.nn.Linear(1, 1), path="checkpoint")
    page.at = [kind for _, kind, _ in page.blocks].index("python")
    page.python()
    assert torch.load("checkpoint", weights_only=True)["loader"]["position"] == 3 * 8


def test_is_it_the_loader(folder, capsys):
    """Its line prints as many lines, with the same beginnings, as the page shows."""
    leat.pack(ROOT / "examples/corpus", "corpus", "gpt2", progress=None)
    loader = leat.Loader(leat.Plan("corpus", 256), 4, rank=0, world=1)
    page = Page("docs/is-it-the-loader.md", folder, leat=leat, loader=loader, train_step=lambda batch: None)
    page.at = [kind for _, kind, _ in page.blocks].index("python")
    page.python()
    shown = page.blocks[page.at][2]
    first = [re.match(r" *\S+(?: \S+)*", line).group().split("  ")[0] for line in shown.splitlines()]
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(first) == 10 and all(map(str.startswith, said, first)), said


def test_engines(folder, capsys):
    """A dataset is asked in SQL; make check-engines runs the programs of the engines."""
    page = Page("docs/engines.md", folder)
    inputs(folder, "a.jsonl", "b.jsonl", length=900)
    made = leat.pack(["a.jsonl", "b.jsonl"], "corpus")
    page.python()
    said = capsys.readouterr().out
    documents = leat.open("corpus")
    assert said.count("a.jsonl") == said.count("b.jsonl") == 1 and str(made.tokens // 2) in said, said
    tokens = array.array("H", (folder / "corpus.tokens").read_bytes())
    ends = [at + 1 for at, token in enumerate(tokens) if token == 50256]
    lengths = [end - begin for begin, end in zip([0, *ends], ends)]
    assert len(lengths) == len(documents) and str(max(lengths)) in said, said
    kept = [count for n, count in enumerate(lengths) if 100 <= count <= 2000 and "http" not in documents.text(n)]
    assert str(len(kept)) in said and str(sum(kept)) in said, said
    page.done()


# ---- READMEs


def test_readme(cloned, monkeypatch):
    """Its Python, and two of its five lines, with what its session leaves; tests/docs/test_readme.py has the rest."""
    page = Page("README.md", cloned, leat=leat)
    goes(page, monkeypatch)
    names = page.python()
    assert tuple(names["inputs"].shape) == tuple(names["labels"].shape) == (8, 256)
    loader = names["loader"]
    assert loader.state_dict()["position"] == 8 and leat.Plan("corpus", 256).change(8, add=["more"]).sources
    assert {loader.plan.sources[s.source].name for _ in range(3) for s in next(loader).samples} == {"corpus", "more"}
    rows = dict(re.findall(r"^\| (\w+) \| `(.*?)`", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    exec(rows["loop"], names)  # it ends
    assert tuple(names["inputs"].shape)[1] == 256
    state = dict(names["state"])
    exec(rows["resume"], names)
    assert names["loader"].state_dict() == state


def test_packing(folder):
    """docs/packing.md: the ways to begin, one by one."""
    page = Page("docs/packing.md", folder)

    def anew(line):
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        inputs(folder, "data/a.jsonl", "data/b.jsonl.zst", "more/c.jsonl")
        inputs(folder, "part-1.jsonl.zst", field="content")
        inputs(folder, "pile/a.jsonl", meta={"pile_set_name": "Wikipedia (en)"})
        (folder / "inputs.txt").write_text("data\nmore\n")
        a_vocabulary(folder / "tokenizer.json")
        if not line.startswith("leat pack"):
            leat.pack("data", "corpus", progress=None)

    page.shell(anew)
    page.done()


A_TABLE = """
import pyarrow, pyarrow.parquet, sys
table = {"text": ["a", "b"], "content": ["c", "d"], "id": ["1", "2"], "lang": ["en", "de"]}
for name in sys.argv[1:]:
    pyarrow.parquet.write_table(pyarrow.table(table), name)
"""


def test_python_readme(folder, monkeypatch):
    limited(monkeypatch)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    inputs(folder, "data/a.jsonl", "more.jsonl.zst", length=400)
    (folder / "lines.txt").write_text("one\ntwo\n")
    elsewhere(A_TABLE, "part.parquet", "more.parquet")
    page = Page("python/README.md", folder)
    names = page.python()
    done, packer = names["summary"], names["packer"]
    assert done.documents + done.splits[0]["documents"] == done.deduplicated > 100
    assert packer.summary.documents == 1 + 2 + 2 + 1 and names["answers"].summary.documents == 3
    assert set(leat.open("answers").mask().tolist()) == {0, 255}
    assert leat.open("all").info.documents == done.documents + 6
    a_vocabulary(folder / "tokenizer.json")
    names["texts"] = ["a text", "b"]
    names = page.python()
    assert list(names["offsets"]) == [0, 2, 3] and len(names["ids"]) == 3
    page.python()
    for name in ("web", "code"):
        leat.merge(["corpus"], name)
    import torch
    names.update(path="checkpoint.pt", model=torch.nn.Embedding(200100, 2))
    layer = names["model"]
    names["model"] = lambda inputs, labels: layer(inputs).sum() + labels.sum()
    names["model"].state_dict = layer.state_dict
    page.python()
    state = names["loader"].state_dict(after=names["loader"].cursor)
    assert torch.load("checkpoint.pt", weights_only=True)["loader"] == state
    names.update(network=layer, cross_entropy=lambda logits, labels, reduction: (labels != -100).sum() / 2)
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        page.python()
    finally:
        torch.distributed.destroy_process_group()
    page.python()
    factor = torch.where(names["sources"] == 0, torch.tensor(0.5 / 0.7), torch.tensor(0.5 / 0.3))
    assert torch.equal(names["weights"], factor) and 0 < names["loss"] < 1 and len(names["of_each"]) == 2
    names["loader"].close()
    for name in ("web", "code"):
        tokens = leat.open(name).info.tokens
        leat.attach(name, "advantages", "f32", torch.arange(tokens).float())
        leat.attach(name, "teacher_logprobs", "f16", -torch.ones(tokens))
    page.python()
    batch = names["batch"]
    assert torch.equal(batch["advantages"], batch.places.float()) and batch["teacher_logprobs"].eq(-1).all()
    page.python()
    names["loader"].close()
    assert next(leat.Loader(names["plan"], 1, rank=0, world=1)).inputs.shape[1] <= 2048
    assert names["valid_loss"] == 0.5 and names["sums"][1] == len(names["valid"]) * 2048 > 0
    page.done()


def test_parallel_training(cloned, monkeypatch, capsys):
    """docs/parallel-training.md: each block prints what the block of text after it has."""
    page = Page("docs/parallel-training.md", cloned)
    printed = None
    for at, (note, kind, text) in enumerate(page.blocks):
        if note.startswith("skip, "):
            continue
        if kind == "text":
            assert printed == text
            printed = None
            continue
        assert not printed, f"the block before this one printed {printed!r}: {text}"
        page.at = at
        if kind == "sh":
            goes(page, monkeypatch)
            continue
        page.python()
        printed = capsys.readouterr().out
    assert not printed


def test_names_of_pages_are_there_at_once():
    """After `import leat` alone, each dotted name of the package that a page uses is there. What was seen before:
    leat.chat.render(), which two pages name, raised AttributeError."""
    pages = [ROOT / "README.md", ROOT / "python/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    called = re.findall(r"(?<![\w./-])leat\.(\w+(?:\.\w+)*)\(", text)
    names = sorted({*called, *re.findall(r"(?<![\w./-])leat\.((?:chat|integrations)(?:\.\w+)*)", text)})
    assert {"pack", "chat.render", "integrations.daft"} <= set(names)
    code = """
import sys, leat
for name in sys.argv[1:]:
    try:
        thing = leat
        for part in name.split("."):
            thing = getattr(thing, part)
    except ImportError:  # of a library that is not installed here
        pass
"""
    subprocess.run([sys.executable, "-c", code, *names], check=True)
