"""leat.Loader: its batches are, bit for bit, what `leat order` and the token files say, whatever the framework, the
form and the world size; its states; what it does with damage."""
import json
import os

import numpy as np
import pytest
import torch
from conftest import ROOT, command
from reference import Reference

import leat

ALL = leat.batch.PLAIN


def numbers(array):
    return np.asarray(array)


def equal(batch, want, names, dtype="int64"):
    for name in names:
        got = numbers(batch[name])
        kinds = {"cu_seqlens": "int32", "loss_weights": "float32"}
        kind = "bool" if name.endswith("mask") else kinds.get(name, dtype)
        assert got.dtype == kind, (name, got.dtype)
        assert np.array_equal(got, want[name]), name


@pytest.fixture(scope="module")
def reference(corpus):
    starts = leat.open(corpus).starts()[:-1].astype(np.int64)
    return Reference([corpus], ["--source", corpus, "--seq-len", 512, "--seed", 5], starts=[starts])


@pytest.fixture(scope="module")
def plan(corpus):
    return leat.Plan(corpus, 512, 5)


# ---- The numbers


@pytest.mark.parametrize("framework, dtype", [("torch", "int64"), ("torch", "int32"), ("numpy", "int64"),
                                              ("numpy", "int32"), ("jax", "int32")])
@pytest.mark.parametrize("threads", [0, 1, 4])
def test_numbers(plan, reference, framework, dtype, threads):
    with leat.Loader(plan, 6, outputs=leat.Outputs(ALL, dtype=dtype), framework=framework, threads=threads) as loader:
        for k in range(8):
            batch, want = next(loader), reference.batch(6 * k, 6)
            equal(batch, want, ALL, dtype)
            assert (batch.number, batch.position, batch.cursor) == (k, 6 * k, 6 * k + 6)
            assert batch.max_seqlen == np.diff(want["cu_seqlens"]).max()
            assert batch.sequences + 1 == len(want["cu_seqlens"])
            assert batch.samples == plan.order(6 * k, 6)


def test_numbers_of_wide_tokens(wide):
    reference = Reference([wide], ["--source", wide, "--seq-len", 100], "<u4")
    loader = leat.Loader(leat.Plan(wide, 100), 3, outputs=leat.Outputs(dtype=torch.int32))
    for k in range(5):
        equal(next(loader), reference.batch(3 * k, 3), ("inputs", "labels"), "int32")


def read_cold(name, apart):
    """Ten batches of a file that is not in memory, and how many bytes the CPU copied; None: it cannot be told."""
    plan = leat.Plan(name, 512)
    with open(name + ".tokens", "rb") as file:  # behind opening, which brings what is small to memory
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    loader = leat.Loader(plan, 16, framework="numpy", io=leat.IO(engine="uring", apart=apart), notices=False)
    batches = [next(loader).inputs for _ in range(10)]
    stats = loader.stats()
    return batches, stats["copied_bytes"] if stats["engine"] == "uring" else None


def test_apart(tmp_path):
    """leat-bench had --apart, and leat.Loader had no such option."""
    name = str(tmp_path / "cold")
    command("leat-bench-dev", "counting", "-o", name, "--tokens", "32M")
    always, copied = read_cold(name, "always")
    never, copied_by_cpu = read_cold(name, "never")
    assert np.array_equal(always, never)
    if copied is None or not copied_by_cpu:
        pytest.skip("no io_uring here, or files stay in memory")
    assert copied < copied_by_cpu / 4  # the rest: what the kernel had read ahead


def test_ranks(plan, reference):
    loaders = [leat.Loader(plan, 2, rank=r, world=3) for r in range(3)]
    for k in range(5):
        want = reference.batch(6 * k, 6)["inputs"]
        assert np.array_equal(np.concatenate([next(loader).inputs for loader in loaders]), want)


def test_unshifted_and_masked(plan, reference):
    want = reference.batch(0, 60)
    unshifted = next(leat.Loader(plan, 60, outputs=leat.Outputs(unshifted=True)))
    assert np.array_equal(unshifted.labels, np.hstack([want["inputs"], want["labels"][:, -1:]]))
    assert np.array_equal(unshifted.inputs, unshifted.labels)
    masked = next(leat.Loader(plan, 60, outputs=leat.Outputs(("labels", "loss_mask"), mask_first=True)))
    first = want["begins"][:, 1:]
    assert first.any()
    assert np.array_equal(masked.labels, np.where(first, -100, want["labels"]))
    assert np.array_equal(masked.loss_mask, ~first)


def test_styles(plan, reference):
    want = reference.batch(0, 4)
    inputs, labels = next(leat.Loader(plan, 4, style="tuple"))
    assert np.array_equal(inputs, want["inputs"]) and np.array_equal(labels, want["labels"])
    both = next(leat.Loader(plan, 4, style="dict", outputs=["labels", "inputs"]))
    assert list(both) == ["labels", "inputs"] and np.array_equal(both["labels"], want["labels"])
    hf = next(leat.Loader(plan, 4, style="huggingface"))
    assert list(hf) == ["input_ids", "labels", "position_ids", "use_cache"]
    assert np.array_equal(hf["input_ids"][:, :-1], want["inputs"])
    assert np.array_equal(hf["input_ids"][:, 1:], want["labels"])
    hf = next(leat.Loader(plan, 4, style="huggingface", outputs=["inputs", "shift_labels", "position_ids"]))
    assert list(hf) == ["input_ids", "shift_labels", "labels", "position_ids", "use_cache"]
    assert np.array_equal(hf["input_ids"], want["inputs"]) and (hf["labels"] == -100).all()
    assert np.array_equal(hf["shift_labels"], np.where(want["begins"][:, 1:], -100, want["labels"]))
    batch = next(leat.Loader(plan, 4))
    assert dict(**batch).keys() == {"inputs", "labels"} and len(batch) == 2
    moved = batch.to(torch.int32)
    assert moved.inputs.dtype == torch.int32 and moved.cursor == batch.cursor
    with pytest.raises(KeyError):
        batch["loss_mask"]


# ---- Whose memory it is


def test_tensors_keep_their_values(plan, reference):
    """Whatever is kept, and for how long, and in which order it goes."""
    loader = leat.Loader(plan, 3)
    kept = [next(loader) for _ in range(50)]
    inputs = [b.inputs for b in kept]
    del kept[::3], inputs[1::2]
    for _ in range(60):
        next(loader)
    for batch in kept:
        assert np.array_equal(batch.labels, reference.batch(3 * batch.number, 3)["labels"])
    loader.close()
    del loader, kept
    assert np.array_equal(inputs[0], reference.batch(0, 3)["inputs"])


def test_tensors_are_torchs_own(plan):
    """They can be changed, pinned to autograd, and outlive everything."""
    inputs, labels = next(leat.Loader(plan, 3))
    inputs += 1
    assert (inputs[:, 1:] == labels[:, :-1] + 1).all()
    table = torch.nn.Embedding(50258, 4)
    table(inputs).sum().backward()
    assert inputs.is_contiguous() and inputs.data_ptr() % 64 == 0


def test_memory_is_used_again(plan):
    """A batch that is dropped gives its memory to a later one."""
    loader = leat.Loader(plan, 64)
    addresses = set()
    for _ in range(100):
        addresses.add(next(loader).inputs.data_ptr())
    assert len(addresses) <= 4


@pytest.mark.parametrize("framework", ["torch", "numpy"])
def test_borrowed(plan, reference, framework):
    loader = leat.Loader(plan, 4, outputs=leat.Outputs(ALL, borrow=True, max_sequences=100), framework=framework)
    for k in range(40):
        batch, want = next(loader), reference.batch(4 * k, 4) if k < 10 else None
        if want:
            count = len(want["cu_seqlens"])
            want["cu_seqlens"] = np.append(want["cu_seqlens"], [4 * 512] * (101 - count))
            equal(batch, want, ALL)
        if k % 3 == 0:
            batch.release()
            batch.release()
        last = batch
    inputs = last.inputs
    loader.close()
    del loader, last, batch
    numbers(inputs).sum()  # it has no meaning any more, but is memory all the same


def test_borrowed_does_not_stop_the_ring(plan):
    """Each batch goes back when the next one is taken: no number of them exhausts the slots."""
    loader = leat.Loader(plan, 1, outputs=leat.Outputs(borrow=True), io=leat.IO(slots=2), threads=0)
    for _ in range(100):
        next(loader)


@pytest.mark.parametrize("framework", ["torch", "numpy"])
def test_buffers(plan, reference, framework):
    loader = leat.Loader(plan, 4, buffers=True, framework=framework, outputs=leat.Outputs(ALL, max_sequences=50))
    first = next(loader)
    for k in range(1, 10):
        batch, want = next(loader), reference.batch(4 * k, 4)
        assert all(batch[name] is first[name] for name in ALL)
        want["cu_seqlens"] = np.append(want["cu_seqlens"], [4 * 512] * (51 - len(want["cu_seqlens"])))
        equal(batch, want, ALL)


def test_own_buffers(plan, reference):
    mine = {"inputs": torch.empty(4, 512, dtype=torch.int32), "labels": torch.empty(4, 512, dtype=torch.int32)}
    loader = leat.Loader(plan, 4, buffers=mine, outputs=leat.Outputs(dtype="int32"))
    batch = next(loader)
    assert batch.inputs is mine["inputs"]
    equal(batch, reference.batch(0, 4), ("inputs", "labels"), "int32")
    narrow = {"dtype": torch.int32}
    for wrong in (torch.empty(4, 512), torch.empty(4, 511, **narrow), torch.empty(512, 4, **narrow).T):
        with pytest.raises(ValueError, match="buffer"):
            leat.Loader(plan, 4, buffers={**mine, "labels": wrong}, outputs=leat.Outputs(dtype="int32"))
    with pytest.raises(ValueError, match="labels"):
        leat.Loader(plan, 4, buffers={"inputs": mine["inputs"]}, outputs=leat.Outputs(dtype="int32"))


def test_buffers_pad_what_is_short(corpus):
    """A last batch of fewer rows, and phases of another length, in buffers of one shape."""
    plan = leat.Plan(corpus, 64, base_len=256, phases=[(64, [1], 256)], epochs=1)
    loader = leat.Loader(plan, 50, buffers=True, outputs=("inputs", "labels", "loss_mask"))
    count = 0
    for batch in loader:
        assert batch.inputs.shape == (50, 256)
        assert int(batch.loss_mask.sum()) == sum(batch.lengths)
        assert (batch.labels[~batch.loss_mask] == -100).all()
        count += batch.rows
    assert count == len(plan)


# ---- Ends


@pytest.mark.parametrize("last", ["short", "padded", "dropped"])
@pytest.mark.parametrize("world", [1, 2])
def test_ends(corpus, last, world):
    plan = leat.Plan(corpus, 512, epochs=1)
    total, lengths = len(plan), []
    for rank in range(world):
        loader = leat.Loader(plan, 7, rank=rank, world=world, last=last, outputs=("inputs", "loss_mask"))
        expected = len(loader)
        batches = list(loader)
        assert len(batches) == expected
        with pytest.warns(leat.LoaderNotice, match="gives its samples again"):
            assert len(loader) == expected and [b.cursor for b in loader] == [b.cursor for b in batches]
        lengths.append([b.rows for b in batches])
        if last == "padded":
            flags = batches[-1].flags
            assert [not row.any() for row in batches[-1].loss_mask] == [f == 2 for f in flags]
            assert [s is None for s in batches[-1].samples] == [f == 2 for f in flags]
    rows = sum(map(sum, lengths))
    if last == "short":
        assert rows == total
    elif last == "padded":
        assert rows == -(-total // (7 * world)) * 7 * world
    else:
        assert rows == total // (7 * world) * 7 * world
    with pytest.raises(TypeError, match="no end"):
        len(leat.Loader(leat.Plan(corpus, 512), 7))


def test_restart(corpus):
    plan = leat.Plan(corpus, 512, epochs=1)
    loader = leat.Loader(plan, 50, position=100, restart=True)
    first = [b.cursor for b in loader]
    assert first[0] == 150 and [b.cursor for b in loader] == first and len(loader) == len(first)
    for batch in loader:
        break
    assert next(iter(loader)).cursor == 150
    loader.close()
    with pytest.raises(ValueError, match="closed"):
        next(iter(loader))
    onward = leat.Loader(plan, 50)
    for batch in onward:
        break
    assert next(iter(onward)).cursor == 100


@pytest.mark.parametrize("steps", [None, 3])
@pytest.mark.parametrize("restart", [None, True])
def test_length_of_a_resumed_pass(corpus, steps, restart):
    """Trainers count from a pass's first batch, so they were misled by what was left of it. A state of the end of a
    pass: its `for` is empty, and the next one was empty too, with restart."""
    plan = leat.Plan(corpus, 512, epochs=1)
    size = len(plan) // 5 + 1
    first = leat.Loader(plan, size, steps=steps, restart=restart)
    whole = len(first)
    assert whole == (steps or 5)
    for taken, _ in enumerate(first, 1):
        again = leat.Loader(plan, size, steps=steps, restart=restart, state=first.state_dict())
        assert len(again) == len(iter(again)) == whole
        assert len(list(again)) == whole - taken
        if restart or not steps:
            assert len(again) == len(list(again)) == whole
        else:
            assert len(again) == len(list(again)) == min(steps, 5 - steps)


def test_a_plan_that_ended_begins_again(corpus):
    """`for epoch in range(3)` over a finite plan trained one epoch, and the other two had no batches without a word."""
    plan = leat.Plan(corpus, 512, epochs=2)
    size = len(plan) // 7
    whole = [b.cursor for b in leat.Loader(plan, size)]
    loader, passes = leat.Loader(plan, size, steps=3), []
    with pytest.warns(leat.LoaderNotice, match="gives its samples again"):
        for _ in range(5):
            expected = len(loader)
            passes.append([b.cursor for b in loader])
            assert len(passes[-1]) == expected
    assert passes == [whole[:3], whole[3:6], whole[6:], whole[:3], whole[3:6]]


def test_restart_false(corpus):
    plan = leat.Plan(corpus, 512, epochs=1)
    loader = leat.Loader(plan, 50, restart=False)
    assert list(loader) and len(loader) == 0
    with pytest.raises(ValueError, match="the plan has ended, after"):
        iter(loader)


def test_no_batch_at_all(corpus):
    """An empty `for`, after which a mean over no batches failed far from its cause."""
    plan = leat.Plan(corpus, 512, epochs=1)
    with pytest.raises(ValueError, match="less than a global batch of .*last=\"padded\""):
        iter(leat.Loader(plan, len(plan) + 1, last="dropped"))
    with pytest.raises(ValueError, match="less than a global batch"):
        iter(leat.IterableDataset(plan, len(plan) // 2 + 1, rank=0, world=2, last="dropped"))
    assert list(leat.Loader(plan, 2, last="dropped", position=len(plan))) == []  # as it was asked for


@pytest.mark.parametrize("steps", [None, 3])
def test_a_state_knows_whether_its_pass_has_ended(corpus, steps):
    """Saved after the last batch, but before its `for` has ended, a state gives that pass the rest, which is nothing.
    Saved after the `for`, it begins the next pass: that one was empty too, and an epoch lost without a word."""
    plan = leat.Plan(corpus, 512, epochs=1)
    loader = leat.Loader(plan, len(plan) // 5 + 1, steps=steps, notices=False)
    for batch in loader:
        within = loader.state_dict()
    after = loader.state_dict()
    want = [b.cursor for b in loader]
    assert want and "ended" in after and "ended" not in loader.state_dict(after=loader.cursor)
    resumed = leat.Loader(plan, loader.batch_size, steps=steps, notices=False, state=within)
    assert [[b.cursor for b in resumed] for _ in range(2)] == [[], want]
    resumed.load_state_dict(after)
    assert len(resumed) == len(want) and [b.cursor for b in resumed] == want


# ---- Checkpoints


def test_state(plan, reference):
    loader = leat.Loader(plan, 6)
    assert loader.state_dict()["position"] == 0
    for _ in range(7):
        batch = next(loader)
    state = json.loads(json.dumps(loader.state_dict()))  # plain text and numbers
    assert state["position"] == batch.cursor == loader.cursor == 42
    for again in (leat.Loader(plan, 6, state=state), leat.Loader(plan, 6), loader):
        again.load_state_dict(state)
        for k in range(7, 12):
            equal(next(again), reference.batch(6 * k, 6), ("inputs", "labels"))


def test_state_after_a_batch(plan):
    """Programs that take batches ahead save the one that they trained on."""
    loader = leat.Loader(plan, 6)
    trained = next(loader)
    next(loader), next(loader)
    assert loader.state_dict(after=trained)["position"] == 6 == loader.state_dict(after=6)["position"]
    assert loader.state_dict(after=trained) == leat.Loader(plan, 6, state=loader.state_dict(after=6)).state_dict()


def test_state_of_another_plan(plan, corpus):
    state = leat.Loader(plan, 6, position=60).state_dict()
    for other in (leat.Plan(corpus, 512, 6), leat.Plan(corpus, 256, 5), leat.Plan([corpus, corpus], 512, 5)):
        with pytest.raises(leat.Error) as error:
            leat.Loader(other, 6, state=state)
        assert error.value.status == "checkpoint"


# ---- Damage


@pytest.fixture()
def damaged(corpus, tmp_path):
    for end in (".leat", ".tokens"):
        with open(corpus + end, "rb") as file:
            content = bytearray(file.read())
        if end == ".tokens":
            content[200000] ^= 1
        (tmp_path / ("damaged" + end)).write_bytes(content)
    return str(tmp_path / "damaged")


def test_damage(damaged):
    plan = leat.Plan(damaged, 512, epochs=1)
    with pytest.raises(leat.Error) as error:
        for _ in leat.Loader(plan, 8):
            pass
    assert error.value.status == "checksum" and "damaged.tokens" in str(error.value)
    loader = leat.Loader(plan, 8, on_damage="mask", outputs=("labels", "loss_mask"))
    hurt = 0
    for batch in loader:
        hurt += batch.damaged_rows
        for row, flag in enumerate(batch.flags):
            assert bool(flag == 1) == bool((batch.labels[row] == -100).all())
    assert hurt == batch.damaged >= 1 and loader.stats()["rows_damaged"] == hurt
    state = loader.state_dict()
    assert plan.load_state(state["state"])[1] == hurt
    with pytest.raises(StopIteration):
        next(leat.Loader(plan, 8, on_damage="mask", state=state))
    again = leat.Loader(plan, 8, on_damage="mask", state=leat.Loader(plan, 8, position=8).state_dict(after=batch))
    assert again.state_dict()["state"] == state["state"]


@pytest.mark.parametrize("name, greatest, of", [("token_not_below_vocabulary.tokens", 300, 300),
                                                ("token_not_below_vocabulary_u32.tokens", 100277, 100277),
                                                ("elsewhere_token_not_below_vocabulary.bin", 50257, 50257)])
def test_ids_above_the_vocabulary(name, greatest, of):
    """Datasets whose sums fit, with an id that is not below the vocabulary size: it reached training."""
    path = ROOT / "tests/golden/invalid" / name
    plan = leat.Plan(str(path.with_suffix("")), 2, epochs=1, order="sequential")
    with pytest.raises(leat.Error) as error:
        for _ in leat.Loader(plan, 1):
            pass
    assert error.value.status == "token" and error.value.file == str(path)
    assert f"{name} (document 0) is {greatest}, not below the vocabulary size {of}" in str(error.value)
    batches = list(leat.Loader(plan, 1, on_damage="mask"))
    assert batches[0].flags[0] == 1 and (batches[0].labels == -100).all() and batches[-1].damaged > 0
    assert max(int(batch.inputs.max()) for batch in batches) < of
    batches = list(leat.Loader(plan, 1, io=leat.IO(verify=False)))
    assert max(int(batch.inputs.max()) for batch in batches) == greatest
