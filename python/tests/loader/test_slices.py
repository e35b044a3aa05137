"""Slices of rows (context parallelism) and labels further ahead: leat.Loader(slice=, ahead=).

The slices of all ranks are the whole row, for each output: compared with whole rows that are cut by the functions of
Megatron and torch themselves where they can be imported, and by a rule of three lines here. Labels further ahead are
compared with Megatron's rolled labels where those are right. tests/loader/test_loader_slices.c tries all orders."""
import itertools

import numpy as np
import pytest
import torch

import leat

ALL = leat.batch.PLAIN
LAYOUTS = "contiguous", "zigzag", "zigzag-documents"
LENGTH = 96


def places(layout, rank, count, row, ends):
    """Which places of `row` places belong to a rank; `ends`: of the row's documents and of the padding after them."""
    if layout == "contiguous":
        return np.arange(row // count * rank, row // count * (rank + 1))
    stretches = [(0, row)] if layout == "zigzag" else list(zip([0, *ends[:-1]], ends))
    chosen = []
    for begin, end in stretches:
        chunks = np.arange(begin, end).reshape(2 * count, -1)
        chosen += [chunks[rank], chunks[2 * count - 1 - rank]]
    return np.concatenate(chosen)


def loaded(plan, rows, batches, **options):
    options.setdefault("outputs", ALL)
    with leat.Loader(plan, rows, framework="numpy", last="padded", **options) as loader:
        return [{name: np.array(value) for name, value in dict(batch.items()).items()}
                for batch, _ in zip(loader, range(batches))]


def ends_of(whole, row):
    """Where the stretches of a row of a batch end, in places of the row."""
    length = whole["inputs"].shape[1]
    ends = whole["cu_seqlens"][1:] - row * length
    return [int(end) for end in ends[(ends > 0) & (ends <= length)]]


def check_slices(plan, layout, count, rows=4, batches=3, **options):
    """Compares the slices of all ranks with whole rows; returns these."""
    whole = loaded(plan, rows, batches, **options)
    slices = [loaded(plan, rows, batches, slice=(rank, count, layout), **options) for rank in range(count)]
    for k, batch in enumerate(whole):
        length = batch["inputs"].shape[1]
        for rank in range(count):
            got = slices[rank][k]
            assert got.keys() == batch.keys()
            for name, value in batch.items():
                if name == "cu_seqlens":  # of the whole rows, as the kernels take them
                    assert np.array_equal(got[name], value), (name, rank)
                    continue
                by_row = (-1, value.shape[-2], length)
                for row in range(value.shape[-2]):
                    wanted = value.reshape(by_row)[:, row, places(layout, rank, count, length, ends_of(batch, row))]
                    found = got[name].reshape(-1, value.shape[-2], length // count)[:, row]
                    assert np.array_equal(found, wanted), (name, rank, row)
    return whole, slices


# ---- The slices are the row


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 16])
def test_documents_of_a_row(counting, count):
    plan = leat.Plan(counting, 2 * count * 40, seed=4, order=leat.fit(align=2 * count), epochs=1)
    for layout in LAYOUTS:
        check_slices(plan, layout, count, batches=6, ahead=3, outputs=ALL + ("ahead_labels",))


def test_ranks_and_resume(counting):
    """A rank of the data has slices of its rows, and a state continues under another number of ranks and slices."""
    plan = leat.Plan(counting, LENGTH, seed=9)
    want = loaded(plan, 12, 6, outputs=("inputs",))
    for world in (1, 2, 3, 4, 6):
        for rank in range(world):
            loader = leat.Loader(plan, 12 // world, rank=rank, world=world, slice=(1, 3, "zigzag"), framework="numpy")
            for _ in range(3):
                next(loader)
            state = loader.state_dict()
            again = leat.Loader(plan, 12, state=state, slice=(0, 2, "contiguous"), framework="numpy")
            assert np.array_equal(next(again).inputs, want[3]["inputs"][:, :LENGTH // 2])


def test_refused(counting):
    plan = leat.Plan(counting, 100)
    for what, options, words in (
            ("a length that does not divide", dict(slice=(0, 8, "zigzag")), "96"),
            ("a length that does not divide", dict(slice=(0, 3, "contiguous")), "99"),
            ("needs documents that are aligned", dict(slice=(0, 2, "zigzag-documents")), "align")):
        with pytest.raises(leat.Error, match=words):
            leat.Loader(plan, 4, **options)
    for wrong in ((0, 2), (0, 2, "spiral"), "zigzag", (0, 0, "zigzag"), (-1, 2, "zigzag"), (2, 2, "zigzag")):
        with pytest.raises((TypeError, ValueError), match="slice"):
            leat.Loader(plan, 4, slice=wrong)
    for asked in (dict(outputs=("inputs", "labels")), dict(style="huggingface")):  # once they were left out silently
        with pytest.raises(ValueError, match="output ahead_labels"):
            leat.Loader(plan, 4, ahead=3, **asked)


# ---- The rules of others


class Group:
    """What Megatron asks of a group of processes."""

    def __init__(self, rank, count):
        self._rank, self._count = rank, count

    def rank(self):
        return self._rank

    def size(self):
        return self._count


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", [2, 4, 8])
def test_megatron(counting, count, monkeypatch):
    utils = pytest.importorskip("megatron.core.utils")
    monkeypatch.setattr(utils, "get_pg_size", Group.size)  # its own ask torch.distributed, and none runs here
    monkeypatch.setattr(utils, "get_pg_rank", Group.rank)
    plan = leat.Plan(counting, 16 * count, seed=3)
    names = "inputs", "labels", "loss_mask", "position_ids"
    whole, slices = check_slices(plan, "zigzag", count, outputs=names + ("cu_seqlens",))
    for batch, rank in itertools.product(range(3), range(count)):
        cut = utils.get_batch_on_this_cp_rank({name: torch.from_numpy(whole[batch][name]) for name in names},
                                              Group(rank, count))
        for name in names:
            assert np.array_equal(slices[rank][batch][name], cut[name]), name


@pytest.mark.parametrize("count", [2, 4, 8])
def test_torch(counting, count):
    balancers = pytest.importorskip("torch.distributed.tensor.experimental._context_parallel._load_balancer")
    plan = leat.Plan(counting, 32 * count, order=leat.fit(align=2 * count), epochs=1)
    length = plan.seq_len
    for layout in LAYOUTS[1:]:
        whole, slices = check_slices(plan, layout, count, rows=2)
        for k, row in itertools.product(range(3), range(2)):
            ends = ends_of(whole[k], row)
            lengths = np.diff([0, *ends]).tolist()
            order = (balancers._HeadTailLoadBalancer(length, count, "cpu") if layout == "zigzag" else
                     balancers._PerDocumentHeadTailLoadBalancer([lengths], count, "cpu"))._generate_indices()
            order = np.asarray(order).reshape(-1)
            for rank in range(count):
                mine = order[length // count * rank:length // count * (rank + 1)]
                assert np.array_equal(slices[rank][k]["inputs"][row], whole[k]["inputs"][row, mine])
                assert np.array_equal(slices[rank][k]["labels"][row], whole[k]["labels"][row, mine])


# ---- Labels further ahead


@pytest.mark.filterwarnings("ignore")
def test_megatron_rolls(counting):
    """Megatron rolls the labels of a row, and puts 0 after them: equal up to a row's last `ahead` places, where leat
    has the tokens that follow."""
    prediction = pytest.importorskip("megatron.core.transformer.multi_token_prediction")
    plan, ahead = leat.Plan(counting, 64, seed=8), 3
    (batch,) = loaded(plan, 4, 1, ahead=ahead, outputs=("labels", "ahead_labels"))
    rolled = torch.from_numpy(batch["labels"])
    for j in range(ahead):
        rolled, _ = prediction.roll_tensor(rolled, shifts=-1, dims=-1)
        assert np.array_equal(batch["ahead_labels"][j][:, :64 - 1 - j], rolled[:, :64 - 1 - j])
        assert (rolled[:, 64 - 1 - j:] == 0).all() and (batch["ahead_labels"][j][:, 64 - 1 - j:] >= 0).all()
