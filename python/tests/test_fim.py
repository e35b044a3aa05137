"""Fill-in-the-middle: what leat.Plan(..., fim=leat.FIM(...)) says of a row (pieces, trace, the commands) is what
loaders give; ids by their names; what is refused; states that another plan does not take.
tests/loader/test_loader_changed.c has the rows of all orders."""
import json
import pickle
import subprocess

import numpy as np
import pytest
from conftest import BUILD

import leat

LENGTH = 64
ORDERS = ["shuffled", "documents", "fit", leat.fit(align=8), "megatron"]
FIM = leat.FIM(0.7, "0.5", 11, 12, 13)


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """Documents with an end token of gpt2's, and a mask."""
    name = tmp_path_factory.mktemp("fim") / "code"
    texts = [" ".join(f"name{(i * 7 + k) % 50} = {k}" for k in range(i * i % 23)) for i in range(120)]
    with leat.Packer(name, "gpt2", store_mask=True) as packer:
        for text in texts:
            packer.add(text)
    return str(name)


def plan_of(code, order, fim=FIM, **options):
    return leat.Plan(code, LENGTH, order=order, fim=fim, **{"seed": 5, "epochs": None if order == "megatron" else 1,
                                                            **options})


def run(*words):
    return [json.loads(line) for line in
            subprocess.run([BUILD / "leat", *map(str, words)], stdout=subprocess.PIPE, check=True, text=True)
            .stdout.splitlines()]


def tokens_of(dataset, pieces):
    """The tokens of a row's pieces, and which are inputs."""
    ids, inputs = [], []
    for piece in pieces:
        ids += [piece.literal] if piece.literal is not None else dataset.read(piece.token, piece.count).tolist()
        inputs += [True] * piece.inputs + [False] * (piece.count - piece.inputs)
    return ids, inputs


def rows_of(plan, ranks):
    """The inputs and labels of each sample, by its number, as these ranks' loaders give them."""
    found = {}
    for rank in range(ranks):
        for batch in leat.Loader(plan, 2 * ranks, ranks=(rank, ranks), framework="numpy", last="padded",
                                 outputs=("inputs", "labels")):
            for row, sample in enumerate(batch.samples):
                if not batch.flags[row]:
                    n = int(batch.lengths[row])
                    found[sample.n] = batch.inputs[row, :n].tolist(), batch.labels[row, :n].tolist()
    return found


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_trace(code, order):
    """A document's samples are those of whose inputs some are its tokens; a sample's documents likewise."""
    plan, dataset = plan_of(code, order), leat.open(code)
    shows = {}
    for sample in plan.order(0, plan.info.samples):
        seen = set()
        for piece in plan.pieces(sample.n):
            if piece.literal is None and piece.inputs:
                first, count = dataset._native.documents_in(piece.token, piece.inputs)
                seen |= {d for d in range(first, first + count) if len(dataset[d])}
        shows[sample.n] = seen
        assert {x.document for x in plan.trace(samples=(sample.n, sample.n + 1))} == seen
    for document in range(0, 120, 7):
        found = [s.n for s in plan.trace(document=(0, document), epochs=1 if order != "megatron" else None)]
        assert sorted(found) == sorted(n for n, seen in shows.items() if document in seen)


@pytest.mark.parametrize("order", ["shuffled", "fit", "documents"])
def test_commands(code, order):
    """leat order, trace and show say the same as Python, and show has the loader's numbers."""
    plan, rows = plan_of(code, order), rows_of(plan_of(code, order), 1)
    options = ("--source", code, "--seq-len", LENGTH, "--seed", 5, "--epochs", 1, "--order", order, "--fim",
               "0.7,0.5,11,12,13", "--json")
    for line in run("order", *options, "--count", 12):
        pieces = [p._replace(inputs=None) for p in plan.pieces(line["n"])]
        assert [(p["source"], p["part"], p["token"], p["count"], p["at"], p["document"], None, p.get("literal"))
                for p in line["pieces"]] == pieces
    for n in range(8):
        if n not in rows or not rows[n][0]:
            continue
        shown, = run("show", *options, "--sample", n)
        padding = shown["padding"]
        length = len(shown["ids"]) - padding
        assert (shown["ids"][:length], shown["labels"][:length]) == rows[n]
        places = [d["at"] for d in shown["documents"] if d["first"] is None]
        assert places == [p.at for p in plan.pieces(n) if p.literal is not None and p.inputs]
        assert all(shown["ids"][at] in (11, 12, 13) for at in places)
        assert sum(d["tokens"] for d in shown["documents"]) == length
    traced = {}
    for line in run("trace", *options, "--samples", "0:12"):
        traced.setdefault(line["n"], []).append((line["document"], line["first"], line["tokens"]))
    assert traced == {n: found for n in range(12) if (found := [
        (x.document, x.first, x.count) for x in plan.trace(samples=(n, n + 1))])}


def test_names_and_text(code):
    end = "<|endoftext|>"
    plan = plan_of(code, "fit", leat.FIM("1e-1", 1, end, " =", 13))
    assert "\nfim 0.1,1,50256,796,13\n" in plan.text
    for same in pickle.loads(pickle.dumps(plan)), leat.Plan.parse(plan.text):
        assert same.text == plan.text and same.pieces(3) == plan.pieces(3)
    text = subprocess.run([BUILD / "leat", "order", "--source", code, "--seq-len", "64", "--seed", "5", "--epochs", "1",
                           "--order", "fit", "--fim", f".1,1,{end}, =,13", "--print-plan"], stdout=subprocess.PIPE,
                          check=True, text=True).stdout
    assert text == plan.text
    assert plan.documents().text.count("\nfim ") == 1
    with pytest.raises(ValueError, match="has no token .<.none.>. for leat.FIM"):
        plan_of(code, "fit", leat.FIM(1, 1, "<|none|>", 2, 3))


def test_refused(code, counting, tmp_path):
    for wrong, says in (((1.5, 0, 1, 2, 3), "the rate of fim, \"1.5\", is not a decimal from 0 to 1"),
                        ((1, -1, 1, 2, 3), "the spm of fim, \"-1\""),
                        ((1, "x", 1, 2, 3), "the spm of fim, \"x\""),
                        ((1, 1, 1, 1, 3), "prefix, middle and suffix must be different tokens"),
                        ((1, 1, 1, 2, 50257), "50257 is not a token of .*, whose ids are below 50257")):
        with pytest.raises(leat.Error, match=says):
            plan_of(code, "shuffled", leat.FIM(*wrong))
    with pytest.raises(ValueError, match="stores no tokenizer that knows 'x'"):
        plan_of(counting, "shuffled", leat.FIM(1, 1, "x", 2, 3))
    with pytest.raises(TypeError, match="fim must be a leat.FIM, not"):
        plan_of(code, "shuffled", (1, 1, 1, 2, 3))
    with pytest.raises(TypeError, match="prefix of leat.FIM must be a whole number, not 1.5"):
        leat.FIM(1, 1, 1.5, 2, 3)
    raw = tmp_path / "raw.bin"
    raw.write_bytes(np.arange(1000, dtype=np.uint16).tobytes())
    with pytest.raises(leat.Error, match="fim changes documents"):
        leat.Plan(f"raw:{raw}?dtype=u16", 8, fim=FIM)


def test_states(code):
    plan = plan_of(code, "fit")
    state = plan.state(7)
    assert plan.load_state(state)[0] == 7
    for other in (None, leat.FIM(0.7, 0.5, 11, 12, 14), leat.FIM(0.7, 0.4, 11, 12, 13),
                  leat.FIM(0.71, 0.5, 11, 12, 13)):
        with pytest.raises(leat.Error, match="its fim is 0.7,0.5,11,12,13, but the plan's is"):
            plan_of(code, "fit", other).load_state(state)
        with pytest.raises(leat.Error, match="but the plan's is 0.7,0.5,11,12,13"):
            plan.load_state(plan_of(code, "fit", other).state(7))


@pytest.mark.parametrize("order", ["shuffled", "fit"])
def test_banned(code, order):
    """What stands for tokens of a banned document has no loss, the three that are put in neither."""
    count = len(leat.open(code))
    plan = plan_of(code, order, leat.FIM(1, "0.5", 11, 12, 13))
    put_in = np.isin(np.concatenate([b.labels.ravel() for b in leat.Loader(plan, 8, framework="numpy", last="short")]),
                     (11, 12, 13))
    assert put_in.any()
    banned = plan.ban([(code, number) for number in range(count)], start=0)
    for batch in leat.Loader(banned, 8, framework="numpy", last="short"):
        assert (batch.labels == -100).all()
