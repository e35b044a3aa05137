"""The package imports, and the extension is the library's version."""
import re
import subprocess
import sys


def test_version():
    import leat

    assert re.fullmatch(r"\d+\.\d+\.\d+", leat.__version__)
    assert issubclass(leat.Error, Exception)


def test_import_takes_nothing_along():
    """numpy, torch, jax and the modules for trainers are imported when they are used."""
    code = ("import sys, leat; print(' '.join(m for m in sys.modules if m in ('numpy', 'torch', 'jax', 'lightning') or "
            "m.startswith('leat.integrations.')))")
    printed = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True).stdout
    assert printed.strip() == ""
