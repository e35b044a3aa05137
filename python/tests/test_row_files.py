"""Rows of a plan as files: packed-parquet holds what Megatron-Bridge's packed datasets read (the mask stands one place
before the token that is learned), arrow-dataset what datasets.load_from_disk() opens and trainers of it take (labels
at their own tokens). Each row has the tokens and the mask of the plan's pieces, of texts and of conversations with
rules of their own; parts that are made at once come in the order of the plan; what cannot be written is refused."""
import json
import sys

import numpy as np
import pytest
from conftest import ROOT, command

import leat
from leat import row_files
from leat._values import read_size

pa = pytest.importorskip("pyarrow")
pyarrow = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    with leat.Packer(folder / "web", "gpt2", end=50256) as packer:
        for i in range(300):
            packer.add(" ".join(f"web {k}" for k in range(i * 7 % 150)))
    with leat.Packer(folder / "chat", "gpt2", end=None, store_mask=True) as packer:
        for i in range(150):
            count = 2 + i * 13 % 250
            packer.add(np.arange(count) + 1000, mask=np.arange(count) % 2)
    return leat.Plan([(str(folder / "web"), 3), (str(folder / "chat"), 1, leat.fit(whole=True, max_length=90))], 100,
                     order="fit", epochs=1, seed=3)


def rows_of(plan):
    """Of each row of the plan, for each piece: its tokens, and which of them are learned as labels."""
    datasets = [source.dataset for source in plan.sources]
    for n in range(len(plan)):
        row = []
        for piece in plan.pieces(n):
            dataset = datasets[piece.source]
            mask = np.asarray(dataset.mask(piece.token, piece.count)) > 0 if dataset.info.stores_mask else \
                np.ones(piece.count, bool)
            row.append((dataset.read(piece.token, piece.count).tolist(), [False, *mask.tolist()[1:]]))
        yield row


def test_packed_parquet(plan, tmp_path):
    made = leat.export(plan, tmp_path / "rows.parquet", "packed-parquet")
    found = pyarrow.read_table(tmp_path / "rows.parquet").to_pylist()
    assert made.rows == len(found) == len(plan) > 300
    assert made.tokens == sum(len(row["input_ids"]) for row in found)
    assert made.learned == sum(sum(row["loss_mask"]) for row in found)
    assert made.bytes == (tmp_path / "rows.parquet").stat().st_size
    for row, pieces in zip(found, rows_of(plan)):
        assert row["input_ids"] == [token for tokens, _ in pieces for token in tokens]
        ends = [*row["seq_start_id"][1:], len(row["input_ids"])]
        assert [end - begin for begin, end in zip(row["seq_start_id"], ends)] == [len(ids) for ids, _ in pieces]
        assert row["loss_mask"] == [int(m) for _, mask in pieces for m in (*mask[1:], False)]


def test_arrow_dataset(plan, tmp_path):
    datasets = pytest.importorskip("datasets")
    made = leat.export(plan, tmp_path / "rows", "arrow-dataset")
    found = datasets.load_from_disk(str(tmp_path / "rows"))
    assert len(found) == len(plan) == made.rows
    for row, pieces in zip(found, rows_of(plan)):
        assert row["input_ids"] == [token for tokens, _ in pieces for token in tokens]
        assert row["labels"] == [token if m else -100 for ids, mask in pieces for token, m in zip(ids, mask)]
        assert row["seq_lengths"] == [len(ids) for ids, _ in pieces]
        assert row["position_ids"] == [place for ids, _ in pieces for place in range(len(ids))]
    with pytest.raises(FileExistsError, match="exists"):
        leat.export(plan, tmp_path / "rows", "arrow-dataset")
    leat.export(plan, tmp_path / "rows", "arrow-dataset", count=3, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows"]
    assert datasets.load_from_disk(str(tmp_path / "rows")).to_list() == found.select(range(3)).to_list()


def test_memory(plan, tmp_path, monkeypatch):
    """Groups are as large as the memory allows, by the command as well; the rows are the same."""
    monkeypatch.setenv("LEAT_PYTHON", sys.executable)
    windows = leat.Plan(plan.sources[0].name, 8192, seed=5)
    (tmp_path / "run.plan").write_text(windows.text)
    tables = []
    for memory, rows in (("176MiB", 6), ("512MiB", 15)):
        leat.export(windows, tmp_path / "rows", "arrow-dataset", count=60, memory=memory, force=True)
        with pa.ipc.open_stream(tmp_path / "rows" / "data-00000.arrow") as stream:
            assert [len(batch) for batch in stream] == [rows] * (60 // rows)
        command("leat", "export", "--to", "packed-parquet", "-o", tmp_path / "rows.parquet", "--plan",
                tmp_path / "run.plan", "--count", 60, "--memory", memory, "--force")
        file = pyarrow.ParquetFile(tmp_path / "rows.parquet")
        assert [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)] == [rows] * (60 // rows)
        assert 4 * rows * 8192 * row_files.TOKEN_BYTES <= read_size(memory) - row_files.OWN_BYTES
        tables.append(file.read())
    assert tables[0] == tables[1]
    for memory in ("much", "175MiB"):
        with pytest.raises(ValueError, match="memory must be"):
            leat.export(windows, tmp_path / "no.parquet", "packed-parquet", count=60, memory=memory)
    assert row_files.shape_of_groups(512 << 20, 1 << 30, 60) == (1, 1)  # a row that is larger than that all the same


def test_nothing_else_is_removed(plan, tmp_path):
    """A folder is replaced only if all its files are those of such a dataset; a link to one is not followed."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    (tmp_path / "rows.partial").mkdir()
    (tmp_path / "rows.partial" / "notes.txt").write_text("mine")
    for name in ("mine", "file", "link", "rows"):
        with pytest.raises(FileExistsError, match="another file than|is no folder of rows"):
            leat.export(plan, tmp_path / name, "arrow-dataset", count=3, force=True)
    assert [path.read_text() for path in sorted(tmp_path.rglob("*")) if path.is_file()] == ["mine"] * 3


def test_windows_and_parts(plan, tmp_path):
    """Windows begin a sequence at each document; a stretch of rows of a plan without end is what it is."""
    web = plan.sources[0].name
    endless = leat.Plan(web, 64, seed=5)
    leat.export(endless, tmp_path / "rows.parquet", "packed-parquet", first=1000, count=37)
    found = pyarrow.read_table(tmp_path / "rows.parquet").to_pylist()
    dataset = leat.open(web)
    starts = {dataset._native.document(d)[0] for d in range(len(dataset))}
    assert len(found) == 37
    for n, row in enumerate(found, 1000):
        token = endless.order(n).token
        assert row["input_ids"] == dataset.read(token, 65).tolist()
        assert row["seq_start_id"] == [0] + [i for i in range(1, 65) if token + i in starts]
        assert [m == 0 for m in row["loss_mask"]] == [i == 64 or token + i + 1 in starts for i in range(65)]


def test_the_command(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("LEAT_PYTHON", sys.executable)
    monkeypatch.chdir(tmp_path)
    for module in ("pyarrow", "numpy", "json"):  # no module of the current folder is taken
        (tmp_path / f"{module}.py").write_text("raise SystemExit('taken from the current folder')")
    (tmp_path / "run.plan").write_text(plan.text)
    made = json.loads(command("leat", "export", "--to", "packed-parquet", "-o", tmp_path / "rows.parquet", "--plan",
                              tmp_path / "run.plan", "--from", 5, "--count", 20, "--memory", "1GiB", "--json"))
    schemas = json.loads((ROOT / "tests/cli/schemas.json").read_text(encoding="utf-8"))
    assert sorted(made) == sorted(schemas["definitions"]["leat export --plan"]["required"])
    assert made["rows"] == 20 and made["to"] == "packed-parquet"
    leat.export(plan, tmp_path / "same.parquet", "packed-parquet", first=5, count=20)
    assert pyarrow.read_table(tmp_path / "rows.parquet") == pyarrow.read_table(tmp_path / "same.parquet")


def test_refused(plan, tmp_path):
    web = plan.sources[0].name
    for bad, options, why in ((leat.Plan(web, 64), {}, "the plan has no end"),
                              (leat.Plan(web, 64, order="documents", epochs=1), {}, "single documents"),
                              (plan, dict(first=len(plan) + 1), "none is numbered"),
                              (plan, dict(count=0), "no rows are to be written")):
        with pytest.raises(ValueError, match=why):
            leat.export(bad, tmp_path / "no.parquet", "packed-parquet", **options)
    with pytest.raises(ValueError, match="dtype is for the tokens of datasets"):
        leat.export(plan, tmp_path / "no.parquet", "packed-parquet", dtype="u16")
    with pytest.raises(ValueError, match="first and count are for rows"):
        leat.export(web, tmp_path / "no", "raw", count=1)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        leat.export(plan, tmp_path, "packed-parquet", force=True)
    with leat.Packer(tmp_path / "weighed", "gpt2", store_mask=True) as packer:
        packer.add([1, 2, 3], mask=[0, 0.5, 1])
    with pytest.raises(ValueError, match="no weights of tokens"):
        leat.export(leat.Plan(tmp_path / "weighed", 8, order="fit", epochs=1), tmp_path / "no.parquet",
                    "packed-parquet")
    assert not list(tmp_path.glob("no.parquet*"))
