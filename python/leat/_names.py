"""_names.py: where options are that were keywords once: who still gives one is told, by a row here."""
from __future__ import annotations

import functools

TYPE_CHECKING = False  # as typing has it, whose import takes time
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])


def _into(group: str, *names: str) -> dict[str, str]:
    return {name: f"{group}{name}=...)" for name in names}


_OPENING = _into("open=leat.Opening(", "access", "cache", "cache_size", "online", "retry_seconds")
_PATTERN = {"pattern": "tokenizer=leat.Tokenizer(FILE, pattern=...)"}
_CHAT = {**_into("chat=leat.Chat(TEMPLATE, ", "messages", "tools", "skip_slow_chats"),
         "chat_date": "chat=leat.Chat(TEMPLATE, date=...)", "chat_seconds": "chat=leat.Chat(TEMPLATE, seconds=...)"}
_PACK = {**_PATTERN, **_CHAT, **_into("inputs=leat.Files(PATHS, ", "format", "split_of", "include", "exclude",
                                      "skip_unknown", "allow_binary", "follow_links")}
MOVED = {
    "leat.Loader": {
        "mesh": "ranks=device_mesh[\"dp\"]", "parallel": "ranks=\"ddp\"",
        "driver": "device=leat.Device(\"cuda\", driver=...)",
        **_into("outputs=leat.Outputs(", "dtype", "unshifted", "mask_first", "mask_row_first", "mask_begin",
               "mask_repeats",
                "borrow", "max_sequences"),
        "rows": "leat.Loader(plan.documents(), ...)", "max_length": "leat.Loader(plan.documents(max_length), ...)",
        **_into("io=leat.IO(", "engine", "apart", "verify", "slots", "memory", "numa_node",
                "page_cache"),
        "stats_seconds": "stats_file=leat.StatsFile(FILE, seconds=...)"},
    "leat.Plan": {
        **_into("order=leat.fit(", "max_per_row", "min_length", "max_length", "cut_length", "align", "overlap",
               "begin"),
        **_into("order=leat.integrations.megatron.order(", "samples", "mid_level_dataset_surplus"), **_OPENING},
    "leat.Plan.parse": _OPENING,
    "leat.Plan.load": _OPENING,
    "leat.pack": _PACK,
    "leat.Run.create": _PACK,
    "leat.Packer": {**_PATTERN, **_CHAT},
    "leat.Run": {**_PATTERN, **_CHAT},
    "leat.adopt": _PATTERN,
    "leat.import_dataset": _PATTERN,
}


def refuse_moved(called: str, names: Any) -> None:
    """Raises TypeError for a keyword that is in a group now; `called`: the function that was given it."""
    for name in names:
        if name in MOVED[called]:
            raise TypeError(f"{called} takes {name} as {MOVED[called][name]}")


def telling(called: str) -> Callable[[_Function], _Function]:
    """Lets a function do so; Python's own errors about its arguments give it this name, too."""
    def wrap(function: _Function) -> _Function:
        function.__qualname__ = called
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            refuse_moved(called, options)
            return function(*args, **options)
        return call  # type: ignore[return-value]
    return wrap
