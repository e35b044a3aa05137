"""leat.integrations: leat's loader as other libraries expect one; each module imports its library, on first use."""


def __getattr__(name):
    from importlib import import_module
    from importlib.util import find_spec

    if name.startswith("_") or not find_spec(f"leat.integrations.{name}"):
        raise AttributeError(f"leat.integrations has no {name}")
    return import_module(f"leat.integrations.{name}")
