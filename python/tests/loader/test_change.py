"""Loader.change(): batches and states after it are those of a loader that was opened with the new plan there, with
borrowed arrays and buffers, for longer rows, in the wrappers, and through random steps; a plan that has another past is
refused, on all ranks, if it is so on one of them."""
import pathlib
import pickle
import random
import subprocess
import sys
import threading

import pytest
from conftest import ROOT

import leat
from processes import run_ranks

PROGRAM = pathlib.Path(__file__).with_name("change_program.py")


def plan_of(folder, **options):
    return leat.Plan([(f"{folder}/a", 1), (f"{folder}/b", "0.5")], 16, seed=3, **options)


def rows(loader, count):
    return [next(loader).inputs.copy() for _ in range(count)]


def same(found, wanted):
    assert len(found) == len(wanted) and all((a == b).all() for a, b in zip(found, wanted))


def opened(plan, position, **options):
    return leat.Loader(plan, 4, framework="numpy", position=position, **options)


def test_refused(folder):
    plan = plan_of(folder)
    with opened(plan, 0) as loader:
        before = rows(loader, 3)
        with pytest.raises(leat.Error, match="1 phases start before its position, but 2 in the plan"):
            loader.change(plan.change(11, weights=[2, 1]))
        with pytest.raises(ValueError, match="rows of order fit need a new leat.Loader"):
            loader.change(leat.Plan(f"{folder}/a", 16, order="fit"))
        with opened(plan, 0) as other:
            same([*before, *rows(loader, 3)], rows(other, 6))
    for words, wrong in (("no source is called 'x'", dict(weights={"x": 1})), ("no source is called", dict(stop="x")),
                         ("no source has a weight", dict(weights=[0, 0])),
                         ("more weights than", dict(weights=[1] * 3))):
        with pytest.raises((ValueError, leat.Error), match=words):
            plan.change(8, **wrong)
    with pytest.raises(leat.Error, match="the nearest is sample 64"):
        plan_of(folder, base_len=32).change(50, weights=[1, 2])
    assert plan_of(folder, base_len=32).change_place(50) == 64
    with pytest.raises(TypeError, match="stop goes with weights by names"):
        plan.change(8, weights=[1, 2], stop=f"{folder}/a")


def test_text(folder):
    plan = plan_of(folder, phases=[(500, {f"{folder}/b": 1})])
    changed = plan.change(100, weights=[None, 2]).change(200, add=f"{folder}/c", seq_len=16)
    replayed = plan.replay(f"leat changes 1\nat 100:,2\nsource {folder}/c\nat 200::len=16\n")
    assert changed.text == replayed.text == leat.Plan.parse(changed.text).text
    assert "at 100:1,2\nat 200:1,2,1:len=16\n" in changed.text and "at 500" not in changed.text
    for same_plan in (pickle.loads(pickle.dumps(changed)), pickle.loads(pickle.dumps(replayed))):
        assert same_plan.text == changed.text
    changed = plan.change(100, add=[(leat.open([f"{folder}/a", f"{folder}/c"]), 2)])
    with pytest.raises(ValueError, match="a source is a list of names"):
        changed.text  # noqa: B018
    assert changed.order(101, 20) == pickle.loads(pickle.dumps(changed)).order(101, 20)


def test_longer_rows_and_held_arrays(folder):
    plan = plan_of(folder, base_len=32)
    changed = plan.change(64, seq_len=32)
    for borrow in (False, True):
        with opened(plan, 0, outputs=leat.Outputs("inputs", borrow=borrow), io=leat.IO(slots=4)) as loader, \
                opened(changed, 64) as other:
            rows(loader, 15)
            held = next(loader)
            copy = held.inputs.copy()
            loader.change(changed.change(1024, weights=[1, 1]))
            same(rows(loader, 1), rows(other, 1))
            assert not borrow or (held.inputs.shape == copy.shape)
            same(rows(loader, 8), rows(other, 8))
    with opened(plan, 0, buffers=True) as loader:
        rows(loader, 16)
        with pytest.raises(ValueError, match="the buffers have 16"):
            loader.change(changed)
        loader.change(plan.change(64, weights=[0, 1]))
        with opened(plan.change(64, weights=[0, 1]), 64) as other:
            same(rows(loader, 9), rows(other, 9))


def test_end_and_other_threads(folder):
    plan = leat.Plan(f"{folder}/c", 16, epochs=1)
    loader = opened(plan, 0)
    assert len(list(loader)) == len(loader)
    more = plan.change(len(plan), add=[f"{folder}/a"])
    loader.change(more)
    asked, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            asked.append((loader.stats()["batches"], loader.state_dict()["position"]))

    thread = threading.Thread(target=ask)
    thread.start()
    with opened(more, len(plan)) as other:
        for n in range(1, 20):
            same(rows(loader, 1), rows(other, 1))
            more = more.change(loader.cursor, weights=[0, n])
            loader.change(more)
            other.change(more)
    stop.set()
    thread.join()
    assert asked
    loader.close()


def test_wrappers(folder):
    torch = pytest.importorskip("torch")
    plan = plan_of(folder)
    changed = plan.change(24, weights=[0, 1])
    dataset = leat.IterableDataset(plan, 4, framework="numpy", style="tuple")
    with opened(changed, 0) as other:
        wanted = rows(other, 12)
    batches = iter(torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=0))
    found = [next(batches)[0].numpy() for _ in range(5)]
    dataset.change(changed)
    found += [next(batches)[0].numpy() for _ in range(7)]
    same(found, wanted)
    resumed = leat.IterableDataset(changed, 4, framework="numpy", style="tuple")
    resumed.load_state_dict(dataset.state_dict())
    with opened(changed, 48) as other:
        same([next(iter(resumed))[0]], rows(other, 1))


def test_ranks(folder, tmp_path):
    run_ranks(PROGRAM, [folder, tmp_path / "said"], 3, seconds=120)
    said = [pathlib.Path(f"{tmp_path / 'said'}.{rank}").read_text(encoding="utf-8").splitlines() for rank in range(3)]
    for lines in said:
        assert lines[0] == ("no rank has changed its plan, because rank 1 would change to another plan than rank 0: "
                            "all ranks must change to the same plan after the same batch")
        assert lines[1].startswith("no rank has changed its plan, because ranks 1 and 2 would change at another place "
                                   "than rank 0, which is at position 24: ")
        assert "3 phases start before its position" in lines[2] or "rank 2 cannot" in lines[2]
        assert lines[3] == "the same"
    assert len({lines[4] for lines in said}) == 3  # other rows on each


def test_sources_of_a_plan_that_was_left(folder):
    """A source that is added, and not in the next plan: no counts are left of it."""
    plan = plan_of(folder)
    loader = opened(plan, 0)
    rows(loader, 2)
    loader.change(plan.change(800, add=[(f"{folder}/c", 2)]))
    rows(loader, 2)
    assert len(loader.stats()["sources"]) == 3
    loader.change(plan)
    rows(loader, 2)
    assert [source["name"] for source in loader.stats()["sources"]] == [f"{folder}/a", f"{folder}/b"]


def test_random_steps():
    """make check-steps does more of them."""
    subprocess.run([sys.executable, "-B", ROOT / "tests/loader/check_steps.py", str(random.getrandbits(32)), "1000"],
                   check=True)
