"""conftest.py: datasets for the tests, made by the command that was built beside; and what tests share."""
import os
import pathlib
import signal
import subprocess

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
# under nohup and in the background of a script it is ignored, and so would be in programs that tests interrupt
signal.signal(signal.SIGINT, signal.default_int_handler)
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
TURN = os.environ.pop("LEAT_TEST_TURN", "")  # N/OF: every OF-th test from the N-th, as in tests/run.sh


def pytest_collection_modifyitems(config, items):
    """Leaves out the tests that are not of this turn."""
    if TURN:
        turn, of = map(int, TURN.split("/"))
        others = [item for number, item in enumerate(items, 1) if number % of != turn]
        items[:] = [item for number, item in enumerate(items, 1) if number % of == turn]
        config.hook.pytest_deselected(items=others)


def command(*words):
    """What a program of the build prints."""
    program, *rest = words
    return subprocess.run([str(BUILD / program), *map(str, rest)], check=True, stdout=subprocess.PIPE, text=True).stdout


def pack(name, tokenizer):
    """The sample corpus as a dataset."""
    subprocess.run([str(BUILD / "leat"), "pack", "-o", str(name), "-t", tokenizer, "examples/corpus"], cwd=ROOT,
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return str(name)


def resident():
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.fixture(scope="session")
def gpt2():
    import leat
    return leat.Tokenizer("gpt2")


@pytest.fixture
def name(tmp_path):
    """The name of a dataset that is to be made."""
    return str(tmp_path / "out")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """The sample corpus, packed with gpt2's vocabulary: 16-bit tokens, documents, texts, origins."""
    return pack(tmp_path_factory.mktemp("corpus") / "corpus", "gpt2")


@pytest.fixture(scope="session")
def wide(tmp_path_factory):
    """Texts with a vocabulary that needs 32-bit tokens."""
    return pack(tmp_path_factory.mktemp("wide") / "wide", "cl100k_base")


@pytest.fixture(scope="session")
def counting(tmp_path_factory):
    """Tokens that are a function of their position, in documents of a few hundred."""
    name = tmp_path_factory.mktemp("counting") / "counting"
    command("leat-bench-dev", "counting", "-o", name, "--tokens", "300000")
    return str(name)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Three datasets of counting tokens in a folder: a list."""
    path = tmp_path_factory.mktemp("list") / "parts"
    path.mkdir()
    for name, tokens in (("a", 5000), ("b", 12345), ("c", 700)):
        command("leat-bench-dev", "counting", "-o", path / name, "--tokens", tokens)
    return str(path)
