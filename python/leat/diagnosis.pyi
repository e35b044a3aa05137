# diagnosis.pyi: types of diagnosis.py.
from collections.abc import Callable
from typing import Any, NamedTuple

from leat.loader import Loader

ROUNDS: int
LITTLE: float
WORK: dict[str, tuple[str, str]]
SERVER: tuple[str, str]

class Diagnosis(NamedTuple):
    share: float
    real: float
    synthetic: float
    waiting: float
    steps: int
    tokens: int
    thread: dict[str, float]
    stats: dict[str, Any]
    @property
    def is_the_loader(self) -> bool: ...

def diagnose(loader: Loader, step: Callable[[Any], object], steps: int = 50, warm_up: int = 5) -> Diagnosis: ...
