"""spark_disturbed.py: the format "disturbed": "leat" whose tasks and commits are disturbed in a chosen way. A module of
its own, as Spark's executors import it.

The option "disturb" names a class below; "events" a folder in which processes say what has happened, and wait for it.
"""
import ctypes
import os
import pathlib
import signal
import struct
import time

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter

from leat.integrations import spark

PATIENCE = 600  # seconds until what should happen has failed; nothing else depends on time


def wait_for(event):
    deadline = time.monotonic() + PATIENCE
    while not event.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{event.name} has not happened")
        time.sleep(0.02)


class Disturbed(spark.Source):
    @classmethod
    def name(cls):
        return "disturbed"

    def writer(self, schema, overwrite):
        kind, events = globals()[self.options.pop("disturb")], pathlib.Path(self.options.pop("events"))
        return kind(super().writer(schema, overwrite), events)


class Calm(DataSourceArrowWriter):
    """Disturbs nothing; the others change one method each."""

    def __init__(self, inner, events):
        self.inner, self.events = inner, events

    def first(self, name):
        """Whether no process has called this yet for this name."""
        try:
            (self.events / name).touch(exist_ok=False)
            return True
        except FileExistsError:
            return False

    def write(self, iterator):
        if TaskContext.get().partitionId() == 2:
            return self.write_disturbed(iterator)
        return self.inner.write(iterator)

    def write_disturbed(self, iterator):
        return self.inner.write(iterator)

    def commit(self, messages):
        self.inner.commit(messages)
        (self.events / "committed").touch()

    def abort(self, messages):
        self.inner.abort(messages)
        (self.events / "aborted").touch()

    def write_late(self, iterator, event):
        """Packs all of a part but its last batch, and that when the event has happened; says how it ended."""
        try:
            return self.inner.write(before_last(iterator, lambda: wait_for(self.events / event)))
        except BaseException as error:
            (self.events / "error").write_text(str(error))
            raise
        finally:
            (self.events / "late").touch()


def before_last(iterator, call):
    batch = next(iterator)
    for following in iterator:
        yield batch
        batch = following
    call()
    yield batch


class WorkerKilled(Calm):
    """Once, in the middle of a part."""

    def write_disturbed(self, iterator):
        if self.first("killed"):
            iterator = before_last(iterator, lambda: os.kill(os.getpid(), signal.SIGKILL))
        return self.inner.write(iterator)


class AlwaysFails(Calm):
    """One task; another one still writes when the run is aborted."""

    def write(self, iterator):
        if TaskContext.get().partitionId() == 0 and self.first("slow"):
            return self.write_late(iterator, "aborted")
        return super().write(iterator)

    def write_disturbed(self, iterator):
        wait_for(self.events / "slow")

        def fail():
            raise ArithmeticError("this task always fails")

        return self.inner.write(before_last(iterator, fail))


class BothFinish(Calm):
    """An attempt that is slow until its engine begins another; then both finish before either has a message."""

    def write_disturbed(self, iterator):
        me, other = ("first", "second") if self.first("begun") else ("second", "first")
        (self.events / f"{me} begun").touch()
        wait_for(self.events / f"{other} begun")
        message = self.inner.write(iterator)
        (self.events / f"{me} finished").touch()
        wait_for(self.events / f"{other} finished")
        return message


class LateAttempt(Calm):
    """An attempt that is slow until another one at its part is committed."""

    def write_disturbed(self, iterator):
        if self.first("begun"):
            return self.write_late(iterator, "committed")
        return self.inner.write(iterator)


# ---- Drivers that hang, for one who kills them ----

class HangsBefore(Calm):
    """The commit."""

    def commit(self, messages):
        self.hang()

    def hang(self):
        (self.events / "hangs").touch()
        while True:
            time.sleep(1)


class HangsAfter(HangsBefore):
    def commit(self, messages):
        self.inner.commit(messages)
        self.hang()


class HangsNaming(HangsBefore):
    """Goes as far as giving the list of parts its name."""

    calls = ("rename", "renameat", "renameat2", "link", "linkat")

    def commit(self, messages):
        child = os.fork()
        if child == 0:
            kill_at(self.calls)
            self.inner.commit(messages)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        (self.events / "signal").write_text(str(os.WTERMSIG(status)))
        self.hang()


class HangsSweeping(HangsNaming):
    """Goes as far as removing the first file of an attempt that does not count, of which there is one."""

    calls = ("unlink", "unlinkat")

    def write_disturbed(self, iterator):
        batches = list(iterator)
        self.inner.write(iter(batches))
        return self.inner.write(iter(batches))


CALLS = {"x86_64": {"rename": 82, "renameat": 264, "renameat2": 316, "link": 86, "linkat": 265, "unlink": 87,
                    "unlinkat": 263},
         "aarch64": {"renameat": 38, "renameat2": 276, "linkat": 37, "unlinkat": 35}}


def kill_at(calls):
    """The kernel kills this process when it makes one of these system calls."""
    numbers = CALLS[os.uname().machine]
    numbers = [numbers[call] for call in calls if call in numbers]
    program = [(0x20, 0, 0, 0)]  # load the call's number
    program += [(0x15, len(numbers) - n, 0, number) for n, number in enumerate(numbers)]  # equal: to the last line
    program += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x80000000)]  # allow; kill the process
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    filter_of = ctypes.create_string_buffer(struct.pack("HP", len(program), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (38, 1, 0, 0, 0), (22, 2, filter_of, 0, 0):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        if libc.prctl(*arguments) != 0:
            os._exit(3)
