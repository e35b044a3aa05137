"""command.py: runs the commands leat and leat-bench, which are programs in this package."""
import os
import sys

from leat._clash import REMEDY


def program(name):
    """Returns the path of a program in the package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)


def run(name):
    """Replaces this process by the program, which then gets signals and the terminal itself and sets the exit code."""
    if not hasattr(sys.modules["leat"], "Loader"):
        sys.exit(f"{name}: {REMEDY}")
    path = program(name)
    os.environ.setdefault("LEAT_PYTHON", sys.executable)  # the Python for the command's --chat and `leat import`
    try:
        os.execv(path, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: {path}: {error.strerror}")


def leat():
    run("leat")


def bench():
    run("leat-bench")
