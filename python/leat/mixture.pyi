# mixture.pyi: types of mixture.py.
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, overload

from leat.batch import Batch
from leat.loader import Loader
from leat.plan import Plan, _Weight

SHAPES: tuple[str, ...]
FIRST_LINE: str
UNIT: int

@overload
def ramp(from_: Mapping[str, _Weight], to: Mapping[str, _Weight], start: int, end: int,
         shape: Literal["linear", "cosine"] = "linear", *, step: int | None = None,
         digits: int = 4) -> list[tuple[int, dict[str, str]]]: ...
@overload
def ramp(from_: Sequence[_Weight], to: Sequence[_Weight], start: int, end: int,
         shape: Literal["linear", "cosine"] = "linear", *, step: int | None = None,
         digits: int = 4) -> list[tuple[int, list[str]]]: ...

class Mixture:
    plan: Plan
    def __init__(self, plan: Plan, log: str | PathLike[str], *, every: int = 1, digits: int = 4,
                 state: Mapping[str, Any] | None = None, replay: bool = False, group: Any | Literal[False] | None = None
                 ) -> None: ...
    def add(self, batch: Batch, losses: Iterable[float] | Any) -> None: ...
    def step(self, loader: Loader, decide: Callable[[dict[str, float], dict[str, float]], Mapping[str, _Weight]]
             ) -> bool: ...
    def state_dict(self, loader: Loader) -> dict[str, Any]: ...
