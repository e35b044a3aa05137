"""_renderers.py: starts and ends the processes that render conversations for leat.pack(chat=...)."""
from __future__ import annotations

import os
import socket
import subprocess
import sys


class Renderers:
    """What the library calls, from threads of its own."""

    def __init__(self):
        from importlib.util import find_spec
        if find_spec("jinja2") is None:
            raise ImportError("chat templates are rendered by jinja2: pip install jinja2")
        self._running = {}

    def open(self):
        """The descriptor of a connection to a new process."""
        ours, its = socket.socketpair()
        try:
            self._running[ours.fileno()] = subprocess.Popen(
                [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "render.py")], stdin=its,
                stdout=subprocess.DEVNULL, start_new_session=True)  # a session of its own: Ctrl-C is not for it
        finally:
            its.close()
        return ours.detach()

    def close(self, connection):
        process = self._running.pop(connection)
        os.close(connection)
        process.kill()
        process.wait()
