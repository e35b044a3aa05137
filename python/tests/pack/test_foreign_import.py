"""leat.import_dataset() against the real packages: MosaicML's streaming, litdata and Hugging Face datasets write, and
read what they wrote; leat has the same documents. And leat.adopt(), from Megatron's files to raw ones."""

import random
import sys
import types

import leat
import numpy as np
import pytest


def make_documents(seed, top, count=300):
    rng = random.Random(seed)
    return [[rng.randrange(top) for _ in range(rng.choice([1, 3, 50, 700]))] for _ in range(count)]


def check(source, documents, tmp_path, **options):
    made = leat.import_dataset(source, tmp_path / "made", force=True, **options)
    assert made.documents == len(documents) and made.tokens == sum(map(len, documents)), source
    with leat.Dataset(tmp_path / "made") as d:
        for i, document in enumerate(documents):
            assert d[i].tolist() == document, (source, i)
        d.verify()


def mds_writer():
    for name in ("vision", "multimodal"):  # datasets of pictures, which ask for torchvision
        sys.modules.setdefault(f"streaming.{name}", types.ModuleType(name))
    return pytest.importorskip("streaming.base").MDSWriter


@pytest.mark.parametrize("compression", [None, "zstd", "gz:1", "bz2"])
@pytest.mark.parametrize("dtype", ["uint16", "int64"])
def test_mds(tmp_path, dtype, compression):
    documents = make_documents(dtype, 50000)
    for column, make in (("bytes", lambda row: np.array(row, dtype=dtype).tobytes()),
                         ("ndarray", lambda row: np.array(row, dtype=dtype)),
                         (f"ndarray:{dtype}", lambda row: np.array(row, dtype=dtype))):
        out = tmp_path / column.replace(":", "-")
        with mds_writer()(out=str(out), columns={"a": "str", "tokens": column, "z": "float32"}, size_limit=1 << 15,
                          compression=compression) as writer:
            for i, row in enumerate(documents):
                writer.write({"a": "x" * (i % 3), "tokens": make(row), "z": 0.5})
        check(out, documents, tmp_path, column="tokens", dtype=dtype if column == "bytes" else None)


ZSTD = {"compression": "zstd"}


@pytest.mark.parametrize("options", [{}, ZSTD, {**ZSTD, "compression_level": "sample"},
                                     {**ZSTD, "compression_level": "chunk"}], ids=str)
def test_litdata(tmp_path, options):
    writers = pytest.importorskip("litdata.streaming.writer")
    loaders = pytest.importorskip("litdata.streaming.item_loader")
    torch = pytest.importorskip("torch")
    documents = make_documents(str(options), 151000)
    kinds = {"item": lambda row: {"input_ids": torch.tensor(row), "n": len(row)},
             "array": lambda row: np.array(row, dtype=np.uint32), "list": lambda row: {"input_ids": row, "n": 1}}
    if options.get("compression_level", "chunk") == "chunk" and len(options) != 1:
        kinds["tokens"] = lambda row: torch.tensor(row, dtype=torch.int32)
    for kind, make in kinds.items():
        loader = loaders.TokensLoader() if kind == "tokens" else None
        writer = writers.BinaryWriter(str(tmp_path / kind), chunk_bytes=1 << 15, item_loader=loader, **options)
        for i, row in enumerate(documents):
            writer[i] = make(row)
        writer.done()
        writer.merge()
        check(tmp_path / kind, documents, tmp_path)
    # as its own reader gives them
    theirs = pytest.importorskip("litdata").StreamingDataset(str(tmp_path / "item"))
    assert [theirs[i]["input_ids"].tolist() for i in range(0, len(documents), 50)] == documents[::50]


@pytest.mark.parametrize("kind", ["uint16", "int32", "int64"])
def test_datasets(tmp_path, kind):
    datasets = pytest.importorskip("datasets")
    documents = make_documents(kind, 32000)
    ids = datasets.Value(kind)
    for name, value in (("list", datasets.Sequence(ids)), ("large", datasets.LargeList(ids))):
        features = datasets.Features({"text": datasets.Value("string"), "input_ids": value})
        made = datasets.Dataset.from_dict({"text": ["x"] * len(documents), "input_ids": documents}, features=features)
        made.save_to_disk(str(tmp_path / name), num_shards=3)
        check(tmp_path / name, documents, tmp_path)
    # a file of the cache, as map() leaves it
    mapped = made.map(lambda row: {"input_ids": row["input_ids"][::-1]}, cache_file_name=str(tmp_path / "cache.arrow"))
    check(tmp_path / "cache.arrow", [row[::-1] for row in documents], tmp_path)
    # a selection is flattened when it is saved
    mapped.shuffle(seed=1).select(range(100)).save_to_disk(str(tmp_path / "some"))
    check(tmp_path / "some", datasets.load_from_disk(str(tmp_path / "some"))["input_ids"][:], tmp_path)


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_pyarrow(tmp_path, compression):
    pa = pytest.importorskip("pyarrow")
    documents = [*make_documents(compression or "none", 32000), [], [7]]
    for stream in (False, True):
        table = pa.table({"x": pa.array([None] * len(documents), pa.string()),
                          "tokens": pa.array(documents, pa.list_(pa.int32()))})
        options = pa.ipc.IpcWriteOptions(compression=compression)
        make = pa.ipc.new_stream if stream else pa.ipc.new_file
        with make(str(tmp_path / "a.arrow"), table.schema, options=options) as out:
            out.write_table(table, max_chunksize=70)
        check(tmp_path / "a.arrow", documents, tmp_path)
    # sliced lists, whose offsets do not begin at 0 in memory
    feather = pytest.importorskip("pyarrow.feather")
    feather.write_feather(table.slice(17), tmp_path / "a.feather", compression=compression or "uncompressed")
    check(tmp_path / "a.feather", documents[17:], tmp_path)


def test_ends_and_tokenizer(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"tokens": pa.array([[1, 2], [3, 50256], []], pa.list_(pa.int64()))})
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as out:
        out.write_table(table)
    done = []
    made = leat.import_dataset([tmp_path / "a.arrow"] * 2, tmp_path / "made", "gpt2", end="<|endoftext|>",
                               progress=lambda *at: done.append(at))
    assert made.ends_added == 4 and made.files == 2 and made.tokens == 12 and made.mask is None
    assert done[-1] == (made.bytes, made.bytes)
    with leat.Dataset(tmp_path / "made") as d:
        assert [x.tolist() for x in d] == [[1, 2, 50256], [3, 50256], [50256]] * 2
        assert d.info.end_token == 50256 and d.info.token_width == 2
    assert not made.was_finished
    again = leat.import_dataset([tmp_path / "a.arrow"] * 2, tmp_path / "made", "gpt2", end="<|endoftext|>", resume=True)
    assert again == made._replace(ends_added=None, was_finished=True)
    with pytest.raises(leat.Error, match="already exists"):
        leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made")
    with pytest.raises(ValueError, match="name the tokenizer"):
        leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made", end="x", force=True)
    with pytest.raises(leat.Error, match="vocabulary has 50000 entries"):
        leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made", vocabulary=50000, force=True)
    with leat.Dataset(tmp_path / "made") as d:  # as it was
        assert len(d) == 6


def test_mask(tmp_path):
    """A column called like a mask was left out without a word; nor did labels that were asked for let one be seen."""
    pa = pytest.importorskip("pyarrow")
    lists = pa.array([[1, 1]], pa.list_(pa.int32()))
    for columns, column, mask in ((["input_ids", "assistant_masks"], None, "assistant_masks"),
                                  (["loss_mask", "labels"], "labels", "loss_mask"),
                                  (["labels", "loss_mask"], "labels", "loss_mask")):
        table = pa.table({name: lists for name in columns})
        with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as out:
            out.write_table(table)
        with pytest.warns(RuntimeWarning, match=f"\"{mask}\" was not taken, so all tokens are learned") as said:
            made = leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made", column=column, force=True)
        assert made.mask == mask and made.tokens == 2 and said[0].filename == __file__


def test_adopt(tmp_path):
    documents = [[*row, 7] for row in make_documents("adopt", 6)]
    np.concatenate([np.array(x, dtype="<u2") for x in documents]).tofile(tmp_path / "t.bin")
    made = leat.adopt(f"raw:{tmp_path}/t.bin?dtype=u16", end=7, tokenizer="gpt2")
    assert made == (f"{tmp_path}/t.bin.leat", len(documents), sum(map(len, documents)))
    with leat.Dataset(made.index) as d:
        assert [x.tolist() for x in d] == documents and d.info.end_token == 7
        d.verify()
    with pytest.raises(leat.Error, match="already exists"):
        leat.adopt(f"raw:{tmp_path}/t.bin?dtype=u16&end=7")

    with pytest.raises(leat.Error, match="has an index already"):
        leat.adopt(tmp_path / "t.bin", end=7)

    def stop(done, total):
        raise KeyError(done)

    with pytest.raises(KeyError):
        leat.adopt(f"raw:{tmp_path}/t.bin?dtype=u16", tmp_path / "other", end=7, progress=stop)
    assert leat.adopt(f"raw:{tmp_path}/t.bin?dtype=u16", tmp_path / "other", end=7).documents == len(documents)
