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


# ---- Rules of single sources


@pytest.fixture(scope="module")
def mixture(tmp_path_factory):
    """Texts with an end token, and conversations without one, which have a mask: their names."""
    folder = tmp_path_factory.mktemp("mixture")
    with leat.Packer(folder / "web", "gpt2", end=50256) as packer:
        for i in range(200):
            packer.add(" ".join(f"web {k}" for k in range(i * 7 % 150)))
    with leat.Packer(folder / "chat", "gpt2", end=None, store_mask=True) as packer:
        for i in range(150):
            count = 2 + i * 13 % 250
            packer.add(np.arange(count) + 1000, mask=np.arange(count) % 2)
    return str(folder / "web"), str(folder / "chat")


def mixed(mixture, *, order="fit", seq_len=100, **options):
    web, chat = mixture
    return leat.Plan([(web, 3), (chat, 1, leat.fit(whole=True, max_length=90))], seq_len, order=order, epochs=1,
                     **options)


def predictions(plan):
    """How often each prediction (source, token) of a row comes."""
    return collections.Counter((piece.source, piece.token + i) for n in range(len(plan)) for piece in plan.pieces(n)
                               for i in range(piece.inputs))


def test_rules_of_a_source(mixture):
    """Each prediction of what the rules keep comes once; the chat's documents lie whole in rows of their own."""
    plan = mixed(mixture)
    assert "fit 1:max-length=90,whole=1\n" in plan.text
    web, chat = plan.sources
    assert web.dataset.info.end_token == 50256 and chat.dataset.info.end_token is None
    for source in (web, chat):
        assert source.documents + source.left_out == source.dataset.info.documents
    lengths = [len(document) for document in chat.dataset]
    assert chat.left_out == sum(length > 90 for length in lengths) > 20 and chat.cut == 0
    assert web.left_out == 0 and web.cut == sum(len(document) > 101 for document in web.dataset) > 20
    expected, token = collections.Counter(), 0
    for number, (source, most) in enumerate(((web, 2**60), (chat, 90))):
        for token, count in (source.dataset._native.document(d) for d in range(source.dataset.info.documents)):
            expected.update((number, token + i) for i in range(count - 1) if count <= most)
    assert predictions(plan) == expected
    whole = {d for n in range(len(plan)) for d in plan.trace(samples=(n, n + 1)) if d.source == 1}
    assert all((d.first, d.count) == (0, lengths[d.document] - 1) for d in whole)
    for same in pickle.loads(pickle.dumps(plan)), leat.Plan.parse(plan.text):
        assert same.text == plan.text and same.pieces(9) == plan.pieces(9)
    report = plan.fit_report(source=1)
    assert (report.documents, report.left_out, report.cut) == (chat.documents, chat.left_out, 0)


def test_rules_do_not_change_other_sources(mixture):
    """Rows of a source without rules are those of a plan without any, also its version in states."""
    web, chat = mixture
    plain = leat.Plan([(web, 3), (chat, 1)], 100, order="fit")
    ruled = mixed(mixture).sources
    assert [s.blocks for s in plain.sources][0] == ruled[0].blocks and plain.sources[1].blocks != ruled[1].blocks
    rules = leat.fit(max_length=10**6)
    same = leat.Plan([(web, 3, rules), (chat, 1, rules)], 100, order=leat.fit(max_length=10**6))
    assert "fit 0" not in same.text and [same.pieces(n) for n in range(40)] == [plain.pieces(n) for n in range(40)]
    assert "fit=1\n" in same.state(3) and "fit=2\n" in mixed(mixture).state(3)
    with pytest.raises(leat.Error, match="sources have no rules of their own, but they do in the plan"):
        mixed(mixture).load_state(leat.Plan([(web, 3), (chat, 1)], 100, order="fit", epochs=1).state(3))


def test_rules_of_an_added_source(mixture):
    """A change adds a source with its rules; states from before it are the changed plan's, too."""
    web, chat = mixture
    plan = leat.Plan(web, 100, order="fit", epochs=1)
    changed = plan.change(20, add=[(chat, 2, leat.fit(whole=True))])
    assert "fit 1:whole=1\n" in changed.text and changed.load_state(plan.state(20))[0] == 20
    assert [changed.pieces(n) for n in range(20)] == [plan.pieces(n) for n in range(20)]
    text = f"leat changes 1\nsource {chat}:2:none\nfit 1:whole\nat 20\n"
    assert plan.replay(text).text == changed.text == pickle.loads(pickle.dumps(changed)).text
    assert changed.sources[1].cut == 0 < changed.sources[1].left_out


def test_rules_in_every_view(mixture, tmp_path):
    """The loader, leat order, leat show, leat trace and bans agree on a plan with rules of a source."""
    plan, web, chat = mixed(mixture), *mixture
    options = ("--source", f"{web}:3", "--source", f"{chat}:1", "--seq-len", 100, "--order", "fit", "--epochs", 1,
               "--fit", "1:max-length=90,whole")
    lines = [json.loads(line) for line in command("leat", "order", *options, "--json", "--count", 30).splitlines()]
    batch = next(leat.Loader(plan, 30, framework="numpy", outputs=("inputs", "labels")))
    datasets, seen = [source.dataset for source in plan.sources], None
    for row, line in enumerate(lines):
        pieces = plan.pieces(row)
        assert [(p["source"], p["token"], p["count"], p["at"]) for p in line["pieces"]] == [
            (p.source, p.token, p.count, p.at) for p in pieces]
        ids = [t for p in pieces for t in datasets[p.source].read(p.token, p.inputs).tolist()]
        assert batch.inputs[row][:len(ids)].tolist() == ids
        seen = (row, pieces[0].document) if seen is None and pieces[0].source == 1 else seen
    row, document = seen
    shown = json.loads(command("leat", "show", *options, "--sample", row, "--json"))
    assert shown["ids"] == batch.inputs[row][:len(shown["ids"])].tolist()
    found = plan.trace(document=(1, document))
    assert [s.n for s in found] == [row]
    bans = tmp_path / "chat.bans"
    command("leat", "trace", *options, "--samples", f"{row}:{row + 1}", "--ban", bans)
    banned = next(leat.Loader(plan.ban(bans), 30, framework="numpy", outputs=("labels",)))
    assert (banned.labels[row] == -100).all() and (batch.labels[row] != -100).any()


def test_wrong_rules(mixture):
    web, chat = mixture
    for rules, why in ((dict(align=4), "align counts for all sources"), (dict(whole=True, cut_length=5), "cut-length")):
        with pytest.raises(leat.Error, match=why):
            leat.Plan([web, (chat, 1, leat.fit(**rules))], 100, order="fit")
    with pytest.raises(leat.Error, match="whole is for rows of whole documents, but the plan's order is shuffled"):
        leat.Plan([(web, 1, leat.fit(whole=True))], 100)
    with pytest.raises(leat.Error, match="end-of-document token"):
        leat.Plan([web, chat], 100)
    with pytest.raises(ValueError, match="max_length of leat.fit"):
        leat.fit(max_length=0)
    for wrong in ((web, leat.fit(), 1), (web, 1, leat.fit(), leat.fit()), (leat.fit(),)):
        with pytest.raises(TypeError, match="may end in a leat.fit"):
            leat.Plan([wrong], 100, order="fit")
    assert leat.Plan([(web, leat.fit(whole=True))], 100, order="fit").sources[0].cut == 0
    assert leat.Plan([web, chat], 100, order="documents").sources[0].documents is None
