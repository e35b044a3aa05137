"""Each parameter of what a program calls gets, in turn, values that it cannot mean. There is a result, or an error of
leat's own with a sentence about the argument: never one that speaks of the program ("object has no attribute").

What was found: AttributeError, ZeroDivisionError, KeyError, IndexError, OverflowError without a sentence, of
leat.Mixture, leat.Plan, leat.integrations.megatron and others."""
import itertools
import math
import re
import types

import pytest
from conftest import command

import leat
from leat.integrations import automodel, megatron, modded_nanogpt
from leat.ranks import rank_and_world

HOSTILE = (None, True, -1, 2**63, 1.5, math.nan, "", "x", [], {}, object(), b"x")
KINDS = (ValueError, TypeError, IndexError, OSError, leat.Error)  # IndexError: of items
OF_PYTHON = re.compile(
    r"object has no|object is not|object does not|not supported between|unsupported operand|cannot be interpreted|"
    r"invalid literal|Invalid literal|not iterable|not subscriptable|indices must|expected (str|int|at least)|"
    r"argument \d|argument must|must be (str|int|real)\b|unhashable|unpack|"
    r"is not callable|can't|codec|bytes-like|Error\(|has no len|too large to|embedded null|both arguments|"
    r"not a mapping|required for|literal for|positional argument|sequence item|convert|wrong type")


@pytest.fixture(scope="module")
def made(corpus, tmp_path_factory):
    """What the calls below take."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("a", "b"):
        command("leat-bench-dev", "counting", "-o", folder / name, "--tokens", 20000, "--document-length", 50)
    plan = leat.Plan({str(folder / "a"): 1, str(folder / "b"): 2}, 64, epochs=1)
    loader = leat.Loader(plan, 4, framework="numpy", threads=0)
    batch = next(loader)
    documents = plan.documents()
    config = dict(sequence_length=64, tokenizer=types.SimpleNamespace(eod=0, pad=-1), reset_position_ids=False,
                  reset_attention_mask=False, eod_mask_loss=False, create_attention_mask=True,
                  allow_ambiguous_pad_tokens=False, blend=([str(folder / "a")], None), blend_per_split=None,
                  split="969,30,1", split_matrix=[(0, .969), (.969, .999), (.999, 1)], random_seed=1,
                  multiple_validation_sets=False, mid_level_dataset_surplus=0.005)
    return types.SimpleNamespace(**{**locals()})


def calls(m):
    """A name, what is called, and arguments that it takes."""
    plan, name = m.plan, str(m.folder / "a")
    numbers = itertools.count()

    def fresh():
        return str(m.folder / f"made{next(numbers)}")

    def mixture(**options):
        return leat.Mixture(plan, fresh(), **options)

    def packed(method, **how):
        with leat.Packer(fresh(), "bytes", store_mask=True) as packer:
            return getattr(packer, method)(**how)

    def pushed(method, **how):
        run = leat.Run(fresh(), "bytes")
        try:
            return getattr(run, method)(**how)
        finally:
            run.abort()

    def of_config(**how):
        return megatron.build([None] * 3, lambda: True, types.SimpleNamespace(**how))

    def nanogpt(**how):
        return modded_nanogpt.Batches(**{**batches, **how})

    def next_of(made):
        return next(iter(made))

    def loaded(**state):
        return leat.Loader(plan, 4, framework="numpy", threads=0, state=state)

    def iterable(**how):
        return next_of(leat.IterableDataset(**how))

    def of_stateful(steps, last, workers, names, worker):
        return leat.IterableDataset(plan, 4).load_state_dict({"_steps_since_snapshot": steps, "_snapshot": {
            "_last_yielded_worker_id": last, "_main_snapshot": {"_num_workers": workers},
            "_worker_snapshots": names and {"worker_0": {"dataset_state": worker}}}})

    dataset = megatron.Dataset(plan, types.SimpleNamespace(**m.config))
    batches = dict(files=name, num_tokens=256, max_seq_len=64, grad_accum_steps=1, align_to_bos=False,
                   bigram_hash=None, row=None, order="fit", seed=42, device="cpu", state=None)
    state = m.loader.state_dict()
    trace = dict(document=None, epochs=None, until=None, step=None, batch=None, samples=None)
    yield "ramp", leat.ramp, dict(from_=[1, 2], to=[2, 1], start=0, end=5000, shape="linear", step=None, digits=4)
    yield "Mixture", leat.Mixture, dict(plan=plan, log=fresh(), every=1, digits=4, state=None, replay=False, group=None)
    yield "Mixture.add", lambda **how: mixture().add(**how), dict(batch=m.batch, losses=[1.0] * 4)
    yield "Mixture.add", lambda loss: mixture().add(m.batch, [1, 2, 3, loss]), dict(loss=1.0)
    yield "Mixture.step", lambda **how: mixture().step(**how), dict(loader=m.loader, decide=lambda *given: given[0])
    yield "decide", lambda given: mixture().step(m.loader, lambda *_: given), dict(given={f"{m.folder}/a": 1,
                                                                                          f"{m.folder}/b": 2})
    yield "decide", lambda given: mixture().step(m.loader, lambda *_: {f"{m.folder}/a": 1, f"{m.folder}/b": given}), \
        dict(given=1)
    yield "Mixture.state_dict", lambda **how: mixture().state_dict(**how), dict(loader=m.loader)
    yield "state of a Mixture", lambda **state: mixture(state=state), mixture().state_dict(m.loader)
    yield "ranks", rank_and_world, dict(rank=0, world=1, ranks=None)
    yield "ranks", lambda **pair: rank_and_world(None, None, tuple(pair.values())), dict(rank=0, world=1)
    yield "Plan", leat.Plan, dict(sources=[name], seq_len=64, seed=1, base_len=None, split=None, use=None, phases=[],
                                  skip=[], order="shuffled", epochs=1, fim=None, stop="all", stretch=4096, mix=2,
                                  lanes=1, open=leat.Opening())
    yield "source", lambda **how: leat.Plan([tuple(how.values())], 64), dict(name=name, weight=1, epochs=1)
    yield "phase", lambda **how: leat.Plan(name, 64, phases=[tuple(how.values())]), dict(start=5, weights=[1],
                                                                                        seq_len=64)
    yield "skip", lambda **how: leat.Plan(name, 64, skip=[tuple(how.values())]), dict(first=5, end=7)
    yield "FIM", lambda **how: leat.Plan(name, 64, fim=leat.FIM(**how)), dict(rate="0.5", spm="0.5", prefix=1,
                                                                             middle=2, suffix=3)
    yield "fit", lambda **how: leat.Plan(name, 64, order=leat.fit(**how)), dict(
        max_per_row=4, min_length=2, max_length=90, cut_length=80, align=2, overlap=None, begin=False)
    yield "Plan.parse", leat.Plan.parse, dict(text=plan.text, skip=(), epochs=None, label="plan", open=leat.Opening())
    yield "Plan.load", leat.Plan.load, dict(path=m.path, skip=(), epochs=None, open=leat.Opening())
    yield "Plan.change", plan.change, dict(at=5, weights=None, add=(), stop=(), seq_len=None)
    yield "Plan.change", lambda weight: plan.change(5, weights=[1, weight]), dict(weight=1)
    yield "Plan.change_place", plan.change_place, dict(n=5)
    yield "Plan.replay", plan.replay, dict(text="leat changes 1\nat 8:1,1\n", label="changes")
    yield "Plan.documents", plan.documents, dict(max_length=None)
    yield "Plan.by_tokens", m.documents.by_tokens, dict(max_tokens=512, max_rows=None, pool=None)
    yield "Plan.order", plan.order, dict(n=5, count=3)
    yield "Plan.samples", plan.samples, dict(position=5, count=3)
    for method in ("pieces", "position"):
        yield f"Plan.{method}", getattr(plan, method), dict(n=5)
    yield "Plan.number", plan.number, dict(position=5)
    yield "Plan.fit_report", plan.fit_report, dict(seq_len=64, source=0)
    for given in (dict(document=(0, 3), epochs=1, until=100), dict(step=1, batch=4), dict(samples=(3, 5))):
        yield "Plan.trace", plan.trace, {**trace, **given}
    yield "trace", lambda **how: plan.trace(document=tuple(how.values())), dict(source=0, number=3)
    yield "trace", lambda **how: plan.trace(samples=tuple(how.values())), dict(first=0, end=3)
    yield "Plan.state", plan.state, dict(position=5, damaged=0)
    yield "Plan.load_state", plan.load_state, dict(text=plan.state(5))
    yield "state of a Loader", loaded, {**state, "ended": False}
    yield "state of a StatefulDataLoader", of_stateful, dict(steps=1, last=0, workers=1, names=True, worker=state)
    yield "Loader", leat.Loader, dict(
        plan=plan, batch_size=4, max_tokens=None, pool=None, rank=0, world=1, ranks=None, balance=None, deal=None,
        outputs=("inputs", "loss_weights"), ignore_index=-100, style="batch", framework="numpy", device="cpu",
        buffers=None, last=None, position=0, state=None, restart=None, steps=None, on_damage="error", io=leat.IO(),
        slice=None, ahead=0, source_weights=None, threads=0, notices=False)
    yield "Outputs", lambda **how: leat.Loader(plan, 4, framework="numpy", outputs=leat.Outputs(**how)), dict(
        names=("inputs",), dtype="int64", unshifted=False, mask_first=None, mask_row_first=False, mask_begin=False,
        borrow=False, max_sequences=None)
    yield "IO", lambda **how: leat.Loader(plan, 4, framework="numpy", io=leat.IO(**how)), dict(
        engine="auto", apart="auto", verify=True, slots=0, memory=0, numa_node=-1)
    yield "Loader.change", lambda **how: leat.Loader(plan, 4, framework="numpy").change(**how), dict(plan=plan,
                                                                                                    group=None)
    yield "IterableDataset", iterable, dict(plan=plan, batch_size=4, rank=0, world=1, ranks=None, style="dict",
                                            position=0, last=None, framework="numpy")
    yield "IterableDataset", lambda **how: len(leat.IterableDataset(plan, 4, **how)), dict(
        position=0, last=None, balance=None, deal=None)
    yield "IterableDataset.load_state_dict", leat.IterableDataset(plan, 4).load_state_dict, dict(state=state)
    yield "IterableDataset.change", leat.IterableDataset(plan, 4).change, dict(plan=plan, group=None)
    yield "MapDataset", leat.MapDataset, dict(plan=plan, samples=10, dtype=m.dtype, outputs=("inputs",),
                                              mask_first=False)
    yield "MapDataset[]", leat.MapDataset(plan).__getitem__, dict(position=5)
    yield "MapDataset[]", lambda **how: leat.MapDataset(plan).__getitems__(**how), dict(positions=[5])
    yield "GrainSource", leat.GrainSource, dict(plan=plan, samples=10, outputs=("inputs",), mask_first=False)
    yield "GrainSource[]", lambda n: leat.GrainSource(plan)[n], dict(n=5)
    yield "DataModule", leat.DataModule, dict(plan=plan, batch_size=4, valid=None, valid_batch_size=None, steps=None)
    yield "automodel", automodel.Dataset, dict(name=name, seq_len=64, seed=0, documents=False, rank=0, world=1)
    yield "automodel.shard", automodel.Dataset(name, 64).shard, dict(count=2, index=1)
    yield "megatron.order", lambda **how: leat.Plan(name, 64, order=megatron.order(**how)), dict(
        samples=100, mid_level_dataset_surplus=0.005)
    yield "megatron.build", megatron.build, dict(sizes=[None] * 3, is_built_on_rank=lambda: True,
                                                 config=types.SimpleNamespace(**m.config))
    yield "megatron config", lambda **how: of_config(**{**m.config, **how}), {
        key: value for key, value in m.config.items() if key != "split_matrix"}  # Megatron's own, of the split
    yield "megatron.Dataset", megatron.Dataset, dict(plan=plan, config=types.SimpleNamespace(**m.config), use="train",
                                                     blends=None)
    yield "megatron.Dataset[]", lambda n: dataset[n], dict(n=5)
    yield "megatron.Loader", megatron.Loader, dict(dataset=dataset, micro_batch_size=4, consumed_samples=0, rank=0,
                                                   world=1, cycle=None)
    yield "megatron.loader", megatron.loader, dict(dataset=dataset, micro_batch_size=4, consumed_samples=0, rank=0,
                                                   world=1)
    yield "modded_nanogpt", nanogpt, batches
    yield "modded_nanogpt.send", lambda settings: nanogpt().send(settings), dict(settings=(256, 64, 1))
    yield "modded_nanogpt.send", lambda **how: nanogpt().send(tuple(how.values())), dict(
        num_tokens=256, max_seq_len=64, grad_accum_steps=1)
    yield "Packer", lambda **how: leat.Packer(**{"output": fresh(), **how}).abandon(), dict(
        output=fresh(), tokenizer="bytes", end="auto", begin="auto", special=False, invalid_utf8="replace", threads=1,
        memory=None, max_rejects="1%", allow_binary=False, resume=False, force=False, created=None,
        checkpoint_seconds=None, store_mask=False, write="auto", chat=None, keep=(), allow_empty=False)
    yield "Packer.add", lambda **how: packed("add", **how), dict(document="text", id="a", source=None, mask=None)
    yield "Packer.extend", lambda **how: packed("extend", **how), dict(
        documents=[{"text": "a"}], text="text", id="id", source=None, skip=0, nulls="error", mask=None)
    yield "Packer.checkpoint", lambda **how: packed("checkpoint", **how), dict(note="")
    yield "Run", lambda **how: leat.Run(**{"output": fresh(), **how}).abort(), dict(
        output=fresh(), tokenizer="bytes", text="text", id="id", mask=None, end="auto", begin="auto", special=False,
        invalid_utf8="replace", memory=None, max_rejects="1%", allow_binary=False, force=False, append=False,
        created=None, store_mask=False, write="auto", chat=None, keep=(), allow_empty=False, split=None)
    yield "Run.part", lambda **how: pushed("part", **how).abandon(), dict(key="a", threads=1, memory=None, scratch=None)
    yield "Run.commit", lambda pieces: pushed("commit", pieces=pieces), dict(pieces=None)


def outcome(call, given):
    """None, or what is wrong with the error that the call raises."""
    try:
        result = call(**given)
    except KINDS as error:
        words = str(error)
        return None if len(words.split()) > 2 and not OF_PYTHON.search(words) else f"{type(error).__name__}: {words}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    getattr(result, "close", int)()
    return None


def test_hostile_arguments(made, monkeypatch, tmp_path):
    import torch
    monkeypatch.chdir(tmp_path)
    made.dtype, made.path = torch.int64, made.folder / "plan"
    made.path.write_text(made.plan.text)
    wrong = {}
    for what, call, given in calls(made):
        if what != "Run.commit":
            assert outcome(call, given) is None, (what, outcome(call, given))
        for name, value in itertools.product(given, HOSTILE):
            said = outcome(call, {**given, name: value})
            if said is not None:
                wrong.setdefault((what, name), []).append(f"{value!r}: {said}")
    assert not wrong, "\n".join(f"{what}({name}), {len(said)} values, first {said[0]}" for (what, name), said in
                                wrong.items())
