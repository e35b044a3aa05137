"""The stubs have the names, signatures and defaults that the modules have at run time, by mypy's stubtest."""
import pathlib
import subprocess
import sys

import pytest


def test_stubs():
    pytest.importorskip("mypy")
    config = pathlib.Path(__file__).with_name("stubs.ini")
    words = ["-m", "mypy.stubtest", "--concise", "--mypy-config-file", str(config), "leat"]
    done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # attributes are set by `from __future__ import annotations`, and modules without a stub have their types inside;
    # the methods of marked strings are made in a loop
    inside = "leat.integrations.", "leat._marked."
    wrong = [line for line in done.stdout.splitlines() if line.startswith("leat.") and not line.startswith(inside)]
    assert not wrong and "error:" not in done.stdout, done.stdout
