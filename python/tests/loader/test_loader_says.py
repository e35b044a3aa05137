"""What a leat.Loader says of itself: statistics, notices, marks of a profiler; what it refuses; that nothing of it
stays in memory."""
import os
import pathlib
import re
import warnings

import pytest
import torch
from conftest import resident

import leat
from leat._leat import LOADER_CHOICES


@pytest.fixture(scope="module")
def plan(corpus):
    return leat.Plan(corpus, 512, 5)


def test_stats(plan):
    loader = leat.Loader(plan, 4)
    for _ in range(10):
        next(loader)
    stats = loader.stats()
    assert stats["batches"] == 10 and stats["tokens"] == 10 * 4 * 512 and stats["device"].startswith("host")
    assert stats["engine"] in LOADER_CHOICES["engine"] and stats["next"]["count"] == 9
    assert 0 <= stats["next"]["p50"] <= stats["next"]["max"] and "batches 10" in loader.stats_line()


def test_stats_are_all_there(plan):
    """Every member of the struct in leat/loader.h, times without their unit."""
    header = (pathlib.Path(__file__).parents[3] / "include" / "leat" / "loader.h").read_text()
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)

    def members(struct):
        body = re.search(f"struct {struct} {{(.*?)^}};", header, re.M | re.S)[1]
        lines = re.findall(r"^    ((?:struct )?\w+) ([^;]*);", body, re.M)
        return [(kind, re.sub(r"_ns$|\[.*", "", name)) for kind, line in lines
                for name in line.replace(" ", "").split(",") if not name.startswith(("size", "reserved"))]

    said = set(leat.Loader(plan, 4).stats()) - {"sources"}  # of leat_loader_sources()
    for kind, subject in members("leat_loader_stats"):
        inside = kind.startswith("struct") and kind != "struct leat_times"
        for _, name in members(kind.split()[1]) if inside else [(kind, subject)]:
            one = said & ({subject if name == "name" else name, f"{subject}_{name}"} if inside else {name})
            assert one, f"{subject}.{name}"
            said -= {f"{subject}_{name}"} & one or one
    assert not said


def test_notices(plan):
    loader = leat.Loader(plan, 4)
    sentences = ["wait for it", None]
    loader._native = type("Native", (), {"notice": lambda self: sentences.pop(0)})()
    with pytest.warns(leat.LoaderNotice, match="wait for it"):
        loader._warn()


def test_few_steps_are_noticed(corpus):
    """A `for` that gives fewer batches than `steps` said nothing: the rest of one that was saved, or a plan's end."""
    plan = leat.Plan(corpus, 512, 5, epochs=1)
    first = leat.Loader(plan, 4, steps=10)
    for _ in range(6):
        next(first)
    state = first.state_dict()
    second = leat.Loader(plan, 4, steps=10, state=state)
    with pytest.warns(leat.LoaderNotice, match="gives 4 batches, not steps=10: steps counts from the beginning of the"):
        assert sum(1 for _ in second) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(1 for _ in second) == 10
    left = len(plan) // 4 - 5
    with pytest.warns(leat.LoaderNotice, match="gives 5 batches, not steps=20: the plan has only 5 left"):
        assert sum(1 for _ in leat.Loader(plan, 4, steps=20, position=4 * left, last="dropped")) == 5
    assert sum(1 for _ in leat.Loader(plan, 4, steps=10, state=state, notices=False)) == 4


def test_profiler_shows_it(plan):
    loader = leat.Loader(plan, 4)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(3):
            next(loader)
    assert {e.key: e.count for e in profile.key_averages()}["leat.Loader.next"] == 3


def test_arguments(plan):
    for wrong in (dict(batch_size=0), dict(batch_size=2, io=leat.IO(slots=1)), dict(batch_size=2, position=2**61),
                  dict(batch_size=2, io=leat.IO(memory=100)), dict(batch_size=2, threads=65)):
        with pytest.raises((leat.Error, MemoryError, ValueError)):
            leat.Loader(plan, **wrong)
    for wrong in (dict(outputs=("inputs", "targets")), dict(outputs=()), dict(outputs=("inputs", "inputs")),
                  dict(style="list"), dict(framework="tf"), dict(device="tpu"), dict(last="first"),
                  dict(on_damage="ignore"),
                  dict(style="huggingface", outputs=("inputs", "document_ids")), dict(outputs="shift_labels"),
                  dict(style="huggingface", outputs=("labels", "shift_labels")),
                  dict(framework="numpy", device="cuda")):
        with pytest.raises(ValueError):
            leat.Loader(plan, 2, **wrong)
    for wrong in (dict(outputs=leat.Outputs(borrow=True), buffers=True),
                  dict(outputs=leat.Outputs("cu_seqlens", borrow=True)),
                  dict(buffers=True, framework="jax")):
        with pytest.raises(TypeError):
            leat.Loader(plan, 2, **wrong)
    with pytest.raises(TypeError, match="leat.Plan"):
        leat.Loader("corpus", 2)


@pytest.mark.parametrize("more", [{}, {"borrow": True}, {"buffers": True}, {"style": "dict"}, {"framework": "numpy"}],
                         ids=lambda more: "-".join(map(str, more)) or "plain")
def test_no_leak(corpus, more):
    """100,000 batches, with everything that goes with them: memory stays."""
    outputs = leat.Outputs(leat.batch.PLAIN, max_sequences=32, borrow="borrow" in more)
    options = {name: value for name, value in more.items() if name != "borrow"}
    loader = leat.Loader(leat.Plan(corpus, 16), 2, outputs=outputs, notices=False, **options)

    for k in range(100_000):
        batch = next(loader)
        if k % 100 == 0:
            if "style" not in more:
                assert len(batch.samples) == len(batch.flags) == 2
            loader.state_dict()
        if k == 20_000:
            before = resident()
    assert resident() - before < 4 << 20


def test_no_leak_of_loaders(plan):
    """Loaders that are opened, used a little and dropped, borrowed batches with them."""
    for k in range(300):
        loader = leat.Loader(plan, 2, outputs=leat.Outputs(borrow=k % 2 == 0))
        next(loader)
        if k == 100:
            files, threads = len(os.listdir("/proc/self/fd")), threading_count()
    del loader
    assert len(os.listdir("/proc/self/fd")) <= files and threading_count() <= threads


def threading_count():
    return len(os.listdir("/proc/self/task"))
