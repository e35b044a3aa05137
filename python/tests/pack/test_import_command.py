"""`leat import` of the command, which becomes the Python that has leat: lines, JSON, exit codes, signals and resuming
are as those of its other commands. Without such a Python it says how to get one. The command is that of the build."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import leat
import pytest

pa = pytest.importorskip("pyarrow")
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", "build"))
LEAT = BUILD / "leat"
pytestmark = pytest.mark.skipif(not LEAT.exists(), reason="no command in the build")
PACKAGES = str(pathlib.Path(leat.__file__).parent.parent)
ENVIRONMENT = {**os.environ, "LEAT_PYTHON": sys.executable, "PYTHONPATH": PACKAGES}


def write(path, documents, **more):
    table = pa.table({"input_ids": pa.array(documents, pa.list_(pa.int32())), **more})
    with pa.ipc.new_stream(str(path), table.schema) as out:
        out.write_table(table, max_chunksize=10)
    return path


def run(*words, cwd, environment=ENVIRONMENT, **options):
    return subprocess.run([LEAT.resolve(), "import", *map(str, words)], cwd=cwd, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_summary(tmp_path):
    write(tmp_path / "a.arrow", [[1, 2], [3, 256]])
    done = run("-o", "made", "--end", "256", "--vocabulary", "300", "a.arrow", "a.arrow", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first.startswith("made: 10 tokens in 4 documents from 2 files in ")
    assert second == "The end token was added to 2 documents."
    done = run("-o", "made", "--resume", "--end", "256", "--vocabulary", "300", "a.arrow", "a.arrow", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "made is finished already: 10 tokens in 4 documents.\n")
    done = run("-o", "made", "a.arrow", cwd=tmp_path)
    assert done.returncode == 1 and "already exists; choose another name or replace it (--force)" in done.stderr
    done = run("-o", "made", "--force", "-t", "gpt2", "--end", "<|endoftext|>", "a.arrow", cwd=tmp_path)
    assert done.returncode == 0
    with leat.open(tmp_path / "made") as d:
        assert [x.tolist() for x in d] == [[1, 2, 50256], [3, 256, 50256]] and d.stored_tokenizer[0] == "gpt2"


def test_json_and_mask(tmp_path):
    write(tmp_path / "a.arrow", [[1, 2]], labels=pa.array([[0, 1]]))
    done = run("-o", "made", "--json", "a.arrow", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("leat: warning: the column \"labels\" was not taken, so all tokens are learned; in ")
    schemas = json.loads((pathlib.Path(__file__).parents[3] / "tests/cli/schemas.json").read_text(encoding="utf-8"))
    facts = json.loads(done.stdout)
    assert sorted(facts) == sorted(schemas["definitions"]["leat import"]["required"])
    with leat.open(tmp_path / "made") as d:
        assert facts["identity"] == d.info.identity.hex() and facts["mask"] == "labels"
    assert (facts["width"], facts["vocabulary"], facts["tokens"], facts["was_finished"]) == (4, 2**31, 2, False)
    with open("/dev/full", "w") as full:
        done = subprocess.run([LEAT.resolve(), "import", "-o", "other", "a.arrow"], cwd=tmp_path, env=ENVIRONMENT,
                              stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "cannot write everything to standard output" in done.stderr


def test_wrong(tmp_path):
    write(tmp_path / "a.arrow", [[1, 2]])
    for code, says, *words in (
            (2, "--end x is not an id; to give it as text, name the tokenizer (--tokenizer)", "--end", "x"),
            (2, "leave dtype out", "--dtype", "uint16"), (1, "has no column \"b\"", "--column", "b"),
            (1, "the vocabulary has 2 entries", "--vocabulary", "2"), (2, "--colum", "--colum", "b"),
            (1, "no-such-file", "no-such-file")):
        done = run("-o", "made", *words, "a.arrow", cwd=tmp_path)
        assert done.returncode == code and says in done.stderr and "Traceback" not in done.stderr, done.stderr
        assert not list(tmp_path.glob("made*"))
    done = run("-o", "made", "a.arrow", cwd=tmp_path, environment={**ENVIRONMENT, "SOURCE_DATE_EPOCH": "tomorrow"})
    assert done.returncode == 2 and "SOURCE_DATE_EPOCH must hold seconds since 1970" in done.stderr


def test_which_python(tmp_path):
    """The one that is named, that of the environment in which the command lies, or python3 on PATH, if it has leat of
    this version; and no file of the current folder is taken for a module."""
    write(tmp_path / "a.arrow", [[1, 2]])
    (tmp_path / "leat.py").write_text("raise SystemExit('the wrong leat')")
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    bare = {"PATH": "/nowhere", "PYTHONPATH": PACKAGES}
    assert run("-o", "a", "a.arrow", cwd=tmp_path, environment={**bare, "LEAT_PYTHON": sys.executable}).returncode == 0
    folder = os.path.dirname(sys.executable)
    assert run("-o", "b", "a.arrow", cwd=tmp_path, environment={**bare, "PATH": folder}).returncode == 0
    for environment, says in ((bare, "and there is no python3 on PATH"),
                              ({**bare, "LEAT_PYTHON": "/nowhere/python"}, "and /nowhere/python cannot be started: ")):
        done = run("-o", "c", "a.arrow", cwd=tmp_path, environment=environment)
        assert done.returncode == 2 and says in done.stderr and "pip install ." in done.stderr
    other = tmp_path / "other/leat"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    (other / "_leat.py").write_text("version = '0.0.1'")
    done = run("-o", "c", "a.arrow", cwd=tmp_path, environment={"PATH": folder, "PYTHONPATH": str(other.parent)})
    assert done.returncode == 2 and f"and {folder}/python3 has another version of it: " in done.stderr
    # another project of this name
    (other / "_leat.py").unlink()
    (other / "__init__.py").write_text(f"__version__ = {leat.__version__!r}")
    done = run("-o", "c", "a.arrow", cwd=tmp_path, environment={"PATH": folder, "PYTHONPATH": str(other.parent)})
    assert done.returncode == 2 and f"and {folder}/python3 does not have it: " in done.stderr
    # in an environment: PREFIX/lib/python3/site-packages/leat/bin/leat has PREFIX/bin/python3
    bin_of_package = tmp_path / "venv/lib/python3/site-packages/leat/bin"
    bin_of_package.mkdir(parents=True)
    shutil.copy(LEAT, bin_of_package)
    (tmp_path / "venv/bin").mkdir()
    (tmp_path / "venv/bin/python3").write_text(f"#!/bin/sh\nexec {sys.executable} \"$@\"\n")
    (tmp_path / "venv/bin/python3").chmod(0o755)
    done = subprocess.run([bin_of_package / "leat", "import", "-o", "d", "a.arrow"], cwd=tmp_path, env=bare,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 5), (signal.SIGUSR1, 5)])
def test_signals(tmp_path, number, code):
    """In the middle of the work, which a profiler makes slow; then it goes on from there."""
    for i in range(3):
        write(tmp_path / f"{i}.arrow", [[i, j] for j in range(200)])
    names = ["0.arrow", "1.arrow", "2.arrow"]
    whole = run("-o", "whole", *names, cwd=tmp_path)
    assert whole.returncode == 0
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow/sitecustomize.py").write_text(
        "import sys, time\n"
        "def slow(frame, event, arg):\n"
        "    if event == 'call' and frame.f_code.co_name == '_report_progress':\n"
        "        open('begun', 'w').close()\n"
        "        time.sleep(0.1)\n"
        "sys.setprofile(slow)\n")
    slow = {**ENVIRONMENT, "PYTHONPATH": f"{tmp_path}/slow:{PACKAGES}"}
    child = subprocess.Popen([LEAT.resolve(), "import", "-o", "part", *names], cwd=tmp_path, env=slow, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(600):
        if (tmp_path / "begun").exists() or child.poll() is not None:
            break
        time.sleep(0.05)
    child.send_signal(number)
    _, said = child.communicate()
    assert said == ("leat: interrupted\nleat: nothing is lost: the same command with --resume goes on from there\n"
                    "leat: to give it up, remove what it left: rm -r part.partial.*\n")
    assert child.returncode == code and not (tmp_path / "part.leat").exists()
    done = run("-o", "part", "--resume", *names, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for suffix in ("leat", "tokens"):
        assert (tmp_path / f"part.{suffix}").read_bytes() == (tmp_path / f"whole.{suffix}").read_bytes()


def test_progress(tmp_path):
    """On a terminal a line that is cleared at the end; with --progress never, nothing."""
    pty = pytest.importorskip("pty")
    write(tmp_path / "a.arrow", [[1] * 1000] * 20000)
    for words, wanted in (((), True), (("--progress", "never"), False)):
        main, side = pty.openpty()
        child = subprocess.Popen([LEAT.resolve(), "import", "--force", "-o", "made", *words, *["a.arrow"] * 12],
                                 cwd=tmp_path, env={**ENVIRONMENT, "TERM": "xterm"}, stdout=subprocess.DEVNULL,
                                 stderr=side)
        os.close(side)
        said = b""
        while True:
            try:
                said += os.read(main, 4096)
            except OSError:
                break
        os.close(main)
        assert child.wait() == 0
        assert (b"import  " in said and b" % " in said and said.endswith(b"\r\x1b[K")) == wanted, said
