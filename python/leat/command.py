"""command.py: the commands leat and leat-bench, which the package brings along as programs."""
import os
import sys


def program(name):
    """The path of a program that lies in the package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)


def run(name):
    """Becomes the program: signals, exit code and terminal are its own."""
    path = program(name)
    try:
        os.execv(path, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: {path}: {error.strerror}")


def leat():
    run("leat")


def bench():
    run("leat-bench")
