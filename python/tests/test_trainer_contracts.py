"""What leat.integrations.torchtitan, olmo_core, maxtext and megatron_bridge promise their trainers: keys, shapes and
types of batches, a state of what was given, not of what was read ahead, another number of ranks after it, the end of
finite sets, close().

Stand-ins take the place of the base classes and functions that the modules import, and of no trainer: the real ones
train in tests/trainers (make check-trainers)."""
import importlib
import itertools
import math
import sys
import types
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import leat

pytestmark = pytest.mark.filterwarnings("ignore::leat.LoaderNotice")
LENGTH, ROWS = 128, 4


@pytest.fixture()
def integration(monkeypatch):
    """Imports a module of leat.integrations over stand-ins: names with dots, and what the modules have."""
    def take(name, **modules):
        for path, names in modules.items():
            path = path.replace("__", ".")
            for end in itertools.accumulate(path.split("."), lambda a, b: f"{a}.{b}"):
                if not isinstance(sys.modules.get(end), Stand):
                    monkeypatch.setitem(sys.modules, end, Stand(end))
                    if "." in end:
                        setattr(sys.modules[end.rpartition(".")[0]], end.rpartition(".")[2], sys.modules[end])
            vars(sys.modules[path]).update(names)
        monkeypatch.delitem(sys.modules, f"leat.integrations.{name}", raising=False)
        module = importlib.import_module(f"leat.integrations.{name}")
        monkeypatch.delitem(sys.modules, f"leat.integrations.{name}")  # no other test gets it
        return module
    return take


class Stand(types.ModuleType):
    __path__ = ()


class File:
    """The token file of a dataset, and where its documents begin."""

    def __init__(self, name):
        self.tokens = np.fromfile(name + ".tokens", "<u2").astype(np.int64)
        self.starts = np.append(0, np.flatnonzero(self.tokens == leat.open(name).info.end_token)[:-1] + 1)
        self.windows = (len(self.tokens) - 1) // LENGTH

    def row(self, plan, n):
        """Inputs, labels, and of each place the number of its document in the row and how far in it is."""
        at = plan.order(n).window * LENGTH
        places = np.arange(at, at + LENGTH)
        documents = np.searchsorted(self.starts, places, side="right")
        return (self.tokens[places], self.tokens[places + 1], documents - documents[0],
                places - np.maximum(self.starts[documents - 1], at))

    def first(self, plan, n):
        """Labels that are the first token of a document."""
        at = plan.order(n).window * LENGTH
        return np.isin(np.arange(at + 1, at + LENGTH + 1), self.starts)


@pytest.fixture(scope="module")
def file(corpus):
    return File(corpus)


def samples(step, rank, world, first=0):
    begin = first + (step * world + rank) * ROWS
    return range(begin, begin + ROWS)


# ---- torchtitan: rows, or with main all of them in a line

@pytest.fixture(params=["0.3.0", "main"])
def titan(request, integration, corpus):
    class BaseDataLoader:
        @dataclass(kw_only=True, slots=True)
        class Config:
            pass

    path = {"0.3.0": "torchtitan__components__dataloader", "main": "torchtitan__components__data__loader"}
    module = integration("torchtitan", tyro__conf={"Suppress": None},
                         **{path[request.param]: {"BaseDataLoader": BaseDataLoader}})
    size = dict(seq_len=LENGTH, local_batch_size=ROWS) if request.param == "0.3.0" else dict(
        max_context_length=LENGTH, num_tokens_per_batch=ROWS * LENGTH)

    def make(rank, world, **config):
        return module.DataLoader(module.DataLoader.Config(dataset=corpus, **config), dp_world_size=world, dp_rank=rank,
                                 tokenizer=None, **size)
    make.shape = (ROWS, LENGTH) if request.param == "0.3.0" else (ROWS * LENGTH,)
    return make


def titan_batch(file, plan, batch, shape, numbers):
    (given, labels), rows = batch, [file.row(plan, n) for n in numbers]
    assert list(given) == ["input", "positions"]
    for tensor, expected in ((given["input"], [row[0] for row in rows]), (given["positions"], [row[3] for row in rows]),
                             (labels, [np.where(file.first(plan, n), -100, row[1]) for n, row in zip(numbers, rows)])):
        assert tensor.dtype == torch.int64 and tensor.shape == shape
        assert (tensor.reshape(-1, LENGTH)[:len(rows)].numpy() == np.reshape(expected, (-1, LENGTH))).all()
    assert (labels.reshape(-1, LENGTH)[len(rows):] == -100).all()


def test_torchtitan(file, titan):
    states = []
    for rank in range(2):
        loader = titan(rank, 2)
        for step, batch in enumerate(itertools.islice(loader, 3)):
            titan_batch(file, loader.loader.plan, batch, titan.shape, samples(step, rank, 2))
        states.append(loader.state_dict())
        loader.close()
        with pytest.raises(ValueError, match="closed"):
            next(iter(loader))
    assert states[0] == states[1]
    one = titan(0, 1)
    one.load_state_dict({})  # as torchtitan does without a checkpoint
    one.load_state_dict(states[1])
    for step, batch in enumerate(itertools.islice(one, 2)):
        titan_batch(file, one.loader.plan, batch, titan.shape, samples(step, 0, 1, 3 * 2 * ROWS))


@pytest.mark.parametrize("once", ["repeat", "infinite"])
def test_torchtitan_ends(file, titan, once):
    for rank in range(3):
        loader = titan(rank, 3, **{once: False})
        batches = list(loader)
        assert len(batches) == math.ceil(file.windows / (3 * ROWS)), "another number of batches than other ranks have"
        for step, batch in enumerate(batches):
            titan_batch(file, loader.loader.plan, batch, titan.shape,
                        [n for n in samples(step, rank, 3) if n < file.windows])


# ---- OLMo-core: sizes in tokens

class TextDataLoaderBase:
    """Counts what it gives, as OLMo-core's does."""

    def __init__(self, *, collator, work_dir, global_batch_size, dp_world_size, dp_rank, fs_local_rank):
        self._global_batch_size, self.dp_world_size, self.dp_rank = global_batch_size, dp_world_size, dp_rank
        self.batches_processed = self.tokens_processed = 0

    def __iter__(self):
        for batch in self._iter_batches():
            self.batches_processed += 1
            self.tokens_processed += self.global_batch_size
            yield batch

    def reset(self):
        self.batches_processed = self.tokens_processed = 0


class LMEvaluator:
    def __init__(self, *, name, batches, labels, device):
        self.batches = batches


@pytest.fixture()
def olmo(integration):
    return integration("olmo_core", olmo_core__data={"TextDataLoaderBase": TextDataLoaderBase, "DataCollator": dict},
                       olmo_core__eval__lm_evaluator={"LMEvaluator": LMEvaluator},
                       olmo_core__distributed__utils={"get_rank": lambda group: group[0], "get_fs_local_rank": int,
                                                      "get_world_size": lambda group: group[1]})


def olmo_batch(file, plan, batch, numbers):
    assert list(batch) == ["input_ids", "labels", "doc_lens", "max_doc_lens"]
    assert batch["input_ids"].shape == batch["labels"].shape == (len(numbers), LENGTH)
    assert batch["input_ids"].dtype == batch["labels"].dtype == torch.int64
    for number, n in enumerate(numbers):
        inputs, labels, documents, _ = file.row(plan, n)
        assert (batch["input_ids"][number].numpy() == inputs).all()
        assert (batch["labels"][number].numpy() == labels).all()
        lengths = np.bincount(documents)
        assert [length for length in batch["doc_lens"][number].tolist() if length] == lengths.tolist()
        assert batch["max_doc_lens"][number] == lengths.max()


def test_olmo_core(file, corpus, olmo):
    plan, states = leat.Plan(corpus, LENGTH, 3, epochs=1), []
    for rank in range(2):
        loader = olmo.DataLoader(plan, 2 * ROWS * LENGTH, work_dir="", dp_process_group=(rank, 2), doc_lens=True)
        loader.reshuffle(epoch=1)
        assert loader.total_batches == file.windows // (2 * ROWS)
        mock = loader.get_mock_batch()
        assert loader.batches_processed == 0 and mock["input_ids"].shape == (ROWS, LENGTH)
        given = iter(loader)
        for step in range(3):
            olmo_batch(file, plan, next(given), samples(step, rank, 2))
        assert loader.batches_processed == 3 and loader.tokens_processed == 3 * 2 * ROWS * LENGTH
        loader.global_batch_size = 4 * ROWS * LENGTH  # in the middle of the iteration
        begin = (3 * 2 + 2 * rank) * ROWS
        olmo_batch(file, plan, next(given), range(begin, begin + 2 * ROWS))
        states.append(loader.state_dict())
    assert states[0] == states[1]
    one = olmo.DataLoader(plan, ROWS * LENGTH, work_dir="", dp_process_group=(0, 1), doc_lens=True)
    one.load_state_dict(states[1])
    one.reshuffle(epoch=1)
    assert one.batches_processed == 10 and one.total_batches == file.windows // ROWS
    batches = list(one)
    olmo_batch(file, plan, batches[0], samples(10, 0, 1))
    assert len(batches) == one.total_batches - 10  # to the plan's end
    one.reset()
    with pytest.raises(ValueError, match="epochs=N"):
        one.reshuffle(epoch=2)
    one.reshuffle(epoch=1)
    olmo_batch(file, plan, next(iter(one)), samples(0, 0, 1))
    with pytest.raises(ValueError, match="no whole number of rows"):
        one.global_batch_size = LENGTH + 1


def test_olmo_core_evaluates(file, corpus, olmo):
    plan, counted = leat.Plan(corpus, LENGTH, order="sequential", epochs=1), 0
    for rank in range(3):
        evaluator = olmo.Evaluator("valid", plan, ROWS, dp_process_group=(rank, 3))
        for _ in range(2):  # each evaluation is whole
            batches = list(evaluator)
            assert len(batches) == math.ceil(file.windows / (3 * ROWS))
        for step, batch in enumerate(batches):
            assert list(batch) == ["input_ids", "label_mask", "metadata"]
            assert batch["input_ids"].shape == batch["label_mask"].shape == (ROWS, LENGTH + 1)
            assert batch["label_mask"].dtype == torch.bool and len(batch["metadata"]) == ROWS
            for row, n in enumerate(samples(step, rank, 3)):
                if n < file.windows:
                    assert (batch["input_ids"][row, :-1].numpy() == file.row(plan, n)[0]).all()
            counted += int(batch["label_mask"][:, 1:].sum())
    assert counted == file.windows * LENGTH


# ---- MaxText: six arrays

@pytest.fixture()
def maxtext(integration):
    host = types.SimpleNamespace(process=0, processes=1)
    module = integration("maxtext", grain__experimental={"ElasticIterator": object},
                         jax={"process_index": lambda: host.process, "process_count": lambda: host.processes},
                         maxtext__input_pipeline__multihost_dataloading={
                             "MultiHostDataLoadIterator": lambda rows, mesh: rows},
                         maxtext__input_pipeline__input_pipeline_interface={})
    module.host = host
    return module


def maxtext_batch(file, plan, batch, numbers):
    assert list(batch) == [f"{what}{more}" for what in ("inputs", "targets")
                           for more in ("", "_position", "_segmentation")]
    assert all(array.shape == (ROWS, LENGTH) and array.dtype == np.int32 for array in batch.values())
    for row, n in enumerate(numbers):
        inputs, labels, documents, positions = file.row(plan, n)
        learned = ~file.first(plan, n)
        for key, expected in (("inputs", inputs), ("inputs_position", positions), ("targets_position", positions),
                              ("inputs_segmentation", documents + 1), ("targets", labels * learned),
                              ("targets_segmentation", (documents + 1) * learned)):
            assert (batch[key][row] == expected).all(), key
    for key in ("targets_segmentation", "targets"):  # rows after the last one have no loss
        assert not batch[key][len(numbers):].any(), key


def test_maxtext(file, corpus, maxtext):
    config = types.SimpleNamespace(grain_train_files=corpus, grain_eval_files=corpus, num_epoch=2,
                                   max_target_length=LENGTH, data_shuffle_seed=3, enable_data_shuffling=True,
                                   vocab_size=2**32, steps=1)
    maxtext.use()
    interface, states = sys.modules["maxtext.input_pipeline.input_pipeline_interface"], []

    def made(kind, process, processes):
        maxtext.host.process, maxtext.host.processes = process, processes
        config.global_batch_size_to_load = config.global_batch_size_to_load_eval = processes * ROWS
        rows = getattr(interface, f"make_grain_{kind}_iterator")(config, None, list(range(processes)))
        return rows, rows.loader.plan

    for process in range(2):
        rows, plan = made("train", process, 2)
        for step in range(3):
            maxtext_batch(file, plan, next(rows), samples(step, process, 2))
        states.append(rows.get_state())
        rows.close()
        with pytest.raises(ValueError, match="closed"):
            next(rows)
    assert states[0] == states[1]
    rows, plan = made("train", 0, 1)
    rows.set_state(states[1])
    batches = list(rows)  # to the end of both epochs
    assert len(batches) == math.ceil(len(plan) / ROWS) - 6
    maxtext_batch(file, plan, batches[0], samples(6, 0, 1))
    for process in range(3):
        rows, plan = made("eval", process, 3)
        for _ in range(2):  # each evaluation is whole
            batches = list(rows)
            assert len(batches) == math.ceil(file.windows / (3 * ROWS))
        for step, batch in enumerate(batches):
            maxtext_batch(file, plan, batch, [n for n in samples(step, process, 3) if n < file.windows])
    # a model of fewer tokens, which trained without a word
    highest = max(int(batch["inputs"].max()) for batch in batches)
    for kind in ("train", "eval"):
        config.vocab_size = 1
        rows, _ = made(kind, 0, 1)
        with pytest.raises(ValueError, match="MaxText's vocab_size is 1: set vocab_size to at least"):
            next(rows)
        config.vocab_size = highest + 1
        rows, _ = made(kind, 0, 1)
        next(rows)
    # a plan that ends before MaxText's steps, after which MaxText saves nothing
    config.steps = math.ceil(2 * file.windows / ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", leat.LoaderNotice)
        made("train", 0, 1)
    config.steps += 1
    with pytest.warns(leat.LoaderNotice, match=f"use steps={config.steps - 1}"):
        made("train", 0, 1)


# ---- Megatron-Bridge: loaders of a dataset configuration

@pytest.fixture()
def bridge(integration):
    """Its module, and what micro batch size training has."""
    set_up = types.SimpleNamespace(rows=None)

    def get_micro_batch_size():
        if set_up.rows is None:
            raise AttributeError("'NoneType' object has no attribute 'get_micro_batch_size'")  # as megatron-core says
        return set_up.rows

    @dataclass
    class DatasetProvider:
        dataloader_type: object = None

    module = integration("megatron_bridge", megatron__bridge__data__base={"DatasetProvider": DatasetProvider},
                         megatron__core__num_microbatches_calculator={"get_micro_batch_size": get_micro_batch_size})
    module.set_up = set_up
    return module


def bridge_loaders(bridge, corpus, train, valid, rank=0, world=1, **fields):
    config = bridge.Packed(sources=corpus, seq_length=LENGTH, **{"micro_batch_size": ROWS, **fields})
    group = types.SimpleNamespace(rank=lambda: rank, size=lambda: world)
    return config.build_datasets(types.SimpleNamespace(
        train_samples=train, valid_samples=valid, tokenizer=types.SimpleNamespace(eod=0),
        pg_collection=types.SimpleNamespace(dp=group)))


def test_megatron_bridge_ends(corpus, bridge):
    """A plan that ends before training does is refused at once, and a validation set with an end begins again. Seen: a
    StopIteration without a word at the plan's end, after days, or in the second evaluation."""
    once = dict(options={"epochs": 1}, split="train=0.8,valid=0.2")
    train, valid, test = bridge_loaders(bridge, corpus, ROWS, ROWS, **once)
    count, evaluated = len(train.dataset), len(valid.dataset)
    assert test is None and count > evaluated > 2 * ROWS and evaluated % (2 * ROWS)
    with pytest.raises(ValueError, match=f"takes {count + 1} samples .* ends after {count}: lower train_iters"):
        bridge_loaders(bridge, corpus, count + 1, ROWS, **once)
    bridge_loaders(bridge, corpus, count, ROWS, **once)
    bridge_loaders(bridge, corpus, 10 * count, ROWS, split=once["split"])  # without an end
    shown = []
    for rank in range(2):
        _, valid, _ = bridge_loaders(bridge, corpus, ROWS, 10 * evaluated, rank, 2, **once)
        shown.append([next(valid) for _ in range(2 * math.ceil(evaluated / (2 * ROWS)))])
    for first, again in zip(*np.split(np.arange(len(shown[0])), 2)):
        for batches in shown:
            for key in ("tokens", "labels", "loss_mask"):
                assert (batches[first][key] == batches[again][key]).all(), key
    assert sum(int(batch["loss_mask"].sum()) for batches in shown for batch in batches) == 2 * evaluated * LENGTH


def test_megatron_bridge_rows(corpus, bridge):
    """Batches have the rows that training counts. Seen: a training configuration with other rows counted samples that
    it did not get; without evaluation, a valid part too short for a row was an error."""
    bridge_loaders(bridge, corpus, ROWS, 0)  # nothing is set up
    bridge.set_up.rows = ROWS
    bridge_loaders(bridge, corpus, ROWS, 0)
    with pytest.raises(ValueError, match=f"micro_batch_size is {ROWS + 1} .* and {ROWS} in the training"):
        bridge_loaders(bridge, corpus, ROWS, 0, micro_batch_size=ROWS + 1)
