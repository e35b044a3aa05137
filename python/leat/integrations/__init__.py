"""leat.integrations: leat's loader as other libraries expect one; each module imports its library, on first use."""


def __getattr__(name):
    import importlib.util

    if name.startswith("_") or not importlib.util.find_spec(f"leat.integrations.{name}"):
        raise AttributeError(f"leat.integrations has no {name}")
    return importlib.import_module(f"leat.integrations.{name}")
