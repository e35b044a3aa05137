"""own.py: what tests in Python of this folder share: the commands of the build, a folder of the test's own, in which it
is, and checks."""
import os
import pathlib
import subprocess
import sys
import tempfile

build = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
if not (build / "leat-bench").exists():
    print(f"skipped: no leat-bench under {build}")
    sys.exit(77)
started = pathlib.Path.cwd()  # where the test was started
temporary = tempfile.TemporaryDirectory(dir=os.environ.get("LEAT_TEST_TMP"))
os.chdir(temporary.name)
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print(what, file=sys.stderr)


def command(program, *words, code=0, says="", stdin="", **environment):
    """What a command prints that ends with this code, and says this."""
    done = subprocess.run([build / program, *words], input=stdin.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, env={**os.environ, **environment})
    said = done.stderr.decode()
    check(done.returncode == code and says in said, f"{program} {words} ended with {done.returncode}: {said!r}")
    return done.stdout.decode()


def finish():
    """Ends the test."""
    sys.exit(1 if failures else 0)
