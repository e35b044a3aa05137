"""leat.Loader with batches on a device: the same numbers as on the host, in the consumer's own memory, borrowed, or in
fixed buffers, on the stream that is current, and with captured graphs; nothing waits for the device but opening and
closing. On the stand-in driver, by a framework that is written for it (stand_in.py): what torch does with such batches
is looked at by the last test, where there is a GPU."""
import gc

import numpy as np
import pytest
import torch
from conftest import BUILD
from stand_in import CUDA, Array, Driver, StandIn

import leat
import leat.frameworks

ALL = leat.batch.PLAIN
ROWS, LENGTH = 4, 128


@pytest.fixture(scope="module")
def driver():
    path = BUILD / "fake_cuda" / "libfake_cuda.so"
    if not path.exists():
        pytest.skip(f"there is no stand-in driver: {path}")
    return Driver(path)


@pytest.fixture()
def device(driver, monkeypatch):
    """The framework; afterwards no rule has been broken, and nothing is left on the device."""
    made = StandIn(driver)
    monkeypatch.setitem(leat.frameworks.FRAMEWORKS, "stand-in", lambda device: made)
    gc.collect()
    before, _ = driver.control.live(), driver.control.offences(True)
    yield made
    gc.collect()
    assert driver.control.offences(True) == 0, driver.control.offence()
    assert driver.control.live() == before and driver.control.depth() == 0


@pytest.fixture(scope="module")
def plan(corpus):
    return leat.Plan(corpus, LENGTH, 5)


@pytest.fixture(scope="module")
def masked_plan(tmp_path_factory):
    """Over a dataset with weights."""
    name, rng = tmp_path_factory.mktemp("masked") / "data", np.random.default_rng(7)
    with leat.Packer(name, leat.Tokenizer("gpt2"), store_mask=True) as packer:
        for _ in range(400):
            length = rng.integers(1, 300)
            packer.add(rng.integers(0, 50256, length), mask=np.maximum(rng.random(length) * 2 - 1, 0))
    return leat.Plan(name, LENGTH, 5)


def opened(device, plan, *args, **options):
    with device.driver.waiting():
        options.setdefault("device", leat.Device("cuda", driver=device.driver.path))
        return leat.Loader(plan, *args, framework="stand-in", **options)


def closed(device, *loaders):
    with device.driver.waiting():
        for loader in loaders:
            loader.close()


def host(plan, *args, **options):
    return leat.Loader(plan, *args, framework="numpy", **options)


def same(device, batch, want, stream=None):
    for name in want.keys():
        got = batch[name].numpy(device.current if stream is None else stream)
        assert got.dtype == want[name].dtype and np.array_equal(got, want[name]), name


@pytest.fixture(params=["default stream", "own stream"])
def stream(request, driver, device):
    """Which one is current."""
    if request.param == "own stream":
        device.current = driver.make_stream()
        yield device.current
        driver.drop_stream(device.current)
        device.current = None
    else:
        yield None


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("threads", [0, 1])
def test_numbers(device, stream, plan, dtype, threads):
    """And what is kept keeps its numbers, when the loader is closed too."""
    outputs = leat.Outputs(ALL, dtype=dtype)
    loader, want = opened(device, plan, ROWS, outputs=outputs, threads=threads), host(plan, ROWS, outputs=outputs)
    assert loader.stats()["device"].startswith("cuda:0")
    kept = []
    for _ in range(30):
        batch, expected = next(loader), next(want)
        same(device, batch, expected)
        assert (batch.cursor, batch.samples) == (expected.cursor, expected.samples)
        kept.append((batch, {name: array.copy() for name, array in expected.items()}))
    state = loader.state_dict()
    closed(device, loader)
    for batch, expected in kept:
        same(device, batch, expected)
    again = opened(device, plan, ROWS, state=state)
    assert again.cursor == 30 * ROWS and next(again).position == 30 * ROWS
    closed(device, again)


@pytest.mark.parametrize("borrow", [False, True])
def test_masks(device, masked_plan, borrow):
    options = dict(outputs=leat.Outputs(("labels", "loss_mask", "loss_weights", "source_ids"), unshifted=borrow,
                                        borrow=borrow), source_weights={0: 1 / 3})
    loader, want = opened(device, masked_plan, ROWS, **options), host(masked_plan, ROWS, **options)
    for _ in range(20):
        batch, expected = next(loader), next(want)
        assert 0 < expected.loss_mask.sum() < expected.loss_mask.size
        assert ((expected.loss_weights > 0) == expected.loss_mask).all() and len(np.unique(expected.loss_weights)) > 50
        same(device, batch, expected)
        if borrow:
            batch.release()
            expected.release()
    with device.driver.waiting():  # for the last reference to the loader
        loader.close()
        del batch
        gc.collect()


def test_streams_change(device, driver, plan):
    """Each batch on the stream that is current when it is taken; it is read there, without waiting for another one."""
    streams = [driver.make_stream() for _ in range(3)]
    loader, want = opened(device, plan, ROWS), host(plan, ROWS)
    taken = []
    for k in range(40):
        device.current = streams[k % 3]
        taken.append((next(loader), streams[k % 3]))
    for batch, stream in taken:
        same(device, batch, next(want), stream)
    closed(device, loader)
    for stream in streams:
        driver.drop_stream(stream)
    device.current = None


@pytest.mark.parametrize("threads", [0, 1])
def test_borrowed(device, stream, plan, threads):
    loader = opened(device, plan, ROWS, outputs=leat.Outputs(ALL, borrow=True, max_sequences=60), threads=threads,
                    io=leat.IO(slots=3))
    want = host(plan, ROWS, outputs=leat.Outputs(ALL, max_sequences=60))
    for k in range(40):
        batch = next(loader)
        same(device, batch, next(want))
        if k % 3 == 0:
            batch.release()
            batch.release()
    del batch
    closed(device, loader)
    del loader


@pytest.mark.parametrize("mine", [False, True])
def test_buffers(device, stream, plan, corpus, mine):
    """Always the same addresses, shorter batches padded; buffers of another form are refused."""
    finite = leat.Plan(corpus, LENGTH, 5, epochs=1)
    shape = (ROWS, LENGTH)
    given = {"inputs": Array(device.driver, shape, "int32"), "labels": Array(device.driver, shape, "int32"),
             "loss_mask": Array(device.driver, shape, "bool")} if mine else True
    options = dict(outputs=leat.Outputs(("inputs", "labels", "loss_mask"), dtype="int32"), position=len(finite) - 9)
    loader = opened(device, finite, ROWS, buffers=given, **options)
    want = host(finite, ROWS, buffers=True, **options)
    addresses = set()
    for batch in loader:
        same(device, batch, next(want))
        addresses.add(tuple(array.address for array in batch))
    assert batch.rows == 1 and len(addresses) == 1
    if mine:
        assert addresses == {tuple(array.address for array in given.values())}
        given["labels"] = Array(device.driver, shape, "int64")
        with pytest.raises(ValueError, match="labels"):
            opened(device, finite, ROWS, buffers=given, **options)
    closed(device, loader)


def test_captured_graphs(device, driver, plan):
    """A step that reads fixed buffers is captured once, and launched for each batch that is written to them."""
    stream = device.current = driver.make_stream()
    loader, want = opened(device, plan, ROWS, buffers=True, outputs="inputs"), host(plan, ROWS, outputs="inputs")
    fixed = next(loader).inputs  # as programs warm up
    result = Array(driver, fixed.shape, fixed.kind)
    driver.begin_capture(stream)
    driver.copy(result, fixed, stream)
    graph, drop = driver.end_capture(stream)
    assert np.array_equal(fixed.numpy(stream), next(want).inputs)
    for _ in range(40):
        next(loader)
        driver.launch(graph, stream)
        assert np.array_equal(result.numpy(stream), next(want).inputs)
    closed(device, loader)
    drop()
    del fixed, result, loader
    driver.drop_stream(stream)
    device.current = None


def test_no_batch_into_a_capture(device, driver, plan):
    """It is refused with the reason, and comes when the capture is over: none is lost."""
    stream = device.current = driver.make_stream()
    loader = opened(device, plan, ROWS, buffers=True)
    next(loader)
    driver.begin_capture(stream)
    for _ in range(3):
        with pytest.raises(leat.Error, match="captured") as error:
            next(loader)
        assert error.value.status == "state" and loader.cursor == ROWS
        del error
    driver.end_capture(stream)[1]()
    want = host(plan, ROWS, position=ROWS)
    for k in range(1, 20):
        batch = next(loader)  # nothing was opened anew: that waits for the device
        assert batch.position == k * ROWS == loader.cursor - ROWS
        same(device, batch, next(want))
    closed(device, loader)
    del batch, loader
    driver.drop_stream(stream)
    device.current = None


def test_failures(device, driver, plan, tmp_path):
    """Of the device, while opening and while running: leat.Error, and closing works."""
    device.library_device = "cuda:7"
    with pytest.raises(leat.Error, match='no GPU "7"') as error:
        opened(device, plan, ROWS)
    assert error.value.status == "unsupported"
    device.library_device = "cuda:0"
    with pytest.raises(leat.Error, match="none.so") as error:
        leat.Loader(plan, ROWS, framework="stand-in", device=leat.Device("cuda", driver=tmp_path / "none.so"))
    assert error.value.status == "unsupported"
    with pytest.raises(leat.Error, match="is for a GPU") as error:
        host(plan, ROWS, device=leat.Device(driver=driver.path))
    assert error.value.status == "argument"
    del error
    loader = opened(device, plan, ROWS)
    next(loader)
    driver.control.fail_call(3, 700, True)
    with pytest.raises(leat.Error) as error:
        for _ in range(100):
            next(loader)
    assert error.value.status == "device" and "CUDA_ERROR_ILLEGAL_ADDRESS" in str(error.value)
    del error
    driver.control.fail_call(0, 0, False)
    closed(device, loader)


def test_no_leak(device, driver, plan):
    """Thousands of batches, kept for a while: what lives on the device stays as much."""
    loader = opened(device, plan, 1, outputs=ALL)
    kept, most = [], 0
    for k in range(2000):
        kept.append(next(loader))
        del kept[:-3]
        if k == 100:
            most = driver.control.live()
        assert k <= 100 or driver.control.live() <= most + 1
    closed(device, loader)
    kept.clear()


def test_torch(plan):
    """On a GPU: what the tests above look at, with torch's tensors, streams and graphs."""
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    want = [{k: torch.from_numpy(v.copy()) for k, v in next(batches).items()}
            for batches in [host(plan, ROWS, outputs=leat.Outputs(ALL, max_sequences=60))] for _ in range(40)]

    def equal(batch, expected):
        return all(batch[name].device.type == "cuda" and torch.equal(batch[name].cpu(), expected[name]) for name in ALL)

    side = torch.cuda.Stream()
    for form in ("", "borrow", "buffers"):
        options = dict(outputs=leat.Outputs(ALL, max_sequences=60, borrow=form == "borrow"), buffers=form == "buffers")
        for stream in (torch.cuda.default_stream(), side):
            with torch.cuda.stream(stream), leat.Loader(plan, ROWS, device="cuda", **options) as loader:
                assert all(equal(next(loader), expected) for expected in want)
    with leat.Loader(plan, ROWS, device="cuda", outputs=leat.Outputs(ALL, max_sequences=60)) as loader:
        kept = [next(loader) for _ in want]
    assert all(map(equal, kept, want))
    with leat.Loader(plan, ROWS, device="cuda", buffers=True, outputs="inputs") as loader:
        fixed = next(loader).inputs
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = fixed * 2
        for expected in want[1:]:
            next(loader)
            graph.replay()
            assert torch.equal(result.cpu(), 2 * expected["inputs"])
    assert CUDA == kept[0].inputs.__dlpack_device__()[0]
