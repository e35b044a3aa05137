"""ids_apart.py: work in a process of its own, so that a reference that dies, or takes all memory, is one failure with
its reason and ends nothing else."""
import contextlib
import os
import pickle
import resource
import signal
import sys
import time
import traceback


class Died(Exception):
    """The process gave no answer; why."""


def reason(status, seconds, megabytes):
    how = (signal.Signals(-status).name if status < 0 else f"exit code {status}")
    return f"its process ended early: {how} after {seconds:.0f} s, with {megabytes} MiB"


def work_and_tell(work, out, limit):
    """In the child: never returns."""
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        answer = pickle.dumps(work())
        with os.fdopen(out, "wb") as file:
            file.write(len(answer).to_bytes(8, "little") + answer)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def apart(work, limit):
    """What work() returns, and the most memory that it took, in MiB. `limit`: bytes of address space."""
    sys.stdout.flush()
    sys.stderr.flush()
    begin = time.monotonic()
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(into)
        work_and_tell(work, out, limit)
    os.close(out)
    with os.fdopen(into, "rb") as file:
        answer = file.read()
    _, status, usage = os.wait4(child, 0)
    status, megabytes = os.waitstatus_to_exitcode(status), usage.ru_maxrss >> 10
    if status != 0:
        raise Died(reason(status, time.monotonic() - begin, megabytes))
    if len(answer) < 8 or int.from_bytes(answer[:8], "little") != len(answer) - 8:
        raise Died(f"its process gave {len(answer)} bytes, which is not its whole answer")
    return pickle.loads(answer[8:]), megabytes
