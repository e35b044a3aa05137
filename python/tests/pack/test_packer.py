"""leat.Packer: all that documents come in, checkpoints, ends, threads, forks, errors."""
import gc
import json
import os
import pickle
import random
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from conftest import resident

import leat
from leat.command import program
from made_texts import SEED, texts


def cat(name, *flags):
    """The documents of a dataset, as the command shows them."""
    count = json.loads(subprocess.run([program("leat"), "info", "--json", name], stdout=subprocess.PIPE,
                                      check=True).stdout)
    if count["documents"] == 0:
        return []
    out = subprocess.run([program("leat"), "cat", name, "--document", f"0:{count['documents']}", *flags],
                         capture_output=True, check=True).stdout
    return out


def ids_of(name):
    return [[int(i) for i in line.split()] for line in cat(name, "--ids").decode().splitlines()]


def find(name, document):
    out = subprocess.run([program("leat"), "find", name, "--document", str(document)], capture_output=True, text=True,
                         check=True).stdout
    return dict(line.split(None, 1) for line in out.splitlines() if len(line.split(None, 1)) == 2)


def want(gpt2, documents):
    return [[*(gpt2.encode_ordinary(d) if isinstance(d, (str, bytes)) else d), 50256] for d in documents]


def verified(name):
    assert subprocess.run([program("leat"), "verify", name], capture_output=True).returncode == 0


def test_add(gpt2, name):
    documents = ["", "a text", "日本".encode(), b"\xff", [1, 2, 3], (4, 5), np.array([6, 7]),
                 np.array([8], dtype=np.uint16), [], "last \ud800"]
    with leat.Packer(name, gpt2) as packer:
        for i, d in enumerate(documents):
            packer.add(d, id=i)
            assert packer.given == i + 1
    documents[3], documents[-1] = "\ufffd", "last \ufffd"
    assert ids_of(name) == want(gpt2, [d if isinstance(d, (str, bytes)) else list(d) for d in documents])
    assert packer.summary.documents == len(documents) and find(name, 4)["id"] == "4"
    assert packer.finish() is packer.summary
    verified(name)


def test_as_the_command(gpt2, tmp_path):
    """The tokens of `leat pack`; the index differs in what it tells of inputs."""
    some = texts(3000, 30)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": t, "id": str(i)}) + "\n"
                                               for i, t in enumerate(some)))
    leat.pack(tmp_path / "in.jsonl", tmp_path / "files", gpt2)
    for n, documents in enumerate([some, iter(some), (t.encode() for t in some),
                                   ((t, str(i)) for i, t in enumerate(some)),
                                   ({"text": t, "id": i} for i, t in enumerate(some))]):
        with leat.Packer(tmp_path / f"o{n}", gpt2, threads=1 + n) as packer:
            assert packer.extend(documents) == len(some)
        assert (tmp_path / f"o{n}.tokens").read_bytes() == (tmp_path / "files.tokens").read_bytes()
    for n in (3, 4):
        assert find(str(tmp_path / f"o{n}"), 1234)["id"] == "1234"


def test_options(gpt2, name):
    with leat.Packer(name, "gpt2", end=None, begin=7, special=True, created=5, memory="8GiB", threads=2) as packer:
        packer.add("x<|endoftext|>")
    assert ids_of(name) == [[7, *gpt2.encode("x"), 50256]]
    assert packer.summary.special_strings == 1
    with pytest.raises(leat.Error, match="exists"):
        leat.Packer(name)
    with leat.Packer(name, force=True, invalid_utf8="reject", max_rejects=1) as packer:
        packer.add(b"\xff")
        packer.add("fine")
    assert packer.summary.rejected == 1 and packer.summary.documents == 1
    with pytest.raises(leat.Error, match="rejected") as e:
        with leat.Packer(name, force=True, invalid_utf8="reject", max_rejects=1) as packer:
            packer.extend([b"\xff"] * 3)
    assert e.value.status == "rejects" and not [f for f in os.listdir(os.path.dirname(name)) if ".partial" in f]


def test_mistakes(gpt2, name):
    with leat.Packer(name, gpt2) as packer:
        for wrong in (None, 5, ["a", "b"], 1.5, [1.5], {"text": "a"}, np.array([1.5])):
            with pytest.raises(TypeError):
                packer.add(wrong)
        for wrong in ([-1], [2**32]):
            with pytest.raises(OverflowError):
                packer.add(wrong)
        with pytest.raises(leat.Error, match="50257"):
            packer.add([50257])
        for wrong in ("a text", b"bytes", {"train": ["a"]}, 5):
            with pytest.raises(TypeError):
                packer.extend(wrong)
        with pytest.raises(TypeError):
            packer.extend(["a", 5])
        with pytest.raises(ValueError, match="document 1 has no text"):
            packer.extend([{"text": "b"}, {"txt": "c"}])
        with pytest.raises(ValueError, match="nulls"):
            packer.extend(["a"], nulls="drop")
        with pytest.raises(AttributeError):
            packer.summary
        with pytest.raises(TypeError):
            pickle.dumps(packer)
        assert packer.extend([{"text": "d"}, {"text": None}, {"meta": 5}], nulls="skip") == 1 and packer.skipped == 2
        with pytest.raises(ValueError, match="skip must be from 0 to 9223372036854775807, not 9223372036854775808"):
            packer.extend(["e"], skip=2**63)  # itertools said something
        assert packer.extend([{"meta": {"text": "e"}}, {"meta.text": "f"}], text="meta.text") == 2
        assert packer.extend([]) == packer.extend(iter(())) == 0
        assert packer.extend(([1, 2], [3])) == packer.extend([np.array([1, 2]), np.array([3])]) == 2
    # what an iterable gave before its mistake is there
    assert ids_of(name) == want(gpt2, ["a", "b", "d", "e", "f", [1, 2], [3], [1, 2], [3]])
    for call in (lambda: packer.add("x"), lambda: packer.extend(["x"]), lambda: packer.checkpoint()):
        with pytest.raises(leat.Error, match="has ended"):
            call()
    packer.suspend()
    packer.abandon()


def test_names_of_files(tmp_path, gpt2):
    """extend(["x.parquet"]) packed the path: 4 tokens, and no complaint."""
    name, there = tmp_path / "named", tmp_path / "there.JSONL.zst"
    there.write_bytes(b"")
    some = ["no file.parquet", "see x.txt\n.txt", "x.parquet is a file"]
    with leat.Packer(name, gpt2) as packer:
        for wrong in (["x.parquet"], ("a.jsonl", "b.jsonl.gz"), [str(there), "a text"], iter([str(there)]),
                      [there], iter([there])):
            with pytest.raises(TypeError, match="is the name of a file, not a text: leat.pack"):
                packer.extend(wrong)
        for wrong in (str(there), there):
            with pytest.raises(TypeError, match="is the name of a file, not a text: leat.pack"):
                packer.add(wrong)
        packer.extend(some)
        packer.extend([b"x.parquet"])
        packer.add("x.parquet")
    assert ids_of(name) == want(gpt2, [*some, "x.parquet", "x.parquet"])


def test_nulls(gpt2, name):
    """None among documents of each kind, also as the first one, is an error or left out, and never ends them."""
    kinds = (["a", "b"], [b"a", "b"], [("a", 1), ("b", 2)], [[64], [65]], [{"text": "a"}, {"text": "b"}],
             [{"text": [64]}, {"text": np.array([65])}], [{"text": "a"}, {"text": None}, {"text": "b"}])
    for documents in kinds:
        for at in range(len(documents) + 1):
            given = documents[:at] + [None] + documents[at:]
            missing = sum(d is None or (isinstance(d, dict) and d["text"] is None) for d in given)
            for form in (list, iter, tuple):
                with leat.Packer(name, gpt2, force=True) as packer:
                    assert packer.extend(form(given), nulls="skip", source="s") == 2
                    assert packer.skipped == missing and packer.sources == {"s": 2 + missing}
                assert ids_of(name) == want(gpt2, [[64], [65]])
            packer = leat.Packer(name, gpt2, force=True)
            with pytest.raises((ValueError, TypeError)):
                packer.extend(given)
            packer.abandon()
    with leat.Packer(name, gpt2, force=True) as packer:
        assert packer.extend([None, None], nulls="skip") == 0 and packer.skipped == 2
        assert packer.extend(np.array([None, "a"], dtype=object), nulls="skip") == 1
        assert packer.extend([("a", 1), (None, 2), ("b", 3)], nulls="skip") == 2
        assert packer.extend([(None, 2), ("b", 3)], nulls="skip") == 1
        assert packer.extend([{"text": None}, {"text": [64]}, {"text": [65]}], nulls="skip") == 2
        for documents in ([None, "a"], [None, [64]], [None, {"text": "a"}], [{"text": "x"}, [64]], [None, ("a", 1)]):
            assert packer.extend(documents, skip=1) == 1


def test_sources(gpt2, name):
    with leat.Packer(name, gpt2) as packer:
        packer.extend(["a", "b", "c"], source="one.parquet")
        packer.add("d", source="two")
        packer.extend(["e", "f"], source="one.parquet")
        assert packer.sources == {"one.parquet": 5, "two": 1}
    assert packer.summary.inputs == 2
    rows = [find(name, i) for i in range(6)]
    assert [r["input"] for r in rows] == ["one.parquet (#0)"] * 3 + ["two (#1)"] + ["one.parquet (#0)"] * 2
    assert [r["line"] for r in rows] == ["1", "2", "3", "1", "4", "5"]


def test_resume(gpt2, tmp_path):
    """Suspended after random checkpoints, and gone on with: the same bytes, whatever came behind the checkpoints."""
    r = random.Random(SEED)
    some = texts(500, 31)

    def give(packer, until):
        packer.extend(some[:until], source="texts", skip=packer.sources.get("texts", 0))

    with leat.Packer(tmp_path / "whole", gpt2) as packer:
        give(packer, len(some))
    packer = leat.Packer(tmp_path / "out", gpt2, resume=True)
    assert packer.given == 0 and packer.note == ""
    until = 0
    while until < len(some):
        until += r.randrange(1, 120)
        give(packer, until)
        packer.checkpoint(f"at {until}")
        packer.extend(["lost"] * r.randrange(5))
        packer.suspend()
        with pytest.raises(leat.Error, match="checkpoint"):
            leat.Packer(tmp_path / "out", gpt2)
        packer = leat.Packer(tmp_path / "out", gpt2, resume=True)
        assert packer.given == min(until, len(some)) and packer.note == f"at {until}"
    packer.finish()
    for suffix in (".tokens", ".leat"):
        assert (tmp_path / f"out{suffix}").read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()
    with pytest.raises(leat.Error, match="finished already"):
        leat.Packer(tmp_path / "out", gpt2, resume=True)


def test_resume_of_a_replacement(gpt2, tmp_path):
    """Refused without force, and nothing of it is lost."""
    with leat.Packer(tmp_path / "out", gpt2) as packer:
        packer.add("old")
    packer = leat.Packer(tmp_path / "out", gpt2, force=True)
    packer.extend(["new"] * 1000)
    packer.checkpoint("here")
    packer.suspend()
    files = sorted(os.listdir(tmp_path))
    for _ in range(2):
        with pytest.raises(leat.Error, match=r"a run that replaces it has stopped.*force=True"):
            leat.Packer(tmp_path / "out", gpt2, resume=True)
        assert sorted(os.listdir(tmp_path)) == files
    with leat.Packer(tmp_path / "out", gpt2, resume=True, force=True) as packer:
        assert packer.given == 1000 and packer.note == "here"
    assert ids_of(str(tmp_path / "out")) == want(gpt2, ["new"] * 1000)


def test_checkpoints_by_the_clock(gpt2, name):
    with leat.Packer(name, gpt2, checkpoint_seconds=0) as packer:
        packer.extend(texts(10, 32))
        assert os.path.exists(name + ".partial.checkpoint")
    assert not os.path.exists(name + ".partial.checkpoint")


def test_ends(gpt2, name, tmp_path):
    with pytest.raises(ZeroDivisionError):
        with leat.Packer(name, gpt2) as packer:
            packer.add("x")
            1 / 0
    assert os.listdir(tmp_path) == []
    with pytest.raises(KeyboardInterrupt):
        with leat.Packer(name, gpt2) as packer:
            packer.add("x")
            raise KeyboardInterrupt
    with leat.Packer(name, gpt2, resume=True) as packer:
        assert packer.given == 1
        packer.add("y")
    assert ids_of(name) == want(gpt2, ["x", "y"])
    packer = leat.Packer(name, gpt2, force=True)
    packer.add("z")
    packer.abandon()
    assert ids_of(name) == want(gpt2, ["x", "y"])
    with pytest.warns(ResourceWarning, match="neither finished nor suspended"):
        packer = leat.Packer(name, gpt2, force=True)
        packer.add("z")
        del packer
        gc.collect()
    assert ids_of(name) == want(gpt2, ["x", "y"])


def test_tokenizer_is_kept(name):
    packer = leat.Packer(name, leat.Tokenizer("gpt2"))
    gc.collect()
    some = texts(100, 33)
    packer.extend(some)
    packer.finish()
    verified(name)
    dataset = leat.open(name)
    assert [dataset.text(i) for i in range(len(dataset))] == some
    assert leat.Tokenizer.from_stored(*dataset.stored_tokenizer).encode("a b") == leat.Tokenizer("gpt2").encode("a b")


def test_child_leaves_the_files_alone(gpt2, name):
    packer = leat.Packer(name, gpt2)
    packer.add("before")
    files = sorted(os.listdir(os.path.dirname(name)))
    pid = os.fork()
    if pid == 0:
        ok = 1
        try:
            packer.add("in the child")
        except leat.Error as e:
            ok = 0 if "process" in str(e) else 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            packer.__dict__.clear()  # drops the extension's object
        if sorted(os.listdir(os.path.dirname(name))) != files:
            ok = 3
        os._exit(ok)
    assert os.waitpid(pid, 0)[1] == 0
    packer.add("after")
    packer.finish()
    assert ids_of(name) == want(gpt2, ["before", "after"])


def test_threads_take_turns(gpt2, name):
    with leat.Packer(name, gpt2) as packer:
        def work(n):
            for i in range(300):
                packer._core.add_text(f"{n} {i}", None, None)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert sorted(ids_of(name)) == sorted(want(gpt2, [f"{n} {i}" for n in range(6) for i in range(300)]))


def test_producer_that_calls_its_packer(gpt2, name):
    with leat.Packer(name, gpt2) as packer:
        def rows():
            for i in range(10):
                packer.add(f"inner {i}")
                yield f"outer {i}"

        packer.extend(rows())
    assert packer.summary.documents == 20


INTERRUPTED = """
import os, signal, sys, leat
with leat.Packer(sys.argv[1], "gpt2", resume=True) as packer:
    print(packer.given, flush=True)
    def rows():
        n = packer.given
        while n < 300000:
            if n == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGINT)
            yield "the quick brown fox " * 5 + str(n)
            n += 1
    packer.extend(rows(), source="rows")
"""


def test_interrupt_is_resumable(gpt2, tmp_path):
    out = str(tmp_path / "out")
    before = -1
    for n, stop in enumerate((40, 90000, 250000, 300000)):  # rows; the last one is never reached
        with subprocess.Popen([sys.executable, "-c", INTERRUPTED, out, str(stop)], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE) as p:
            given = p.stdout.readline()
            assert given, p.stderr.read()
            assert int(given) > before
            before = int(given)
            errors = p.communicate()[1]
        assert ("KeyboardInterrupt" in errors) == (n < 3), errors
        assert os.path.exists(out + ".leat") == (n == 3)
    with leat.Packer(tmp_path / "whole", gpt2) as packer:
        packer.extend(("the quick brown fox " * 5 + str(n) for n in range(300000)), source="rows")
    for suffix in (".tokens", ".leat"):
        assert (tmp_path / f"out{suffix}").read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()


def test_nothing_leaks(gpt2, tmp_path):
    some = texts(50, 34)

    def work(rounds):
        for _ in range(rounds):
            with leat.Packer(tmp_path / "out", gpt2, force=True, threads=1) as packer:
                packer.extend(some, source="x")
                packer.extend((t, "id") for t in some)
                packer.add([1, 2, 3])
                with pytest.raises(TypeError):
                    packer.extend([1.5])
                packer.checkpoint("note")
        gc.collect()

    work(10)
    before = resident()
    work(60)
    assert resident() - before < 8 << 20


LARGE = """
import mmap, sys, leat
name, shared = sys.argv[1:]
with open(shared, "r+b") as file:  # the same MiB again and again, which counts each time
    held = [mmap.mmap(file.fileno(), 1 << 20, flags=mmap.MAP_SHARED | 0x8000) for _ in range(2300)]  # populated
resident = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS:"))
assert resident > 2 << 20
with leat.Packer(name, "gpt2") as packer:
    packer.add("some text")
assert leat.open(name).info.documents == 1
"""


def test_large_process_has_its_memory_besides(name, tmp_path):
    """leat's bound counts the whole process: what Python holds is not taken off the usual 2 GiB."""
    shared = tmp_path / "shared"
    shared.write_bytes(bytes(1 << 20))
    subprocess.run([sys.executable, "-c", LARGE, name, shared], check=True, timeout=200)
