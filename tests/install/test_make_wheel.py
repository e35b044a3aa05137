#!/usr/bin/env python3
"""test_make_wheel.py: python/make_wheel.py needs neither git nor pip. `make wheel` compiled for minutes and then ended
with FileNotFoundError on a system without git, and with "No module named pip" on one whose python3 has venv only. To
install pip takes seconds: make check-wheel and make check-every do, make check only looks at what would be called."""
import os
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
tmp = pathlib.Path(os.environ.get("LEAT_TEST_TMP", "/tmp"))
bare = tmp / "bare"
if subprocess.run([sys.executable, "-c", "import ensurepip, venv"], stderr=subprocess.DEVNULL).returncode != 0:
    print("skipped: python3 has no venv")
    sys.exit(77)
subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
failures = 0


def call(what, before="pass"):
    """What a function of make_wheel.py gives in a Python without pip, with no program to be found."""
    code = (f"import sys; sys.path.insert(0, {str(root / 'python')!r}); import make_wheel, subprocess; {before}; "
            f"print(make_wheel.{what})")
    done = subprocess.run([bare / "bin/python", "-B", "-c", code], cwd=root, env={"PATH": str(tmp / "nothing")},
                          stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def check(what, ok, *seen):
    global failures
    if not ok:
        print(what, *seen)
        failures += 1


seen = call("time_of_sources()")
check("without git, the time is that of CHANGELOG.md", seen == str(int(os.path.getmtime(root / "CHANGELOG.md"))), seen)
find = f"python_with_pip({str(tmp / 'pip')!r})"
seen, _, python = call(find, "subprocess.run = lambda words, check: print(*words)").partition("\n")
check("it would make one with pip", seen.startswith(f"{bare}/bin/python -m venv ") and seen.endswith(f" {tmp}/pip") and
      "--without-pip" not in seen and python == f"{tmp}/pip/bin/python", seen, python)
if "LEAT_TEST_EVERY" in os.environ:
    python = call(find)
    check("a Python with pip is made", python.startswith(str(tmp / "pip")), python)
    pip = subprocess.run([python or "false", "-m", "pip", "--version"], stdout=subprocess.PIPE, text=True)
    check("it has pip", pip.returncode == 0 and pip.stdout.startswith("pip "), pip)
sys.exit(1 if failures else 0)
