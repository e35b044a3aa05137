"""bench/peers/loaders.py, at tiny size: the loaders whose packages are here are checked, measured and resumed; one
whose rows are wrong, come twice, or whose resume gives another batch is found out; what cannot run says so."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest
from conftest import command

import leat

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "bench/peers/loaders.py"


def loaders(build, *words, program=PROGRAM):
    done = subprocess.run([sys.executable, "-B", program, build / "leat-bench", "--tokens", "20K", "--seq-len", "32",
                           "--batch", "4", "--seconds", "0.1", "--rounds", "1", *words], stdout=subprocess.PIPE,
                          check=True, env={**os.environ, "PYTHONPATH": str(pathlib.Path(leat.__file__).parents[1])})
    return done.stdout.decode()


@pytest.fixture(scope="module")
def build():
    assert command("leat-bench", "--version")
    return pathlib.Path(os.environ["LEAT_BUILD"]).resolve()


@pytest.mark.parametrize("name, packages", [("leat", "numpy"), ("numpy.memmap", "numpy"),
                                           ("DataLoader, plain, 0", "torch"), ("DataLoader, batched, 1", "torch"),
                                           ("StatefulDataLoader", "torchdata"), ("litdata", "litdata"),
                                           ("Hugging Face datasets", "datasets"), ("Grain", "grain"),
                                           ("MosaicML streaming", "streaming torchvision")])
def test_loader(build, name, packages):
    for package in packages.split():
        pytest.importorskip(package, exc_type=ImportError)
    (figures,) = json.loads(loaders(build, "--only", name, "--json"))["peers"]
    assert figures.pop("name").startswith(name)
    assert set(figures) == {"mtok_per_s", "cpu_ms_per_mtok", "start_s", "start_cpu_s", "resume_s",
                            "memory_mib"}, figures
    assert all(value > 0 for value in figures.values())


@pytest.mark.parametrize("old, new, says", [
    ("order[at[0]:at[0] + o.batch]", "[0] * o.batch", "came twice"),
    ("rows = rows_at(tokens, order[at[0]:at[0] + o.batch], o)", "rows = rows_at(tokens, order[:o.batch], o) ^ at[0]",
     "other tokens than the dataset"),
    ("at = [state or 0]", "at = [0]", "another one")])
def test_found_out(build, tmp_path, old, new, says):
    for name in "loaders.py", "measured.py":
        text = (PROGRAM.parent / name).read_text(encoding="utf-8")
        assert name != "loaders.py" or old in text
        (tmp_path / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert says in loaders(build, "--only", "numpy.memmap", program=tmp_path / "loaders.py")


def test_hangs(build, tmp_path):
    for name in "loaders.py", "measured.py":
        text = (PROGRAM.parent / name).read_text(encoding="utf-8")
        hangs = text.replace("def memmap(o, state):", "def memmap(o, state):\n    time.sleep(999)")
        (tmp_path / name).write_text(hangs, encoding="utf-8")
    words = "--only", "numpy.memmap", "--most-seconds", "2"
    assert "it did not end within 2 s" in loaders(build, *words, program=tmp_path / "loaders.py")


def test_memory_of_children():
    """What a child has counts, what a file maps does not."""
    sys.path.insert(0, str(PROGRAM.parent))
    import measured
    code = ("import mmap, subprocess, sys; f = open(sys.argv[2], 'rb'); m = mmap.mmap(f.fileno(), 0, prot=1)\n"
            "sum(m[::4096]); kept = bytearray(b'1') * (32 << 20)\n"
            "c = subprocess.Popen([sys.executable, '-c', 'kept = bytearray(b\"1\") * (32 << 20); print(1, flush=True);"
            "input()'], stdin=0, stdout=1) if sys.argv[1] == '1' else print(1, flush=True)\n"
            "input() if not c else c.wait()")
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(64 << 20))
        file.flush()
        found = []
        for children in "0", "1":
            with subprocess.Popen([sys.executable, "-c", code, children, file.name], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as process:
                process.stdout.readline()
                found.append(measured.memory_mib(process.pid))
                process.stdin.close()
    assert 32 < found[0] < 60 and 64 < found[1] < 100, found


def test_cannot_run(build):
    out = loaders(build, "--only", "Grain", "--python", "grain=/nowhere/python")
    assert "Grain" in out and "cannot run: its packages cannot be installed: no /nowhere/python" in out
