"""Datasets on a file server that fails (tests/disks/far_disk.c, which needs root and /dev/fuse): Ctrl-C ends a wait for
it, in leat.open() and while a loader waits; retry_seconds of leat.open() and leat.Opening; leat.pack() says that it
waits."""
import subprocess
import sys

import pytest
from conftest import BUILD

import leat

FAR = BUILD / "far_disk"
A_DAY = 86400  # a wait that is not ended outlasts the test
OPENS, READS = 8, 32  # enum fuse_disk_call
EIO, ESTALE = 5, 116
PROGRAM = """
import _thread, threading, warnings
import leat, numpy  # before Ctrl-C: an import of torch, which a loader does by itself, may swallow it
warnings.simplefilter("ignore")
try:
    threading.Timer(1, _thread.interrupt_main).start()
    {}
except KeyboardInterrupt:
    print("interrupted")
"""


def run(corpus, tmp_path, fail, code):
    """What a program prints that runs with the corpus's folder on such a file system."""
    if not FAR.exists():
        pytest.skip("no far_disk in the build")
    at = tmp_path / "at"
    at.mkdir()
    done = subprocess.run([FAR, str(corpus.parent), str(at), "0", "1000", "--fail", fail, sys.executable, "-c",
                           PROGRAM.format(code.replace("NAME", repr(str(at / corpus.name))))],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode == 77:
        pytest.skip("mounting /dev/fuse is not allowed here")
    return done.stdout.splitlines()[0]


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "behind"
    folder.mkdir()
    with leat.Packer(folder / "d", "gpt2") as packer:
        packer.extend(["some words and more of them"] * 3000)
    return folder / "d"


def test_interrupt_of_opening(corpus, tmp_path):
    code = f"leat.open(NAME, retry_seconds={A_DAY})"
    assert run(corpus, tmp_path, f"{OPENS}:1:1000000:{ESTALE}", code) == "interrupted"


def test_interrupt_of_a_loader(corpus, tmp_path):
    code = (f"plan = leat.Plan(NAME, 64, open=leat.Opening(retry_seconds={A_DAY}))\n"
            "    for batch in leat.Loader(plan, 4, framework='numpy'): pass")
    assert run(corpus, tmp_path, f"{READS}:8:1000000:{EIO}", code) == "interrupted"


def test_option(corpus):
    assert len(leat.open(corpus, retry_seconds=0)) == len(leat.open(corpus, retry_seconds=5)) == 3000
    assert leat.Plan(corpus, 64, open=leat.Opening(retry_seconds=1)).info.sources
    with pytest.raises(ValueError, match="retry_seconds must be from 0 to"):
        leat.open(corpus, retry_seconds=-1)


def test_pack_says_that_it_waits(corpus, tmp_path):
    (corpus.parent / "texts.txt").write_text("some words\n" * 1000)
    code = (f"with warnings.catch_warnings(record=True) as said:\n"
            f"        warnings.simplefilter('always')\n"
            f"        leat.pack(NAME[:-1] + 'texts.txt', {str(tmp_path / 'out')!r}, 'gpt2')\n"
            f"    print(*(type(w.message).__name__ + ' ' + str(w.message) for w in said))")
    said = run(corpus, tmp_path, f"{READS}:1:3:{EIO}", code)
    assert said.startswith("RuntimeWarning ") and "/at/texts.txt" in said and "leat tries again, for 60 s" in said
    assert len(leat.open(tmp_path / "out")) == 1
