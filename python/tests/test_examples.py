"""The examples train, stop, and go on as if they had not stopped: bit for bit; at another world size with the same
global batches."""
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
