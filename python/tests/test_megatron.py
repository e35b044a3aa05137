"""leat.integrations.megatron beside megatron-core itself: the items of GPTDataset and BlendedDataset for training,
validation and test under all settings of masks, positions and padding, and the batches that a DataLoader with
Megatron's sampler makes of them. Skipped where megatron-core is not installed; `make check-megatron` installs it."""
import itertools
import logging
import random
import types

import numpy as np
import pytest

import leat

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core.datasets.gpt_dataset", exc_type=ImportError)

from leat.integrations import megatron  # noqa: E402
from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder  # noqa: E402
from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig  # noqa: E402
from megatron.core.datasets.indexed_dataset import IndexedDatasetBuilder  # noqa: E402
from megatron.core.datasets.utils import Split  # noqa: E402

logging.getLogger("megatron").setLevel(logging.ERROR)
END, PAD = 0, 7
LENGTH = 24


def tokenizer(**more):
    """What a GPTDatasetConfig asks of one."""
    return types.SimpleNamespace(vocab_size=1000, eod=END, unique_identifiers={"class": "none"}, **more)


TOKENIZERS = {
    "none": tokenizer(), "own": tokenizer(pad=PAD), "end": tokenizer(pad=END),
    "named": tokenizer(pad=PAD, special_tokens_dict={"pad_token": PAD, "eos_token": END}),
    "shared": tokenizer(pad=PAD, special_tokens_dict={"pad_token": PAD, "bos_token": PAD}),
}


@pytest.fixture(scope="module")
def prefixes(tmp_path_factory):
    """Three datasets as Megatron's preprocess_data.py writes them, with end tokens and tokens that may be padding."""
    r, found = random.Random(24), []
    for name in ("web", "code", "math"):
        found.append(str(tmp_path_factory.mktemp("megatron") / name))
        builder = IndexedDatasetBuilder(found[-1] + ".bin", dtype=np.uint16)
        for _ in range(60):
            document = [r.choice([PAD, r.randint(1, 999)]) for _ in range(r.choice([1, 5, 20, 90]))] + [END]
            builder.add_document(document, [len(document)])
        builder.finalize(found[-1] + ".idx")
    return found


def config_of(**more):
    given = dict(random_seed=1234, sequence_length=LENGTH, split="8,1,1", reset_position_ids=False,
                 reset_attention_mask=False, eod_mask_loss=False, create_attention_mask=True, tokenizer=tokenizer())
    return GPTDatasetConfig(**{**given, **more})


def both(config, sizes):
    """Megatron's datasets and leat's, for training, validation and test."""
    theirs = BlendedMegatronDatasetBuilder(GPTDataset, sizes, lambda: True, config).build()
    return theirs, megatron.build(sizes, lambda: True, config)


def item_of(dataset, n):
    """Megatron's item n. What it keeps of the first item that a process reads is thrown away: the loss mask among it
    has the padding of that item, which would then be missing from all others."""
    for one in getattr(dataset, "datasets", [dataset]):
        one.masks_and_position_ids_are_cached = False
    return dataset[n]


def same(got, want, where):
    assert list(got) == list(want), where
    for key, value in want.items():
        mine = got[key]
        assert type(mine) is type(value) and mine.dtype == value.dtype, (where, key)
        assert mine.shape == value.shape and (mine == value).all(), (where, key, mine, value)
        assert not torch.is_tensor(mine) or mine.is_contiguous(), (where, key)


def compare(theirs, mine, where):
    assert len(theirs) == len(mine), where
    for n in (*range(len(theirs)), -1):
        same(mine[n], item_of(theirs, n), (*where, n))


@pytest.mark.parametrize("pad", TOKENIZERS)
@pytest.mark.parametrize("positions, attention, mask_end", list(itertools.product([False, True], repeat=3)))
@pytest.mark.filterwarnings("ignore:the tokenizer uses token", "ignore:The pad token id")
def test_settings(prefixes, pad, positions, attention, mask_end):
    for ambiguous, create in ((False, True), (True, False)):
        config = config_of(blend=(prefixes[:1], None), tokenizer=TOKENIZERS[pad], reset_position_ids=positions,
                           reset_attention_mask=attention, eod_mask_loss=mask_end, create_attention_mask=create,
                           allow_ambiguous_pad_tokens=ambiguous)
        theirs, mine = both(config, [None, None, None])
        same(mine[0][None], item_of(theirs[0], None), (ambiguous, "None"))
        compare(theirs[0], mine[0], (ambiguous, "train"))


BLENDS = {
    "one": (0, dict(), [150, 20, None]),
    "one weighted": (1, dict(weights=[3.0]), [100, 7, 5]),
    "lengths": (3, dict(), [None, None, None]),
    "lengths up to": (3, dict(), [90, 5, 1]),
    "weights": (3, dict(weights=[0.5, 0.2, 1e-05 + 0.3]), [200, 30, 9]),
    "no test": (3, dict(weights=[30.0, 70.0, 1.0], split="99,1,0"), [150, 11, 0]),
}


@pytest.mark.parametrize("name", BLENDS)
def test_blends(prefixes, name):
    count, given, sizes = BLENDS[name]
    given = dict(given)
    config = config_of(blend=(prefixes[:count or 1], given.pop("weights", None)), **given, create_attention_mask=False)
    for use, theirs, mine in zip(Split, *both(config, sizes)):
        if theirs is None:
            assert mine is None
            continue
        compare(theirs, mine, (name, use))
        assert mine.split == use and "samples for " + use.name in repr(mine)


def test_a_blend_for_each_use(prefixes):
    blends = [(prefixes, [1.0, 2.0, 3.0]), (prefixes[1:], None), (prefixes[:1], [0.5])]
    config = config_of(split=None, blend_per_split=blends)
    for use, theirs, mine in zip(Split, *both(config, [120, 30, 10])):
        compare(theirs, mine, (use,))
    # several datasets for validation, each by itself and whole
    config = config_of(split=None, blend_per_split=[blends[0], (prefixes, None), None], multiple_validation_sets=True,
                       full_validation=True)
    theirs, mine = both(config, [120, None, None])
    assert mine[2] is None and theirs[2] is None and len(mine[1]) == 3
    for one, other in zip(theirs[1], mine[1]):
        compare(one, other, ("valid",))


def sampler(samples, consumed, rows, rank, world):
    """What Megatron's MegatronPretrainingSampler gives; test_from_megatron.py has the original."""
    for first in range(consumed, samples - rows * world + 1, rows * world):
        yield list(range(first + rank * rows, first + (rank + 1) * rows))


def batches(dataset, *where):
    """Those of a DataLoader over Megatron's dataset."""
    return torch.utils.data.DataLoader([item_of(dataset, n) for n in range(len(dataset))],
                                       batch_sampler=list(sampler(len(dataset), *where)))


@pytest.mark.parametrize("rank, world, rows, consumed", [(0, 1, 3, 0), (1, 2, 4, 0), (2, 3, 2, 18), (0, 2, 5, 7),
                                                         (3, 4, 1, 100)])
def test_loader(prefixes, rank, world, rows, consumed):
    config = config_of(blend=(prefixes, [1.0, 0.5, 0.25]), reset_position_ids=True, reset_attention_mask=True,
                       eod_mask_loss=True, tokenizer=TOKENIZERS["own"])
    (theirs, *_), (mine, *_) = both(config, [110, 10, 10])
    with megatron.loader(mine, rows, consumed, rank=rank, world=world) as loader:
        want = list(batches(theirs, consumed, rows, rank, world))
        assert len(loader) == len(want) > 0
        for step, batch in enumerate(want):
            same(next(loader), batch, step)
            assert loader.consumed_samples == consumed + (step + 1) * rows * world
        assert next(loader, None) is None
    # Megatron's own DataLoader takes the dataset too
    got = torch.utils.data.DataLoader(mine, batch_sampler=list(sampler(len(mine), consumed, rows, rank, world)))
    for step, (batch, other) in enumerate(zip(got, want, strict=True)):
        same(batch, other, step)


def test_loader_of_one_source(prefixes):
    config = config_of(blend=(prefixes[:1], None), create_attention_mask=False)
    (_, theirs, _), (_, mine, _) = both(config, [None, 10, None])
    options = dict(rank=0, world=1)
    with megatron.loader(mine, 2, restart=True, **options) as loader:  # as for a validation that is whole
        for _ in range(2):
            for step, (batch, want) in enumerate(zip(loader, batches(theirs, 0, 2, 0, 1), strict=True)):
                same(batch, want, step)
    with megatron.loader(mine, 1, rank=1, world=2, last="short") as loader:
        assert len(loader) == len(mine) // 2
    assert megatron.loader(None, 2, **options) is None
    assert [len(one) for one in megatron.loader([mine, mine], 2, 2, **options)] == [len(mine) // 2 - 1] * 2


@pytest.mark.parametrize("world, rows, cycle", [(1, 2, 1), (1, 2, 4), (2, 2, 3), (2, 20, 2)])
def test_cycle(prefixes, world, rows, cycle):
    """Each pass has a whole number of steps, and each prediction of the set once."""
    config = config_of(blend=(prefixes[:1], None), create_attention_mask=False)
    dataset = megatron.build([None, 10, None], lambda: True, config)[1]
    loaders = [megatron.loader(dataset, rows, rank=rank, world=world, cycle=cycle) for rank in range(world)]
    count = len(loaders[0])
    assert count % cycle == 0 and 0 <= count * rows * world - len(dataset) < cycle * rows * world
    for _ in range(3):
        got = []
        for batches in [[next(loader) for loader in loaders] for _ in range(count)]:
            for batch in batches:
                got += [row for row, mask in zip(batch["tokens"], batch["loss_mask"]) if mask.any()]
        assert len(got) == len(dataset)
        assert all(torch.equal(row, dataset[n]["tokens"]) for n, row in enumerate(got))
    with pytest.raises(ValueError, match="leave consumed_samples out"):
        megatron.loader(dataset, rows, 2, rank=0, world=1, cycle=cycle)


def test_rank_is_megatrons(prefixes, monkeypatch):
    from megatron.core import parallel_state
    monkeypatch.setattr(parallel_state, "get_data_parallel_rank", lambda: 1)
    monkeypatch.setattr(parallel_state, "get_data_parallel_world_size", lambda: 2)
    mine = megatron.build([None, 0, 0], lambda: True, config_of(blend=(prefixes[:1], None)))[0]
    assert torch.equal(next(megatron.loader(mine, 2))["tokens"],
                       next(megatron.loader(mine, 2, rank=1, world=2))["tokens"])
    with pytest.raises(TypeError, match="both or none"):
        megatron.loader(mine, 2, rank=1)


def test_what_is_not_built(prefixes):
    config = config_of(blend=(prefixes[:1], None))
    assert megatron.build([1, 1, 1], lambda: False, config) == [None] * 3
    assert [d is None for d in megatron.build([None, 0, None], lambda: True, config)] == [False, True, False]
    mine = megatron.build([None, 0, 0], lambda: True, config)[0]
    for n in (len(mine), -len(mine) - 1):
        with pytest.raises(IndexError, match=f"no sample {n}"):
            mine[n]
    for name, value in (("add_extra_token_to_sequence", False), ("drop_last_partial_validation_sequence", False),
                        ("hybrid_context_parallel", True)):
        with pytest.raises(ValueError, match=name):
            megatron.build([1, 1, 1], lambda: True, config_of(blend=(prefixes[:1], None), **{name: value}))
    with pytest.raises(ValueError, match="mock"):
        megatron.build([1, 1, 1], lambda: True, config_of(split=None))


def test_ambiguous_padding_is_said(prefixes):
    with pytest.warns(UserWarning, match="token 7 for padding and for something else"):
        megatron.build([1, 0, 0], lambda: True, config_of(blend=(prefixes[:1], None),
                                                               tokenizer=TOKENIZERS["shared"]))
