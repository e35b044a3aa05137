"""The package imports, and the extension is the library's version."""
import importlib
import pathlib
import re
import subprocess
import sys

import pytest


def test_version():
    import leat

    assert re.fullmatch(r"\d+\.\d+\.\d+", leat.__version__)
    assert issubclass(leat.Error, Exception)


def test_extension_for_python_before_3_13():
    """One that was built with the headers of 3.13 or later failed in 3.12 and before: loaders could not be opened
    (SystemError: PY_SSIZE_T_CLEAN macro must be defined for '#' formats)."""
    from leat import _leat

    names = set(pathlib.Path(_leat.__file__).read_bytes().split(b"\0"))
    functions = b"PyArg_ParseTuple", b"PyArg_ParseTupleAndKeywords", b"Py_BuildValue", b"PyObject_CallMethod"
    assert not names.intersection(functions)
    assert b"_PyArg_ParseTuple_SizeT" in names


@pytest.mark.parametrize("module, package, install", [
    ("leat.integrations.ray_data", "ray", "ray[data]"),
    ("leat.integrations.spark", "pyspark", "pyspark[sql]"), ("leat.integrations.daft", "daft", "daft"),
    ("leat.integrations.datatrove", "datatrove", "datatrove"),
    ("leat.integrations.nemo_curator", "nemo_curator", "nemo-curator")])
def test_engine_that_is_not_installed(monkeypatch, tmp_path, module, package, install):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ImportError, match=re.escape(f" needs {package}, which cannot be imported: ") + ".*" +
                       re.escape(f"(pip install '{install}')")):
        importlib.import_module(module).pack([], tmp_path / "out", "bytes", parts=1)


def test_import_takes_nothing_along():
    """Packages, what is slow to import, and the modules for trainers are imported when they are used."""
    import leat

    code = ("import sys, leat; print(' '.join(m for m in sys.modules if m in ('numpy', 'pyarrow', 'tqdm', 'torch', "
            "'jax', 'lightning', 'json', 'typing') or m.startswith('leat.integrations.')))")
    path = pathlib.Path(leat.__file__).parents[1]
    printed = subprocess.run([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE, check=True, text=True,
                             env={"PYTHONPATH": str(path)}).stdout
    assert printed.strip() == ""
