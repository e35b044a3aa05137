"""leat.Run: a run in parts that is planned, packed by processes that are killed, watched and joined; what its errors
say to do."""
import gzip
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

import pytest
from conftest import ROOT

import leat
from leat.run import Advice
from processes import locked

PARTS = 3


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join('{"text":"line %d of them","id":%d}\n' % (i, i) for i in range(300)))
    return path


def large(folder):
    path = folder / "large.jsonl"
    path.write_text("".join('{"text":"%s %d"}\n' % ("some words of text " * 20, i) for i in range(60000)))
    return path


def same(one, other, names=("",)):
    return all(pathlib.Path(f"{one}{name}{suffix}").read_bytes() == pathlib.Path(f"{other}{name}{suffix}").read_bytes()
               for name in names for suffix in (".tokens", ".leat"))


def test_whole_run(tmp_path, texts):
    run = leat.Run.create(tmp_path / "run", texts, "bytes", parts=PARTS)
    assert run.parts == PARTS and run.folder == str(tmp_path / "run")
    before = run.status()
    assert (before.missing, before.left, before.complete, before.inputs) == (PARTS, "1-3", False, 1)
    with pytest.raises(leat.Error, match="is not finished: of its 3 parts, 1-3 are not done") as raised:
        run.join(tmp_path / "all")
    assert raised.value.advice == Advice("part", "steps", "all")
    made = [leat.Run.open(tmp_path / "run").step(part, threads=1) for part in (3, 1, 2)]
    assert sum(one.documents for one in made) == 300 and not made[0].was_finished
    assert made[0].output == str(tmp_path / "run/part-3")
    assert run.step(3).was_finished
    assert (tmp_path / "run/part-3.tokens").exists() and not list((tmp_path / "run").glob("*.beat"))
    after = run.status()
    assert after.complete and after.left == "" and after.tokens == sum(one.tokens for one in made)
    assert run.join(tmp_path / "all").documents == 300
    leat.pack(texts, tmp_path / "one", "bytes")
    assert same(tmp_path / "all", tmp_path / "one")


def test_relative_names_from_another_folder(tmp_path, texts, monkeypatch):
    """The plan keeps names as they were given, and each process finds them, wherever it is."""
    (tmp_path / "in").mkdir()
    texts.rename(tmp_path / "in/a.jsonl")
    (tmp_path / "in.txt").write_text("a text")
    (tmp_path / "list").write_text("in.txt\n")
    monkeypatch.chdir(tmp_path)
    leat.pack(["in", "@list"], "one", "bytes", split="valid=0.2")
    leat.Run.create("run", ["in", "@list"], "bytes", parts=2, split="valid=0.2")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for part in (1, 2):
        made = leat.Run.open("../run").step(part)
        assert [one["output"] for one in made.splits] == [str(tmp_path / f"run/valid/part-{part}")]
    leat.merge(tmp_path / "run", tmp_path / "all")
    leat.merge(tmp_path / "run/valid", tmp_path / "all.valid")
    assert same(tmp_path / "all", tmp_path / "one", ("", ".valid"))
    leat.Run.create(tmp_path / "run2", ["in", "@list"], "bytes", parts=1, from_=tmp_path).step(1)
    assert [one.path for one in leat.open(tmp_path / "run2").inputs] == ["in/a.jsonl", "in.txt"]


def test_planned_twice_and_otherwise(tmp_path, texts):
    def create(**options):
        return leat.Run.create(tmp_path / "run", texts, **{"tokenizer": "bytes", "parts": 2, **options})

    create()
    create().step(1)
    assert create().status().done == 1
    for options, words in (({"parts": 3}, "has 2 parts, not 3"), ({"special": True}, 'not with "special 1"'),
                           ({"tokenizer": "gpt2"}, "another tokenizer")):
        with pytest.raises(leat.Error, match=words) as raised:
            create(**options)
        assert raised.value.status == "checkpoint" and raised.value.advice == Advice("plan", "plan", "all")
    with pytest.raises(leat.Error, match="is the folder of another run") as raised:
        create(threads=3)
    assert raised.value.advice == Advice("plan", "plan", "all")
    for options in ({"shuffle": 1}, {"dedup": True}):
        with pytest.raises(TypeError, match="belongs to join"):
            create(**options)
    assert create(tokenizer=leat.Tokenizer("bytes")).parts == 2
    with pytest.raises(TypeError, match="open the tokenizer by its name"):
        create(tokenizer=leat.Tokenizer("mine", pat_str=".", mergeable_ranks={bytes([b]): b for b in range(256)},
                                        special_tokens={"<end>": 256}))
    with pytest.raises(TypeError, match=r"leat.Run.create\(\) got an unexpected keyword argument 'part'"):
        create(part=1)
    with pytest.raises(leat.Error, match="force is for one step") as raised:
        create(force=True)
    assert raised.value.advice.mend == "call"
    with pytest.raises(TypeError, match="output"):
        leat.Run()


def test_killed_step_goes_on(tmp_path):
    """A process that is killed in a step leaves what the next one goes on with: the bytes are those of one run."""
    big = large(tmp_path)
    leat.Run.create(tmp_path / "run", big, "gpt2", parts=1, threads=1)
    program = "import leat, sys; leat.Run.open(sys.argv[1]).step(1, progress=None)"
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "run")]) as child:
        run = leat.Run.open(tmp_path / "run")
        while run.status().items[0].pid != child.pid and child.poll() is None:
            pass
        with pytest.raises(leat.Error, match=f"another process is writing part 1 .* process {child.pid} on ") as raised:
            run.step(1)
        assert raised.value.status == "busy" and raised.value.advice == Advice("beat", "wait", "part")
        os.kill(child.pid, signal.SIGKILL)
    run.step(1, progress=None)
    run.join(tmp_path / "all")
    leat.pack(big, tmp_path / "one", "gpt2")
    assert same(tmp_path / "all", tmp_path / "one")


def test_stopped_and_rejects(tmp_path, texts):
    def stop(progress):
        raise KeyboardInterrupt

    big = large(tmp_path)
    for attempt in range(10):  # on a fast machine the part is complete when its progress is first reported
        run = leat.Run.create(tmp_path / f"run.{attempt}", big, "gpt2", parts=1, threads=1)
        with pytest.raises(KeyboardInterrupt) as raised:
            run.step(1, progress=stop)
        if raised.value.__cause__:
            break
        big.write_text(2 * big.read_text())
    assert raised.value.__cause__.advice.mend == "again" and run.status().stopped == 1
    with texts.open("a") as out:
        out.write('{"text":\n')
    run = leat.Run.create(tmp_path / "other", texts, "bytes", parts=1, max_rejects=0)
    with pytest.raises(leat.Error) as raised:
        run.step(1)
    assert raised.value.status == "rejects" and raised.value.advice == Advice("rejects", "limit", "part")
    assert run.status().items[0].state == "failed"
    assert run.step(1, max_rejects=1).rejected == 1


def test_input_that_breaks_off(tmp_path, texts):
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(texts.read_bytes())[:-100])
    run = leat.Run.create(tmp_path / "run", cut, "bytes", parts=1, max_rejects=1)
    for _ in range(2):  # also when the part has its dataset
        with pytest.raises(leat.Error, match="1 input was cut off or broken: .*cut.jsonl.gz, at byte .*: it ends") as e:
            run.step(1)
        assert e.value.advice == Advice("input", "accept", "part")
    assert run.status().failed == 1 and "cut.jsonl.gz" in run.status().items[0].reason
    run.step(1, allow_truncated=True)
    assert run.status().complete


def test_one_thread_at_a_time(tmp_path, texts):
    run = leat.Run.create(tmp_path / "run", texts, "bytes", parts=1)
    begun, go_on = threading.Event(), threading.Event()

    def hold(progress):
        begun.set()
        go_on.wait(60)

    thread = threading.Thread(target=lambda: run.step(1, progress=hold))
    thread.start()
    assert begun.wait(60)
    with pytest.raises(RuntimeError, match="in use by another thread"):
        run.status()
    go_on.set()
    thread.join()
    assert run.status().complete


@pytest.mark.parametrize("name, change, status, advice", [
    ("leat-run", lambda b: b[:40] + b"x" + b[41:], "checksum", Advice("plan", "restore", "all")),
    ("leat-run", lambda b: b.replace(b"leat run 2", b"leat run 1"), "unsupported", Advice("plan", "plan", "all")),
    ("leat-run", None, "no-file", Advice("plan", "create", "all")),
    ("leat-run.inputs", lambda b: b[:-50], "checksum", Advice("shared", "create", "all")),
    ("leat-run.inputs", None, "no-file", Advice("shared", "create", "all")),
    ("part-1.leat", lambda b: b[:100], "exists", Advice("part", "force", "part")),
    ("part-1.tokens", None, "exists", Advice("part", "force", "part")),
])
def test_damage(tmp_path, texts, name, change, status, advice):
    """Each file that is damaged or lost says what to do, and that helps."""
    def create():
        return leat.Run.create(tmp_path / "run", texts, "bytes", parts=1)

    create().step(1)
    file = tmp_path / "run" / name
    kept = file.read_bytes()
    file.unlink()
    if change:
        file.write_bytes(change(kept))
    with pytest.raises(leat.Error) as raised:
        leat.Run.open(tmp_path / "run").step(1)
    assert (raised.value.status, raised.value.advice) == (status, advice)
    if advice.mend == "force":
        leat.Run.open(tmp_path / "run").step(1, force=True)
    elif advice == Advice("shared", "create", "all"):
        file.unlink(missing_ok=True)
        create()
    else:
        file.write_bytes(kept)
    assert file.read_bytes() == kept
    assert leat.Run.open(tmp_path / "run").step(1).documents == 300


def test_join_of_what_another_process_writes(tmp_path, texts):
    run = leat.Run.create(tmp_path / "run", texts, "bytes", parts=1)
    run.step(1)
    with locked(tmp_path / "all.partial.lock"):
        with pytest.raises(leat.Error, match="another process is writing") as raised:
            run.join(tmp_path / "all")
    assert raised.value.advice.mend == "wait"


def test_document(tmp_path, monkeypatch, capsys):
    """What docs/clusters.md shows of a run in a program is what it prints."""
    page = (ROOT / "docs/clusters.md").read_text(encoding="utf-8")
    block, printed = re.search(r"```python\n(import leat\n.*?)```\n```text\n(.*?)```", page, re.DOTALL).groups()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(block, {})  # as it stands there
    assert capsys.readouterr().out == printed
