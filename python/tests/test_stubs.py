"""The stubs have the names, signatures and defaults that the modules have at run time, by mypy's stubtest."""
import pathlib
import re
import subprocess
import sys

import pytest


def test_stubs():
    pytest.importorskip("mypy")
    config = pathlib.Path(__file__).with_name("stubs.ini")
    words = ["-m", "mypy.stubtest", "--concise", "--mypy-config-file", str(config), "leat"]
    done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # attributes are set by `from __future__ import annotations`, and modules without a stub have their types inside;
    # classes of marked strings get their methods in a loop, with the names but not the parameters of str, int and float
    made = re.compile(r"leat\._marked\.(Marked|Int|Float|Tracing)\b.*( is inconsistent, stub does not have \*args |"
                      r" is a disjoint base at runtime,| differs from runtime type def )")
    wrong = [line for line in done.stdout.splitlines() if line.startswith("leat.") and not made.match(line) and
             not line.startswith("leat.integrations.")]
    assert not wrong and "error:" not in done.stdout, done.stdout
