"""Compares the structure of the documents with CommonMark: runs tests/docs/test_site.py with markdown-it-py, which the
Python of `make check` may lack."""
import os
import subprocess
import sys

import markdown_it  # noqa: F401, the comparison is left out without it
import pytest
from conftest import BUILD, ROOT


def test_site():
    done = subprocess.run([sys.executable, "tests/docs/test_site.py"], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "LEAT_BUILD": str(BUILD)})
    if done.returncode == 77:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout
