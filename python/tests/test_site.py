"""Compares the structure of the documents with CommonMark: runs tests/docs/test_site.py with markdown-it-py, which the
Python of `make check` may lack. The site's pages of the package, made from its sources, have what Python says of each
name."""
import inspect
import os
import subprocess
import sys

import leat
import markdown_it  # noqa: F401, the comparison is left out without it
import pytest
from conftest import BUILD, ROOT


def test_site():
    done = subprocess.run([sys.executable, "tests/docs/test_site.py"], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "LEAT_BUILD": str(BUILD)})
    if done.returncode == 77:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout


def public_methods(thing):
    for name, value in vars(thing).items() if inspect.isclass(thing) else ():
        value = getattr(value, "__func__", value)
        if not name.startswith("_") and inspect.getdoc(value) and (callable(value) or isinstance(value, property)):
            yield value


def test_pages_of_names(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts/site")
    from python_pages import python_pages
    pages = python_pages(ROOT / "python")
    for name in set(leat.__all__) - {"__version__"}:
        thing, (_, text) = getattr(leat, name), pages[f"leat.{name}"]
        have = {line.strip() for line in text.split("\n")}
        for each in [thing, *public_methods(thing)]:
            missing = {line.strip() for line in inspect.getdoc(each).split("\n")} - have - {""}
            assert not missing, f"{name}: {missing}"
        if not inspect.isclass(thing):
            for parameter in inspect.signature(thing).parameters:
                assert parameter in text.partition("\n\n")[0], f"{name}: {parameter}"
