"""What a person at a terminal gets wrong: each is refused by a sentence that names the argument and says what it is,
and nothing is taken for something else. Beside each block: what there was before."""
import base64
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch

import leat


@pytest.fixture(scope="module")
def plan(corpus):
    return leat.Plan(corpus, 64, 5, epochs=1)


def refused(kind, words, call, *args, **options):
    with pytest.raises(kind, match=words):
        call(*args, **options)


# ---- Numbers


@pytest.mark.parametrize("name, least", [("batch_size", 1), ("rank", 0), ("world", 1), ("position", 0), ("slots", 0),
                                         ("threads", 0), ("memory", 0), ("max_sequences", 1), ("steps", 0),
                                         ("numa_node", -2)])
def test_numbers_of_a_loader(plan, name, least):
    """They went through int(): 1.5 and "4" were taken; and -1 was told as 18446744073709551615, or taken for none."""
    given = {"batch_size": 2, "framework": "numpy", "outputs": ("inputs", "cu_seqlens")}
    if name in ("rank", "world"):
        given.update(rank=0, world=1)

    def opened(value):
        if name == "max_sequences":
            return leat.Loader(plan, **{**given, "outputs": leat.Outputs(given["outputs"], max_sequences=value)})
        if name in ("slots", "memory", "numa_node"):
            return leat.Loader(plan, **given, io=leat.IO(**{name: value}))
        return leat.Loader(plan, **{**given, name: value})

    for wrong in (1.5, "4x", True, [1]):
        refused((TypeError, ValueError), name, opened, wrong)
    refused(ValueError, f"{name}.*, not {least - 1}", opened, least - 1)
    taken = {"max_sequences": 50, "slots": 2, "memory": 2**20}.get(name, least)
    opened(np.int32(taken)).close()


def test_other_numbers(corpus, plan):
    """Plans and packing said "'str' object cannot be interpreted as an integer" and did not say which."""
    for name, wrong in (("seq_len", 0), ("seq_len", -1), ("seq_len", "64"), ("seed", "1"), ("seed", 1.5),
                        ("epochs", 0), ("epochs", 1.0), ("base_len", -64)):
        refused((TypeError, ValueError), name, leat.Plan, corpus, **{"seq_len": 64, name: wrong})
    for name, wrong in (("threads", "4"), ("threads", True), ("threads", 0), ("memory", 2.5e9), ("memory", "lots"),
                        ("shuffle", "x"), ("created", "now"), ("part", 3), ("part", "3/2"), ("max_rejects", "x%"),
                        ("max_rejects", 1.5), ("max_rejects", "many"), ("text", 5), ("id", 5), ("split", 0.1),
                        ("split", {"a": None}), ("split", {"a": "x"})):
        refused((TypeError, ValueError, leat.Error), name, leat.pack, "nowhere", "nothing", "bytes", **{name: wrong})
    refused(TypeError, "threads", leat.open(corpus).verify, threads="x")
    refused(ValueError, "threads", leat.open(corpus).verify, threads=-1)
    for wrong in (-5, "5", 1.5):
        refused((TypeError, ValueError), "samples", leat.GrainSource, plan, wrong)
        refused((TypeError, ValueError), "samples", leat.MapDataset, plan, wrong)
        refused((TypeError, ValueError), "batch_size", leat.IterableDataset, plan, wrong)
    assert len(plan.samples(0, 10**15)) == len(plan) and len(plan.samples(10**6, 5)) == 0  # MemoryError


@pytest.mark.parametrize("wrong", [1.9, True, "1", None, np.float64(1)], ids=repr)
def test_numbers_of_samples(plan, wrong):
    """GrainSource[1.9] was sample 1."""
    for dataset in (leat.GrainSource(plan), leat.MapDataset(plan)):
        refused(TypeError, "the number of a sample must be a whole number", dataset.__getitem__, wrong)
        assert dataset[np.int64(1)] is not None and dataset[torch.tensor(1)] is not None
    refused(ValueError, "part=", leat.pack, "nowhere", "nothing", "bytes", part=(wrong, 8))


def test_large_numbers(plan):
    """A number beyond 2^64 "must be at least 0"."""
    refused(ValueError, f"rank must be at most {2**64 - 1}, not", leat.Loader, plan, 1, rank=2**64, world=2)
    refused(ValueError, "must be at most", leat.MapDataset(plan).__getitem__, 2**64)


@pytest.mark.parametrize("source", [-1, 1, 2**64, None, 0.0, True], ids=repr)
def test_sources_of_bans(plan, source):
    """-1 was the last source, and 2^64 "cannot fit 'int'"."""
    refused((TypeError, ValueError), "the number of a banned source must be", plan.ban, [(source, 0)], 0)


def test_weights_are_what_was_written(corpus):
    """float32's 0.3 was 0.30000001192092896, and the plan refused as too fine."""
    both = [(corpus, np.float32(0.3)), (corpus, np.float64(0.7))]
    assert leat.Plan(both, 64).text == leat.Plan([(corpus, 0.3), (corpus, "0.7")], 64).text
    refused(leat.Error, "True", leat.Plan, {corpus: True}, 64)


# ---- Things of another type


def test_types(corpus, plan, tmp_path):
    """They said "'int' object is not iterable", "not enough values to unpack", "has no attribute 'size'"; KeyError."""
    for wrong in (None, 5, 1.5):
        refused(TypeError, "name", leat.open, wrong)
        refused(TypeError, "sources", leat.Plan, wrong, 64)
        refused(TypeError, "path", leat.pack, wrong, tmp_path / "x", "bytes")
    for wrong in (5, 1.5):
        refused(TypeError, "outputs", leat.Loader, plan, 2, outputs=wrong)
    for wrong in ([(5,)], [(5, 1)], [(5, "1")], 5, [5]):
        refused(TypeError, "phase", leat.Plan, corpus, 64, phases=wrong)
    for wrong in ((5, 7), [5], 5, [(1, 2, 3)]):
        refused(TypeError, "skip", leat.Plan, corpus, 64, skip=wrong)
    for name in ("split", "use"):
        refused(TypeError, name, leat.Plan, corpus, 64, **{name: 5})
    refused(TypeError, "source", leat.Plan, [corpus, 5], 64)
    refused(TypeError, "document must be a pair", plan.trace, document=5)
    refused(TypeError, "samples must be a pair", plan.trace, samples=5)
    refused(TypeError, "origin must be a pair", leat.open(corpus).find, origin="x")
    refused(TypeError, "progress", leat.open(corpus).verify, progress=5)
    refused(TypeError, "DeviceMesh", leat.Loader, plan, 2, ranks=5)
    refused(ValueError, "framework", leat.Loader, plan, 2, framework=np)
    for wrong in (5, [1], "inputs"):
        refused(TypeError, "buffers", leat.Loader, plan, 2, buffers=wrong)
    refused(ValueError, "inputs", leat.Loader, plan, 2, buffers={})  # was as if none were given
    for framework, array in (("numpy", np.empty((2, 64), "int64")), ("torch", torch.empty((2, 64), dtype=torch.int64))):
        refused(ValueError, "labels", leat.Loader, plan, 2, buffers={"inputs": array, "labels": array},
                outputs="inputs", framework=framework)  # was not looked at
        refused(TypeError, "inputs", leat.Loader, plan, 2, buffers={"inputs": 5}, outputs="inputs", framework=framework)


def test_what_is_opened_later(corpus, plan):
    """Options and plans of datasets and modules were not looked at until the first batch; an endless validation went on
    for ever."""
    endless = leat.Plan(corpus, 64)
    for make in (leat.IterableDataset, leat.MapDataset, leat.GrainSource, leat.DataModule, leat.Loader):
        refused(TypeError, "expected a leat.Plan, not str", make, corpus, 4)
    for make in (leat.IterableDataset, leat.DataModule):
        refused(TypeError, "no option prefetch", make, plan, 4, prefetch=2)
    refused(ValueError, "validation has no end", leat.DataModule, plan, 4, valid=endless)
    refused(TypeError, "expected a leat.Plan", leat.DataModule, plan, 4, valid=corpus)
    for wrong in ({}, None, {"position": 5}):
        refused(ValueError, "state", leat.IterableDataset(plan, 4).load_state_dict, wrong)
    assert "64" in repr(leat.IterableDataset(plan, 4)) and "5 samples" in repr(leat.MapDataset(plan, 5))


def test_devices_and_frameworks(plan):
    """jax made int32 of an int64 that was asked for, and had borrowed arrays that changed."""
    for wrong in ("mps", "meta", None, "gpu"):
        refused(ValueError, "device", leat.Loader, plan, 2, device=wrong)
    pytest.importorskip("jax")
    refused(ValueError, "jax_enable_x64", leat.Loader, plan, 2, framework="jax",
            outputs=leat.Outputs(dtype="int64"))
    for way in ({"outputs": leat.Outputs(borrow=True)}, {"buffers": True}):
        refused(TypeError, "jax", leat.Loader, plan, 2, framework="jax", **way)
    same = torch.empty((2, 64), dtype=torch.int64)
    refused(ValueError, "same buffer", leat.Loader, plan, 2, buffers={"inputs": same, "labels": same})


def test_states(plan):
    loader = leat.Loader(plan, 2, framework="numpy")
    good = loader.state_dict()
    for wrong in ({}, None, 5, {"position": 5}, {**good, "leat": 2}, {"leat": 1, "position": 5}):
        refused(ValueError, "state", loader.load_state_dict, wrong)
    refused(ValueError, "state", leat.Loader, plan, 2, framework="numpy", state={})
    next(loader)
    good = loader.state_dict()
    for name, wrong in (("position", 1), ("position", True), ("position", 2.0), ("step", 2**63), ("step", 3),
                        ("step", -1), ("step", True), ("ended", 1), ("ended", "yes"), ("ended", None), ("leat", True)):
        for load in (loader.load_state_dict, leat.IterableDataset(plan, 2).load_state_dict):  # were not looked at
            refused((TypeError, ValueError), "state", load, {**good, name: wrong})
    refused(ValueError, "after", loader.state_dict, after=-5)
    refused(ValueError, "position.*334|position.*end", leat.Loader, plan, 2, framework="numpy", position=10**9)
    assert next(loader).position == 2  # as if nothing had been


def test_dtypes(plan):
    """numpy.int32 itself was refused, where numpy.dtype("int32") was taken."""
    for dtype in ("int32", np.int32, np.dtype("int32"), torch.int32):
        assert next(leat.Loader(plan, 2, framework="numpy", outputs=leat.Outputs(dtype=dtype))).inputs.dtype == np.int32
    for dtype in (int, "i4", np.float32, np.uint32, torch.bool, 5):
        refused(ValueError, "dtype of leat.Outputs", leat.Outputs, dtype=dtype)


# ---- What Python does by itself


def test_truth(corpus, plan):
    """`if loader:` was False at its end, and a TypeError of a plan without one."""
    endless = leat.Plan(corpus, 64)
    loader = leat.Loader(plan, 100, framework="numpy")
    assert endless and leat.Loader(endless, 2, framework="numpy") and leat.IterableDataset(endless, 2)
    assert list(loader) and loader and plan


def test_batch_is_a_dict_and_a_tuple(plan):
    """`in` compared arrays; a slice was a KeyError; pickle named an inner type."""
    batch = next(leat.Loader(plan, 2, framework="numpy"))
    assert "inputs" in batch and "loss_mask" not in batch and 5 not in batch
    assert [a is b for a, b in zip(batch[0:2], batch)] == [True, True] and batch[-1] is batch.labels
    refused(KeyError, "inputs, labels", lambda: batch["nope"])
    refused(IndexError, "out of range", lambda: batch[2])
    refused(TypeError, "send its arrays", pickle.dumps, batch)


def test_repr(corpus, plan, tmp_path):
    loader = leat.Loader(plan, 2, framework="numpy")
    loader.close()
    assert repr(loader).endswith(", closed>")
    packer = leat.Packer(str(tmp_path / "x"), "bytes")
    packer.add("a")
    assert repr(packer) == f"<leat.Packer of {str(tmp_path / 'x')!r}: 1 documents given, open>"
    packer.abandon()
    assert repr(packer).endswith("ended>")


def test_words_of_python(corpus, tmp_path):
    """Sentences spoke of LEAT_ACCESS_TRUSTED and --force; hints are spelled for Python."""
    (tmp_path / "a.txt").write_text("a text")
    refused(leat.Error, r"force=True", leat.pack, tmp_path / "a.txt", corpus, "bytes")
    refused(leat.Error, r"read\(\).*access=\"trusted\"", lambda: leat.open(corpus, access="read").tokens)


# ---- Packers


def test_packer(tmp_path):
    with leat.Packer(tmp_path / "x", "bytes") as packer:
        for wrong in (5, None, 1.5, object()):
            refused(TypeError, "a document is a str, bytes, or ids", packer.add, wrong)  # "not iterable"
        for wrong in (-1, "x", 1.5):
            refused((TypeError, ValueError), "skip", packer.extend, ["a"], skip=wrong)  # "Indices for islice()"
        refused(TypeError, "note", packer.checkpoint, 5)  # was taken
        for wrong in (1.5, np.float32(1), True, float("nan")):  # were ids "1.5", "1.0", "True" and "nan"
            refused(TypeError, "a document's id is a text or an integer", packer.add, "a", id=wrong)
            refused(TypeError, "a document's id is a text or an integer", packer.extend, [("a", wrong)])
            refused(TypeError, "a document's id is a text or an integer", packer.extend, [{"text": "a", "id": wrong}])
        packer.add("a", id=7)
        assert packer.extend([("b", np.int32(8)), ("c", "9"), ("d", None)]) == 3  # numbers were no ids in pairs
        packer.extend([{"text": "e", "id": 10}])
    d = leat.open(tmp_path / "x")
    assert [d.place(i).id for i in range(5)] == ["7", "8", "9", None, "10"]
    assert d.find(id=8).document == 1  # a number was no id to be found


def test_ids_of_a_packer(tmp_path):
    """Of two dimensions, they were told as "'list' object cannot be interpreted as an integer"; a set has no order, and
    was taken."""
    with leat.Packer(tmp_path / "x", "gpt2") as packer:
        for wrong in (torch.ones(2, 3, dtype=torch.int64), np.ones((2, 3), np.int64), np.array(3), torch.tensor(3),
                      {1, 2}, {"a": 1}):
            refused(TypeError, "ids must be a list or an array of one dimension, not ", packer.add, wrong)
        for wrong in ([[1, 2], [3]], torch.ones(3), [1.5], [None]):
            refused(TypeError, "ids must be integers, not ", packer.add, wrong)
        packer.add([1, np.int32(2), torch.tensor(3)])
    assert list(leat.open(tmp_path / "x").tokens)[:3] == [1, 2, 3]


def test_nothing_at_all(tmp_path):
    """A dataset without a document: its tokens could not be asked for."""
    with leat.Packer(tmp_path / "empty", "bytes"):
        pass
    d = leat.open(tmp_path / "empty")
    assert len(d) == 0 and len(d.tokens) == 0 and d.tokens.dtype == np.uint16 and list(d) == [] == list(d.documents)
    assert list(d.starts()) == [0] and d.verify().damaged_pages == 0
    refused(IndexError, "no document 0", lambda: d[0])
    refused(leat.Error, "0 tokens", leat.Plan, d, 16)


# ---- Names


@pytest.mark.parametrize("name", [b"caf\xc3\xa9 \xe6\x97\xa5", b"bad\xff\xfe", b"a b:c"], ids=repr)
def test_names_of_any_bytes(tmp_path, name):
    """Plan.load() could not name a file whose path is no UTF-8."""
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.mkdir(folder)
    with leat.Packer(folder + b"/data", "bytes") as packer:
        packer.extend(["some text of some length"] * 20, source=os.fsdecode(folder + b"/source"))
    for given in (folder + b"/data", os.fsdecode(folder + b"/data")):
        d = leat.open(given)
        assert d.name == os.fsdecode(folder + b"/data") and d.text(3) == "some text of some length"
        assert d.inputs[0].path == os.fsdecode(folder + b"/source")
        plan = leat.Plan(given, 16, epochs=1)
        assert pickle.loads(pickle.dumps(plan)).text == plan.text == leat.Plan.parse(plan.text).text
    with open(folder + b"/plan", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(plan.text)
    for path in (folder + b"/plan", os.fsdecode(folder + b"/plan")):
        assert leat.Plan.load(path).text == plan.text
    refused(leat.Error, "first line", leat.Plan.load, folder + b"/data.tokens")  # "embedded null byte"
    refused(leat.Error, "nothing.leat", leat.open, folder + b"/nothing")


def test_what_is_printed_of_names(tmp_path):
    """Names of files, of tokens and of what a file says stood in sentences as they are: a terminal obeyed them."""
    import re
    evil = "e\x1b]0;x\x07\x7f\x9b31m\u202eb\u2066c\u2028d\u061c\r\n" + os.fsdecode(b"\x9b\xff")
    shown = "e\\x1b]0;x\\x07\\x7f\\u009b31m\\u202eb\\u2066c\\u2028d\\u061c\\x0d\\x0a\\x9b\\xff"
    obeyed = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
    assert leat._leat.show(evil) == shown and leat._leat.show("\ud800 \u00e9") == "\\ud800 \u00e9"

    def says(kind, call, *args, name=shown, **options):
        with pytest.raises(kind) as error:
            call(*args, **options)
        text = str(error.value)
        assert name in text and not obeyed.search(text), repr(text)

    path = tmp_path / (evil + ".tiktoken")
    path.write_bytes(b"".join(base64.b64encode(bytes([i])) + b" %d\n" % i for i in range(256)))
    t = leat.Tokenizer(path, pattern="gpt2")
    says(leat.Error, leat.open, tmp_path / evil)
    says(leat.Error, leat.Tokenizer, tmp_path / (evil + "no.tiktoken"))
    says(ValueError, leat.Packer, tmp_path / "x", t)
    says(ValueError, leat.Packer, tmp_path / "x", t, end=10**9)
    says(ValueError, leat.Packer, tmp_path / "x", t, end="none of it")
    says(KeyError, lambda: t.eot_token, name="e\\")
    says(leat.Error, leat.pack, tmp_path / evil, tmp_path / "x", "bytes")
    assert not obeyed.search(repr(t))
    packer = leat.Packer(tmp_path / evil, "bytes")
    with pytest.warns(ResourceWarning) as warned:
        del packer
    assert not obeyed.search(str(warned[0].message))


# ---- Without the other packages


def test_without_packages(corpus):
    """help(leat) broke off where one of them is missing, and leat.DataModule said that pytorch_lightning is."""
    code = """
import sys
sys.modules.update(dict.fromkeys(("torch", "lightning", "pytorch_lightning", "transformers", "numpy", "jax", "tqdm")))
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in sys.modules and sys.modules[name] is None else real(name)
import leat, pydoc
assert "GrainSource" not in dir(leat) and "Loader" in dir(leat)
assert "Packer" in pydoc.plain(pydoc.render_doc(leat))
for name, package in (("DataModule", "lightning"), ("IterableDataset", "torch"), ("LoaderMixin", "transformers")):
    try:
        getattr(leat, name)
    except ImportError as error:
        assert f"leat.{name} needs {package}" in str(error), error
    else:
        raise SystemExit(name)
try:
    leat.Loader(leat.Plan(sys.argv[1], 64), 2)
except ImportError as error:
    assert 'framework="numpy" does without' in str(error)
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code, corpus], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.stdout == "done\n", done.stdout


@pytest.mark.parametrize("wrong", ["false", "no", "", None, [], 0, 1, 0.0], ids=repr)
def test_flags(corpus, plan, tmp_path, wrong):
    """A text is true whatever it says: force="false", as YAML's readers give it, replaced a finished dataset. And None,
    [] and 0 were False without a word: leat.IO(verify=None) compared no hashes."""
    (tmp_path / "in.txt").write_text("text")
    leat.pack(tmp_path / "in.txt", tmp_path / "out", "bytes")
    before = (tmp_path / "out.leat").read_bytes()
    for name in ("force", "dedup", "resume", "special", "allow_empty", "allow_truncated"):
        refused(TypeError, f"{name} must be True or False", leat.pack, tmp_path / "in.txt", tmp_path / "out", "bytes",
                **{name: wrong})
    assert (tmp_path / "out.leat").read_bytes() == before
    for group, names in ((leat.IO, ["verify"]), (leat.fit, ["begin"]), (leat.Opening, ["online"]),
                         (leat.Outputs, ["mask_row_first", "mask_begin", "borrow"])):
        for name in names:
            refused(TypeError, f"{name} of {group.called} must be True or False", group, **{name: wrong})
    for name in ("unshifted", "mask_first") if wrong is not None else ():
        refused(TypeError, f"{name} of leat.Outputs must be True or False", leat.Outputs, **{name: wrong})
    refused(TypeError, "follow_links of leat.Files must be True or False", leat.Files, "in", follow_links=wrong)
    refused(TypeError, "notices must be True or False", leat.Loader, plan, 2, notices=wrong)
    refused(TypeError, "online must be True or False", leat.open, corpus, online=wrong)
    refused(TypeError, "dedup must be True or False", leat.merge, corpus, tmp_path / "new", dedup=wrong)
    refused(TypeError, "force must be True or False", leat.export, corpus, tmp_path / "new", "raw", force=wrong)
    refused(TypeError, "append must be True or False", leat.Run, tmp_path / "new", "bytes", append=wrong)
    for make in (leat.MapDataset, leat.GrainSource):
        refused(TypeError, "mask_first must be True or False", make, plan, mask_first=wrong)
    from leat.integrations import automodel
    refused(TypeError, "documents must be True or False", automodel.Dataset, corpus, 64, documents=wrong)
