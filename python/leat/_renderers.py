"""_renderers.py: starts and ends the processes that render conversations for leat.pack(chat=...)."""
from __future__ import annotations

import os
import socket
import subprocess
import sys

# As tokenize_tools/cli/own_python.c has them: what begins the code of an interpreter, so that it takes no file of the
# current folder for a module; and the beginnings of the variables that it needs.
_RUN = ("import sys\nsys.path[:1] == [''] and sys.path.pop(0)\n"
        "import runpy\nrunpy.run_path(sys.argv[1], run_name='__main__')\n")
_NEEDED = ("HOME=", "PATH=", "PYTHON", "LD_", "PYENV_", "GUIX_PYTHONPATH=")


def _environment():
    """Returns a renderer's environment, without credentials and the current folder (empty parts of PYTHONPATH)."""
    kept = {name: value for name, value in os.environ.items() if f"{name}=".startswith(_NEEDED)}
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, kept.get("PYTHONPATH", "").split(os.pathsep)))
    return kept


class Renderers:
    """Starts and ends renderers. The library calls it from threads of its own."""

    def __init__(self):
        from importlib.util import find_spec
        if find_spec("jinja2") is None:
            raise ImportError("chat templates are rendered by jinja2: pip install 'jinja2>=3.1.6'")
        self._running = {}

    def open(self):
        """Starts a process, which Ctrl-C does not reach (own session). Returns the descriptor of its connection."""
        ours, its = socket.socketpair()
        try:
            self._running[ours.fileno()] = subprocess.Popen(
                [sys.executable, "-c", _RUN, os.path.join(os.path.dirname(os.path.abspath(__file__)), "render.py")],
                stdin=its, stdout=subprocess.DEVNULL, env=_environment(), start_new_session=True)
        finally:
            its.close()
        return ours.detach()

    def close(self, connection):
        process = self._running.pop(connection)
        os.close(connection)
        process.kill()
        process.wait()
