"""Ramps are exact, short and the same as a second computation; and a run whose mixture the losses decide, killed, gone
on with at other world sizes, and replayed from its log, has the losses of one that was not killed, bit for bit."""
import math
import os
import signal
import subprocess
import sys
from fractions import Fraction

import pytest
from conftest import ROOT, command
from processes import _free_port, run_ranks

import leat

PROGRAM = ROOT / "python" / "examples" / "train_mixture.py"


@pytest.mark.parametrize("shape", ["linear", "cosine"])
def test_ramp(corpus, shape):
    before, after = [3, 1, 0], ["0.1", 0.4, 0.5]
    phases = leat.ramp(before, after, 1000, 5096, shape, step=16)
    assert [n for n, _ in phases] == [*range(1000, 5097, 16)]
    for n, weights in phases:
        part = (n - 1000) / 4096
        part = part if shape == "linear" else (1 - math.cos(math.pi * part)) / 2
        for text, a, b in zip(weights, (0.75, 0.25, 0), (0.1, 0.4, 0.5)):
            assert float(text) == pytest.approx(a + (b - a) * part, rel=1e-3, abs=1e-12), n
            assert len(text.strip("0.")) <= 4
    assert phases[0][1] == ["0.75", "0.25", "0"] and phases[-1][1] == ["0.1", "0.4", "0.5"]
    plan = leat.Plan([(leat.open(corpus), w) for w in before], 16, phases=phases)
    assert plan.info.phases == len(phases) + 1
    dicts = leat.ramp({"a": 3, "b": 1}, {"b": 4, "c": 5, "a": 1}, 1000, 5096, shape, step=16)
    assert [(n, list(w.values())) for n, w in dicts] == phases and list(dicts[0][1]) == ["a", "b", "c"]
    assert len(leat.ramp([1, 0], [0, 1], 0, 10**9)) == 1024  # none at 0
    for wrong in ((([1], [1, 2]), 0, 5), (([1], {"a": 1}), 0, 5), (([0], [1]), 0, 5), (([1], [1]), 5, 5)):
        with pytest.raises(ValueError):
            leat.ramp(*wrong[0], *wrong[1:])


def start(ranks, *words):
    """The processes of the example."""
    environment = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    if ranks > 1:
        environment.update(WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(_free_port()))
    return [subprocess.Popen([sys.executable, str(PROGRAM), *map(str, words)], text=True, stdout=subprocess.PIPE,
                             env={**environment, **({"RANK": str(rank)} if ranks > 1 else {})})
            for rank in range(ranks)]


def losses(process, until=None):
    """{step: loss}, to the end or to a step."""
    found = {}
    for line in process.stdout:
        words = line.split()
        found[int(words[1])] = words[3]
        if int(words[1]) == until:
            break
    return found


def finish(processes):
    found = losses(processes[0])
    assert [process.wait() for process in processes] == [0] * len(processes)
    return found


def test_decided_while_training(tmp_path):
    data = []
    for name, tokens in (("a", 30000), ("b", 20000), ("c", 9000)):
        data.append(tmp_path / name)
        command("leat-bench-dev", "counting", "-o", data[-1], "--tokens", tokens, "--document-length", 10 * len(name))
    whole = finish(start(1, *data, "--run", tmp_path / "whole", "--steps", 16))
    assert list(whole) == list(range(16)) and float(whole[15]) < float(whole[0])

    run = ("--run", tmp_path / "run", "--steps", 16)
    killed = start(2, *data, *run)
    first = losses(killed[0], 9)
    for process in killed:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert first == {step: whole[step] for step in range(10)}
    log = tmp_path / "run.changes"
    with open(log, "a", encoding="ascii") as file:
        file.write("at 9999:1,1")  # cut off
    after = finish(start(4, *data, *run))
    assert min(after) in (4, 8) and after == {step: whole[step] for step in after} and max(after) == 15
    text = log.read_text(encoding="ascii")
    assert text == (tmp_path / "whole.changes").read_text(encoding="ascii") and text.count("\nat ") == 5
    for ranks in (1, 2):
        assert finish(start(ranks, *data, *run, "--replay")) == whole
    assert log.read_text(encoding="ascii") == text

    plan = leat.Plan([str(name) for name in data], 32, seed=7)
    assert leat.Mixture(plan, log, replay=True).plan.text == plan.replay(text).text
    shares = [Fraction(w) for w in text.splitlines()[-1].split(":")[1].split(",")]
    assert len(set(shares)) == 3
    with pytest.raises(FileExistsError):
        leat.Mixture(plan, log)
    with pytest.raises(ValueError, match="it is not the log of this run"):
        leat.Mixture(plan, log, state={"changes": 9, "steps": 36, "sums": [0] * 3, "counts": [0] * 3})


# one process for each slice of two rows' ranks; losses are whole numbers of 2^-11, whose sums do not depend on an order
SLICED = """
import os, sys
import torch.distributed
import leat
if len(sys.argv) > 4:
    torch.distributed.init_process_group("gloo")
slices = 2 if len(sys.argv) > 4 else 1
number = int(os.environ.get("RANK", 0))
plan = leat.Plan({name: 1 for name in sys.argv[2:4]}, 64, epochs=1)
mixture = leat.Mixture(plan, sys.argv[1], every=2)
loader = leat.Loader(mixture.plan, 4 // slices, rank=number // slices, world=slices, framework="numpy", last="padded",
                     slice=(number % slices, slices, "zigzag") if slices > 1 else None, restart=False, threads=0)
def decide(weights, losses):
    return {name: 1 + losses.get(name, 0) % 1 for name in weights}
for batch in loader:
    mixture.add(batch, batch.inputs.astype("float64").sum(axis=1) / 64)
    mixture.step(loader, decide)
state = mixture.state_dict(loader)
assert state["steps"] > 8 and state["changes"] >= 4, state
print(state)
if slices > 1:
    torch.distributed.destroy_process_group()
"""


def test_slices_decide_as_whole_rows(folder, tmp_path):
    program = tmp_path / "sliced.py"
    program.write_text(SLICED)
    names = f"{folder}/a", f"{folder}/b"
    run_ranks(program, [tmp_path / "whole", *names], 1)
    run_ranks(program, [tmp_path / "sliced", *names, "sliced"], 4)
    text = (tmp_path / "sliced").read_text(encoding="ascii")
    assert text == (tmp_path / "whole").read_text(encoding="ascii") and len(set(text.splitlines())) > 4


def test_the_end(folder, tmp_path):
    """There is nothing to change."""
    plan = leat.Plan({f"{folder}/a": 1, f"{folder}/b": 1}, 64, epochs=1)
    mixture = leat.Mixture(plan, tmp_path / "other", every=1)
    loader = leat.Loader(mixture.plan, 4, framework="numpy", last="short", notices=False)
    steps = [mixture.step(loader, lambda weights, losses: weights) for _ in loader]
    assert steps[0] and not steps[-1]


def test_log_is_on_the_disk(folder, tmp_path, monkeypatch):
    """Also that there is a file of this name: its folder is synced after a new log."""
    synced, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.readlink(f"/proc/self/fd/{fd}")), sync(fd)))
    log = tmp_path / "run.changes"
    mixture = leat.Mixture(leat.Plan({f"{folder}/a": 1, f"{folder}/b": 1}, 64), log)
    with leat.Loader(mixture.plan, 4, framework="numpy") as loader:
        for _ in range(2):
            next(loader)
            assert mixture.step(loader, lambda weights, losses: weights)
    assert synced == [str(log), str(tmp_path), str(log)]


@pytest.mark.parametrize("weight", ["1e9999999", "1e-9999999", "nan", float("inf"), "1/0", "0." + "1" * 5000, "x", None,
                                    b"1"])
def test_weights_that_are_no_numbers(folder, tmp_path, weight):
    """'1e9999999' was computed digit by digit, for minutes, and others raised OverflowError or ZeroDivisionError."""
    mixture = leat.Mixture(leat.Plan({f"{folder}/a": 1, f"{folder}/b": 1}, 64), tmp_path / "log")
    for call in (lambda: leat.ramp([1, 1], [1, weight], 1, 9),
                 lambda: mixture._rounded({f"{folder}/a": 1, f"{folder}/b": weight})):
        with pytest.raises(ValueError, match="must be numbers, not"):
            call()
    for wrong in (-1, 0):
        with pytest.raises(ValueError, match="must not be negative, and one must be above 0"):
            mixture._rounded({f"{folder}/a": 0, f"{folder}/b": wrong})


@pytest.mark.parametrize("text", [b"no newline", b"other\n", b"\xff\xfe", b"leat changes 12"])
def test_log_is_another_file(folder, tmp_path, text):
    """It is refused, and stays as it is. (A file without a newline was taken for a log that was cut off, and lost.)"""
    log = tmp_path / "notes"
    log.write_bytes(text)
    with pytest.raises(ValueError, match="is not a log of changes"):
        leat.Mixture(leat.Plan({f"{folder}/a": 1, f"{folder}/b": 1}, 64), log)
    assert log.read_bytes() == text


@pytest.fixture()
def mixture(folder, tmp_path):
    plan = leat.Plan({f"{folder}/a": 1, f"{folder}/b": 1}, 64)
    return leat.Mixture(plan, tmp_path / "run.changes", every=1)


@pytest.mark.parametrize("name, value", [
    ("changes", -1), ("changes", True), ("changes", 1.5), ("steps", math.nan), ("steps", 1.5), ("steps", -1),
    ("sums", [0]), ("sums", [0, 0, 0]), ("sums", [0, 0.5]), ("sums", 0), ("sums", None), ("counts", [0, -1]),
    ("counts", [0]), ("counts", [0, True])])
def test_states_that_were_changed(mixture, tmp_path, name, value):
    """They were taken: changes=-1 dropped the last change, steps of NaN never decided again, and of sums of another
    length zip() took what fitted."""
    with leat.Loader(mixture.plan, 4, framework="numpy") as loader:
        state = mixture.state_dict(loader)
    leat.Mixture(mixture.plan, tmp_path / "other", state=state)
    for wrong in ({**state, name: value}, {key: state[key] for key in state if key != name}):
        with pytest.raises((TypeError, ValueError), match=f"{name} of the state|sums or counts|not a state_dict"):
            leat.Mixture(mixture.plan, tmp_path / "other", state=wrong)
    for wrong in ({}, 5, loader.state_dict()):
        with pytest.raises(ValueError, match="this is not a state_dict"):
            leat.Mixture(mixture.plan, tmp_path / "other", state=wrong)


def test_a_loss_for_each_row(mixture):
    """zip() took what fitted; a loss that is no number was counted as far as the rows before it."""
    with leat.Loader(mixture.plan, 4, framework="numpy") as loader:
        batch = next(loader)
        for losses, words in (([1] * 3, "3 losses for a batch of 4 rows"), ([1] * 5, "5 losses"), (1.0, "a list"),
                              ([1, 1, math.nan, 1], "loss of row 2 .* finite"), ([1, math.inf, 1, 1], "loss of row 1"),
                              ([1, None, 1, 1], "loss of row 1")):
            with pytest.raises((TypeError, ValueError), match=words):
                mixture.add(batch, losses)
        assert mixture.state_dict(loader)["counts"] == [0, 0]
        for given, words in (([1, 1], "must be a dict"), (dict.fromkeys(mixture._names, 0), "one must be above 0"),
                             (dict.fromkeys(mixture._names, "x"), "must be numbers"), (None, "must be a dict")):
            with pytest.raises((TypeError, ValueError), match=words):
                mixture.step(loader, lambda weights, losses: given)


def test_log_of_another_program(folder, tmp_path):
    """A change without weights was an IndexError."""
    (tmp_path / "log").write_text("leat changes 1\nat 8\n")
    with pytest.raises(ValueError, match="has no weight for each source"):
        leat.Mixture(leat.Plan({f"{folder}/a": 1, f"{folder}/b": 1}, 64), tmp_path / "log",
                     state={"changes": 1, "steps": 2, "sums": [0, 0], "counts": [0, 0]})
