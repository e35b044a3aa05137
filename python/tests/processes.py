"""processes.py: starts a program of several processes, as torchrun does, for the tests of ranks; and one that holds a
lock."""
import contextlib
import os
import random
import socket
import subprocess
import sys


def _start(program, words, environment):
    # none of the ranks that this process may have itself
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    return subprocess.Popen([sys.executable, str(program), *map(str, words)], env={**clean, **environment},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _free_port():
    """Not one that the kernel gives to whoever asks for any: that is somebody's before the ranks come."""
    while True:
        with socket.socket() as free:
            port = random.randrange(20000, 32000)
            try:
                free.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def run_ranks(program, words, ranks, seconds=None):
    """Runs a program of so many processes to its end; of one if it starts the others itself. Fails if one fails, or all
    take longer than `seconds`, as ranks do that wait for another one for ever."""
    if ranks == 1:
        processes = [_start(program, words, {})]
    else:
        port = str(_free_port())
        processes = [_start(program, words, {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks),
                                             "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                                             "MASTER_PORT": port}) for rank in range(ranks)]
    try:
        told = [process.communicate(timeout=seconds)[0] for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
    assert [process.returncode for process in processes] == [0] * len(processes), "\n".join(told)


@contextlib.contextmanager
def locked(path):
    """Another process has this file locked."""
    program = ("import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); "
               "sys.stdin.read()")
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        yield
        holder.stdin.close()
