#!/usr/bin/env python3
"""check_datatrove.py: leat.integrations.datatrove with real datatrove executors: ranks that die or fail, programs that
are killed around the commit, a full disk, attempts that both finish, and datatrove's own tokenizer beside it.

Programs that are killed run as `check_datatrove.py STEP ...`: pack() in a process group of their own."""
import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import common

common.skip_without("datatrove")
import leat
import numpy
from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor, SlurmPipelineExecutor
from datatrove.pipeline.dedup import ExactDedupFilter, ExactDedupSignature, ExactFindDedups
from datatrove.pipeline.dedup.exact_dedup import ExactDedupConfig
from datatrove.pipeline.filters import LambdaFilter
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.tokens import DocumentTokenizer
from datatrove.utils.hashing import HashConfig
from deaths import DEATHS, dies, fails, killed, once, raises
from leat.integrations.datatrove import Pack, Read

RANKS = 6  # and files
PROGRAM = os.path.abspath(__file__)
os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))  # for programs in another folder


# ---- Pipelines ----

def texts():
    return ParquetReader("texts", glob_pattern="*.parquet", id_key="url")


def pack(*steps, output="corpus", logs="logs", tasks=RANKS, workers=1, **options):
    return LocalPipelineExecutor([texts(), *steps, Pack(output, options.pop("tokenizer", common.TOKENIZER), **options)],
                                 tasks=tasks, workers=workers, logging_dir=logs).run()


def in_program(*arguments):
    """Runs this file with arguments, in a process group of its own; returns it when it has ended."""
    program = subprocess.Popen([sys.executable, PROGRAM, *arguments], start_new_session=True)
    program.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)  # what it leaves, as the executor's manager
    return program.returncode


def check_same(rows, wanted, output="corpus"):
    common.check_documents(output, rows)
    assert common.contents(output) == wanted, "other bytes than those of an undisturbed run"
    common.check_nothing_left(output)


def clean(*more):
    for name in ("corpus", "logs", *more):
        shutil.rmtree(name, ignore_errors=True)
    for flag in ("died", "mended"):
        pathlib.Path(flag).unlink(missing_ok=True)


# ---- Checks ----

def check_undisturbed(rows):
    pack(workers=3)
    common.check_documents("corpus", rows)
    common.check_tokens("corpus", rows)
    common.check_nothing_left("corpus")
    with leat.open("corpus") as dataset:
        tokens = dataset.info.tokens
    stats = json.loads(pathlib.Path("logs/stats.json").read_text())[-1]["stats"]
    assert stats["documents"]["total"] == len(rows) and stats["tokens"]["total"] == tokens, stats
    assert stats["rejects"] == 0 and stats["doc_len"]["total"] == sum(len(row["text"]) for row in rows), stats
    before = common.contents("corpus")
    pack(workers=3)  # all ranks are completed
    pack(logs="logs-2", workers=2)  # none is: they compare
    check_same(rows, before)
    raises(ValueError, "with another part", lambda: pack(LambdaFilter(lambda document: False), logs="logs-3"))
    raises(leat.Error, "is a finished dataset", lambda: pack(logs="logs-4", tasks=2))
    check_same(rows, before)
    clean("logs-2", "logs-3", "logs-4")
    return before


def check_killed(rows, wanted):
    """A rank that dies alone, with the program that runs it, and with all other ranks."""
    assert in_program("dies") == -signal.SIGKILL
    common.check_no_dataset("corpus")
    pack()
    check_same(rows, wanted)
    clean()
    assert in_program("dies-with-all") == -signal.SIGKILL
    common.check_no_dataset("corpus")
    pack(workers=3)
    check_same(rows, wanted)
    clean()
    for moment, death in DEATHS.items():
        assert in_program("commit", moment) == -death, moment
        if moment == "after":
            common.check_documents("corpus", rows)
        else:
            common.check_no_dataset("corpus")
        assert not os.path.exists(f"logs/completions/{RANKS - 1:05d}")
        pack()
        check_same(rows, wanted)
        clean()


def check_fails(rows, wanted):
    raises(ZeroDivisionError, "divides by zero", lambda: pack(fails, workers=2))
    common.check_no_dataset("corpus")
    raises(ZeroDivisionError, "divides by zero", lambda: pack(fails))
    common.check_no_dataset("corpus")
    raises(leat.Error, "with other options", lambda: pack(special=True, logs="logs-2"))
    once("mended")
    pack(fails)
    check_same(rows, wanted)
    clean("logs-2")
    raises(ValueError, "no documents", lambda: pack(LambdaFilter(lambda document: False)))
    common.check_no_dataset("corpus")
    clean()
    raises(TypeError, "remove the folder", lambda: Pack("corpus", force=True))
    raises(TypeError, "unexpected keyword argument 'ending'", lambda: Pack("corpus", ending=1))


def check_attempts(rows, wanted):
    """Attempts at one rank that live at once: two finish, one comes too late."""
    def attempt(rank):
        step = Pack("corpus", common.TOKENIZER)
        return step.run(texts().run(None, rank, RANKS), rank, RANKS)

    first, second, late = attempt(0), attempt(0), attempt(0)
    for one in first, second, late:
        next(one)
    for one in first, second, *map(attempt, range(1, RANKS)):
        for _ in one:
            pass
    check_same(rows, wanted)
    raises(leat.Error, "committed without this attempt", lambda: list(late))
    check_same(rows, wanted)
    assert len(list(attempt(0))) == len(rows) // RANKS
    check_same(rows, wanted)
    clean()


def check_full_disk(rows, wanted):
    with common.small_disk("small", "1m") as enlarge:
        if enlarge:
            raises(leat.Error, "No space left", lambda: pack(output="small/corpus"))
            common.check_no_dataset("small/corpus")
            enlarge()
            pack(output="small/corpus")
            check_same(rows, wanted, "small/corpus")
    clean()


def check_more_ranks(rows):
    """Ranks without documents; ids of another field, and none; a chain of two executors."""
    pack(tasks=RANKS + 2, id="file_path")
    with leat.open("corpus") as dataset:
        ids = [dataset.place(n).id for n in range(len(dataset))]
    assert ids == [os.path.abspath(f"texts/file-{n * RANKS // len(rows):02d}.parquet") for n in range(len(rows))]
    common.check_nothing_left("corpus")
    clean()
    first = LocalPipelineExecutor([texts(), Pack("corpus", common.TOKENIZER)], tasks=RANKS, logging_dir="logs")
    LocalPipelineExecutor([Read("corpus"), Pack("again", common.TOKENIZER)], tasks=4, logging_dir="logs-2",
                          depends=first).run()
    common.check_documents("again", rows)
    clean("again", "logs-2")


def check_ids(rows):
    """The ids of datatrove's own step, end tokens included."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([row["text"] for row in rows], trainers.BpeTrainer(
        vocab_size=2000, show_progress=False, special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.save("tokenizer.json")
    LocalPipelineExecutor([texts(), DocumentTokenizer("theirs", "tokenizer.json", eos_token="<|endoftext|>",
                                                      shuffle_documents=False)], tasks=RANKS, logging_dir="logs").run()
    pack(tokenizer="tokenizer.json", end="<|endoftext|>", logs="logs-2", workers=2)
    for rank, name in enumerate(common.listed("corpus")):
        theirs = pathlib.Path(f"theirs/{rank:05d}_unshuffled.ds").read_bytes()
        with leat.open(f"corpus/{name}") as part:
            ours = numpy.concatenate([part[n] for n in range(len(part))]).astype("<u2").tobytes()
        assert ours == theirs, f"rank {rank} has other ids"
    clean("theirs", "logs-2")


# ---- The example of docs/engines.md ----

def text_of(document):
    return document.text


def example():
    texts = ParquetReader("texts", glob_pattern="*.parquet", id_key="url")
    config = ExactDedupConfig(content_getter=text_of, hash_config=HashConfig(hash_fc="sha1"))
    signatures = LocalPipelineExecutor([texts, ExactDedupSignature("signatures", config, finder_workers=2)],
                                       tasks=6, workers=2, logging_dir="logs/signatures")
    duplicates = LocalPipelineExecutor([ExactFindDedups("signatures", "duplicates", config)],
                                       tasks=2, logging_dir="logs/duplicates", depends=signatures)
    LocalPipelineExecutor([texts, ExactDedupFilter("duplicates", config), Pack("corpus", "gpt2")],
                          tasks=6, workers=2, logging_dir="logs/pack", depends=duplicates).run()


def check_example(rows):
    example()
    found = common.documents("corpus")
    assert sorted(text for _, text in found) == sorted({row["text"] for row in rows})
    places = {row["url"]: n for n, row in enumerate(rows)}
    order = [places[url] for url, _ in found]
    assert order == sorted(order) and all(rows[n]["text"] == text for n, (_, text) in zip(order, found))
    common.check_nothing_left("corpus")
    common.train("corpus")
    clean("signatures", "duplicates")


# ---- Slurm ----

SBATCH = """#!/bin/sh
for script; do :; done
last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$script")
for i in $(seq 0 "$last"); do SLURM_ARRAY_TASK_ID=$i SLURM_NODELIST=localhost bash "$script" >"slurm.$i" 2>&1 & done
wait
echo Submitted batch job 1
"""


def check_slurm(rows, wanted):
    """datatrove's Slurm executor, with programs in place of Slurm's: an array's elements are processes that run side by
    side, and read the pipeline from its file. One is killed, and the pipeline is submitted again."""
    os.mkdir("bin")
    for name, text in ("sbatch", SBATCH), ("scontrol", "#!/bin/sh\necho localhost\n"):
        pathlib.Path("bin", name).write_text(text)
        os.chmod(f"bin/{name}", 0o755)
    before = os.environ["PATH"]
    os.environ["PATH"] = os.pathsep.join([os.path.abspath("bin"), os.path.dirname(sys.executable), before])
    for again in False, True:
        SlurmPipelineExecutor([texts(), dies, Pack("corpus", common.TOKENIZER)], tasks=RANKS, time="1:00:00",
                              partition="none", logging_dir="logs", with_srun=False).run()
        assert os.path.exists("died") and os.path.exists("logs/completions/00002") == again
        assert again or common.check_no_dataset("corpus") is None
    check_same(rows, wanted)
    os.environ["PATH"] = before
    clean("bin")


# ---- Ray ----

def check_ray(rows, wanted):
    """Two nodes; the worker that has a rank dies with it, and Ray's executor tries it again."""
    import ray
    from datatrove.executor import RayPipelineExecutor
    from ray.cluster_utils import Cluster
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": 80 << 20,
                                                             "include_dashboard": False})
    cluster.add_node(num_cpus=2, object_store_memory=80 << 20)
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        for steps in [], [in_worker]:
            RayPipelineExecutor([in_folder(os.getcwd()), texts(), *steps, Pack("corpus", common.TOKENIZER)],
                                tasks=RANKS, workers=3, logging_dir=os.path.abspath("logs"), mem_per_cpu_gb=0.2).run()
            check_same(rows, wanted)
            assert not steps or os.path.exists("died")
            clean()
        ray.shutdown()
    finally:
        cluster.shutdown()


def in_worker(data, rank, world_size):
    return dies(data, rank, world_size, os.getppid() if rank == 2 else None)


class in_folder:
    """The first step, where workers begin in another folder than the program."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, data, rank, world_size):
        os.chdir(self.folder)


def main():
    with common.own_folder():
        rows = common.rows()
        common.write_parquet("texts", rows, RANKS)
        wanted = check_undisturbed(rows)
        check_killed(rows, wanted)
        check_fails(rows, wanted)
        check_attempts(rows, wanted)
        check_full_disk(rows, wanted)
        check_more_ranks(rows)
        check_ids(rows)
        check_example(rows)
        check_slurm(rows, wanted)
        check_ray(rows, wanted)


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            main()
        case ["dies"]:
            pack(functools.partial(dies, who=None))
        case ["dies-with-all"]:
            pack(functools.partial(dies, who=-os.getpid()), workers=3)  # the whole group
        case ["commit", moment]:
            with killed(moment):
                pack()
