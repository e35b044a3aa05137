"""leat.Loader in programs of several processes and threads: ranks are given, never guessed; it is not pickled, not used
after a fork, by one thread at a time, and goes on after an interrupt."""
import os
import pickle
import subprocess
import sys
import threading

import pytest

import leat


@pytest.fixture(scope="module")
def plan(corpus):
    return leat.Plan(corpus, 512, 5)


# ---- Whose rank


def run(code, **environment):
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_rank_is_never_guessed(plan, corpus):
    code = f"import leat; print(leat.Loader(leat.Plan({corpus!r}, 512), 4, framework='numpy'%s))"
    assert "rank 0 of 1" in run(code % "")
    for name in ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"):
        with pytest.raises(AssertionError, match=f"{name} is 4, and a loader never guesses"):
            run(code % "", **{name: "4"})
    assert "rank 1 of 4" in run(code % ", rank=1, world=4", WORLD_SIZE="2")
    assert "rank 3 of 4" in run(code % ", ranks='ddp'", WORLD_SIZE="4", RANK="3")
    with pytest.raises(AssertionError, match="not initialized.*leave ranks out if there is only one process"):
        run(code % ", ranks='ddp'")
    for wrong in (dict(rank=0), dict(world=1), dict(rank=2, world=2), dict(ranks="tp"),
                  dict(rank=0, world=1, ranks="ddp"), dict(rank=-1, world=2)):
        with pytest.raises((TypeError, ValueError, leat.Error)):
            leat.Loader(plan, 4, **wrong)


@pytest.mark.parametrize("name, text", [("RANK", "x"), ("RANK", "-1"), ("RANK", "0_1"), ("RANK", " 1"), ("RANK", "1.5"),
                                        ("RANK", "\u0661"), ("WORLD_SIZE", "\u0664"), ("WORLD_SIZE", "9" * 5000),
                                        ("RANK", "4"), ("WORLD_SIZE", "0")])
def test_variables(plan, monkeypatch, name, text):
    """int() took other digits, spaces and underscores; RANK=x was told as not set; and what is out of range was found
    only at the first batch of an IterableDataset."""
    for variable, value in {"RANK": "1", "WORLD_SIZE": "4", name: text}.items():
        monkeypatch.setenv(variable, value)
    words = f"{name} must be a whole number, not" if text not in "40" else "rank 4 must be below world 4|world must be"
    for make in (leat.Loader, leat.IterableDataset):
        with pytest.raises(ValueError, match=words):
            make(plan, 4, ranks="ddp")


def test_variable_is_not_obeyed(plan, monkeypatch):
    """It stood in the sentence as it is."""
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "4\x1b]0;x\x07")
    with pytest.raises(ValueError, match=r"SLURM_STEP_NUM_TASKS is 4\\x1b\]0;x\\x07, and a loader never guesses"):
        leat.Loader(plan, 4)


def test_mesh_of_no_number(plan):
    mesh = type("Mesh", (), {"ndim": 1, "size": lambda self: True, "get_local_rank": lambda self: 0})()
    with pytest.raises(TypeError, match="world must be a whole number, not True"):
        leat.Loader(plan, 4, ranks=mesh)


def test_mesh(corpus):
    """In a program of two processes: refused without, right with a mesh, and a mesh of two dimensions is refused."""
    code = f"""
import sys, torch, torch.multiprocessing, torch.distributed as dist, leat
from torch.distributed.device_mesh import init_device_mesh
def work(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{{port}}", rank=rank, world_size=2)
    plan = leat.Plan({corpus!r}, 512)
    try:
        leat.Loader(plan, 4)
    except ValueError as error:
        assert "torch.distributed has 2 processes" in str(error), error
    else:
        raise SystemExit("guessed")
    mesh = init_device_mesh("cpu", (2, 1), mesh_dim_names=("dp", "tp"))
    try:
        leat.Loader(plan, 4, ranks=mesh)
    except ValueError as error:
        assert 'mesh["dp"]' in str(error), error
    else:
        raise SystemExit("took two dimensions")
    cases = (dict(ranks=mesh["dp"]), (rank, 2)), (dict(ranks=mesh["tp"]), (0, 1)), (dict(ranks="ddp"), (rank, 2))
    for more, want in cases:
        loader = leat.Loader(plan, 4, **more)
        assert (loader.rank, loader.world) == want, (more, loader)
    dist.destroy_process_group()
if __name__ == "__main__":
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    torch.multiprocessing.spawn(work, (port,), 2)
    print("done")
"""
    path = os.path.join(os.path.dirname(corpus), "mesh.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(code)
    done = subprocess.run([sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "done", done.stderr


# ---- Processes, threads, signals


def test_no_pickle(plan):
    with pytest.raises(TypeError, match="make a Loader there"):
        pickle.dumps(leat.Loader(plan, 4))


def test_spawn(corpus):
    """A plan goes to another process, and gives the same batches there."""
    plan = leat.Plan(corpus, 512, 5)
    code = "import pickle, sys, leat; p = pickle.loads(bytes.fromhex(sys.argv[1])); " \
           "print(int(next(leat.Loader(p, 4)).inputs.sum()))"
    done = subprocess.run([sys.executable, "-c", code, pickle.dumps(plan).hex()], stdout=subprocess.PIPE, text=True,
                          check=True)
    assert int(done.stdout) == int(next(leat.Loader(plan, 4)).inputs.sum())


def test_fork(corpus):
    code = f"""
import os, leat
loader = leat.Loader(leat.Plan({corpus!r}, 512), 4, framework="numpy")
next(loader)
if os.fork() == 0:
    try:
        next(loader)
    except leat.Error as error:
        assert error.status == "forked" and "fork" in str(error)
        loader.close()
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]), next(loader).number)
"""
    assert run(code) == "7 1"


def test_one_thread_at_a_time_may_wait(corpus):
    """The lock of Python is free while a thread waits; a second one that wants a batch is told so."""
    loader = leat.Loader(leat.Plan(corpus, 16), 400_000, io=leat.IO(slots=2, verify=False), framework="numpy",
                         threads=0)
    told = []

    def take():
        for _ in range(20):
            if told:
                break
            try:
                next(loader)
            except RuntimeError as error:
                told.append(str(error))

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "another thread" in told[0]
    next(loader)


def test_interrupt(corpus):
    """Ctrl-C while a batch is waited for; the loader goes on afterwards."""
    code = f"""
import os, signal, threading, leat
loader = leat.Loader(leat.Plan({corpus!r}, 16), 1_500_000, io=leat.IO(slots=2, verify=False), framework="numpy",
                     outputs=leat.Outputs("inputs", dtype="int32"))
next(loader)
try:
    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        next(loader)
except KeyboardInterrupt:
    before = loader.cursor
    print("interrupted", next(loader).position == before)
"""
    assert run(code) == "interrupted True"
