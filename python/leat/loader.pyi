# loader.pyi: types of loader.py.
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from os import PathLike
from typing import Any, Literal

from leat.batch import Batch
from leat.plan import Plan

ENGINES: dict[str, int]
APART: dict[str, int]
ON_DAMAGE: dict[str, int]
ROWS: dict[str, int]
STYLES: tuple[str, ...]
HUGGINGFACE: dict[str, str]
LOOK_EVERY: int

def check_options(options: Iterable[str]) -> None: ...

class Loader:
    plan: Plan
    batch_size: int
    rank: int
    world: int
    def __init__(self, plan: Plan, batch_size: int, *, rank: int | None = None, world: int | None = None,
                 mesh: Any = None, parallel: Literal["ddp"] | None = None,
                 outputs: str | Iterable[str] = ("inputs", "labels"),
                 style: Literal["batch", "tuple", "dict", "huggingface"] = "batch",
                 framework: Literal["torch", "numpy", "jax"] = "torch", device: Any = "cpu",
                 driver: str | PathLike[str] | None = None, dtype: Any = None,
                 unshifted: bool | None = None, mask_first: bool = False, borrow: bool = False,
                 buffers: bool | Mapping[str, Any] | None = None, max_sequences: int | None = None,
                 rows: Literal["windows", "documents"] = "windows", max_length: int | None = None,
                 last: Literal["short", "padded", "dropped"] | None = None, position: int = 0,
                 state: Mapping[str, Any] | None = None, restart: bool = False, steps: int | None = None,
                 on_damage: Literal["error", "mask"] = "error",
                 engine: Literal["auto", "map", "pread", "advise", "uring"] = "auto",
                 apart: Literal["auto", "always", "never", "mapped"] = "auto", threads: int = 1,
                 verify: bool = True, slots: int = 0, memory: int | str = 0, numa_node: int = -1, notices: bool = True,
                 stats_file: str | PathLike[str] | None = None, stats_seconds: float = 60.0) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Loader: ...
    def __exit__(self, *why: object) -> None: ...
    def __reduce__(self) -> Any: ...
    def __iter__(self) -> Loader: ...
    def __next__(self) -> Any: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def state_dict(self, after: Batch | int | None = None) -> dict[str, Any]: ...
    def load_state_dict(self, state: Mapping[str, Any]) -> None: ...
    @property
    def cursor(self) -> int: ...
    def stats(self) -> dict[str, Any]: ...
    def stats_line(self) -> str: ...
    def kept_place(self) -> AbstractContextManager[Loader]: ...

class LoaderNotice(UserWarning): ...
