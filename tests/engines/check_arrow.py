"""check_arrow.py: what Dataset.arrow() gives is taken as it is by pyarrow, Polars, DuckDB, Daft and pandas, and by Ray
as a table of pyarrow: every column of datasets of all kinds, compared with what the Dataset's own methods say of each
document. Readers that stop early, batches that outlive the dataset, readers in threads, SQL over the object."""
import gc
import importlib
import itertools
import math
import os
import pathlib
import threading

import common

for module in ("pyarrow", "polars", "duckdb", "daft", "pandas", "ray"):
    common.skip_without(module)
os.environ["DAFT_PROGRESS_BAR"] = "0"
import daft
import duckdb
import pandas
import polars
import pyarrow

import leat

ALL = ("number", "id", "source", "text", "tokens", "mask")
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "valid"


# ---- What each of them makes of the object: rows, as dicts of Python's own values ----

def by_pyarrow(documents):
    table = pyarrow.table(documents)
    table.validate(full=True)
    return table.to_pylist()


def by_batches(documents):
    return [row for batch in pyarrow.RecordBatchReader.from_stream(documents) for row in batch.to_pylist()]


def by_polars(documents):
    return polars.DataFrame(documents).to_dicts()


def by_polars_from_arrow(documents):
    return polars.from_arrow(documents).to_list()  # a series of structs


def by_duckdb(documents):
    found = duckdb.connect().sql("SELECT * FROM documents")
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


def by_daft(documents):
    return daft.from_arrow(documents).to_pylist()


def by_pandas(documents):
    return [{name: plain(value) for name, value in row.items()}
            for row in pandas.DataFrame.from_arrow(documents).to_dict("records")]


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    return None if value is None or value is pandas.NA or (isinstance(value, float) and math.isnan(value)) else value


READERS = [by_pyarrow, by_batches, by_polars, by_polars_from_arrow, by_duckdb, by_daft, by_pandas]


# ---- What they must make of it ----

def expected(dataset, columns, first=0, count=None):
    numbers = range(first, len(dataset) if count is None else min(len(dataset), first + count))
    places = {n: dataset.place(n) for n in numbers}
    ways = {"number": lambda n: n, "id": lambda n: places[n].id, "source": lambda n: places[n].path,
            "text": dataset.text, "tokens": lambda n: dataset[n].tolist(),
            "mask": lambda n: dataset.mask(places[n].first, places[n].count).tolist()}
    return [{name: ways[name](n) for name in columns} for n in numbers]


def check(name, columns=ALL):
    """Every reader, all columns and each alone, all documents and some of them."""
    with leat.open(name) as dataset:
        half = len(dataset) // 2
        for chosen in (columns, columns[::-1], *zip(columns)):
            for first, count in ((0, None), (half, 7), (half, 0), (len(dataset), None)):
                wanted = expected(dataset, chosen, first, count)
                for reader in READERS if chosen == columns else READERS[:1]:
                    found = reader(dataset.arrow(chosen, first=first, count=count))
                    assert found == wanted, f"{reader.__name__} of {name}, {chosen}, {first}, {count}: {found!r:.500}"


# ---- Datasets of all kinds ----

def make():
    with leat.Packer("gpt2", "gpt2") as packer:
        for n, row in enumerate(common.rows(300)):
            packer.add(row["text"], id=row["url"] if n % 3 else None, source=f"file {n // 100}" if n % 2 else None)
        packer.add([64, 187, 186, 65], id="bytes that are not UTF-8")
        packer.add("", id="no text")
    with leat.Packer("begin", "gpt2", begin=1, end=50256) as packer:
        packer.extend(["one", "", "three"], id=None)
    with leat.Packer("none-tokens", "gpt2", end=None) as packer:
        for n in range(50):
            packer.add("x " * (n % 3), id=str(n))
    with leat.Packer("wide", "o200k_base") as packer:
        packer.extend(common.rows(100), id="url")
    with leat.Packer("masked", "gpt2", store_mask=True) as packer:
        for n in range(60):
            packer.add("The answer is forty-two. " * (n % 4), id=n, mask=[[4, 10]] if n % 4 > 1 else None)
    with leat.Packer("empty", "gpt2"):
        pass
    leat.export("gpt2", "other", to="megatron")
    leat.export("gpt2", "narrow.bin", to="raw", dtype="u16")
    leat.export("wide", "wide.bin", to="raw", dtype="u32")


def check_kinds():
    for name in ("gpt2", "begin", "none-tokens", "wide", "masked", "empty", ["gpt2", "masked"], ["empty", "gpt2"],
                 "raw:narrow.bin?dtype=u16&end=50256&tokenizer=gpt2"):
        check(name)
    ids = tuple(column for column in ALL if column != "text")  # their tokenizer is not known
    for name in ("megatron:other", "raw:narrow.bin?dtype=u16&end=50256", "raw:wide.bin?dtype=u32&end=199999"):
        check(name, ids)
    with leat.open("none-tokens") as dataset:
        assert min(map(len, dataset)) == 0
    with leat.open("begin") as dataset:
        assert [tokens[0] for tokens in dataset] == [1, 1, 1]
    for name, width in (("gpt2", pyarrow.uint16()), ("wide", pyarrow.uint32())):
        assert pyarrow.schema(leat.open(name).arrow()).field("tokens").type == pyarrow.list_(width)
    golden = sorted(path.stem for path in GOLDEN.glob("*.leat"))
    assert len(golden) > 10, GOLDEN
    for name in golden:
        check(str(GOLDEN / name), ids)


# ---- Readers that do not just read to the end ----

def check_early_stops():
    with leat.open("gpt2") as dataset:
        documents, wanted = dataset.arrow(), expected(dataset, ALL)
        for _ in range(3):
            reader = pyarrow.RecordBatchReader.from_stream(documents)
            batch = reader.read_next_batch()
            del reader
            assert batch.slice(0, 5).to_pylist() == wanted[:5]
        assert duckdb.sql("SELECT id FROM documents ORDER BY number LIMIT 3").fetchall() == [
            (row["id"],) for row in wanted[:3]]
        assert daft.from_arrow(documents).limit(3).to_pylist() == wanted[:3]
        assert pyarrow.RecordBatchReader.from_stream(documents).read_all().to_pylist() == wanted


def check_batches_outlive():
    dataset = leat.open("gpt2")
    wanted = expected(dataset, ALL)
    kept = [pyarrow.table(dataset.arrow()), polars.DataFrame(dataset.arrow()), daft.from_arrow(dataset.arrow())]
    begun = pyarrow.RecordBatchReader.from_stream(dataset.arrow())
    dataset.close()
    del dataset
    gc.collect()
    assert begun.read_all().to_pylist() == wanted
    assert [kept[0].to_pylist(), kept[1].to_dicts(), kept[2].to_pylist()] == [wanted] * 3


def check_threads():
    """All readers read the same object at once."""
    with leat.open("gpt2") as dataset:
        documents, wanted, found = dataset.arrow(), expected(dataset, ALL), []
        threads = [threading.Thread(target=lambda reader=reader: found.append(reader(documents) == wanted))
                   for reader in itertools.chain(READERS, READERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [True] * len(threads), found


def check_sql():
    """What the page shows: tokens by source, the longest documents, what a filter would keep."""
    with leat.open("gpt2") as dataset:
        documents, wanted = dataset.arrow(), expected(dataset, ALL)
        by_source = {}
        for row in wanted:
            by_source[row["source"]] = by_source.get(row["source"], 0) + len(row["tokens"])
        found = duckdb.sql("SELECT source, sum(len(tokens)) FROM documents GROUP BY source").fetchall()
        assert dict(found) == by_source
        longest = sorted(wanted, key=lambda row: (-len(row["tokens"]), row["number"]))[:5]
        assert duckdb.sql("SELECT number, len(tokens) FROM documents ORDER BY len(tokens) DESC, number LIMIT 5"
                          ).fetchall() == [(row["number"], len(row["tokens"])) for row in longest]
        kept = [row for row in wanted if "水: The" in row["text"] and len(row["tokens"]) > 100]
        assert duckdb.sql("SELECT count(*), sum(len(tokens)) FROM documents WHERE contains(text, '水: The') "
                          "AND len(tokens) > 100").fetchall() == [(len(kept), sum(len(r["tokens"]) for r in kept))]


def check_ray():
    """Ray's from_arrow() takes tables of pyarrow only."""
    ray = importlib.import_module("ray")
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20)
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        for name in ("gpt2", "wide", "masked"):
            with leat.open(name) as dataset:
                rows = ray.data.from_arrow(pyarrow.table(dataset.arrow())).take_all()
                found = [{column: plain(value) for column, value in row.items()} for row in rows]
                assert found == expected(dataset, ALL), name
    finally:
        ray.shutdown()


def main():
    with common.own_folder():
        make()
        check_kinds()
        check_early_stops()
        check_batches_outlive()
        check_threads()
        check_sql()
        check_ray()


main()
