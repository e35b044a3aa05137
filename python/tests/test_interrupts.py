"""Ctrl-C, and several threads, at any place inside of a loader: it goes on, no batch is lost and none comes twice.

What went wrong: an interrupt at the beginning of a `for` of Loader(restart=True), while the library's loader was being
opened again, left it closed for good: 215 of 294 loaders. One between two statements of next() lost a batch, or its
place in `steps`. The flag that was to tell such a next() from a finished one was seen by other threads too: they opened
the loader again, and six that called next() together got 674 batches, of which 636 were distinct."""
import sys
import threading
import warnings

import pytest

import leat

PACKAGE = leat.__file__.rpartition("/")[0]
BATCHES = 3


class Interrupt:
    """Raises KeyboardInterrupt before the n-th instruction that the package's Python code executes in `with` it."""

    def __init__(self, n):
        self.left = n

    def __enter__(self):
        sys.settrace(self._enter)
        return self

    def __exit__(self, kind, error, trace):
        sys.settrace(None)
        return kind is KeyboardInterrupt

    @property
    def came(self):
        return self.left == 0

    def _enter(self, frame, event, arg):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame, event, arg):
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._step


def every_place():
    """An Interrupt for each place, until one does not come any more."""
    n = 0
    while True:
        n += 1
        interrupt = Interrupt(n)
        yield interrupt
        if not interrupt.came:
            assert n > 100  # of a few hundred places at least
            return


@pytest.fixture(scope="module")
def plan(corpus):
    return leat.Plan(corpus, 512, epochs=1)


ROWS = 2


def opened(plan, **options):
    return leat.Loader(plan, ROWS, position=len(plan) - BATCHES * ROWS, framework="numpy", threads=0, **options)


def positions(plan):
    return list(range(len(plan) - BATCHES * ROWS, len(plan), ROWS))


@pytest.mark.parametrize("options", [{}, {"outputs": leat.Outputs(borrow=True)}, {"buffers": True}, {"style": "tuple"}],
                         ids=["plain", "borrow", "buffers", "style"])
def test_no_batch_is_lost(plan, options):
    """What the interrupted `for` gave, and then the next one, are all batches, and the state is right in between."""
    want = positions(plan)
    for interrupt in every_place():
        loader, given = opened(plan, **options), []
        with interrupt:
            for batch in loader:
                given.append(batch)
        n = len(given)
        state = loader.state_dict()
        assert loader.cursor == state["position"] == (want + [len(plan)])[n] and state["step"] == n
        if n < BATCHES:  # else the next `for` begins again
            for batch in loader:
                given.append(batch)
        assert loader.cursor == len(plan) and len(given) == BATCHES
        if "style" not in options:
            assert [batch.position for batch in given] == want
        loader.close()


def test_restart(plan):
    """The next `for` begins again, wherever in the one before, or at its beginning, the interrupt came. Statistics are
    there too, also if it came while the loader was being opened."""
    want = positions(plan)
    for n, interrupt in enumerate(every_place()):
        loader, given = opened(plan, restart=True), []
        next(loader)
        with interrupt:
            for batch in loader:
                given.append(batch)
        assert [batch.position for batch in given] == want[:len(given)]
        if n % 2:
            assert loader.stats()["slots"] > 0 and loader.stats_line()
        assert [batch.position for batch in loader] == want
        assert loader.stats()["batches"] == BATCHES
        loader.close()
        with pytest.raises(ValueError, match="closed"):
            loader.stats()


def test_steps_of_a_state(plan):
    """The first `for` after a state was loaded continues its pass, also if interrupted before its first batch."""
    want = positions(plan)
    before = opened(plan, steps=2)
    for batch in before:
        state = before.state_dict()
        break
    for interrupt in every_place():
        loader, given = opened(plan, steps=2), []
        with interrupt:
            loader.load_state_dict(state)
            for batch in loader:
                given.append(batch)
        if not given and loader.cursor == want[0]:  # before the state was loaded
            loader.load_state_dict(state)
        first = len(given)
        given.extend(loader)
        assert [batch.position for batch in given] == want[1:][:len(given)]
        assert len(given) == (2 if first else 1)
        loader.close()


def test_a_notice_as_an_error(plan):
    """Where warnings are errors, the batch that a notice comes with is given by the next call."""
    loader = leat.Loader(plan, 1, framework="numpy", threads=0)
    taken, said = [], []
    real = loader._warn

    def warn():
        if not said:
            said.append(True)
            warnings.warn("wait for it", leat.LoaderNotice)
        real()

    loader._warn = warn
    with warnings.catch_warnings():
        warnings.simplefilter("error", leat.LoaderNotice)
        while len(taken) < 200:
            try:
                taken.append(next(loader).position)
            except leat.LoaderNotice:
                assert loader.cursor == len(taken) == loader.state_dict()["position"]
    assert said and taken == list(range(200))


@pytest.mark.parametrize("threads", [0, 1])
def test_many_threads(plan, threads):
    """Of threads that call next() together one gets the batch, and others are refused: no batch comes twice, none is
    lost."""
    loader = leat.Loader(plan, 1, framework="numpy", threads=threads, outputs="inputs", notices=False)
    given, refused, others = [], [], []

    def take():
        while True:
            try:
                given.append(next(loader))
            except StopIteration:
                return
            except RuntimeError as error:
                refused.append(str(error))
            except BaseException as error:
                others.append(error)
                return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        all_of_them = [threading.Thread(target=take) for _ in range(6)]
        for thread in all_of_them:
            thread.start()
        for thread in all_of_them:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not others
    assert sorted(batch.position for batch in given) == list(range(len(plan)))
    assert all("another thread" in sentence for sentence in refused)
