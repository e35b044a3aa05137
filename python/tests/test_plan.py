"""leat.Plan: its samples, texts, traces and states are those of the command."""
import json
import pickle
from decimal import Decimal

import numpy as np
import pytest
from conftest import command

import leat
from leat.integrations import megatron


@pytest.fixture(scope="module")
def both(corpus):
    """The same plan as arguments of leat.Plan and of the command."""
    return dict(sources=[(corpus, 0.7), (corpus, Decimal("0.3"), 3)], seq_len=64, base_len=128, seed=11,
                phases=[(3200, [1, 2.5], 128)], skip=[(100, 150), (7, 8)]), [
        "--source", f"{corpus}:0.7", "--source", f"{corpus}:0.3:3", "--seq-len", 64, "--base-len", 128, "--seed", 11,
        "--at", "3200:1,2.5:len=128", "--skip", "100:150", "--skip", "7:8"]


def shown(words, *more):
    return [json.loads(line) for line in command("leat", *words, *more, "--json").splitlines()]


def test_order_is_the_commands(both):
    options, words = both
    plan = leat.Plan(**options)
    want = shown(["order", *words], "--from", 90, "--count", 4000)
    got = plan.order(90, 4000)
    assert len(got) == len(want) == 4000 - 50
    for g, w in zip(got, want):
        assert (g.n, g.source, g.window, g.document, g.offset, g.epoch, g.length) == tuple(
            w[k] for k in ("n", "source", "window", "document", "offset", "epoch", "length"))
    assert plan.order(want[5]["n"]) == got[5]
    assert plan.order(120).n == 120  # skipped, and a sample all the same
    array = plan.samples(plan.position(90), len(got))
    assert list(array["n"]) == [g.n for g in got] and list(array["token"]) == [g.token for g in got]
    assert list(array["window"]) == [g.window for g in got] and list(array["length"]) == [g.length for g in got]


def test_text_in_and_out(both, tmp_path):
    options, words = both
    plan = leat.Plan(**options)
    text = command("leat", "order", *words, "--print-plan")
    assert plan.text == text
    assert leat.Plan.parse(text).text == text
    path = tmp_path / "run.plan"
    path.write_text(text)
    assert leat.Plan.load(path).order(5000) == plan.order(5000)
    skipping = leat.Plan.load(path, skip=[(5000, 5010), (6000, 6001)])
    assert skipping.text == leat.Plan.parse(text + "skip 5000:5010\nskip 6000:6001").text != text
    assert [s.n for s in skipping.order(4998, 14)] == [4998, 4999, 5010, 5011]
    with pytest.raises(TypeError, match="pairs"):
        leat.Plan.load(path, skip=[7])
    ending = leat.Plan.load(path, epochs=2)
    assert ending.text == leat.Plan.parse(text + "epochs 2").text and plan.info.positions is None and len(ending) > 0
    with pytest.raises(leat.Error, match="given twice"):
        leat.Plan.parse(ending.text, epochs=2)
    with pytest.raises(ValueError, match="epochs"):
        leat.Plan.load(path, epochs=0)
    with pytest.raises(leat.Error, match="run.plan, line 2"):
        path.write_text("leat plan 1\nnonsense 5\n")
        leat.Plan.load(path)
    with pytest.raises(leat.Error) as error:
        path.write_text("leat plan 1\nseq-len none\n")
        leat.Plan.load(path)
    assert (error.value.file, error.value.offset, error.value.field) == (str(path), 12, "seq_len")


def test_weights_are_decimals(corpus):
    texts = {leat.Plan([(corpus, w), corpus], 64).text for w in (0.1, "0.1", Decimal("0.1"), np.float64(0.1), 1e-1)}
    assert len(texts) == 1
    assert leat.Plan({corpus: 1e-9}, 64).text
    assert leat.Plan(corpus, 64, split={"train": 0.3, "valid": 0.7}, use="valid").text == leat.Plan(
        corpus, 64, split="train=0.3,valid=0.7", use="valid").text


def test_datasets_as_sources(corpus, folder):
    d = leat.open(corpus)
    plan = leat.Plan([d, (d, 2)], 64, 3)
    assert plan.order(100) == leat.Plan([corpus, (corpus, 2)], 64, 3).order(100)
    d.close()
    assert plan.sources[0].dataset.tokens[5] == leat.open(corpus).tokens[5]
    joined = leat.open([f"{folder}/b", f"{folder}/a"])
    plan = leat.Plan(joined, 64)
    assert {s.part for s in plan.order(0, 200)} == {0, 1}
    with pytest.raises(ValueError, match="@FILE"):
        plan.text
    assert pickle.loads(pickle.dumps(plan)).order(77) == plan.order(77)


def test_megatron(corpus):
    plan = leat.Plan([(corpus, 0.7), (corpus, Decimal("0.3"))], 64, split="8,1,1", use="valid",
                     order=megatron.order(samples=5000, mid_level_dataset_surplus=0.25))
    words = ["--source", f"{corpus}:0.7", "--source", f"{corpus}:0.3", "--seq-len", 64, "--order", "megatron",
             "--split", "8,1,1", "--use", "valid", "--samples", 5000, "--mid-level-dataset-surplus", 0.25]
    assert len(plan) == 5000 and plan.text == command("leat", "order", *words, "--seed", 1234, "--print-plan")


def test_finite(corpus):
    plan = leat.Plan(corpus, 256, epochs=2, skip=[(0, 10)])
    blocks = (171241 - 1) // 256
    assert plan.info.samples == 2 * blocks and len(plan) == 2 * blocks - 10
    assert len(plan.order(0, 10**9)) == len(plan) and len(plan.samples(len(plan) - 3, 10)) == 3
    with pytest.raises(leat.Error) as error:
        plan.order(2 * blocks)
    assert error.value.status == "range"
    with pytest.raises(TypeError, match="no end"):
        len(leat.Plan(corpus, 256))


def test_stop(corpus):
    """The plan ends with its first spent source, which had all its blocks, and is the other plan up to there."""
    sources = [(corpus, 1), (corpus, 3)]
    for order in "shuffled", "sequential", "fit":
        plan = leat.Plan(sources, 64, epochs=1, order=order)
        first = leat.Plan(sources, 64, epochs=1, order=order, stop="first")
        assert first.order(0, len(first)) == plan.order(0, len(first)) and len(first) < len(plan)
        shown = sorted(s.block for s in first.order(0, len(first)) if s.source == 1)
        assert shown == list(range(plan.sources[1].blocks))
        assert first.order(len(first) - 1).source == 1
        assert leat.Plan.parse(first.text).text == first.text and pickle.loads(pickle.dumps(first)).text == first.text
    assert "\nstop first\n" in first.text and "stop" not in first.documents().text
    with pytest.raises(ValueError, match="stop"):
        leat.Plan(sources, 64, epochs=1, stop="last")


def test_bans(both, tmp_path):
    """Of a list, a file and plan.ban(), the same plan."""
    options, words = both
    plan = leat.Plan(**options)
    names = [s.name for s in plan.sources]
    shown = plan.trace(step=3, batch=8)
    start = shown[0].n
    assert not any(s.banned for s in shown)
    file = tmp_path / "spike.bans"
    command("leat", "trace", *words, "--step", 3, "--batch", 8, "--ban", file)
    pairs = [(s.source, s.document) for s in shown]
    banned = plan.ban(pairs, start=start)
    made = [banned, plan.ban([(names[s], d, start) for s, d in pairs]), plan.ban(file), leat.Plan(**options, bans=file),
            leat.Plan(**options, bans=[(names[s], d, start) for s, d in pairs]), leat.Plan.parse(banned.text),
            pickle.loads(pickle.dumps(banned)), pickle.loads(pickle.dumps(leat.Plan(**options, bans=file)))]
    assert all(p.text == made[0].text for p in made) and "\nban " in made[0].text
    assert all(s.banned for s in banned.trace(step=3, batch=8))
    later = [s for s in banned.trace(samples=(start + 8, start + 4000)) if (s.source, s.document) in pairs]
    assert later and all(s.banned for s in later)
    # numbers stay, and a run goes on at the start or before it
    assert plan.order(0, 50) == banned.order(0, 50)
    assert banned.load_state(plan.state(24)) == (24, 0, 1)
    with pytest.raises(leat.Error, match="banned before its position"):
        banned.load_state(plan.state(25))
    assert plan.ban(pairs, start=0).documents().text != plan.documents().text == banned.documents().text
    with pytest.raises(TypeError, match="needs start"):
        plan.ban(pairs)
    with pytest.raises(TypeError, match="a ban must be"):
        plan.ban([5], start=0)
    with pytest.raises(leat.Error, match="no source of this name"):
        plan.ban([("no", 1)], start=0)


def test_trace_is_the_commands(both):
    options, words = both
    plan = leat.Plan(**options)
    want = shown(["trace", *words], "--step", 30, "--batch", 16)
    got = plan.trace(step=30, batch=16)
    assert [(s.n, s.source, s.document, s.first, s.count, s.path, s.offset, s.line, s.id) for s in got] == [
        tuple(w[k] for k in ("n", "source", "document", "first", "tokens", "input", "offset", "line", "id"))
        for w in want]
    assert [s.n for s in plan.trace(samples=(140, 155))] == [
        w["n"] for w in shown(["trace", *words], "--samples", "140:155")]
    name = options["sources"][0][0]
    want = shown(["trace", *words], "--document", "1:4", "--until", 5000)
    got = plan.trace(document=(1, 4), until=5000)
    assert [(s.n, s.source, s.window, s.epoch) for s in got] == [
        tuple(w[k] for k in ("n", "source", "window", "epoch")) for w in want]
    # what a trace finds, the order confirms
    assert all(plan.order(s.n) == s for s in got) and got
    assert plan.trace(document=(name, 4), epochs=1)
    for wrong in ({}, {"step": 1}, {"step": 1, "samples": (0, 1)}):
        with pytest.raises(TypeError):
            plan.trace(**wrong)


def test_states(corpus):
    plan = leat.Plan(corpus, 256, 7)
    text = plan.state(4096, damaged=3)
    assert text.startswith("leat state 1\nposition 4096\n") and plan.load_state(text) == (4096, 3, 0)
    with pytest.raises(leat.Error) as error:
        leat.Plan(corpus, 256, 8).load_state(text)
    assert error.value.status == "checkpoint" and "seed" in str(error.value)
    with pytest.raises(leat.Error):
        plan.load_state("nonsense")


def test_pickle(both):
    plan = leat.Plan(**both[0])
    for again in (pickle.loads(pickle.dumps(plan)), pickle.loads(pickle.dumps(leat.Plan.parse(plan.text)))):
        assert again.text == plan.text and again.order(3333) == plan.order(3333)


def test_arguments(corpus):
    for wrong in (dict(seq_len=64, base_len=100), dict(seq_len=64, split="a=2", use="a"),
                  dict(seq_len=10**6), dict(seq_len=64, phases=[(10, [1, 1])])):
        with pytest.raises(leat.Error) as error:
            leat.Plan(corpus, **wrong)
        assert error.value.status == "argument"
    with pytest.raises(ValueError):
        leat.Plan(corpus, 64, order="random")
    with pytest.raises(TypeError):
        leat.Plan([(corpus, 1, 2, 3)], 64)
    with pytest.raises(leat.Error):
        leat.Plan([(corpus, "heavy")], 64)


def test_items_that_hold_separators(corpus):
    """One item was two: a ban with a newline in its name two bans, a weight "1,5" two weights, and so with splits."""
    plan = leat.Plan([corpus, corpus], 64)
    for call in (lambda: plan.ban([(f"{corpus}:1\nban 0:{corpus}", 0)], 0),
                 lambda: leat.Plan(corpus, 64, bans=[(f"{corpus}\0", 0)]),
                 lambda: leat.Plan([corpus, corpus], 64, phases=[(16, ["1,5"])]),
                 lambda: plan.change(16, weights=["1,5"]),
                 lambda: leat.Plan(corpus, 64, split={"a=.1,b": .2}, use="a"),
                 lambda: leat.Plan(corpus, 64, split={"a": "0.5,b=.2"}, use="b")):
        with pytest.raises(ValueError, match="which has no newline|must not hold a comma or a newline"):
            call()


def test_stretches(corpus):
    """Windows of a pool lie in its stretches, each once an epoch; a state belongs to the plan's stretches."""
    options = dict(seq_len=64, seed=3, stretch="2KiB", mix=4, lanes=2)
    plan = leat.Plan(corpus, **options)
    assert (plan.info.stretch, plan.info.mix, plan.info.lanes) == (2048, 4, 2)
    assert leat.Plan.parse(plan.text).text == plan.text and pickle.loads(pickle.dumps(plan)).text == plan.text
    size = 2048 // plan.info.token_width // 64
    blocks = plan.sources[0].blocks
    epoch = plan.order(0, blocks)
    assert sorted(sample.window for sample in epoch) == list(range(blocks))
    for lane in range(2):
        assert len({sample.window // size for sample in epoch[lane:8 * size:2]}) == 4
    state = plan.state(5)
    assert leat.Plan(corpus, **options).load_state(state)[0] == 5
    for other in dict(mix=5), dict(lanes=1), dict(stretch="1KiB"), dict(stretch=None, mix=64, lanes=1):
        with pytest.raises(leat.Error, match="belongs to another plan"):
            leat.Plan(corpus, **{**options, **other}).load_state(state)
    for wrong, says in ((dict(stretch=10), "smaller than a row"), (dict(mix=10**6), "take a smaller mix"),
                        (dict(stretch=2**40), "more than the largest source has")):
        with pytest.raises(leat.Error, match=says):
            leat.Plan(corpus, **{**options, **wrong})
    with pytest.raises(TypeError, match="mix and lanes need stretch"):
        leat.Plan(corpus, 64, mix=4)
