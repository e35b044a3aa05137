"""deaths.py: what the checks of several engines do to tasks and programs."""
import contextlib
import os
import resource
import signal

import leat


def once(flag):
    """Whether this is the first call with this flag, a file, in whatever process."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind.__name__}: {words}")


DEATHS = {"before": signal.SIGKILL, "in": signal.SIGXFSZ, "after": signal.SIGKILL}


@contextlib.contextmanager
def killed(moment):
    """A commit that is killed: before it, when it writes the list, or after it, by the signal of DEATHS."""
    commit = leat.Run.commit

    def commit_or_die(run, pieces):
        if moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if moment == "in":  # the first byte of the list
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        commit(run, pieces)
        os.kill(os.getpid(), signal.SIGKILL)

    leat.Run.commit = commit_or_die
    try:
        yield
    finally:
        leat.Run.commit = commit
