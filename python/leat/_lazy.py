"""_lazy.py: imports optional packages when they are first needed."""
def need(name, what):
    """Imports the module `name`; if that fails, ImportError says what it was needed for."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as missing:
        other = ' (framework="numpy" does without)' if name == "torch" else ""
        raise ImportError(f"{what} needs {name.partition('.')[0]}, which cannot be imported: {missing}{other}"
                          ) from missing


def numpy(what):
    return need("numpy", what)
