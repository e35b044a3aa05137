"""bench/peers/loaders.py, at tiny size: the loaders whose packages are here are checked, measured and resumed; one
whose rows are wrong, come twice, or whose resume gives another batch is found out; what cannot run says so."""
import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import command

import leat

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "bench/peers/loaders.py"


def loaders(build, *words, program=PROGRAM):
    done = subprocess.run([sys.executable, "-B", program, build / "leat-bench", "--tokens", "20K", "--seq-len", "32",
                           "--batch", "4", "--seconds", "0.01", "--rounds", "1", *words], stdout=subprocess.PIPE,
                          check=True, env={**os.environ, "PYTHONPATH": str(pathlib.Path(leat.__file__).parents[1])})
    return done.stdout.decode()


@pytest.fixture(scope="module")
def build():
    assert command("leat-bench", "--version")
    return pathlib.Path(os.environ["LEAT_BUILD"]).resolve()


@pytest.mark.parametrize("name, package", [("leat", "numpy"), ("numpy.memmap", "numpy"),
                                           ("DataLoader, plain, 0", "torch"), ("DataLoader, batched, 1", "torch"),
                                           ("StatefulDataLoader", "torchdata"), ("litdata", "litdata"),
                                           ("Hugging Face datasets", "datasets"), ("Grain", "grain"),
                                           ("MosaicML streaming", "streaming")])
def test_loader(build, name, package):
    pytest.importorskip(package, exc_type=ImportError)
    found = json.loads(loaders(build, "--only", name, "--json"))["loaders"]
    (figures,) = found.values()
    assert set(figures) == {"mtok_per_s", "cpu_ms_per_mtok", "start", "resume", "memory_mib"}, figures
    assert all(value > 0 for value in figures.values())


@pytest.mark.parametrize("old, new, says", [
    ("order[at[0]:at[0] + o.batch]]", "[0] * o.batch]", "came twice"),
    ("[row_of(tokens, n, o) for", "[row_of(tokens, n, o) ^ (n == order[5]) for", "other tokens than the dataset"),
    ("at = [state or 0]", "at = [0]", "another one")])
def test_found_out(build, tmp_path, old, new, says):
    text = PROGRAM.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "wrong.py").write_text(text.replace(old, new, 1), encoding="utf-8")
    assert says in loaders(build, "--only", "numpy.memmap", program=tmp_path / "wrong.py")


def test_cannot_run(build):
    out = loaders(build, "--only", "Grain", "--python", "grain=/nowhere/python")
    assert "Grain" in out and "cannot run: its packages cannot be installed: there is no /nowhere/python" in out
