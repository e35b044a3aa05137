"""max_tokens=: batches of whole documents of like lengths, of at most so many tokens with padding. Every document is
shown once in an epoch, whatever the number of ranks, and however often it changes, in the middle of pools too; all
ranks get a batch in each step; padding is little, beside plain batches of as many rows."""
import collections
import pickle

import numpy as np
import pytest

import leat

MOST, LENGTH = 4000, 600


@pytest.fixture
def plan(counting):
    return leat.Plan(counting, LENGTH, seed=5, epochs=2).documents()


def rows_of(batch):
    labels = np.asarray(batch.labels)
    return [row[:length].tobytes() for row, length in zip(labels, batch.lengths)][:batch.real_rows]


def all_rows(plan):
    """Of the plain plan, how often each row comes."""
    return collections.Counter(row for batch in leat.Loader(plan, 8, framework="numpy", last="short", restart=False)
                               for row in rows_of(batch))


def loaders_of(plan, world, **options):
    return [leat.Loader(plan, rank=rank, world=world, framework="numpy", restart=False,
                        **{"max_tokens": MOST, "pool": 100, **options}) for rank in range(world)]


@pytest.mark.parametrize("world", [1, 2, 5])
def test_an_epoch(plan, world):
    found, shapes = collections.Counter(), []
    for last in "padded", "short":
        found.clear()
        taken = [list(loader) for loader in loaders_of(plan, world, last=last)]
        for mine in taken:
            for batch in mine:
                rows, length = np.asarray(batch.inputs).shape
                assert rows * (length + 1) <= MOST and rows == len(batch.lengths)
                shapes.append(rows)
                found.update(rows_of(batch))
        assert found == all_rows(plan)
        counts = [len(mine) for mine in taken]
        assert max(counts) - min(counts) <= (last == "short") and counts == sorted(counts, reverse=True)
        assert [[b.cursor for b in mine] for mine in taken][-1] == [b.cursor for b in taken[0]][:counts[-1]]
    assert min(shapes) < max(shapes)


def test_any_number_of_ranks_goes_on(plan):
    """A step or two at each of many world sizes: nothing is lost or comes twice."""
    found, state, taken = collections.Counter(), None, 0
    for turn in range(10000):
        world = [3, 1, 8, 2, 5, 7, 4, 6][turn % 8]
        loaders = loaders_of(plan, world, state=state, last="padded")
        for _ in range(1 + turn % 2):
            batches = [next(loader, None) for loader in loaders]
            if batches[0] is None:
                break
            taken += 1
            for batch in batches:
                found.update(rows_of(batch))
        states = [loader.state_dict() for loader in loaders]
        assert all(s["state"] == states[0]["state"] for s in states)
        state = {**states[0], "ended": False}
        if batches[0] is None:
            break
    assert found == all_rows(plan) and taken > 15 and turn < 9999


def test_padding(plan):
    def share(loader):
        for _ in loader:
            pass
        return loader.stats()["padding_share"]

    plain = share(leat.Loader(plan, 8, framework="numpy", restart=False, last="short"))
    by_tokens = share(loaders_of(plan, 1, pool=1000)[0])
    assert by_tokens < 0.1 < plain


def test_rows_and_steps(plan):
    loader = loaders_of(plan, 1, batch_size=3)[0]
    assert max(len(batch.lengths) for batch in loader) == 3 == loader.batch_size
    loader = loaders_of(plan, 1, steps=4)[0]
    batches = list(loader)
    assert len(batches) == 4
    assert [loader.state_dict(after=batch)["step"] for batch in batches] == [1, 2, 3, 4]
    with pytest.raises(TypeError, match="known only when they have been made"):
        len(loader)


def test_styles(plan):
    """Labels are those of the plain rows also where models shift them, and masks and positions are there."""
    for batch in loaders_of(plan, 1, steps=5, style="huggingface")[0]:
        assert batch["input_ids"].shape[0] * batch["input_ids"].shape[1] <= MOST
    for batch in loaders_of(plan, 1, steps=5, outputs=leat.batch.OUTPUTS, ahead=2)[0]:
        assert np.asarray(batch.attention_mask).sum() == sum(batch.lengths)


def test_changes(plan, counting):
    """A loader takes the bans of a plan with the same batches, and no plan with others."""
    loader = loaders_of(plan, 1)[0]
    next(loader)
    assert (np.asarray(next(loader).labels) >= 0).any()
    loader.change(loader.plan.ban([(0, d) for d in range(len(plan) // 2)], start=loader.cursor))
    assert (np.asarray(next(loader).labels) == -100).all()
    with pytest.raises(ValueError, match="other max_tokens, max_rows or pool"):
        loader.change(plan.by_tokens(MOST + 1, pool=100))
    with pytest.raises(leat.Error, match="bans from a sample on cannot be put in batches by tokens"):
        plan.ban([(0, 3)], start=7).by_tokens(MOST)


def test_plan_by_tokens(plan, counting):
    made = plan.by_tokens(MOST, max_rows=5, pool=64)
    assert (made.info.max_tokens, made.info.max_rows, made.info.pool) == (MOST, 5, 64)
    for same in pickle.loads(pickle.dumps(made)), leat.Plan.parse(made.text):
        assert same.text == made.text and same.order(70) == made.order(70)
    assert made.documents().text == plan.text
    found = made.trace(document=(0, 3))
    assert [made.order(s.n) for s in found] == found and {s.document for s in found} == {3} and len(found) == 2
    state = made.state(70)
    assert made.load_state(state)[0] == 70
    for other in plan, plan.by_tokens(MOST + 1, max_rows=5, pool=64), plan.by_tokens(MOST, max_rows=5, pool=65):
        with pytest.raises(leat.Error, match="belongs to another plan: its (max-tokens|pool) is"):
            other.load_state(state)


def test_refused(plan, counting):
    with pytest.raises(leat.Error, match="batches of at most 600 tokens do not hold every row, of up to 601"):
        leat.Loader(plan, max_tokens=LENGTH)
    with pytest.raises(leat.Error, match="max-tokens is for batches of whole documents, .*order is shuffled"):
        leat.Loader(leat.Plan(counting, LENGTH), max_tokens=MOST)
    with pytest.raises(leat.Error, match="a plan with skips"):
        leat.Plan(counting, LENGTH, order="documents", skip=[(1, 2)]).by_tokens(MOST)
    for options, says in ((dict(), "batch_size is missing"), (dict(batch_size=4, pool=3), "pool needs max_tokens"),
                          (dict(max_tokens=MOST, buffers=True), "buffers have a number of rows")):
        with pytest.raises(TypeError, match=says):
            leat.Loader(plan, **options)
    with pytest.raises(ValueError, match="step counts rows"):
        plan.by_tokens(MOST).trace(step=0, batch=8)
    with pytest.raises(TypeError, match="leave batch_size out"):
        leat.Loader(plan.by_tokens(MOST), 8)


def test_a_pool_that_the_end_cuts(counting):
    """Another end cuts the last pool elsewhere, which gives all of it another order: a state from inside of it is
    refused, and one from its beginning is not. (It was taken, and documents were lost.)"""
    once, twice = (leat.Plan(counting, LENGTH, seed=5, epochs=epochs).documents().by_tokens(MOST, pool=100)
                   for epochs in (1, 2))
    inside = len(once) - 2
    assert 0 < inside % 100 < 98 and once.load_state(once.state(inside))[0] == inside
    with pytest.raises(leat.Error, match="another plan"):
        twice.load_state(once.state(inside))
    begin = inside - inside % 100
    assert twice.load_state(once.state(begin))[0] == begin
