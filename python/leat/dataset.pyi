# dataset.pyi: types of dataset.py.
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

_Name: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]
_Access: TypeAlias = Literal["leased", "trusted", "read"]
_Column: TypeAlias = Literal["number", "id", "source", "text", "tokens", "mask"]
_Tokens: TypeAlias = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


class Part(NamedTuple):
    name: str
    first_token: int
    tokens: int
    first_document: int | None
    documents: int | None
    first_input: int
    inputs: int
    identity: bytes

class Input(NamedTuple):
    path: str
    bytes: int
    documents: int
    tokens: int
    rejects: int
    hash: Any

class Place(NamedTuple):
    document: int
    first: int
    count: Any
    input: int | None
    path: str | None
    offset: int | None
    line: int | None
    id: str | None
    row: int | None = None
    row_group: int | None = None

class Column(NamedTuple):
    name: str
    type: str
    width: int
    at: str

class Report(NamedTuple):
    bytes: int
    damaged_pages: int
    damaged_others: int
    part: int | None
    page: int | None
    first_document: int | None
    documents: int
    unhashed_parts: int

class Info(SimpleNamespace):
    tokens: int
    documents: int | None
    inputs: int
    parts: int
    vocabulary: int
    end_token: int | None
    begin_token: int | None
    token_bytes: int
    index_bytes: int
    created: int | None
    token_width: int
    format_version: int
    stores_lines: bool
    stores_ids: bool
    stores_hashes: bool
    stores_mask: bool
    identity: bytes
    fingerprint: bytes

def open(name: _Name | Iterable[_Name], *, access: _Access = "leased",
         cache: _Name | None = None, cache_size: int | str | None = None, online: bool = False,
         retry_seconds: int | None = None) -> Dataset: ...

class Documents:
    def __init__(self, dataset: Dataset, numbers: range) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> _Tokens: ...
    @overload
    def __getitem__(self, index: slice) -> Documents: ...
    def __iter__(self) -> Iterator[_Tokens]: ...

ARROW_COLUMNS: tuple[str, ...]

class ArrowDocuments:
    def __init__(self, dataset: Dataset, columns: tuple[int, ...], first: int, count: int) -> None: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class Dataset:
    def __init__(self, name: _Name | Iterable[_Name], *, access: _Access = "leased",
                 cache: _Name | None = None, cache_size: int | str | None = None, online: bool = False,
                 retry_seconds: int | None = None) -> None: ...
    def __enter__(self) -> Dataset: ...
    def __exit__(self, *why: object) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def close(self) -> None: ...
    @property
    def name(self) -> str | list[str]: ...
    @property
    def info(self) -> Info: ...
    @property
    def parts(self) -> list[Part]: ...
    @property
    def inputs(self) -> list[Input]: ...
    @property
    def metadata(self) -> dict[str, str]: ...
    @property
    def stored_tokenizer(self) -> tuple[str, str, bytes | None] | None: ...
    @property
    def tokens(self) -> _Tokens: ...
    def read(self, first: int, count: int) -> _Tokens: ...
    def view(self, first: int, count: int) -> _Tokens: ...
    @property
    def documents(self) -> Documents: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    @overload
    def __getitem__(self, index: int) -> _Tokens: ...
    @overload
    def __getitem__(self, index: slice) -> Documents: ...
    def __iter__(self) -> Iterator[_Tokens]: ...
    def starts(self, first: int = 0, count: int | None = None) -> npt.NDArray[np.uint64]: ...
    def mask(self, first: int = 0, count: int | None = None) -> npt.NDArray[np.uint8]: ...
    @property
    def columns(self) -> dict[str, Column]: ...
    def column(self, name: str) -> npt.NDArray[Any]: ...
    def text(self, number: int, *, errors: str = "replace") -> str: ...
    def decode(self, first: int, count: int) -> bytes: ...
    def arrow(self, columns: Iterable[_Column] = ..., *, first: int = 0, count: int | None = None
              ) -> ArrowDocuments: ...
    def place(self, number: int) -> Place: ...
    def find(self, *, document: int | None = None, token: int | None = None,
             origin: tuple[int | _Name, int] | None = None, id: str | bytes | int | None = None) -> Place: ...
    def text_hash(self, number: int) -> bytes: ...
    def verify(self, *, threads: int = 0, progress: Callable[[int, int], Any] | None = None) -> Report: ...
    def verify_range(self, first: int, count: int) -> None: ...
