# plan.pyi: types of plan.py.
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy.typing as npt

from leat.dataset import Dataset, _Name
from leat.options import FIM, Opening, Order, choose, fit

_Weight: TypeAlias = int | float | str | Decimal
_Weights: TypeAlias = Sequence[_Weight] | Mapping[str, _Weight]
_OneSource: TypeAlias = _Name | Dataset
_Ban: TypeAlias = tuple[_Name | int, int] | tuple[_Name | int, int, int]
_Rule: TypeAlias = fit | choose
_AnySource: TypeAlias = (_OneSource | tuple[_OneSource, _Rule] | tuple[_OneSource, _Weight] |
                         tuple[_OneSource, _Rule, _Rule] | tuple[_OneSource, _Weight, _Rule] |
                         tuple[_OneSource, _Weight, _Rule, _Rule] | tuple[_OneSource, _Weight, int | None] |
                         tuple[_OneSource, _Weight, int | None, _Rule] |
                         tuple[_OneSource, _Weight, int | None, _Rule, _Rule])

MOST_SAMPLES: int
STOPS: dict[str, int]

class Sample(NamedTuple):
    n: int
    source: int
    window: int
    document: int | None
    offset: int
    part: int
    epoch: int
    length: int
    block: int
    token: int

class Shown(NamedTuple):
    n: int
    source: int
    document: int
    first: int
    count: Any
    path: str | None
    offset: int | None
    line: int | None
    id: str | None
    row: int | None = None
    row_group: int | None = None
    banned: bool = False

class Piece(NamedTuple):
    source: int
    part: int
    token: int | None
    count: Any
    at: int
    document: int | None
    inputs: int | None = None
    literal: int | None = None

class Source(NamedTuple):
    name: str
    blocks: int
    tokens: int
    dropped: int
    weight: int
    epochs: int
    dataset: Dataset
    documents: int | None
    left_out: int | None
    cut: int | None

class FitReport(NamedTuple):
    seq_len: int
    documents: int
    predictions: int
    empty: int
    rows: int
    full_rows: int
    pieces: int
    max_pieces: int
    patterns: int
    padding: int
    cut: int
    lost: int
    window_rows: int
    window_cut: int
    window_lost: int
    left_out: int
    unused: int
    context: int
    fill: float

class PlanInfo(SimpleNamespace):
    sources: int
    phases: int
    samples: int | None
    positions: int | None
    seed: int
    order: str
    seq_len: int
    max_seq_len: int
    base_len: int
    permutation_version: int
    blend_version: int
    split_version: int
    token_width: int
    align: int
    overlap: int
    max_tokens: int
    max_rows: int
    pool: int
    stretch: int
    mix: int
    lanes: int

class BanLines(str): ...

def decimal(weight: _Weight | None) -> str | None: ...
def by_names(what: str, weights: Mapping[str, _Weight], names: list[str], rest: Any) -> list[Any]: ...

class Plan:
    def __init__(self, sources: _OneSource | Mapping[Any, _Weight] | Iterable[_AnySource], seq_len: int,
                 seed: int | None = None, *,
                 base_len: int | None = None, split: str | Mapping[str, _Weight] | None = None, use: str | None = None,
                 phases: Iterable[tuple[int, _Weights] | tuple[int, _Weights, int | None]] = (),
                 skip: Iterable[tuple[int, int]] = (),
                 bans: _Name | Iterable[_Ban] = (),
                 order: Literal["shuffled", "sequential", "documents", "documents-sequential", "fit", "megatron"] | Order = "shuffled",
                 epochs: int | None = None, fim: FIM | None = None,
                 stop: Literal["all", "first"] = "all", stretch: int | str | None = None, mix: int = 64,
                 lanes: int = 1, open: Opening = ...) -> None: ...
    @classmethod
    def parse(cls, text: str, *, skip: Iterable[tuple[int, int]] = (), epochs: int | None = None,
              label: str = "plan", open: Opening = ...) -> Plan: ...
    @classmethod
    def load(cls, path: _Name, *, skip: Iterable[tuple[int, int]] = (), epochs: int | None = None,
             open: Opening = ...) -> Plan: ...
    def change(self, at: int, *, weights: Mapping[str, _Weight] | Sequence[_Weight | None] | None = None,
               add: _OneSource | Iterable[_AnySource] = (), stop: str | Iterable[str] = (),
               seq_len: int | None = None) -> Plan: ...
    def change_place(self, n: int) -> int: ...
    def replay(self, text: str, label: str = "changes") -> Plan: ...
    def documents(self, max_length: int | None = None) -> Plan: ...
    def by_tokens(self, max_tokens: int, *, max_rows: int | None = None, pool: int | None = None) -> Plan: ...
    def ban(self, documents: _Name | Iterable[_Ban], start: int | None = None) -> Plan: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def text(self) -> str: ...
    @property
    def info(self) -> PlanInfo: ...
    @property
    def seq_len(self) -> int: ...
    @property
    def sources(self) -> list[Source]: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    @overload
    def order(self, n: int, count: None = None) -> Sample: ...
    @overload
    def order(self, n: int, count: int) -> list[Sample]: ...
    def samples(self, position: int, count: int) -> npt.NDArray[Any]: ...
    def pieces(self, n: int) -> list[Piece]: ...
    def number(self, position: int) -> int: ...
    def position(self, n: int) -> int: ...
    def fit_report(self, seq_len: int | None = None, source: int | str = 0) -> FitReport: ...
    def trace(self, *, document: tuple[int | str, int] | None = None, epochs: int | None = None,
              until: int | None = None, step: int | None = None, batch: int | None = None,
              samples: tuple[int, int] | None = None) -> list[Any]: ...
    def state(self, position: int, damaged: int = 0) -> str: ...
    def load_state(self, text: str) -> tuple[int, int, int]: ...
