"""Rows of whole documents: what a leat.Loader gives of leat.Plan(..., order="fit") is, over an epoch, every stretch of
every document once, in rows with the positions, masks and padding that these have; with the plan's options, as text and
pickled, and with begin tokens in further rows. tests/loader/test_order_fit.c has rows that are aligned and overlap."""
import collections
import json
import pickle

import numpy as np
import pytest
from conftest import command

import leat

LENGTH = 600


def stretches(name, minimum=0, maximum=2**60, cut=2**60):
    """How often each stretch of predictions must come: the tokens of its inputs, and its last label."""
    found = collections.Counter()
    for document in leat.open(name):
        if minimum <= len(document) <= maximum:
            document = np.asarray(document)[:cut].astype(np.int64)
            for at in range(0, len(document) - 1, LENGTH):
                found[document[at:at + LENGTH + 1].tobytes()] += 1
    return found


def delivered(plan):
    """The stretches of all batches, with their outputs checked; and how many lie in each row."""
    found, in_rows = collections.Counter(), []
    for batch in leat.Loader(plan, 8, framework="numpy", outputs=leat.batch.PLAIN, last="short"):
        inputs, labels = np.asarray(batch.inputs).ravel(), np.asarray(batch.labels).ravel()
        padded = (np.asarray(batch.lengths)[:, None] <= np.arange(LENGTH)).ravel()
        counts = [0] * batch.rows
        assert (labels[padded] == -100).all() and not np.asarray(batch.attention_mask).ravel()[padded].any()
        assert np.array_equal(np.asarray(batch.loss_mask).ravel(), ~padded)
        for begin, end in zip(batch.cu_seqlens, batch.cu_seqlens[1:]):
            assert begin // LENGTH == (end - 1) // LENGTH
            if not padded[begin]:
                assert np.array_equal(labels[begin:end - 1], inputs[begin + 1:end])
                assert np.array_equal(np.asarray(batch.position_ids).ravel()[begin:end], np.arange(end - begin))
                assert (np.asarray(batch.document_ids).ravel()[begin:end] == counts[begin // LENGTH]).all()
                counts[begin // LENGTH] += 1
                found[np.append(inputs[begin:end], labels[end - 1]).astype(np.int64).tobytes()] += 1
        in_rows += counts
    return found, in_rows


def test_an_epoch(counting):
    found, in_rows = delivered(leat.Plan(counting, LENGTH, seed=3, order="fit", epochs=1))
    assert found == stretches(counting)
    assert max(in_rows) > 2


def test_options(counting):
    plan = leat.Plan(counting, LENGTH, epochs=1,
                     order=leat.fit(max_per_row=2, min_length=90, max_length=400, cut_length=270))
    found, in_rows = delivered(plan)
    assert found == stretches(counting, 90, 400, 270)
    assert found != stretches(counting) and max(in_rows) == 2
    for same in pickle.loads(pickle.dumps(plan)), leat.Plan.parse(plan.text):
        assert np.array_equal(same.samples(0, 50), plan.samples(0, 50))
    with pytest.raises(leat.Error, match="max-per-row is for rows of whole documents"):
        leat.Plan.parse(plan.text.replace("order fit\n", ""))


def test_wrong_align_and_overlap(counting):
    with pytest.raises(leat.Error, match="600 inputs are not a multiple of align, which is 7"):
        leat.Plan(counting, LENGTH, order=leat.fit(align=7))
    with pytest.raises(leat.Error, match="an overlap of 600 leaves no room in rows of 600 inputs"):
        leat.Plan(counting, LENGTH, order=leat.fit(overlap=LENGTH))
    text = leat.Plan(counting, LENGTH, order=leat.fit(align=8)).text
    with pytest.raises(leat.Error, match="align is for rows of whole documents"):
        leat.Plan.parse(text.replace("order fit\n", ""))


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Documents of up to 2,000 tokens that begin with a begin token, and end with another one."""
    name = tmp_path_factory.mktemp("begun") / "corpus"
    with leat.Packer(name, "gpt2", begin=7, end=50256) as packer:
        for i in range(150):
            packer.add(" ".join(f"{(i * 7 + k) % 50} {k}" for k in range(i * i % 1009)))
    return str(name)


def test_begin_everywhere(begun):
    """pieces(), rows by number, trace() and the commands agree, in rows of 40."""
    plan, dataset = leat.Plan(begun, 40, seed=3, order=leat.fit(begin=True), epochs=1), leat.open(begun)
    assert "begin 1\n" in plan.text
    for same in pickle.loads(pickle.dumps(plan)), leat.Plan.parse(plan.text):
        assert same.text == plan.text and same.pieces(9) == plan.pieces(9)
    options = ("--source", begun, "--seq-len", 40, "--seed", 3, "--order", "fit", "--begin", "--epochs", 1, "--json")
    batch = next(leat.Loader(plan, 60, framework="numpy", outputs=("inputs", "labels")))
    lines = [json.loads(line) for line in command("leat", "order", *options, "--count", 60).splitlines()]
    put = shown = 0
    for row, line in enumerate(lines):
        pieces = plan.pieces(row)
        ids = [token for piece in pieces for token in ([piece.literal] if piece.literal is not None else
                                                       dataset.read(piece.token, piece.count).tolist())[:piece.inputs]]
        assert batch.inputs[row][:len(ids)].tolist() == ids
        inputs, labels = plan._rows([row], 8, ("inputs", "labels"), np.asarray)
        assert np.array_equal(inputs[0], batch.inputs[row]) and np.array_equal(labels[0], batch.labels[row])
        assert [(p["source"], p["part"], p["token"], p["count"], p["at"], p["document"], None, p.get("literal"))
                for p in line["pieces"]] == [p._replace(inputs=None) for p in pieces]
        for piece, after in zip(pieces, pieces[1:]):
            if piece.literal is not None:  # in place of the token before the next piece, of the same document
                place = dataset._native.document(piece.document)
                assert piece.literal == 7 and place[0] < after.token - 1 and after.document == piece.document
                found = {s[0] for s in plan._native.trace(0, after.token - 1, 1, None, None)}
                assert not found  # no row has this token as an input
                put += 1
        for found in plan.trace(samples=(row, row + 1)):
            shown += found.count
    assert put > 50 and shown == sum(int(length) for length in batch.lengths) - put
    row = json.loads(command("leat", "show", *options, "--sample", 11))
    assert row["ids"] == batch.inputs[11].tolist() and row["labels"] == batch.labels[11].tolist()
    assert [d["at"] for d in row["documents"] if d["first"] is None] == [
        p.at for p in plan.pieces(11) if p.literal is not None]


def test_report(counting):
    """The report is the command's, and its numbers those of the rows that are delivered."""
    plan = leat.Plan(counting, LENGTH, seed=3, order="fit", epochs=1)
    report = plan.fit_report()
    found, in_rows = delivered(plan)
    assert report.rows == len(in_rows) and report.pieces == sum(in_rows) == found.total()
    assert report.max_pieces == max(in_rows) and report.seq_len == LENGTH
    assert report.predictions == report.rows * LENGTH - report.padding
    assert report.fill == 1 - report.padding / (report.rows * LENGTH)
    windows = leat.Plan(counting, 128, seed=1).fit_report(LENGTH, counting)
    assert windows == report
    with pytest.raises(ValueError, match="no source called"):
        plan.fit_report(source="none")
    with pytest.raises(leat.Error, match="at most 2.24 inputs"):
        plan.fit_report(1 << 30)
