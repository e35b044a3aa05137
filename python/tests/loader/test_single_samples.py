"""Single samples of a plan (leat.GrainSource, leat.MapDataset) are the rows of its batches: inputs, labels, masks,
weights, positions and documents, of datasets with a mask and without, in every order, with alignment, overlap, phases,
bans and fill-in-the-middle, and with mask_first."""
import pathlib

import numpy as np
import pytest

import leat

OUTPUTS = ("inputs", "labels", "loss_mask", "loss_weights", "position_ids", "document_ids", "attention_mask")
GOLDEN = pathlib.Path(__file__).resolve().parents[3] / "tests/golden/valid"


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "masked"])
def names(request, tmp_path_factory):
    """Two datasets, the first of which stores a mask, or not."""
    rng, folder = np.random.default_rng(25), tmp_path_factory.mktemp("single")
    for name, store_mask in ("a", request.param), ("b", False):
        with leat.Packer(folder / name, "gpt2", store_mask=store_mask) as packer:
            for length in rng.integers(0, 90, 80):
                packer.add(rng.integers(0, 50256, length), mask=rng.integers(0, 4, length) / 3 if store_mask else None)
    return [folder / "a", folder / "b"]


PLANS = [
    ("shuffled", 32, None), ("sequential", 32, None), ("fit", 64, None), (leat.fit(align=8), 64, None),
    (leat.fit(align=16, overlap=5), 64, None), (leat.fit(overlap=31, max_per_row=3), 48, None),
    (leat.fit(), 40, [(30, [1, 2], 72)]),
]


def check_rows(plan, mask_first):
    """How many labels have no loss, after a comparison of samples with batches."""
    source = leat.GrainSource(plan, 96, outputs=OUTPUTS, mask_first=mask_first)
    counted = 0
    outputs = leat.Outputs(OUTPUTS, dtype="int32", mask_first=mask_first)
    for number, batch in enumerate(leat.Loader(plan, 4, framework="numpy", outputs=outputs, steps=24)):
        for row in range(4):
            single = source[4 * number + row]
            length = batch.lengths[row]
            for output in OUTPUTS:
                given, want = single[output], getattr(batch, output)[row]
                assert given.dtype == want.dtype and np.array_equal(given[:len(want)], want), output
                counted += int((want == -100).sum()) if output == "labels" else 0
                rest = {"inputs": 50256, "labels": -100, "position_ids": np.arange(len(given) - length),
                        "document_ids": single["document_ids"][length - 1] + 1}.get(output, 0)
                assert len(given) == plan.info.max_seq_len and (given[length:] == rest).all(), output
    return counted


@pytest.mark.parametrize("banned", [False, True])
@pytest.mark.parametrize("order, length, phases", PLANS)
def test_batches(names, order, length, phases, banned):
    bans = [(names[n % 2], n, n % 3 * 9) for n in range(20, 50)] if banned else ()
    plan = leat.Plan([(name, 1) for name in names], length, seed=3, phases=phases or (), order=order, bans=bans)
    counted = check_rows(plan, False)
    assert counted > 0 or (plan.info.order != "fit" and not banned and not leat.open(names[0]).info.stores_mask)
    more = check_rows(plan, True)
    assert more == counted if plan.info.order == "fit" else more > counted


@pytest.mark.parametrize("order", ["shuffled", "fit"])
def test_fill_in_the_middle(names, order):
    fim = leat.FIM(0.7, 0.5, 50001, 50002, 50003)
    plan = leat.Plan([(name, 1) for name in names], 64, seed=3, order=order, fim=fim)
    assert check_rows(plan, True) > 0


def test_torch(names):
    torch = pytest.importorskip("torch")
    plan = leat.Plan([(name, 1) for name in names], 64, order="fit", seed=3)
    data = leat.MapDataset(plan, 40, outputs=("labels", "inputs", "loss_weights", "position_ids", "attention_mask"))
    loader = torch.utils.data.DataLoader(data, batch_size=4, collate_fn=data.collate)
    for got, want in zip(loader, leat.Loader(plan, 4, outputs=OUTPUTS)):
        for given, output in zip(got, data.outputs):
            assert torch.equal(given, getattr(want, output)), output
    assert all(torch.equal(a, b) for a, b in zip(data[7], data.__getitems__([9, 7])[1]))


def test_lengths(names):
    """Rows that differ in length reach a collate_fn that pads them: reading them together was refused."""
    torch = pytest.importorskip("torch")
    documents = leat.Plan(names[0], 90, order="documents", epochs=1)
    phases = leat.Plan(names[0], 32, order="sequential", phases=[(6, [1], 16)])
    for plan, samples in (documents, None), (phases, 12):
        data = leat.MapDataset(plan, samples)
        loader = torch.utils.data.DataLoader(
            data, batch_size=4, collate_fn=lambda rows: torch.nn.utils.rnn.pad_sequence([r[0] for r in rows], True, -1))
        got = [row[row >= 0] for batch in loader for row in batch]
        assert len(got) == len(data) and all(torch.equal(row, data[i][0]) for i, row in enumerate(got))
        with pytest.raises(ValueError, match="differ in length; write a collate_fn that pads them"):
            list(torch.utils.data.DataLoader(data, batch_size=4, collate_fn=data.collate))


def test_golden():
    """The mask of a golden file, 0, 0, 1, 255, 0, 0, 255, ..., in the first window."""
    single = leat.GrainSource(leat.Plan(GOLDEN / "mask", 4, order="sequential"), 1, outputs=OUTPUTS)[0]
    tokens = leat.open(GOLDEN / "mask").tokens[:5].astype(int)
    assert single["inputs"].tolist() == tokens[:4].tolist()
    assert single["labels"].tolist() == [-100, tokens[2], tokens[3], -100]
    assert single["loss_weights"].tolist() == [0, np.float32(1) / np.float32(255), 1, 0]


def test_mistakes(names):
    plan = leat.Plan(names[0], 32)
    with pytest.raises(ValueError, match="an output of single samples must be one of"):
        leat.GrainSource(plan, 5, outputs=("inputs", "cu_seqlens"))
    with pytest.raises(ValueError, match="none twice"):
        leat.GrainSource(plan, 5, outputs=("inputs", "inputs"))
