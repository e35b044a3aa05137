"""What stands beside the tokens of a batch: leat.Loader(outputs="places", columns=). Each number is what a plain twin
makes of plan.pieces() and of the columns' values as they were attached: of every order, layout and slice, on the host
and on the stand-in device."""
import itertools
import json
import pathlib
import shutil

import numpy as np
import pytest
from conftest import BUILD, command
from stand_in import Driver, StandIn

import leat
import leat.frameworks

LENGTH, ROWS, BATCHES = 48, 5, 8
# {name: (type, options of leat.Column, dtype of the batch's array)}
COLUMNS = {"ids": ("u32x3", {}, np.uint32), "logprobs": ("f16x4", {"at": "labels", "default": -np.inf}, np.float16),
           "wide": ("bf16x2", {"at": "labels", "default": -2, "widen": True}, np.float32),
           "half": ("f16", {"widen": True, "default": 0.5}, np.float32), "byte": ("u8", {"default": 7}, np.uint8),
           "number": ("i64", {"at": "labels", "default": -1}, np.int64)}


def bits_of(name, count, seed):
    """Values of a column, as attached."""
    kind, _, _ = COLUMNS[name]
    kind, _, width = kind.partition("x")
    rng = np.random.default_rng(seed)
    shape = (count, int(width or 1))
    if kind == "f16":  # all finite bits, with zeros and subnormal numbers
        bits = rng.integers(0, 1 << 16, shape).astype(np.uint16)
        return np.where(bits & 0x7C00 == 0x7C00, bits & 0x83FF, bits).view(np.float16)
    if kind == "bf16":
        return (rng.standard_normal(shape).astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    return rng.integers(0, {"u8": 256, "u32": 1 << 32}.get(kind, 1 << 62), shape).astype(COLUMNS[name][2])


def attach(name, values):
    for column, of_column in values.items():
        leat.attach(name, column, COLUMNS[column][0], of_column)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two sources with columns, the second a list of three; their tokens, and the values of all of it."""
    folder = tmp_path_factory.mktemp("beside")
    sizes = {"web": [9000], "list": [1700, 2300, 40]}
    (folder / "list").mkdir()
    sources = {}
    for source, parts in sizes.items():
        values = []
        for part, tokens in enumerate(parts):
            name = folder / source / "abc"[part] if len(parts) > 1 else folder / source
            command("leat-bench-dev", "counting", "-o", name, "--tokens", tokens)
            values.append({column: bits_of(column, tokens, 100 * part + len(source)) for column in COLUMNS})
            attach(name, values[-1])
        sources[source] = {column: np.concatenate([v[column] for v in values]) for column in COLUMNS}
    return folder, sources


def plans(folder):
    web, listed = str(folder / "web"), str(folder / "list")
    both = [(web, 2), (listed, 1)]
    fim = leat.FIM(0.7, 0.5, 1, 2, 3)
    return {
        "windows": leat.Plan(web, LENGTH, seed=3, epochs=1), "mixture": leat.Plan(both, LENGTH, seed=3),
        "list": leat.Plan(listed, LENGTH, seed=3, epochs=1),
        "sequential": leat.Plan(both, LENGTH, order="sequential", epochs=1),
        "fit": leat.Plan(both, LENGTH, seed=3, order="fit"),
        "fit, aligned": leat.Plan(both, LENGTH, seed=3, order=leat.fit(align=8)),
        "fit, overlap": leat.Plan(web, LENGTH, seed=3, order=leat.fit(overlap=5, cut_length=100)),
        "documents": leat.Plan(both, LENGTH, seed=3, order="documents"),
        "documents in order": leat.Plan(listed, LENGTH, order="documents-sequential", epochs=1),
        "fim": leat.Plan(both, LENGTH, seed=3, fim=fim),
        "fit, fim": leat.Plan(web, LENGTH, seed=3, order="fit", fim=fim),
        "phases": leat.Plan(both, 24, seed=8, base_len=LENGTH, phases=[(32, [1, 1], LENGTH)])}


def twin(plan, sample, length, real, unshifted=False):
    """The numbers of tokens that are inputs and labels of a row with `real` inputs, -1 for none, and its source."""
    inputs, labels = np.full(length, -1, np.int64), np.full(length, -1, np.int64)
    if sample is None:
        return inputs, labels, 0
    end, own, place, source = 0, plan.info.order.startswith("fit"), 0, 0
    for piece in plan.pieces(sample.n):
        goes_on = piece.at == end and (place > 0)
        starts = own and not goes_on
        if unshifted:
            starts, at = False, place
        else:
            at = piece.at
        tokens = [-1] * piece.count if piece.token is None else range(piece.token, piece.token + piece.count)
        for i, token in enumerate(tokens):
            if at + i < real:
                inputs[at + i] = token
            label = at + i - (not unshifted)
            if 0 <= label < real and not (i == 0 and (starts or place == 0) and not unshifted):
                labels[label] = token
        end, place, source = piece.at + piece.count, place + piece.count, piece.source
    return inputs, labels, source


def expected(plan, values, batch, unshifted=False):
    """The places of a batch and its columns, by the twin."""
    rows = [twin(plan, sample, batch.length, real, unshifted) for sample, real in zip(batch.samples, batch.lengths)]
    found = {"places": np.stack([inputs for inputs, _, _ in rows])}
    for name, (_, options, dtype) in COLUMNS.items():
        filled = []
        for inputs, labels, source in rows:
            tokens = labels if options.get("at") == "labels" else inputs
            of_source = values[source][name].astype(dtype)
            made = np.full((batch.length, of_source.shape[1]), options.get("default", 0), dtype)
            made[tokens >= 0] = of_source[tokens[tokens >= 0]]
            filled.append(made)
        found[name] = np.stack(filled)
        if found[name].shape[2] == 1:
            found[name] = found[name][:, :, 0]
    return found


def columns():
    return [leat.Column(name, **options) for name, (_, options, _) in COLUMNS.items()]


def numbers(array):
    """An array's bits, so that NaN equals NaN."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def same(found, wanted):
    for name, array in wanted.items():
        got = np.asarray(found[name])
        assert got.dtype == array.dtype and got.shape == array.shape, name
        assert np.array_equal(numbers(got), numbers(array)), name


NAMES = ("windows", "mixture", "list", "sequential", "fit", "fit, aligned", "fit, overlap", "documents",
         "documents in order", "fim", "fit, fim", "phases")


def of_plan(data, name):
    folder, sources = data
    plan = plans(folder)[name]
    return plan, [sources[pathlib.Path(source.name).name] for source in plan.sources]


@pytest.mark.parametrize("apart", ["always", "never"])
@pytest.mark.parametrize("engine", ["map", "pread", "advise", "uring"])
@pytest.mark.parametrize("name", NAMES)
def test_host(data, name, engine, apart):
    plan, values = of_plan(data, name)
    io = leat.IO(engine=engine, apart=apart)
    with leat.Loader(plan, ROWS, outputs=("inputs", "places"), columns=columns(), framework="numpy", io=io) as loader:
        for batch in itertools.islice(loader, BATCHES):
            same(batch, expected(plan, values, batch))
            assert list(batch.keys()) == ["inputs", "places", *COLUMNS]


@pytest.mark.parametrize("borrow", [False, True])
@pytest.mark.parametrize("name", ["windows", "mixture", "sequential", "fit", "documents", "phases"])
def test_unshifted(data, name, borrow):
    """Labels are the inputs' own tokens; arrays in the ring, and, written over a larger batch, in buffers."""
    plan, values = of_plan(data, name)
    outputs = leat.Outputs(("labels", "places"), unshifted=True, borrow=borrow)
    buffers = None if borrow else True
    with leat.Loader(plan, ROWS, outputs=outputs, columns=columns(), framework="numpy", buffers=buffers) as loader:
        for batch in itertools.islice(loader, BATCHES):
            wanted = expected(plan, values, batch, unshifted=True)
            if not borrow:  # the padding of a buffer
                for column, array in wanted.items():
                    fill = COLUMNS[column][1].get("default", 0) if column in COLUMNS else -1
                    more = [(0, batch[column].shape[i] - array.shape[i]) for i in range(array.ndim)]
                    wanted[column] = np.pad(array, more, constant_values=np.array(fill, array.dtype))
            same(batch, wanted)


def stretches(batch, row):
    """Where the documents of a row end, and the row."""
    ends = batch.cu_seqlens[1:] - row * batch.length
    return [0, *(int(end) for end in ends[(ends > 0) & (ends <= batch.length)])]


def cut(layout, rank, count, begin, end):
    if layout == "contiguous":
        return np.array_split(np.arange(begin, end), count)[rank]
    chunks = np.array_split(np.arange(begin, end), 2 * count)
    return np.concatenate([chunks[rank], chunks[2 * count - 1 - rank]])


@pytest.mark.parametrize("layout", ["contiguous", "zigzag", "zigzag-documents"])
@pytest.mark.parametrize("name", ["windows", "mixture", "fit, aligned", "fim", "phases"])
def test_slices(data, name, layout):
    if (layout == "zigzag-documents") != (name == "fit, aligned"):
        pytest.skip("documents are cut that are aligned")
    plan, values = of_plan(data, name)
    outputs, count = ("places", "cu_seqlens", "ahead_labels"), 4
    whole = leat.Loader(plan, ROWS, outputs=outputs[:2], columns=columns(), framework="numpy")
    parts = [leat.Loader(plan, ROWS, outputs=outputs, ahead=3, columns=columns(), framework="numpy",
                         slice=(rank, count, layout)) for rank in range(count)]
    for _ in range(BATCHES):
        batch, sliced = next(whole), [next(part) for part in parts]
        wanted = expected(plan, values, batch)
        same(batch, wanted)
        for rank, row in itertools.product(range(count), range(ROWS)):
            ends = stretches(batch, row) if layout == "zigzag-documents" else [0, batch.length]
            mine = np.concatenate([cut(layout, rank, count, *bounds) for bounds in zip(ends, ends[1:])])
            same({column: sliced[rank][column][row] for column in wanted},
                 {column: array[row, mine] for column, array in wanted.items()})


@pytest.fixture(scope="module")
def driver():
    path = BUILD / "fake_cuda" / "libfake_cuda.so"
    if not path.exists():
        pytest.skip(f"there is no stand-in driver: {path}")
    return Driver(path)


@pytest.mark.parametrize("way", ["new", "buffers", "borrowed"])
@pytest.mark.parametrize("name", ["mixture", "fit", "documents", "phases", "fim"])
def test_device(data, driver, monkeypatch, name, way):
    plan, values = of_plan(data, name)
    device = StandIn(driver)
    monkeypatch.setitem(leat.frameworks.FRAMEWORKS, "stand-in", lambda device_: device)
    offences = driver.control.offences(True)
    options = dict(outputs=leat.Outputs(("inputs", "places"), borrow=way == "borrowed"), columns=columns())
    with driver.waiting():
        loader = leat.Loader(plan, ROWS, framework="stand-in", device=leat.Device("cuda", driver=driver.path),
                             buffers=True if way == "buffers" else None, **options)
    twin_of = leat.Loader(plan, ROWS, framework="numpy", buffers=True if way == "buffers" else None, **options)
    for _ in range(BATCHES):
        batch, host = next(loader), next(twin_of)
        wanted = expected(plan, values, host)
        for column, array in wanted.items():
            got = batch[column].numpy(device.current)
            assert np.array_equal(numbers(got), numbers(np.asarray(host[column]))), column
            inside = tuple(slice(size) for size in array.shape)
            assert np.array_equal(numbers(got[inside]), numbers(array)), column
        del batch
    with driver.waiting():
        loader.close()
    assert driver.control.offences(True) == offences, driver.control.offence()


def test_torch(data):
    torch = pytest.importorskip("torch")
    plan, values = of_plan(data, "mixture")
    leat_columns = [leat.Column("logprobs"), leat.Column("wide"), leat.Column("number")]
    with leat.Loader(plan, ROWS, columns=leat_columns, style="dict") as loader:
        batch = next(loader)
    assert list(batch) == ["inputs", "labels", "logprobs", "wide", "number"]
    assert (batch["logprobs"].dtype, batch["wide"].dtype, batch["number"].dtype) == (
        torch.float16, torch.bfloat16, torch.int64)
    with leat.Loader(plan, ROWS, columns="wide", framework="numpy") as loader:  # numpy has no bfloat16
        batch_of_numpy = next(loader)
        assert batch_of_numpy["wide"].dtype == np.uint16
        assert np.array_equal(batch["wide"].view(torch.uint16).numpy(), batch_of_numpy["wide"])


def test_resume(data):
    """A state says nothing of columns: a loader with others goes on from it, with the values of one that did not stop.
    """
    plan, values = of_plan(data, "mixture")
    plain = leat.Loader(plan, ROWS, framework="numpy")
    loader = leat.Loader(plan, ROWS, framework="numpy", columns=columns(), outputs="places")
    for _ in range(3):
        next(plain), next(loader)
    assert plain.state_dict() == loader.state_dict()
    again = leat.Loader(plan, ROWS, framework="numpy", columns=columns(), outputs="places", state=plain.state_dict())
    batch = next(again)
    same(batch, expected(plan, values, batch))
    assert np.array_equal(batch.places, next(loader).places)


def test_change(data, tmp_path):
    plan, values = of_plan(data, "mixture")
    loader = leat.Loader(plan, ROWS, framework="numpy", columns=columns(), outputs="places")
    next(loader)
    changed = plan.change(at=64, weights=[1, 5])
    loader.change(changed)
    for batch in itertools.islice(loader, 20):
        same(batch, expected(changed, values, batch))
    command("leat-bench-dev", "counting", "-o", tmp_path / "bare", "--tokens", 3000)
    added = changed.change(at=160, add=[(str(tmp_path / "bare"), 1)])
    with pytest.raises(leat.Error, match="bare has no column ids, nor any other"):
        loader.change(added)
    batch = next(loader)
    same(batch, expected(changed, values, batch))


@pytest.fixture
def copied(data, tmp_path):
    """A dataset of its own, to be damaged."""
    for path in data[0].glob("web*"):
        shutil.copy(path, tmp_path)
    return str(tmp_path / "web"), data[1]["web"]


def test_damage(copied):
    """A row of damaged values is one of damaged tokens: an error with file and page, or masked, and all others are
    right."""
    name, values = copied
    plan = leat.Plan(name, LENGTH, order="sequential", epochs=1)
    path = pathlib.Path(f"{name}.ids.column")
    bad = bytearray(path.read_bytes())
    bad[4096 * 3 + 17] ^= 4
    path.write_bytes(bad)
    first, end = 4096 * 3 // 12, -(-4096 * 4 // 12)  # tokens that have a byte of the page
    options = dict(framework="numpy", columns=columns(), outputs=("labels", "places"))
    with leat.Loader(plan, ROWS, **options) as loader, pytest.raises(leat.Error) as caught:
        for _ in loader:
            pass
    assert caught.value.status == "checksum" and caught.value.file == str(path)
    assert f"page 3 of {path} (tokens {first} to {end - 1}" in str(caught.value)
    seen = 0
    with leat.Loader(plan, ROWS, on_damage="mask", **options) as loader:
        for batch in loader:
            wanted = expected(plan, [values], batch)
            for row, sample in enumerate(batch.samples):
                if sample is None:
                    continue
                touched = sample.token < end and sample.token + LENGTH + 1 > first
                if batch.flags[row]:
                    seen += 1
                    assert touched and batch.flags[row] == 1
                    assert (batch.labels[row] == -100).all() and (batch.places[row] == -1).all()
                    assert (batch["ids"][row] == 0).all() and (batch["half"][row] == 0.5).all()
                else:
                    same({c: batch[c][row] for c in wanted}, {c: array[row] for c, array in wanted.items()})
        assert loader.stats()["rows_damaged"] == seen > 5


@pytest.mark.parametrize("engine", ["map", "pread", "uring"])
def test_truncated(copied, engine):
    """A file that shrinks while it is read is an error of the call."""
    name, _ = copied
    plan = leat.Plan(name, LENGTH, order="sequential", epochs=1, open=leat.Opening(access="read"))
    loader = leat.Loader(plan, ROWS, framework="numpy", columns="number", threads=0, io=leat.IO(engine=engine, slots=2))
    next(loader)
    path = pathlib.Path(f"{name}.number.column")
    with open(path, "r+b") as file:
        file.truncate(4096)
    with pytest.raises(leat.Error, match="number.column") as caught:
        for _ in loader:
            pass
    assert caught.value.status in ("truncated", "checksum")


def test_refused(data, tmp_path):
    folder, _ = data
    plan = leat.Plan([(str(folder / "web"), 1), (str(folder / "list"), 1)], LENGTH)
    for columns_, words in (
            ("idz", "web has no column idz; did you mean ids"), (leat.Column("byte", default=-1), "byte is u8, which"),
            (leat.Column("ids", default=0.5), "ids is u32"), (leat.Column("byte", widen=True), "only f16 and bf16"),
            (leat.Column("number", default=2.0**63), "does not hold")):
        with pytest.raises(leat.Error, match=words):
            leat.Loader(plan, ROWS, columns=columns_)
    for columns_, words in ((("ids", leat.Column("ids", at="labels")), "twice"), ("inputs", "name of an output"),
                            (3, "must be"), ((3,), "must be a str")):
        with pytest.raises((TypeError, ValueError), match=words):
            leat.Loader(plan, ROWS, columns=columns_)
    for wrong in (dict(at="tokens"), dict(default="x"), dict(default=2**70), dict(default=2**53 + 1), dict(widen=1)):
        with pytest.raises((TypeError, ValueError), match="leat.Column"):
            leat.Column("ids", **wrong)
    command("leat-bench-dev", "counting", "-o", tmp_path / "other", "--tokens", 3000)
    other = str(tmp_path / "other")
    mixed = [(str(folder / "web"), 1), (other, 1)]
    for kind, values, at, words in ((None, None, None, "other has no column byte, nor any other"),
                                    ("u16", np.zeros(3000, np.uint16), "token", "u8x1 .* u16x1 in .*other"),
                                    ("u8", np.zeros(len(leat.open(other)), np.uint8), "document", "per document")):
        if kind:
            leat.attach(other, "byte", kind, values, at=at, force=True)
        with pytest.raises(leat.Error, match=words):
            leat.Loader(leat.Plan(mixed, LENGTH), ROWS, columns="byte")
    with pytest.raises(leat.Error, match="batches have columns of tokens only"):
        leat.Loader(leat.Plan(other, LENGTH), ROWS, columns="byte")


def test_bench(data):
    """leat-bench counts the bytes of a column that it reads with each batch, as those of the bare loop."""
    web = data[0] / "web"
    load = "load", "--source", web, "--seq-len", LENGTH, "--batch", 4, "--steps", 5, "--rounds", 1, "--bare", "--json"
    for output, of_tokens in (("tokens", 2 * (LENGTH + 1)), ("i64", 16 * LENGTH)):
        found = json.loads(command("leat-bench", *load, "--output", output, "--column", "ids"))
        for run in (found, found["bare"]):
            assert round(run["gb_per_s"] * run["seconds"] * 1e9) == 4 * 5 * (of_tokens + LENGTH * 3 * 4)
