"""leat.Tokenizer itself: forms of texts and ids, errors, threads, forks, pickling, interrupts, lifetimes."""
import array
import gc
import json
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from conftest import resident

import leat
from made_texts import texts


def test_kinds_of_texts(gpt2):
    want = gpt2.encode("héllo wörld")
    assert gpt2.encode("héllo wörld".encode()) == want
    assert gpt2.encode(b"\xff") == gpt2.encode("\ufffd")
    for wrong in (None, 5, ["a"], bytearray(b"x")):
        with pytest.raises(TypeError, match="str or bytes"):
            gpt2.encode(wrong)
    for wrong in ("one text", b"one text"):
        with pytest.raises(TypeError, match="not one text"):
            gpt2.encode_batch(wrong)
    with pytest.raises(TypeError, match="str or bytes"):
        gpt2.encode_batch(["a", 5])
    assert gpt2.encode_batch(t for t in ("a", b"b")) == [gpt2.encode("a"), gpt2.encode("b")]
    assert gpt2.encode_batch(("a", "b")) == [gpt2.encode("a"), gpt2.encode("b")]


def test_kinds_of_ids(gpt2):
    ids = gpt2.encode("héllo wörld, twice")
    for form in (tuple(ids), np.array(ids), np.array(ids, dtype=np.uint16), np.array(ids, dtype="<i4"),
                 np.array(ids, dtype=">i4"), np.array(ids + ids)[::2][:0], array.array("I", ids), iter(ids),
                 [np.int64(i) for i in ids], np.array([ids, ids]).T[:, 0]):
        text = gpt2.decode(form)
        assert text == ("" if isinstance(form, np.ndarray) and len(form) == 0 else "héllo wörld, twice")
    for wrong in ([1.5], ["a"], np.array([1.5]), b"abc", [[1]]):
        with pytest.raises(TypeError):
            gpt2.decode(wrong)
    for wrong in ([-1], [2**32], np.array([-1]), np.array([2**40]), [2**80]):
        with pytest.raises(OverflowError, match="ids are from 0"):
            gpt2.decode(wrong)


def test_encoding_is_a_list(gpt2):
    ids = gpt2.encode("a b")
    assert isinstance(ids, list) and ids == ids.ids and type(ids.ids) is list
    assert ids.tokens == ["a", "Ġb"]
    assert gpt2.encode("a<|endoftext|>", allowed_special="all").special_tokens_mask == [0, 0]  # found in the text
    again = pickle.loads(pickle.dumps(ids))
    assert again == ids
    with pytest.raises(AttributeError):
        again.tokens


def test_errors(tmp_path, gpt2):
    with pytest.raises(leat.Error) as e:
        leat.Tokenizer("no-such-tokenizer")
    assert e.value.status == "no-file" and "no-such-tokenizer" in str(e.value) and e.value.file == "no-such-tokenizer"
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(leat.Error, match="tokenizer.json"):
        leat.Tokenizer(tmp_path / "tokenizer.json")
    with pytest.raises(leat.Error, match="tokenizer.json"):
        leat.Tokenizer(os.fsencode(tmp_path))
    with pytest.raises(ValueError, match="like"):
        leat.Tokenizer("gpt2", like="sentencepiece")
    with pytest.raises(TypeError):
        leat.Tokenizer(5)
    with pytest.raises(ValueError, match="num_threads must be at least 1"):
        gpt2.encode_batch(["a"], num_threads=0)


def test_name_that_is_not_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.tiktoken"
    with open(path, "wb") as file:
        file.write(b"IQ== 0\n")
    with pytest.raises(leat.Error, match=r"\\xff"):
        leat.Tokenizer(path)


def test_failure_names_the_text(tmp_path):
    """A *.tiktoken that lacks a byte cannot encode it; of several texts the first is named, whatever the threads."""
    import base64
    path = tmp_path / "x.tiktoken"
    path.write_text("".join(f"{base64.b64encode(bytes([i])).decode()} {n}\n" for n, i in
                            enumerate(i for i in range(256) if i != ord("!"))))
    t = leat.Tokenizer(path, pattern="cl100k_base")
    many = ["fine " * 50] * 4000
    many[1234] = many[1300] = many[3999] = "not!"
    for threads in (1, 2, 8):
        with pytest.raises(leat.Error, match="text 1234: "):
            t.encode_batch(many, num_threads=threads)
    assert t.encode_batch(["a"] * 3) == [t.encode("a")] * 3


def test_bytes_tokenizer():
    t = leat.Tokenizer("bytes")
    assert t.encode_ordinary("aé") == [97, 0xC3, 0xA9]


def test_long_texts_go_in_parts(gpt2):
    """More than 1 MiB: the way by parts gives what the way in one gives."""
    text = " ".join(texts(30000, 5))
    assert len(text.encode()) > 3 << 20
    ids = gpt2.encode(text, disallowed_special=())
    assert gpt2.decode(ids) == text
    assert gpt2.encode_batch([text, "x"], disallowed_special=())[0] == ids
    assert gpt2.encode_to_numpy(text, disallowed_special=()).tolist() == ids
    with pytest.raises(ValueError, match="endoftext"):
        gpt2.encode(text + "<|endoftext|>" + text)


def test_threads(gpt2):
    """Many threads of Python on one tokenizer."""
    some = texts(200, 6)
    want = [gpt2.encode(t) for t in some]
    wrong = []

    def work():
        for _ in range(5):
            if [gpt2.encode(t) for t in some] != want or gpt2.encode_batch(some, num_threads=2) != want:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_fork(gpt2):
    want = gpt2.encode("in the child")
    pid = os.fork()
    if pid == 0:
        ok = gpt2.encode("in the child") == want and gpt2.encode_batch(["in the child"] * 20000)[-1] == want
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_pickle(tmp_path, gpt2):
    again = pickle.loads(pickle.dumps(gpt2))
    assert again.encode("a text") == gpt2.encode("a text") and again.fingerprint == gpt2.fingerprint
    stored = leat.Tokenizer.from_stored(*gpt2.stored(), like="tokenizers")
    assert pickle.loads(pickle.dumps(stored)).encode("<|endoftext|>").ids == [50256]

    import base64
    path = tmp_path / "x.tiktoken"
    alphabet = [bytes([i]) for i in range(256)]
    path.write_text("".join(f"{base64.b64encode(b).decode()} {n}\n" for n, b in enumerate(alphabet)))
    t = leat.Tokenizer(path, pattern="gpt2")
    packed = pickle.dumps(t)
    assert pickle.loads(packed).encode("abc") == t.encode("abc")
    name, pattern, file = t.stored()
    assert (name, pattern, file) == ("x.tiktoken", "gpt2", path.read_bytes())
    assert leat.Tokenizer.from_stored(name, pattern, file).encode("abc") == t.encode("abc")
    path.write_text("".join(f"{base64.b64encode(b).decode()} {n}\n" for n, b in enumerate(reversed(alphabet))))
    with pytest.raises(ValueError, match="another vocabulary"):
        pickle.loads(packed)


def test_pickle_of_relative_names(tmp_path, monkeypatch):
    """A process in another folder opens the same file; the names of built-ins and their hashes stay what they are."""
    folder = tmp_path / "gpt2"
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(
        {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}))
    monkeypatch.chdir(folder)
    made = {name: pickle.dumps(leat.Tokenizer(name)) for name in ("tokenizer.json", "./tokenizer.json", ".", "../gpt2",
                                                                 b"tokenizer.json", str(folder / "tokenizer.json"))}
    assert made["tokenizer.json"] == made["./tokenizer.json"] == made[str(folder / "tokenizer.json")]
    monkeypatch.chdir(tmp_path)
    for name, packed in made.items():
        assert pickle.loads(packed).encode("ab") == [0, 1], name
    assert pickle.dumps(leat.Tokenizer("gpt2")) == pickle.dumps(leat.get_encoding("gpt2"))
    assert pickle.loads(pickle.dumps(leat.Tokenizer("gpt2"))).n_vocab == 50257
    assert pickle.loads(pickle.dumps(leat.Tokenizer("./gpt2"))).n_vocab == 2
    os.rename(folder, tmp_path / "other")
    with pytest.raises(leat.Error, match="gpt2"):
        pickle.loads(made["tokenizer.json"])


def test_arrow(gpt2):
    pa = pytest.importorskip("pyarrow")
    some = texts(500, 7)
    want, offsets = gpt2.encode_flat(some)
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string())):
        column = pa.chunked_array([pa.array(some[:100], pa.string()), pa.array([], pa.string()),
                                   pa.array(some[100:], pa.string())]).cast(kind) \
            if not pa.types.is_dictionary(kind) else pa.chunked_array([some[:100], some[100:]]).dictionary_encode()
        for source in (column, pa.table({"x": [0] * len(some), "text": column})):
            ids, where = gpt2.encode_flat(source)
            assert np.array_equal(ids, want) and np.array_equal(where, offsets)
    ids, where = gpt2.encode_flat(pa.array(some), num_threads=3)
    assert np.array_equal(ids, want) and np.array_equal(where, offsets)
    with pytest.raises(leat.Error, match="row 1 is missing"):
        gpt2.encode_flat(pa.array(["a", None]))
    with pytest.raises(leat.Error, match="no column text; the columns are x"):
        gpt2.encode_flat(pa.table({"x": ["a"]}))


@pytest.mark.parametrize("threads", [1, 4])
def test_memory_of_the_caller(gpt2, threads):
    """encode_flat(out=) writes into out alone, returns a view of it, and says what an array that is too small needs."""
    for some in ([], [""], texts(500, 7), texts(4000, 9) * 3):
        want, offsets = gpt2.encode_flat(some)
        for dtype, more in (np.uint32, 0), (np.int32, 5):
            whole = np.full(len(want) + more + 2, 77, dtype)
            ids, where = gpt2.encode_flat(some, num_threads=threads, out=whole[1:-1])
            assert np.shares_memory(ids, whole) or not len(want)
            assert ids.dtype == dtype and np.array_equal(ids, want) and np.array_equal(where, offsets)
            assert whole[0] == 77 and (whole[len(want) + 1:] == 77).all()
        if len(want):
            whole = np.full(len(want) + 1, 77, np.uint32)
            with pytest.raises(ValueError, match=f"out has room for {len(want) - 1} ids, but these texts have "
                                                 f"{len(want)}$"):
                gpt2.encode_flat(some, num_threads=threads, out=whole[1:-1])
            assert whole[0] == whole[-1] == 77
    some = texts(100, 8)
    pa = pytest.importorskip("pyarrow")
    out = np.empty(sum(len(text.encode()) for text in some), np.uint32)
    assert np.array_equal(gpt2.encode_flat(pa.array(some), out=out)[0], gpt2.encode_flat(some)[0])
    readonly = out.view()
    readonly.flags.writeable = False
    for wrong in (np.empty(9, np.int64), np.empty(9, np.uint16), np.empty((3, 3), np.uint32), out[::2], readonly,
                  out.astype(">u4"), [0] * 9, 5):
        with pytest.raises(TypeError, match="out must be a writable, contiguous array of numpy, uint32 or int32"):
            gpt2.encode_flat(["a"], out=wrong)


def test_empty_texts_before_their_turn(gpt2):
    """Stretches of empty texts, which a thread has encoded while another one is still at a long one before: all later
    ids were lost."""
    long = "some words " * 8000
    texts = [long] * 6 + [""] * 20000 + [long] * 12
    want = gpt2.encode(long) * 18
    for _ in range(5):
        ids, offsets = gpt2.encode_flat(texts, num_threads=4)
        assert len(ids) == offsets[-1] and ids.tolist() == want
        assert sum(gpt2.encode_batch(texts, num_threads=4), []) == want


@pytest.mark.parametrize("what", ["batch", "text"])
def test_interrupt(gpt2, what):
    """Ctrl-C ends a long call within a moment, and the tokenizer can be used on."""
    pieces = ["many different words " + str(i) for i in range(20000)] * (40 if what == "batch" else 1)
    text = " ".join(pieces) * 30 if what == "text" else None
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored by who started the tests
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        for _ in range(1000):
            if what == "batch":
                gpt2.encode_flat(pieces)
            else:
                gpt2.encode_to_numpy(text)
    assert time.monotonic() - began < 60
    assert gpt2.encode("still there") == gpt2.encode("still there")


def test_nothing_leaks(gpt2):
    some = texts(100, 8)
    text = "\ud800 and much more " * 500  # so large that a few left behind are seen
    ids = gpt2.encode(text)
    array_ = np.array(ids, dtype=np.uint16)

    def work(rounds):
        for _ in range(rounds):
            gpt2.encode(text)
            gpt2.encode_to_numpy(text)
            gpt2.decode(ids)
            gpt2.decode(array_)
            gpt2.decode_bytes(tuple(ids))
            gpt2.encode_batch([text, text], num_threads=2)
            gpt2.encode_batch(some, num_threads=2)
            gpt2.encode_flat(some)
            with pytest.raises(ValueError):
                gpt2.encode("<|endoftext|>")
            with pytest.raises(OverflowError):
                gpt2.decode([*ids, -1])
            with pytest.raises(leat.Error):
                gpt2.decode([*ids, 10**6])
            with pytest.raises(TypeError):
                gpt2.encode_batch([text, None])
        gc.collect()

    work(50)
    before = resident()
    work(400)
    assert resident() - before < 4 << 20


def test_opened_and_dropped():
    leat.Tokenizer("gpt2").encode("x")
    gc.collect()
    before = resident()
    for _ in range(20):
        leat.Tokenizer("gpt2").encode("x")
    gc.collect()
    assert resident() - before < 24 << 20


def slow_tokenizer(folder):
    """Of a row of digits it looks at all that follow for each three of them."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({
        "model": {"type": "BPE", "vocab": {"1": 0, "a": 1}, "merges": []},
        "pre_tokenizer": {"type": "Split", "behavior": "Isolated", "invert": False,
                          "pattern": {"Regex": "1{1,3}(?=(?:111)*(?:[^1]|$))|[^1]+"}},
    }))
    return leat.Tokenizer(str(path))


@pytest.mark.parametrize("call", ["one text", "a list", "a long list", "a long text"])
def test_interrupt_inside_of_a_text(tmp_path, call):
    """An interrupt was noticed after the text only: 40 s for one of 69 KB. If it still were, the text would come to its
    last row first, for which the expression takes too many steps."""
    slow = slow_tokenizer(tmp_path)
    text = ("1" * 40000 + "a") * 5 + "1" * 500000
    calls = {
        "one text": lambda: slow.encode(text),
        "a list": lambda: slow.encode_batch([text[:200000] + "1" * 50000]),
        "a long list": lambda: slow.encode_batch([text, text]),
        "a long text": lambda: slow.encode(text + "1" * 3000000),
    }
    with pytest.raises(leat.Error, match="too many steps"):
        slow.encode("1" * 500000)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        calls[call]()
    assert slow.encode("11a") == [0, 0, 1]  # and it goes on
