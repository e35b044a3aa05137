"""docs/large-runs.md: each line of its tables runs, and gives what its row says, as numpy reads it from the token files
or as another plan or loader gives it. A row without a check here is a failure."""
import re
import types
from collections import Counter

import numpy as np
import pytest
import torch
from conftest import ROOT
from page import Page, clone

import leat

PAGE = (ROOT / "docs" / "large-runs.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?!need )(.*?) \| `(.*)` \|$", PAGE, re.MULTILINE)
NAMES = ("web", "code", "books")
L = 512
CHECKS = {}


def row(need):
    def add(check):
        CHECKS[need] = check
        return check
    return add


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page, after the blocks that make its datasets."""
    page = Page("docs/large-runs.md", clone(tmp_path_factory.mktemp("large")))
    page.folder = page.shell()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(page.folder)
        page.python()
    return page


@pytest.fixture()
def names(page, monkeypatch):
    """What all lines share, made anew for each."""
    monkeypatch.chdir(page.folder)
    page.at = 2
    names = dict(page.python())
    page.done()
    return names


@pytest.mark.parametrize("need,line", ROWS, ids=[need for need, _ in ROWS])
def test_line(need, line, names):
    need = re.sub(r"\[(.*?)\]\[.*?\]", r"\1", need)
    assert need in CHECKS, f"no check of: {need}"
    if "mesh" in line:
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        try:
            names["mesh"] = torch.distributed.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
            CHECKS[need](eval(line, names), types.SimpleNamespace(**names))
        finally:
            torch.distributed.destroy_process_group()
    else:
        CHECKS[need](eval(line, names), types.SimpleNamespace(**names))


def test_all_are_there():
    needs = {re.sub(r"\[(.*?)\]\[.*?\]", r"\1", need) for need, _ in ROWS}
    assert needs == set(CHECKS)
    assert len(ROWS) == len(re.findall(r"^\| ", PAGE, re.MULTILINE)) - PAGE.count("| need")


# ---- The other way ----

def tokens(name):
    return np.fromfile(f"{name}.tokens", dtype="<u2").astype(np.int64)


def document(number):
    """Where a document of web begins and ends: gpt2's end token ends each."""
    ends = np.flatnonzero(tokens("web") == 50256) + 1
    return (ends[number - 1] if number else 0), ends[number]


def rows(plan, first, count):
    """Inputs of whole windows, by plan.order() and the files."""
    found = [(plan.sources[sample.source].name, sample) for sample in plan.order(first, count)]
    return np.stack([tokens(name)[sample.token:sample.token + sample.length] for name, sample in found])


def starts(plan, count):
    """The sources' names of the first samples."""
    return [plan.sources[sample.source].name for sample in plan.order(0, count)]


def gives(loader, plan, first, count):
    """The loader's next batch has these samples."""
    batch = next(loader)
    assert [sample.n for sample in batch.samples] == list(range(first, first + count))
    assert (np.asarray(batch.inputs) == rows(plan, first, count)).all()
    return batch


# ---- Parallel ranks ----

@row("tensor or pipeline ranks see the same rows")
def mesh(loader, n):
    assert (loader.rank, loader.world) == (0, 1)
    gives(loader, n.plan, 0, 4)


@row("the same, without a mesh")
def ranks(loader, n):
    gives(loader, n.plan, 4, 4)


@row("context parallel: two chunks of each row a rank")
def zigzag(loader, n):
    whole = rows(n.plan, 0, 4)
    assert (np.asarray(next(loader).inputs) == whole[:, L // 4:3 * L // 4]).all()  # chunks 1 and 2 of 4


@row("context parallel in one stretch")
def contiguous(loader, n):
    assert (np.asarray(next(loader).inputs) == rows(n.plan, 0, 4)[:, L // 2:]).all()


@row("equal cost of attention on all ranks")
def balanced(loader, n):
    other = leat.Loader(n.fitted, 8, rank=0, world=2, balance="attention")
    plain = leat.Loader(n.fitted, 16, rank=0, world=1)
    dealt = [sample.n for one in (other, loader) for sample in next(one).samples]
    assert sorted(dealt) == [sample.n for sample in next(plain).samples] and dealt != sorted(dealt)


@row("another number of ranks after a restart")
def resumed(loader, n):
    gives(loader, n.plan, 8 + 3 * 2, 2)


@row("the state of the batch last trained on")
def last_trained(state, n):
    gives(leat.Loader(n.plan, 4, state=state), n.plan, 4, 4)


# ---- Rows and labels ----

@row("whole documents, next to no padding")
def fit(plan, n):
    report = plan.fit_report()
    assert report.cut < report.window_cut and report.fill > 0.9


@row("attention within documents")
def isolated(loader, n):
    inputs, labels, positions, ends = (np.asarray(part) for part in list(next(loader))[:4])
    assert ends[0] == 0 and ends[-1] == inputs.size and (positions.ravel()[ends[:-1]] == 0).all()
    assert (np.diff(positions.ravel())[np.isin(np.arange(1, inputs.size), ends, invert=True)] == 1).all()


@row("several targets a place")
def ahead(loader, n):
    batch, stored = next(loader), tokens("web")
    for i, sample in enumerate(n.plan.order(0, 4)):
        for k in range(3):  # one more than the label
            wanted = stored[sample.token + 2 + k:sample.token + 2 + k + L]
            found = np.asarray(batch.ahead_labels)[k, i]
            assert (found[:len(wanted)] == wanted)[found[:len(wanted)] != -100].all() and (found != -100).any()


@row("fill-in-the-middle of half of the documents")
def fim(plan, n):
    literals = [piece.literal for n in range(20) for piece in plan.pieces(n) if piece.literal is not None]
    counts = Counter(literals)
    assert set(counts) == {50000, 50001, 50002} and len(set(counts.values())) <= 2


@row('another index for "no loss"')
def ignored(loader, n):
    labels, usual = (next(one).labels for one in (loader, leat.Loader(n.fitted, 4)))
    assert (usual == -100).any() and torch.equal(labels, torch.where(usual == -100, -1, usual))


@row("sources weighed in the loss")
def weighed(loader, n):
    weights = np.asarray(next(loader)[0])
    for of_row, name in zip(weights, starts(n.mix, 4)):
        assert (of_row == (0.5 if name == "web" else 1)).all()


@row("the source of each row")
def sources(found, n):
    assert list(found) == [0, 0, 0, 0]


# ---- What is shown, and when ----

@row("temperature: shares grow with size to the power of 0.7")
def temperature(plan, n):
    counts = Counter(starts(plan, 10000))
    whole = sum(n.tokens(name) ** 0.7 for name in NAMES)
    for name in NAMES:
        assert abs(counts[name] / 10000 - n.tokens(name) ** 0.7 / whole) < 0.001


@row("two epochs of one source, then stop")
def two_epochs(plan, n):
    found = plan.order(0, len(plan))
    books = [sample for sample in found if sample.source == 1]
    assert Counter(sample.window for sample in books) == {window: 2 for window in range(plan.sources[1].blocks)}
    assert found[-1].source == 1


@row("at most two epochs of one source; the others go on")
def limited(plan, n):
    counts = Counter((sample.source, sample.window) for sample in plan.order(0, len(plan)))
    assert {counts[1, window] for window in range(plan.sources[1].blocks)} == {2}
    assert {counts[0, window] for window in range(plan.sources[0].blocks)} == {4}


@row("a mixture that changes at a sample")
def phase(plan, n):
    found = [plan.sources[sample.source].name for sample in plan.order(4096, 1000)]
    assert Counter(found) == {"web": 500, "books": 500} and starts(plan, 4096) == starts(n.mix, 4096)


@row("a mixture that changes slowly")
def ramp(plan, n):
    web = [Counter(plan.sources[sample.source].name for sample in plan.order(first, 1024))["web"] / 1024
           for first in (0, 4096, 5120, 6144, 7168, 8192)]
    assert web == sorted(web, reverse=True) and abs(web[0] - 9 / 11) < 0.01 and abs(web[-1] - 5 / 11) < 0.01


@row("longer rows from a sample on")
def longer(plan, n):
    assert [sample.length for sample in plan.order(4094, 4)] == [256, 256, 512, 512]


def goes_on(n, name):
    found = [name for _ in range(30) for name in (n.loader.plan.sources[sample.source].name
                                                  for sample in next(n.loader).samples)]
    assert found.count(name) > 30


@row("annealing with a new source in mid-run")
def annealed(nothing, n):
    assert [source.name for source in n.loader.plan.sources] == ["web", "books"] and n.loader.cursor == 8
    assert (rows(n.loader.plan, 0, 8) == rows(n.plan, 0, 8)).all()
    goes_on(n, "books")


@row("another mixture in mid-run")
def remixed(nothing, n):
    plan = n.mixed.plan
    assert starts(plan, 4) == starts(n.mix, 4) and n.mixed.cursor == 4
    counts = Counter(plan.sources[sample.source].name for sample in plan.order(4, 1500))
    assert counts == {"web": 900, "code": 100, "books": 500}
    gives(n.mixed, plan, 4, 4)


@row("a larger batch in mid-run")
def larger(loader, n):
    gives(loader, n.plan, 8, 16)


@row("a token budget")
def budget(loader, n):
    given = sum(np.asarray(batch.inputs).size for batch in loader)
    assert 2 * given == n.budget


@row("windows read in large pieces, from servers and slow disks")
def stretches(plan, n):
    pool = [sample.window for sample in plan.order(0, 4 * 64)]
    assert len(set(pool)) == 4 * 64 and len({window // 64 for window in pool}) == 4 and pool != sorted(pool)


@row("a stretch of samples left out")
def skipped(plan, n):
    same = leat.Plan("web", L)
    for position, number in ((3999, 3999), (4000, 4800), (4001, 4801)):
        assert plan.number(position) == number and plan.order(number) == same.order(number)


@row("documents that made a spike without loss")
def banned(plan, n):
    begin, end = document(3)
    seen = 0
    for batch in leat.Loader(plan, 16, position=4000, steps=2 * plan.sources[0].blocks // 16):
        for labels, sample in zip(np.asarray(batch.labels), batch.samples):
            at = np.arange(sample.token + 1, sample.token + 1 + L)
            of_it = (at >= begin) & (at < end)
            assert ((labels == -100) == of_it).all()
            seen += of_it.sum()
    assert seen >= end - begin - 1


@row("a held-out set of the same data")
def held_out(plan, n):
    train = leat.Plan("web", L, split="train=0.9,valid=0.1", use="train", epochs=1)
    valid = {sample.token for sample in plan.order(0, len(plan))}
    last = max(sample.token for sample in train.order(0, len(train)))
    assert valid and min(valid) >= last + L


@row("several sets for evaluation, each whole every time")
def evaluations(loaders, n):
    for name in NAMES:
        first, second = ([np.asarray(batch.inputs) for batch in loaders[name]] for _ in range(2))
        plan = n.held_out(name)
        real = np.concatenate(first)[:len(plan)]
        assert (real == rows(plan, 0, len(plan))).all()
        assert all((a == b).all() for a, b in zip(first, second, strict=True))


# ---- Afterwards ----

@row("a batch of the past again, without what came before")
def again(loader, n):
    gives(loader, n.plan, 4000, 4)


@row("which documents step 250 showed")
def shown(trace, n):
    samples = {piece.n for piece in trace}
    assert samples == set(range(250 * 16, 251 * 16))
    for piece in trace:
        first = n.plan.order(piece.n).token
        assert first <= document(piece.document)[0] + piece.first < first + L + 1


@row("which samples showed a document")
def showed(trace, n):
    begin, end = document(3)
    wanted = {sample.n for sample in n.plan.order(0, n.plan.sources[0].blocks)
              if sample.token < end and sample.token + L + 1 > begin}
    assert {piece.n for piece in trace} == wanted


@row("go on where a page of a file is damaged, without loss of its tokens")
def damaged(loader, n):
    gives(loader, n.plan, 0, 4)  # test_loader.py damages a file


@row("whether training waits for its data")
def diagnosed(diagnosis, n):
    assert 0 <= diagnosis.share <= 1 and str(diagnosis)
