"""common.py: what the checks of all trainers share: a folder of their own, a corpus in it, rows by plain numpy, several
ranks.

Each check is a program check_NAME.py that runs with the real trainer, by the lines of its page in docs/trainers, and
ends with 0; or with 77 if the trainer is not to be had, and says why in its last line. check.py runs them all."""
import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "tests"))
from page import BUILD, Page  # noqa: E402 (python/tests is not a package)

ENGLISH = ROOT / "examples" / "corpus" / "english.jsonl"


# ---- Whether the trainer is here ----

def not_run(why):
    """Ends this program: the trainer is not to be had."""
    print(why)
    sys.exit(77)


def need(module):
    """Ends this program if the module is not installed. Does not import it: the processes that train do, and it takes
    seconds."""
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError as error:
        if not error.name or error.name.split(".")[0] != module.split(".")[0]:
            raise
        found = None
    if found is None:
        not_run(f"{module} is not installed")


def checkout(variable, what):
    """The folder of a checkout of what PyPI does not have, which this variable of the environment names."""
    where = os.environ.get(variable)
    if not where:
        not_run(f"set {variable} to a checkout of {what}")
    assert os.path.isdir(where), f"{variable}={where} is not a folder"
    return pathlib.Path(where).resolve()


# ---- A folder, and what lies in it ----

@contextlib.contextmanager
def own_folder():
    """A folder of this check's own, which is the current one."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="leat-trainers-", dir=os.environ.get("LEAT_TEST_DISK")) as folder:
        os.chdir(folder)
        try:
            yield pathlib.Path(folder)
        finally:
            os.chdir(before)


def vocabulary(path="tokenizer.json", size=500):
    """A tokenizer.json of so many ids, with <|endoftext|>, for models that are tiny."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train([str(ENGLISH)], trainers.BpeTrainer(vocab_size=size, special_tokens=["<|endoftext|>"],
                                                   show_progress=False,
                                                   initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    made.save(str(path))
    pathlib.Path(path).with_name("tokenizer_config.json").write_text('{"eos_token": "<|endoftext|>"}')
    return str(path)


def corpus(name, length=600, count=None, field="text"):
    """The sample corpus as JSON lines, in texts of at most `length` characters."""
    texts = [json.loads(line)["text"] for line in ENGLISH.read_text(encoding="utf-8").splitlines()]
    texts = [text[at:at + length] for text in texts for at in range(0, len(text), length)][:count]
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({field: text}) + "\n" for text in texts), encoding="utf-8")
    return texts


def leat_command(*words):
    """What the command prints."""
    return subprocess.run([str(BUILD / "leat"), *map(str, words)], check=True, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL).stdout


# ---- Rows by another way ----

class Tokens:
    """The token file of a dataset and where its documents begin, read by numpy: no loader takes part."""

    def __init__(self, name):
        about = json.loads(leat_command("info", "--json", name))
        stored = {2: "<u2", 4: "<u4"}[about["width"]]
        self.all = numpy.fromfile(f"{name}.tokens", dtype=stored).astype(numpy.int64)
        self.end = about["end"]
        # each document ends with the end token, which no text has
        ends = numpy.flatnonzero(self.all == self.end) + 1
        self.starts = numpy.concatenate([[0], ends[:-1]]) if len(ends) else numpy.zeros(1, numpy.int64)

    def row(self, at, length):
        """The inputs and labels of a window of consecutive tokens."""
        return self.all[at:at + length], self.all[at + 1:at + length + 1]

    def position_ids(self, at, length):
        """How far each token is from its document's start, or the row's, as isolated documents have it."""
        places = numpy.arange(at, at + length)
        first = self.starts[numpy.searchsorted(self.starts, places, side="right") - 1]
        return places - numpy.maximum(first, at)


def order(*words, first=0, count=1):
    """What `leat order` says of these samples, as dicts: epoch, source, window, offset, length, ..."""
    printed = leat_command("order", *words, "--from", first, "--count", count, "--json")
    return [json.loads(line) for line in printed.splitlines()]


def equal(found, wanted, what):
    """Two arrays are the same, element by element."""
    found, wanted = numpy.asarray(found), numpy.asarray(wanted)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, not {wanted.shape}"
    assert (found == wanted).all(), f"{what}: differs first at {tuple(numpy.argwhere(found != wanted)[0])}"


# ---- Several ranks ----

def torchrun(ranks, program, *words, env=None):
    """Runs a program with so many ranks (gloo on this machine); returns what it printed. A rank that fails is a
    failure."""
    line = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks, program, *words]
    done = subprocess.run([*map(str, line)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})})
    assert done.returncode == 0, f"{program} with {ranks} ranks ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def ranks(count, function, *given):
    """Runs a function in so many processes, ranks of a gloo group that begin as copies of this process: what it has
    imported is there, which for some trainers takes longer than all else. A rank that fails is a failure."""
    import torch
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.start_processes(_rank, (count, f"file://{folder}/store", function, given), count,
                                              start_method="fork")


def _rank(rank, count, store, function, given):
    import torch
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(count), LOCAL_RANK=str(rank))
    torch.distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=count)
    function(*given)
    torch.distributed.destroy_process_group()


def hosts(program, what, processes, *words, status=0, **env):
    """Runs a program as hosts of JAX, which have two devices in all, each with the words WHAT WORDS PORT HOST HOSTS;
    returns what the first one printed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "JAX_PLATFORMS": "cpu",
           "XLA_FLAGS": f"--xla_force_host_platform_device_count={2 // processes}", **env}
    running = []
    for host in range(processes):
        line = [sys.executable, program, what, *map(str, (*words, port, host, processes))]
        with open(f"{what}-{host}.log", "wb") as log:  # not a pipe: a host whose pipe is full waits, and others for it
            running.append(subprocess.Popen(line, env=env, stdout=log, stderr=subprocess.STDOUT))
    ended = [one.wait() for one in running]
    said = [pathlib.Path(f"{what}-{host}.log").read_text() for host in range(processes)]
    assert ended == [status] * processes, f"{what} with {processes} hosts:\n{said[0][-6000:]}"
    return said[0]


def clear(*names):
    """Removes files and folders that an earlier part of the check left."""
    for name in names:
        shutil.rmtree(name, ignore_errors=True) if os.path.isdir(name) else pathlib.Path(name).unlink(missing_ok=True)


def page(name, folder, **names):
    """docs/trainers/NAME.md, whose blocks are taken one after another (python/tests/page.py)."""
    return Page(f"docs/trainers/{name}.md", folder, **names)
