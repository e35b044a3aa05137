"""Datasets that the real packages write, read in place: Megatron-Core's IndexedDatasetBuilder, datatrove's
TokenizedFile, NumPy's tofile(). leat reads the same documents as were given, and those that Megatron's own reader
gives. And back: what leat.export() writes is read by Megatron-Core, datatrove and NumPy, documents included."""

import random

import leat
import numpy as np
import pytest


def make_documents(seed, top, count=200):
    """Some of one token; ids from 0 to top - 1."""
    rng = random.Random(seed)
    return [[rng.randrange(top) for _ in range(rng.choice([1, 3, 50, 700]))] for _ in range(count)]


def check(name, documents, kind, labels=True):
    with leat.Dataset(name) as d:
        assert len(d) == len(documents) and d.info.tokens == sum(map(len, documents))
        for i, document in enumerate(documents):
            assert d[i].tolist() == document
        d.verify()
        tokens = np.concatenate([np.array(x, dtype=np.int64) for x in documents])
    loader = leat.Loader(leat.Plan(name, 64, 5, order="sequential"), 4, style="dict")
    rows = [batch for _, batch in zip(range(3), loader)]
    for k, batch in enumerate(rows):
        expected = tokens[k * 256 : k * 256 + 257]
        assert np.asarray(batch["inputs"]).reshape(-1).tolist() == expected[:-1].tolist(), (kind, k)
        assert not labels or np.asarray(batch["labels"]).reshape(-1).tolist() == expected[1:].tolist(), (kind, k)


@pytest.mark.parametrize("top", [65499, 151000])
def test_megatron(tmp_path, top):
    indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset")
    torch = pytest.importorskip("torch")
    documents = make_documents(top, top)
    builder = indexed.IndexedDatasetBuilder(str(tmp_path / "web.bin"), dtype=indexed.DType.optimal_dtype(top))
    for i, document in enumerate(documents):
        half = len(document) // 2  # a document of two sequences, the first of which may be empty
        builder.add_document(torch.tensor(document), [half, len(document) - half] if i % 3 == 0 else [len(document)])
    builder.finalize(str(tmp_path / "web.idx"))
    # merged with itself: lengths, pointers and the document index of both
    merged = indexed.IndexedDatasetBuilder(str(tmp_path / "both.bin"), dtype=indexed.DType.optimal_dtype(top))
    for _ in range(2):
        merged.add_index(str(tmp_path / "web"))
    merged.finalize(str(tmp_path / "both.idx"))

    check(tmp_path / "web", documents, "megatron")
    check(tmp_path / "web.idx", documents, "megatron")
    check(tmp_path / "both", documents + documents, "megatron")
    theirs = indexed.IndexedDataset(str(tmp_path / "web"))
    at = theirs.document_indices
    for i, document in enumerate(documents):
        assert np.concatenate([theirs[int(s)] for s in range(at[i], at[i + 1])]).tolist() == document


@pytest.mark.parametrize("size", [2, 4])
def test_datatrove(tmp_path, size):
    tokenizer = pytest.importorskip("datatrove.pipeline.tokens.tokenizer")
    documents = make_documents(size, 50000 if size == 2 else 151000)
    file = tokenizer.TokenizedFile(str(tmp_path), "web.ds", token_size=size, save_final_metadata=True)
    for document in documents:
        file.write(document, None)
    file.close()
    check(tmp_path / "web.ds", documents, "datatrove")


def check_loss(name, documents, loss):
    """Labels, loss_mask and loss_weights of batches are what the other tool's mask says."""
    tokens, mask = np.concatenate([np.array(d) for d in documents]), np.concatenate(loss).astype(bool)
    with leat.Dataset(name) as d:
        assert d.info.stores_mask and np.array_equal(np.asarray(d.mask()), np.where(mask, 255, 0))
        d.verify()
    plan = leat.Plan(name, 64, 5, order="sequential", epochs=1)
    outputs = ("labels", "loss_mask", "loss_weights")
    for batch in leat.Loader(plan, 4, outputs=outputs, framework="numpy", notices=False):
        for row, sample in enumerate(batch.samples):
            at = slice(sample.token + 1, sample.token + 65)
            assert np.array_equal(batch.labels[row], np.where(mask[at], tokens[at], -100))
            assert np.array_equal(batch.loss_mask[row], mask[at]) and np.array_equal(batch.loss_weights[row], mask[at])


def test_datatrove_loss(tmp_path):
    tokenizer = pytest.importorskip("datatrove.pipeline.tokens.tokenizer")
    documents, rng = make_documents(3, 50000), np.random.default_rng(4)
    loss = [rng.random(len(document)) < 0.7 for document in documents]
    file = tokenizer.TokenizedFile(str(tmp_path), "web.ds", token_size=2, save_loss_metadata=True)
    for document, values in zip(documents, loss):
        file.write(document, values)
    file.close()
    check(tmp_path / "web.ds", documents, "datatrove", labels=False)
    check_loss(tmp_path / "web.ds", documents, loss)
    with open(tmp_path / "web.ds.loss", "ab") as more:
        more.write(b"\1")
    with pytest.raises(leat.Error, match="web.ds.loss has .* a mask has one for each token"):
        leat.Dataset(tmp_path / "web.ds")


def test_olmo_mask(tmp_path):
    """As open-instruct writes them for OLMo-core: both without a header."""
    documents, rng = make_documents(5, 100000), np.random.default_rng(5)
    loss = [rng.random(len(document)) < 0.5 for document in documents]
    np.concatenate([np.array(d, "<u4") for d in documents]).tofile(tmp_path / "token_ids_part_0000.npy")
    np.concatenate(loss).tofile(tmp_path / "labels_mask_part_0000.npy")
    name = f"raw:{tmp_path}/token_ids_part_0000.npy?dtype=u32&mask=labels_mask_part_0000.npy"
    check_loss(name, documents, loss)


@pytest.mark.parametrize("bits", [16, 32])
def test_raw(tmp_path, bits):
    documents = [[*document, 7] for document in make_documents(bits, 7)]
    np.concatenate([np.array(x, dtype=f"<u{bits // 8}") for x in documents]).tofile(tmp_path / "train.bin")
    check(f"raw:{tmp_path}/train.bin?dtype=u{bits}&end=7", documents, "raw")
    np.save(tmp_path / "saved.npy", np.zeros(10, dtype="<u2"))
    with pytest.raises(leat.Error, match="header of NumPy"):
        leat.Dataset(f"raw:{tmp_path}/saved.npy?dtype=u16")


# ---- leat.export(): written by leat, read by the others ------------------------------------------------------------

@pytest.fixture(params=["u16", "u32"])
def exported(request, tmp_path):
    """A dataset of documents, as rows of ids that end with 7; and the dtype to export."""
    documents = [[*document, 7] for document in make_documents(request.param, 50000)]
    np.concatenate([np.array(x, dtype="<u2") for x in documents]).tofile(tmp_path / "from.bin")
    return f"raw:{tmp_path}/from.bin?dtype=u16&end=7", split_at(documents, 7), request.param


def split_at(documents, end):
    """The documents as leat finds them: the token may also stand inside those that were made."""
    found, document = [], []
    for token in (token for made in documents for token in made):
        document.append(token)
        if token == end:
            found.append(document)
            document = []
    return found


def test_export_megatron(exported, tmp_path):
    indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset")
    name, documents, dtype = exported
    wrote = leat.export(name, tmp_path / "web", "megatron", dtype=dtype)
    assert wrote.documents == len(documents) and wrote.tokens == sum(map(len, documents)) and wrote.dtype == dtype
    theirs = indexed.IndexedDataset(str(tmp_path / "web"))
    assert len(theirs) == len(documents)
    assert theirs.document_indices.tolist() == list(range(len(documents) + 1))
    assert theirs.index.dtype == (np.uint16 if dtype == "u16" else np.int32)
    for i, document in enumerate(documents):
        assert theirs[i].tolist() == document
    check(tmp_path / "web", documents, "megatron")


def test_export_datatrove(exported, tmp_path):
    data = pytest.importorskip("datatrove.utils.dataset")
    name, documents, dtype = exported
    leat.export(name, tmp_path / "web", "datatrove", dtype=dtype)
    size = 2 if dtype == "u16" else 4
    tokens = np.concatenate([np.array(x, dtype=np.int64) for x in documents])
    theirs = data.DatatroveFileDataset(str(tmp_path / "web.ds"), 64, size, return_positions=True)
    assert len(theirs) == len(tokens) // 65
    ends = np.cumsum([len(x) for x in documents])
    for i in (0, 1, len(theirs) // 2, len(theirs) - 1):
        item = theirs[i]
        assert item["input_ids"].tolist() == tokens[i * 65 : i * 65 + 65].tolist()
        starts = [k for k in range(65) if item["positions"][k] == 0]
        assert starts == [0, *(int(e) - i * 65 for e in ends if 0 < e - i * 65 < 65)]
    check(tmp_path / "web.ds", documents, "datatrove")


def test_export_datatrove_loss(tmp_path):
    """datatrove reads the mask that leat wrote; without one an older .ds.loss is gone."""
    data = pytest.importorskip("datatrove.utils.dataset")
    documents, rng = make_documents(9, 50000), np.random.default_rng(9)
    loss = [(rng.random(len(document) + 1) < 0.6) for document in documents]
    with leat.Packer(tmp_path / "own", leat.Tokenizer("gpt2"), store_mask=True) as packer:
        for document, values in zip(documents, loss):
            packer.add(document, mask=values[:-1])
            values[-1] = values[-2]
    leat.export(tmp_path / "own", tmp_path / "web", "datatrove")
    tokens = np.concatenate([[*d, 50256] for d in documents])
    check_loss(tmp_path / "web.ds", [tokens], loss)
    theirs = data.DatatroveFileDataset(str(tmp_path / "web.ds"), 64, 2)
    assert theirs[3]["input_ids"].tolist() == tokens[195:260].tolist()
    assert np.array_equal(np.fromfile(tmp_path / "web.ds.loss", bool), np.concatenate(loss))
    with pytest.raises(leat.Error, match="export to datatrove"):
        leat.export(tmp_path / "own", tmp_path / "x", "megatron")
    with leat.Packer(tmp_path / "plain", leat.Tokenizer("gpt2")) as packer:
        packer.add([1, 2, 3])
    leat.export(tmp_path / "plain", tmp_path / "web", "datatrove", force=True)
    assert not leat.open(tmp_path / "web.ds").info.stores_mask and not (tmp_path / "web.ds.loss").exists()
    with leat.Packer(tmp_path / "weighted", leat.Tokenizer("gpt2"), store_mask=True) as packer:
        packer.add([1, 2, 3], mask=[0, 0.5, 1.0])
    with pytest.raises(leat.Error, match="token 1 has a weight of 128/255"):
        leat.export(tmp_path / "weighted", tmp_path / "y", "datatrove")
    assert not list(tmp_path.glob("y*"))


def test_export_raw_and_llmc(exported, tmp_path):
    name, documents, dtype = exported
    tokens = np.concatenate([np.array(x, dtype=np.int64) for x in documents])
    numpy_type = "<u2" if dtype == "u16" else "<u4"
    leat.export(name, tmp_path / "train.bin", "raw", dtype=dtype)
    assert (np.fromfile(tmp_path / "train.bin", dtype=numpy_type) == tokens).all()
    leat.export([name], tmp_path / "llmc.bin", "llmc", dtype=dtype)
    head = np.fromfile(tmp_path / "llmc.bin", dtype="<i4", count=256)
    assert head[:3].tolist() == [20240520 if dtype == "u16" else 20240801, 1 if dtype == "u16" else 7, len(tokens)]
    assert not head[3:].any()
    assert (np.fromfile(tmp_path / "llmc.bin", dtype=numpy_type, offset=1024) == tokens).all()
    with pytest.raises(leat.Error, match="force=True"):
        leat.export(name, tmp_path / "train.bin", "raw")
    with pytest.raises(ValueError, match="dtype"):
        leat.export(name, tmp_path / "x", "raw", dtype="i32")
    with pytest.raises(leat.Error, match="use megatron, raw"):
        leat.export(name, tmp_path / "x", "jsonl")


def test_no_origins(corpus, tmp_path):
    """Files of another tool do not record inputs: find() and trace() raised "not-found" instead of saying None."""
    leat.export(corpus, tmp_path / "web", to="megatron")
    with leat.Dataset(tmp_path / "web") as d, leat.Dataset(corpus) as own:
        place, origin = d.find(token=12345), own.find(token=12345)
        assert place == (*origin[:3], *(None,) * 7) and origin.path
        with pytest.raises(IndexError):
            d.find(document=len(d))
        with pytest.raises(leat.Error, match="no document ids stored"):
            d.find(id=origin.id)
    shown = leat.Plan(tmp_path / "web", 64, 5).trace(step=0, batch=4)
    assert shown and all((x.path, x.offset, x.line, x.id) == (None,) * 4 for x in shown)
