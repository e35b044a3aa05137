"""_lazy.py: imports optional packages when they are first needed."""
def need(name, what, install=None):
    """Imports the module `name`. If that fails, ImportError says what needs it and what to install with pip."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as missing:
        other = f" (pip install '{install}')" if install else ""
        if name == "torch":
            other = ' (framework="numpy" does without)'
        raise ImportError(f"{what} needs {name.partition('.')[0]}, which cannot be imported: {missing}{other}"
                          ) from missing


def numpy(what):
    return need("numpy", what)
