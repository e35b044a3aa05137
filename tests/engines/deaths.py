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


# steps of datatrove, which pickles functions of the main program without what they use

def dies(data, rank, world_size, who=None):
    """A step that is killed in the middle of its documents, once; it takes `who` along."""
    for n, document in enumerate(data):
        if rank == 2 and n == 150 and once("died"):
            os.kill(who or os.getpid(), signal.SIGKILL)
        yield document


def fails(data, rank, world_size):
    for n, document in enumerate(data):
        if rank == 4 and n == 50 and not os.path.exists("mended"):
            raise ZeroDivisionError("a document that divides by zero")
        yield document


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
