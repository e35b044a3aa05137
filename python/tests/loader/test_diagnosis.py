"""leat.diagnose(): the share that a loader takes of a step, by a clock that the test sets; ten lines; the loader is
afterwards where it was, whatever happens in a step. And the statistics in a file (stats_file): the names and values of
stats(), a line each time that it is due, appended; without them when the file cannot be written."""
import json
import os
import warnings

import pytest

import leat
from leat import diagnosis


@pytest.fixture(scope="module")
def plan(corpus):
    return leat.Plan(corpus, 64, 5)


class Clock:
    """Time goes by only where the test says so."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


def slowed(clock, seconds):
    class Slow(leat.Loader):
        def __next__(self):
            clock.now += seconds
            return super().__next__()
    return Slow


@pytest.mark.parametrize("of_loader, of_step, share", [(0.005, 0.010, 1 / 3), (0.0, 0.010, 0.0), (0.03, 0.01, 0.75)])
@pytest.mark.parametrize("more", [{}, {"outputs": leat.Outputs(borrow=True)}, {"buffers": True},
                                  {"threads": 0, "style": "tuple"}])
def test_share(plan, monkeypatch, of_loader, of_step, share, more):
    clock, seen = Clock(), []
    monkeypatch.setattr(diagnosis, "time", clock)

    def step(batch):
        clock.now += of_step
        seen.append(int(batch[0][0, 0]))

    with slowed(clock, of_loader)(plan, 4, **more) as loader:
        first = [b[0].tolist() for b in [next(loader) for _ in range(3)][-1:]]
        cursor, state = loader.cursor, loader.state_dict()
        found = leat.diagnose(loader, step, steps=20, warm_up=2)
        assert found.share == pytest.approx(share) and found.steps == 20
        assert len(seen) == 42 + diagnosis.ROUNDS * loader.stats()["slots"]
        assert found.real == pytest.approx(of_loader + of_step) and found.synthetic == pytest.approx(of_step)
        assert found.waiting == pytest.approx(of_loader) and found.tokens == 4 * 64
        assert found.is_the_loader == (share > 0)
        assert (loader.cursor, loader.state_dict()) == (cursor, state)
        with leat.Loader(plan, 4, position=cursor) as other:
            assert next(loader)[0].tolist() == next(other)[0].tolist() != first[0]
    lines = str(found).split("\n")
    assert len(lines) == 10 and f"{100 * share:.1f} % of a step" in lines[0]
    assert ("it is not the loader" in lines[0]) == (share == 0)
    assert set(found.thread) == set(diagnosis.WORK)
    assert list(found.thread.values()) == sorted(found.thread.values(), reverse=True)


@pytest.mark.parametrize("remote", [0.0, 0.25])
def test_server(remote):
    stats = {"device": "host", "engine": "uring", "slots": 4, "remote_share": remote}
    text = str(diagnosis.Diagnosis(0.5, 0.02, 0.01, 0.01, 10, 100, {"storage": 1.0, "gather": 0.1}, stats))
    assert ("25 % of its pages from a server" in text) == ("leat pull beforehand" in text) == (remote > 0)
    assert ("a faster disk" in text) == (remote == 0) and len(text.split("\n")) == 10


@pytest.mark.parametrize("of_batch, share", [(0.0075, 1 / 3), (0.00625, 0.2), (0.004, 0.0)])
def test_thread_fills_ring_meanwhile(plan, monkeypatch, of_batch, share):
    clock, slots = Clock(), 8
    monkeypatch.setattr(diagnosis, "time", clock)

    class Threaded(leat.Loader):
        ready, last = slots, 0.0  # batches in the ring; when the last one was ready

        def __next__(self):
            while self.ready < slots and self.last + of_batch <= clock.now:
                self.last += of_batch
                self.ready += 1
            if self.ready == slots:
                self.last = clock.now
            if self.ready == 0:
                clock.now = self.last = self.last + of_batch
            self.ready = max(0, self.ready - 1)
            return super().__next__()

    def step(_):
        clock.now += 0.005

    with Threaded(plan, 4, io=leat.IO(slots=slots)) as loader:
        assert loader.stats()["slots"] == slots
        found = leat.diagnose(loader, step, steps=50)
    assert found.share == pytest.approx(share, abs=0.05) and found.is_the_loader == (share > 0)


def test_of_a_step_that_fails(plan):
    with leat.Loader(plan, 4) as loader:
        next(loader)
        with pytest.raises(ZeroDivisionError):
            leat.diagnose(loader, lambda batch: 1 / 0)
        assert loader.cursor == 4


def test_refused(plan, corpus):
    with leat.Loader(leat.Plan(corpus, 64, epochs=1), 4096, last="short") as loader:
        with pytest.raises(ValueError, match="the loader ends before"):
            leat.diagnose(loader, lambda batch: None, steps=10**6)
        assert loader.cursor == 0
    with pytest.raises(TypeError, match="expected a leat.Loader"):
        leat.diagnose([1, 2], print)
    with leat.Loader(plan, 4) as loader:
        with pytest.raises(TypeError, match="step must be a function"):
            leat.diagnose(loader, None)
        with pytest.raises(ValueError, match="steps"):
            leat.diagnose(loader, print, steps=0)


# ---- Statistics in a file


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def close_to(got, want):
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(close_to(got[name], want[name]) for name in want)
    return got == pytest.approx(want, abs=1e-6) if isinstance(want, float) else got == want


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_stats_file(plan, tmp_path, threads):
    path = tmp_path / "a \"run\".jsonl"
    path.write_text("{\"batches\": 0}\n")
    with leat.Loader(plan, 4, rank=1, world=2, stats_file=path, threads=threads, io=leat.IO(slots=2)) as loader:
        for _ in range(7):
            next(loader)
        assert len(lines_of(path)) == 1, "a line before it is due"
        stats = loader.stats()
    old, line = lines_of(path)
    assert old == {"batches": 0}, "the file was not appended to"
    assert list(line)[:2] == ["time", "rank"] and line["rank"] == 1 and abs(line["time"] - os.stat(path).st_mtime) < 100
    assert list(line)[2:] == list(stats), "other names than those of stats()"
    steady = ("batches", "rows", "tokens", "next", "consumer", "waiting_share", "ring_bytes", "slots", "engine",
              "device", "first_batch", "cache_bytes")
    assert all(close_to(line[name], stats[name]) for name in steady), (line, stats)
    assert (line["batches"], line["rows"], line["threads"]) == (7, 28, threads)


def test_stats_file_that_cannot_be_written(plan, tmp_path):
    with pytest.raises(leat.Error, match="cannot write statistics to .*nowhere"):
        leat.Loader(plan, 4, stats_file=tmp_path / "nowhere" / "x")
    with pytest.raises(ValueError, match="seconds of leat.StatsFile"):
        leat.StatsFile("x", seconds=0)
    if os.path.exists("/dev/full"):
        with leat.Loader(plan, 1, stats_file=leat.StatsFile("/dev/full", seconds=0.001)) as loader:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                while not any("statistics are no longer written" in str(w.message) for w in caught):
                    next(loader)
