"""_passes.py: the passes of `for` over a loader, their lengths, and the states to continue from. All of these depend
only on how far the loader is in its plan.
"""
from __future__ import annotations

import warnings
from collections import namedtuple

from leat import _leat
from leat._values import choice, read_state, whole
from leat.batch import Batch

TYPE_CHECKING = False  # in place of typing.TYPE_CHECKING, because typing is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from typing_extensions import Self

    from leat.plan import Plan

# How far a loader is:
#   cursor   position in the plan after the last batch that was given
#   damaged  rows that were masked up to there
#   batches  given since it began there
#   step     of these, in this `for`
#   resumes  NEXT: the next `for` continues the pass in which a state was saved, with its `step`; THIS: this one does,
#            and has no batch yet
#   ended    this `for` has ended: a state that is saved from here on does not continue it
Place = namedtuple("Place", "cursor damaged batches step resumes ended", defaults=(0, 0, 0, 0, False))
NEXT, THIS = 1, 2


def batches_in(left, batch_size, rank, world, last, balance=None):
    """Returns how many batches a rank gets from `left` samples. With `balance`, each rank is dealt one row first."""
    whole_batches, rest = divmod(max(left, 0), batch_size * world)
    if last == "padded":
        return whole_batches + (rest > 0)
    return whole_batches + (last == "short" and rest > rank * (1 if balance else batch_size))


def last_of(last, world):
    """Returns the option `last`, or its default: several ranks stay in step, because a rank that ends early leaves the
    others waiting in the next collective."""
    if last is None:
        return "padded" if world > 1 else "short"
    choice("last", last, _leat.LOADER_CHOICES["last"])
    return last


class LoaderNotice(UserWarning):
    """Something that the user should know about a loader, such as that training waits for it, and why."""


class Passes(_leat.Turn):
    """The part of leat.Loader that follows its place in the plan. leat.Loader itself takes batches."""

    plan: Plan
    batch_size: int
    rank: int
    world: int
    balance: str | None
    _steps: int | None
    _by_tokens: bool
    _options: dict[str, Any]
    _ends: dict[int, None]
    _go_to: Callable[[Place], None]

    def __iter__(self) -> Self:
        self._alone(self._begin_pass)
        return self

    def _begin_pass(self):
        place = self._place
        if self._closed:
            return
        if place.resumes:
            self._place = place._replace(resumes=THIS)
        elif self._begins_again():
            if not self._restart:
                self._notice_again()
            self._go_to(Place(self._begin))
        else:
            self._place = place._replace(step=0, ended=False)
        if not place.resumes:
            self._check_some()
        self._notice_few()

    def _begins_again(self):
        """Returns True if the next `for` begins at the beginning instead of where the last one stopped."""
        place = self._place
        if self._restart:
            return bool(place.batches) or place.cursor != self._begin and not place.resumes
        if place.cursor == self._begin or place.resumes or self._left_from(place.cursor) != 0:
            return False
        if self._restart is False:
            raise ValueError(f"the plan has ended, after {self.plan.info.positions} samples: restart=None gives them "
                             "again, and leat.Plan(..., epochs=N) more passes over the data, each in another order")
        return True

    def _notice_again(self):
        if self._notices and not self._noticed_again:
            self._noticed_again = True
            warnings.warn("the plan has ended, and this `for` gives its samples again, in the same order: for several "
                          "passes over the data, each in another order, use leat.Plan(..., epochs=N), with steps= of "
                          "leat.Loader for batches per `for`", LoaderNotice, stacklevel=4)

    def _notice_few(self):
        """Says once why the `for` that begins here gives fewer batches than `steps`."""
        place = self._place
        if not self._notices or self._noticed_few or not self._steps or self._by_tokens:
            return
        left, wanted = self._left_from(place.cursor), self._steps - place.step
        few = max(wanted if left is None else min(left, wanted), 0)
        if few == self._steps:
            return
        self._noticed_few = True
        why = (f"the plan has only {few} left" if few < wanted else
               f"steps counts from the beginning of the `for` in which the state was saved, after {place.step} of them")
        warnings.warn(f"this `for` gives {few} batches, not steps={self._steps}: {why}", LoaderNotice, stacklevel=4)

    def _check_some(self):
        """Raises if a `for` that begins here gives no rank a batch although samples are left."""
        cursor, end = self._place.cursor, self.plan.info.positions
        if self._last == "dropped" and end is not None and cursor < end and self._left_from(cursor) == 0:
            raise ValueError(f"no batch: {end - cursor} samples are less than a global batch of "
                             f"{self._options['batch']} rows, and last=\"dropped\" leaves them out: use fewer rows, or "
                             "last=\"padded\"")

    def _start_over(self):
        """Lets the next `for` start from the beginning, also without restart."""
        if not self._restart:
            self._alone(lambda: self._go_to(Place(self._begin)))

    def _next_pass(self):
        """Begins a pass instead of continuing the one in which a state was saved, for a trainer that has counted it."""
        self._place = self._place._replace(resumes=0)
        self._alone(self._begin_pass)

    def __len__(self) -> int:
        """How many batches a `for` gives: `steps`, or what is left of the plan, or at its end all of it; the same on
        all ranks unless last is "short". From load_state_dict() to the first batch: all batches of the `for` in which
        the state was saved, with those before it, because trainers count from its first one. TypeError if the plan has
        no end, or batches by tokens."""
        if self._steps is not None and self.plan.info.positions is None:
            return self._steps
        if self._by_tokens:
            raise TypeError("how many batches by tokens a plan has is known only when they have been made")
        place = self._place
        count = self._left() + (place.step if place.resumes else 0)
        return count if self._steps is None else min(count, self._steps)

    def _left(self):
        """Returns the number of batches from the next `for` to the plan's end. TypeError if the plan has no end."""
        len(self.plan)
        place = self._place
        left = self._left_from(place.cursor)
        again = self._restart or self._restart is None and left == 0
        return self._left_from(self._begin) if again and not place.resumes else left

    def _left_from(self, cursor):
        """Returns the number of batches from a position to the plan's end, or None if the plan has no end. Batches by
        tokens give 1 if any is left, else 0."""
        end = self.plan.info.positions
        if end is None:
            return None
        if self._by_tokens:
            return int(cursor < end)
        return batches_in(end - cursor, self.batch_size, self.rank, self.world, self._last, self.balance)

    # ---- Checkpoints

    def state_dict(self, after: Batch | int | None = None) -> dict[str, Any]:
        """The state of the run after the last batch that was given; or after the Batch or cursor `after`, for programs
        that take batches ahead of the one they train on. It is the same on all ranks, and any number of ranks can
        continue from it: it has a position in the plan, and fingerprints of what led there. If the `for` has not ended,
        one from the state gives the batches that are left of it, even if no batch is left. With last="short", when some
        ranks run out first, only those that got the last batch have the final state."""
        place = self._place
        cursor, damaged = place.cursor, place.damaged
        if after is not None:
            cursor = after.cursor if isinstance(after, Batch) else whole("after", after)
            damaged = after.damaged if isinstance(after, Batch) else damaged
        if self._by_tokens:
            ahead = sum(cursor < end <= place.cursor for end in self._ends)
        else:
            ahead = -(-(place.cursor - cursor) // self._options["batch"])
        state = {"leat": 1, "position": cursor, "step": max(place.step - ahead, 0),
                 "state": self.plan.state(cursor, damaged)}
        return {**state, "ended": True} if place.ended and after is None else state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a state; leat.Error ("checkpoint") if this plan gave other samples up to there. A closed
        loader opens again."""
        position, damaged, step = read_state(self.plan, state)
        place = Place(position, damaged, step=step or 0, resumes=0 if step is None else NEXT)
        self._alone(lambda: self._go_to(place))

    def _leave_finished_pass(self):
        """Lets the next `for` begin a new pass if the state that was loaded is from the end of one. Without this it
        ends at once, as it must for a program that has not counted that pass yet."""
        place = self._place
        ended = self._steps is not None and place.step >= self._steps
        if place.resumes and (ended or self.plan.info.positions is not None and self._left() == 0):
            self._place = place._replace(resumes=0)

    @property
    def cursor(self) -> int:
        """Position in the plan after the last batch that was given."""
        return self._place.cursor
