"""The examples train, stop, and go on as if they had not stopped: bit for bit; at another world size with the same
global batches."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest
from conftest import ROOT


def steps(script, *words):
    """(step, loss, checksum of the batch), as the example prints them."""
    small = ["--batch", "4", "--seq-len", "32"]
    done = subprocess.run([sys.executable, str(ROOT / "python" / "examples" / script), *map(str, words), *small],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("step ")]
    return [(int(line[1]), line[3], line[5]) for line in lines]


def end_with(number, corpus, *words):
    """Ends a long run of train_gpt.py by a signal once it has taken five steps; returns its exit code and last step."""
    run = subprocess.Popen([sys.executable, str(ROOT / "python" / "examples" / "train_gpt.py"), *map(str, words),
                            "--steps", "1000000", "--batch", "4", "--seq-len", "32", corpus],
                           stdout=subprocess.PIPE, text=True, start_new_session=True)
    last = -1
    with run:
        for line in run.stdout:
            last = int(line.split()[1])
            if last == 4:
                os.killpg(run.pid, number)
    return run.returncode, last


@pytest.mark.parametrize("world", [1, 2])
def test_stopped(corpus, tmp_path, world):
    saved = tmp_path / "run"
    code, last = end_with(signal.SIGINT, corpus, "--save", saved, "--world", world)
    assert code == 0 and last >= 4
    whole = steps("train_gpt.py", corpus, "--steps", last + 4, "--world", world)
    assert steps("train_gpt.py", corpus, "--steps", last + 4, "--resume", saved, "--world", world) == whole[last + 1:]


def test_killed(corpus, tmp_path):
    saved = tmp_path / "run"
    code, last = end_with(signal.SIGKILL, corpus, "--save", saved, "--save-every", 3)
    assert code == -signal.SIGKILL
    whole = steps("train_gpt.py", corpus, "--steps", last + 4)
    rest = steps("train_gpt.py", corpus, "--steps", last + 4, "--resume", saved)
    assert rest == whole[-len(rest):] and rest[0][0] % 3 == 0 and 3 <= rest[0][0] <= last + 1


@pytest.mark.parametrize("script", ["train_gpt.py", "train_lightning.py"])
def test_resume(corpus, tmp_path, script):
    whole = steps(script, corpus, "--steps", 8)
    assert [s[0] for s in whole] == list(range(8)) and float(whole[-1][1]) < float(whole[0][1])
    assert len({s[2] for s in whole}) == 8
    assert steps(script, corpus, "--steps", 5, "--save", tmp_path / "run") == whole[:5]
    assert steps(script, corpus, "--steps", 8, "--resume", tmp_path / "run") == whole[5:]
    if script == "train_gpt.py":
        parallel = steps(script, corpus, "--steps", 8, "--resume", tmp_path / "run", "--world", 2)
        assert [(s[0], s[2]) for s in parallel] == [(s[0], s[2]) for s in whole[5:]]
        assert all(float(a[1]) == pytest.approx(float(b[1]), abs=1e-4) for a, b in zip(parallel, whole[5:]))


def test_distilled(corpus, tmp_path):
    """What a teacher has written beside the tokens gives the losses that it gives in each step, to the last bit."""
    for path in pathlib.Path(corpus).parent.glob(pathlib.Path(corpus).name + ".*"):
        shutil.copy(path, tmp_path)
    data = tmp_path / pathlib.Path(corpus).name
    online = steps("distill.py", data, "--steps", 6, "--online")
    assert not list(tmp_path.glob("*.column")) and float(online[-1][1]) < float(online[0][1])
    assert steps("distill.py", data, "--steps", 6) == online and len(online) == 6
    assert len(list(tmp_path.glob("*.column"))) == 2
