"""The documents have the structure that CommonMark has: tests/docs/test_site.py compares it where markdown-it-py is, as
it is here; the Python of `make check` may lack it."""
import os
import subprocess
import sys

import markdown_it  # noqa: F401, the comparison is left out without it
from conftest import BUILD, ROOT


def test_site():
    done = subprocess.run([sys.executable, "tests/docs/test_site.py"], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "LEAT_BUILD": str(BUILD)})
    assert done.returncode == 0, done.stdout
