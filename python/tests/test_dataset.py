"""leat.open(): what it shows is what numpy.memmap and the command show; views, lifetimes, errors, pickling."""
import json
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT, command

import leat


def mapped(name, kind="<u2"):
    return np.memmap(name + ".tokens", dtype=kind, mode="r")


def test_info_is_the_commands(corpus):
    shown, info = json.loads(command("leat", "info", corpus, "--json")), leat.open(corpus).info
    assert (info.tokens, info.documents, info.token_width) == (shown["tokens"], shown["documents"], shown["width"])
    assert info.identity.hex() == shown["identity"] and info.end_token == 50256 and info.begin_token is None
    again = pickle.loads(pickle.dumps(leat.open(corpus)))
    assert again.info == info and again.name == corpus


def test_mask(corpus):
    d = leat.open(ROOT / "tests/golden/valid/mask")
    assert d.info.stores_mask and not leat.open(corpus).info.stores_mask
    assert d.mask(0, 7).tolist() == [0, 0, 1, 255, 0, 0, 255]
    assert d.mask().dtype == np.uint8 and len(d.mask(10)) == d.info.tokens - 10
    assert (leat.open(corpus).mask(0, 100) == 255).all()
    with pytest.raises(leat.Error, match="range"):
        d.mask(0, d.info.tokens + 1)


def test_tokens_are_the_file(corpus, wide):
    d = leat.open(corpus)
    assert d.tokens.dtype == np.dtype("<u2") and np.array_equal(d.tokens, mapped(corpus))
    assert not d.tokens.flags.writeable
    assert np.array_equal(leat.open(wide).tokens, mapped(wide, "<u4"))


def test_tokens_are_not_copied(corpus):
    """A view costs no memory, and two views are the same memory."""
    d = leat.open(corpus)
    assert d.tokens.ctypes.data == d.tokens.ctypes.data == d.view(0, 5).ctypes.data
    assert d.view(100, 5).ctypes.data == d.tokens.ctypes.data + 200


def test_documents(corpus):
    d, tokens = leat.open(corpus), mapped(corpus)
    starts = d.starts()
    assert len(d) == len(d.documents) == 18 and len(starts) == 19 and starts[-1] == len(tokens)
    assert np.array_equal(starts, np.concatenate([[0], np.flatnonzero(tokens == 50256) + 1]))
    for i, document in enumerate(d):
        assert np.array_equal(document, tokens[starts[i]:starts[i + 1]])
        assert np.array_equal(document, d[i]) and np.array_equal(document, d[i - 18])
    assert [len(x) for x in d[15:2:-4]] == [int(starts[i + 1] - starts[i]) for i in range(15, 2, -4)]
    assert len(d[3:7][1:][0]) == starts[5] - starts[4]
    for bad in (18, -19):
        with pytest.raises(IndexError):
            d[bad]
        with pytest.raises(IndexError):
            d.text(bad)


def test_text_is_the_commands(corpus):
    d = leat.open(corpus)
    for i in (0, 5, 11, 17, -1):
        assert d.text(i) == command("leat", "cat", corpus, "--document", i % 18, "--text")


def test_rows_of_parquet(tmp_path):
    """Rows were only to be had as offset and line, where the commands say row and row_group."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"text": ["a", "bc", "def"]}), tmp_path / "t.parquet", row_group_size=2)
    (tmp_path / "t.jsonl").write_text('{"text":"ghij"}\n')
    leat.pack([tmp_path / "t.parquet", tmp_path / "t.jsonl"], tmp_path / "d", "bytes")
    with leat.open(tmp_path / "d") as d:
        places = [d.place(i) for i in range(4)]
        assert sorted((p.path.endswith(".parquet"), p.count, p.row, p.row_group) for p in places) == [
            (False, 5, None, None), (True, 2, 0, 0), (True, 3, 1, 0), (True, 4, 2, 1)]
        shown = leat.Plan(d, 2, order="sequential").trace(samples=(0, 5))
        assert {(s.document, s.path, s.offset, s.line, s.id, s.row, s.row_group) for s in shown} <= {
            (p.document, *p[4:]) for p in places}
        assert any(s.row_group == 1 for s in shown)


def test_find(corpus):
    d = leat.open(corpus)
    place = d.find(token=12345)
    shown = command("leat", "find", corpus, "--token", 12345)
    assert f"document  {place.document}\n" in shown and place.path in shown and f"byte      {place.offset}\n" in shown
    assert f"line      {place.line}\n" in shown and place.id in shown
    assert place.first <= 12345 < place.first + place.count
    assert d.find(document=place.document) == place == d.find(id=place.id)
    assert d.find(origin=(place.path, place.offset)) == place == d.find(origin=(place.input, place.offset + 1))
    with pytest.raises(TypeError):
        d.find()
    with pytest.raises(TypeError):
        d.find(token=1, id="x")
    with pytest.raises(leat.Error) as error:
        d.find(id="nobody")
    assert error.value.status == "not-found"


def test_list_of_datasets(folder):
    names = [f"{folder}/{n}" for n in "abc"]
    want = np.concatenate([mapped(n) for n in names])
    for d in (leat.open(folder), leat.open(names), leat.open([folder])):
        assert d.info.parts == 3 and [p.tokens for p in d.parts] == [5000, 12345, 700]
        assert np.array_equal(d.read(0, len(want)), want) and np.array_equal(d.read(4990, 20), want[4990:5010])
        assert np.array_equal(np.concatenate(list(d)), want)
        with pytest.raises(leat.Error):
            d.tokens
    backwards = leat.open(names[::-1])
    assert np.array_equal(backwards.read(0, 700), want[-700:])
    assert np.array_equal(pickle.loads(pickle.dumps(backwards)).read(0, 700), want[-700:])


def test_access(corpus):
    read = leat.open(corpus, access="read")
    with pytest.raises(leat.Error) as error:
        read.tokens
    assert error.value.status == "not-mapped"
    assert np.array_equal(read[3], leat.open(corpus, access="trusted")[3])
    with pytest.raises(ValueError, match="leased"):
        leat.open(corpus, access="any")


def test_errors(tmp_path):
    with pytest.raises(leat.Error) as error:
        leat.open(tmp_path / "nothing")
    e = error.value
    assert (e.status, e.code, e.os_error, e.offset) == ("no-file", 21, 2, None) and e.file == str(tmp_path / "nothing")
    assert "nothing.leat" in str(e)
    again = pickle.loads(pickle.dumps(e))
    assert str(again) == str(e) and again.status == e.status
    for name in ("a", "\udcff"):  # the second one is the byte 255
        for suffix in (".leat", ".tokens"):
            (tmp_path / (name + suffix)).write_bytes(b"neither an index nor tokens")
        with pytest.raises(leat.Error) as error:
            leat.open(tmp_path / f"{name}.tokens")
        e = error.value
        assert (e.status, e.offset, e.field) == ("not-leat", 0, None)
        assert e.file == str(tmp_path / f"{name}.leat") and os.path.exists(e.file)
    for wrong in ([5], []):
        with pytest.raises((TypeError, leat.Error)):
            leat.open(wrong)


def test_ranges(corpus):
    d = leat.open(corpus)
    for first, count in ((0, 2**63), (171241, 1), (2**64 - 1, 2), (0, 171242)):
        with pytest.raises(leat.Error) as error:
            d.read(first, count)
        assert error.value.status == "range"
        with pytest.raises(leat.Error):
            d.view(first, count)
        with pytest.raises(leat.Error):
            d.decode(first, count)
    for bad in ((-1, 1), (0, -1), (2**64, 1)):
        with pytest.raises(ValueError):
            d.read(*bad)
    with pytest.raises(TypeError):
        d.read("0", 1)
    assert len(d.read(171241, 0)) == 0


def test_verify(corpus, tmp_path):
    seen = []
    report = leat.open(corpus).verify(progress=lambda done, total: seen.append((done, total)))
    assert report.damaged_pages == 0 and report.bytes > 342482
    assert all(0 <= done <= total for done, total in seen)
    for end in (".leat", ".tokens"):
        shutil.copy(corpus + end, tmp_path / ("damaged" + end))
    with open(tmp_path / "damaged.tokens", "r+b") as file:
        file.seek(50000)
        byte = file.read(1)[0]
        file.seek(50000)
        file.write(bytes([byte ^ 1]))
    d = leat.open(tmp_path / "damaged")
    with pytest.raises(leat.Error) as error:
        d.verify(threads=1)
    assert error.value.status == "checksum" and "page 12" in str(error.value)
    assert error.value.report.damaged_pages == 1 and error.value.report.page == 12
    with pytest.raises(leat.Error):
        d.verify_range(25000, 1)
    d.verify_range(0, 1000)


def test_progress_may_raise(tmp_path):
    """What progress raises stops the work and comes out."""
    name = tmp_path / "big"
    command("leat-bench-dev", "counting", "-o", name, "--tokens", "200M")

    def stop(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        leat.open(name).verify(threads=1, progress=stop)


def test_interrupt(tmp_path):
    """Ctrl-C ends a long call with KeyboardInterrupt."""
    name = tmp_path / "big"
    command("leat-bench-dev", "counting", "-o", name, "--tokens", "300M")
    code = f"""
import _thread, leat, os, signal, threading
d = leat.open({str(name)!r})
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
try:
    while True:
        d.verify(threads=1, progress=lambda done, total: interrupt())
except KeyboardInterrupt:
    print("interrupted")
"""
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                          check=True).stdout == "interrupted\n"


def test_pickle_of_a_relative_name(corpus, tmp_path, monkeypatch):
    """A process in another folder opens the same file."""
    monkeypatch.chdir(os.path.dirname(corpus))
    pickled = pickle.dumps(leat.open(os.path.basename(corpus)))
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(pickled).info.identity == leat.open(corpus).info.identity


def test_pickle_of_a_dataset_that_was_replaced(tmp_path):
    """A task must not read a range of one dataset from another."""
    for text in ("one", "two"):
        with leat.Packer(tmp_path / "made", "gpt2", force=True) as packer:
            packer.add(text)
        if text == "one":
            pickled = pickle.dumps(leat.open(tmp_path / "made"))
    with pytest.raises(leat.Error, match="is another dataset by now") as error:
        pickle.loads(pickled)
    assert error.value.status == "mismatch" and error.value.file == str(tmp_path / "made")
