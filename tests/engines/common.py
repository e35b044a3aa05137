"""common.py: what the checks of all engines share: a corpus, its documents by plain Python, what a finished folder may
hold, and a model that trains on it.

Each check is a program that runs with a real engine in a folder of its own, and ends with 0; or 77, and why, if the
engine is not installed."""
import contextlib
import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import leat

TOKENIZER = "gpt2"
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "corpus" / "english.jsonl"


def skip_without(module):
    """The module, or the end of this program with code 77."""
    try:
        return __import__(module)
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        sys.exit(77)


@contextlib.contextmanager
def own_folder():
    """A folder of this check's own, which is the current one, on a disk."""
    with tempfile.TemporaryDirectory(prefix="leat-engines-", dir=os.environ.get("LEAT_TEST_DISK")) as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            yield pathlib.Path(folder)
        finally:
            os.chdir(before)


@contextlib.contextmanager
def small_disk(folder, size):
    """Makes a folder that is a disk of this size. Gives a function that enlarges it, or None where nothing can be
    mounted."""
    os.mkdir(folder)
    mount = shutil.which("mount")
    if not mount or subprocess.run([mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]).returncode != 0:
        print("a full disk: skipped, as nothing can be mounted")
        yield None
        return
    try:
        yield lambda: subprocess.run([mount, "-o", "remount,size=64m", folder], check=True)
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


# ---- A corpus ----

def rows(count=1200, seed=1):
    """Documents as dicts: url (distinct), text (some of them twice), lang, score. The same for the same seed."""
    draw = random.Random(seed)
    paragraphs = [paragraph for line in EXAMPLES.read_text().splitlines()
                  for paragraph in json.loads(line)["text"].split("\n\n") if paragraph.strip()]
    texts = []
    for n in range(count):
        if n % 10 == 9:
            texts.append(draw.choice(texts))  # for what removes duplicates
        else:
            texts.append(f"Ü {n} 水: " + "\n".join(draw.choices(paragraphs, k=draw.randint(0, 12))))
    return [{"url": f"http://example.org/{n}", "text": text, "lang": draw.choice(["en", "de"]),
             "score": draw.randint(0, 64) / 64} for n, text in enumerate(texts)]


def write_parquet(folder, documents, files=6):
    """Writes documents to Parquet files, in the order of their names; returns these."""
    import pyarrow
    import pyarrow.parquet
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for n in range(files):
        part = documents[n * len(documents) // files:(n + 1) * len(documents) // files]
        paths.append(str(folder / f"file-{n:02d}.parquet"))
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(part), paths[-1], row_group_size=100)
    return paths


# ---- What must come of it ----

def documents(name):
    """(id, text) of each document of a dataset, by plain Python."""
    with leat.open(name) as dataset:
        return [(dataset.place(n).id, dataset.text(n)) for n in range(len(dataset))]


def check_documents(name, wanted, any_order=False):
    """The dataset has exactly these documents (dicts as rows() makes them), in this order unless `any_order`."""
    found, expected = documents(name), [(row["url"], row["text"]) for row in wanted]
    if any_order:
        found, expected = sorted(found), sorted(expected)
    assert len(found) == len(expected), f"{name}: {len(found)} documents, not {len(expected)}"
    for n, (one, other) in enumerate(zip(found, expected)):
        assert one == other, f"{name}: document {n} is {one!r:.200}, not {other!r:.200}"
    leat.open(name).verify()


def check_tokens(name, wanted):
    """The tokens are those of tokenizing each text alone, with the end token after it."""
    tokenizer = leat.Tokenizer(TOKENIZER)
    with leat.open(name) as dataset:
        for n, row in enumerate(wanted):
            ids = [*tokenizer.encode(row["text"]), dataset.info.end_token]
            assert dataset[n].tolist() == ids, f"{name}: document {n} has other tokens"


def listed(folder):
    """The names of a committed folder's parts, in their order."""
    lines = (pathlib.Path(folder) / "leat-run.list").read_text().splitlines()
    return [line.split()[1] for line in lines if line.startswith("part ")]


def contents(folder):
    """What the parts hold, in their order, whatever their attempts' names: to compare with an undisturbed run."""
    folder = pathlib.Path(folder)
    return [tuple(hashlib.sha256((folder / (name + suffix)).read_bytes()).hexdigest()
                  for suffix in (".tokens", ".leat")) for name in listed(folder)]


def check_nothing_left(folder):
    """The folder has what its list names, the plan, and nothing of attempts that did not count."""
    wanted = {"leat-run", "leat-run.list"} | {name + suffix for name in listed(folder)
                                              for suffix in (".tokens", ".leat")}
    found = {name for name in os.listdir(folder) if not name.endswith(".rejects.jsonl")}
    assert found == wanted, f"{folder}: left over {sorted(found - wanted)}, missing {sorted(wanted - found)}"


def check_no_dataset(folder):
    """The folder does not open."""
    try:
        leat.open(folder)
    except (leat.Error, OSError):
        return
    raise AssertionError(f"{folder} opens, and must not")


# ---- A model ----

def train(name, steps=12):
    """Trains a tiny model (bigrams, softmax, SGD) on the dataset with two ranks, once in one go and once with both
    ranks ended in the middle and resumed from their state: the losses are the same, and fall."""
    whole, halves = Training(name), Training(name)
    losses = [whole.step() for _ in range(steps)]
    first = [halves.step() for _ in range(steps // 2)]
    halves = Training(name, halves.state())
    again = first + [halves.step() for _ in range(steps - steps // 2)]
    assert losses == again, "resumed training has other losses"
    assert losses[-1] < losses[0], losses


class Training:
    """Two ranks of a training program, in one process."""

    def __init__(self, name, state=None):
        import numpy
        self.numpy = numpy
        # so few steps: a small vocabulary of ids modulo 512 is enough to see a loss fall
        self.classes = 512
        self.weights = numpy.zeros((self.classes, self.classes)) if state is None else state["weights"].copy()
        plan = leat.Plan([name], seq_len=128, seed=3, epochs=4)
        self.loaders = [leat.Loader(plan, 8, rank=rank, world=2, style="tuple", framework="numpy") for rank in range(2)]
        if state is not None:
            for loader, one in zip(self.loaders, state["loaders"]):
                loader.load_state_dict(one)
        self.iterators = [iter(loader) for loader in self.loaders]

    def state(self):
        return {"weights": self.weights, "loaders": [loader.state_dict() for loader in self.loaders]}

    def step(self):
        numpy, loss, gradient, count = self.numpy, 0.0, self.numpy.zeros_like(self.weights), 0
        for iterator in self.iterators:
            inputs, labels = (numpy.asarray(a).reshape(-1).astype("int64") % self.classes for a in next(iterator))
            logits = self.weights[inputs]
            logits = numpy.exp(logits - logits.max(axis=1, keepdims=True))
            share = logits / logits.sum(axis=1, keepdims=True)
            loss -= float(numpy.log(share[numpy.arange(len(labels)), labels]).sum())
            share[numpy.arange(len(labels)), labels] -= 1
            numpy.add.at(gradient, inputs, share)
            count += len(labels)
        self.weights -= 50 * gradient / count
        return loss / count
