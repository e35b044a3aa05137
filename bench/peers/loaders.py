#!/usr/bin/env python3
"""loaders.py LEAT_BENCH [--python NAME=PYTHON]...: the same work by other loaders: shuffled batches of rows of L + 1
tokens, as int64 inputs and labels, from the same counting tokens. Each run is a process of its own, by the Python
that has the loader's package (NAME is a file of bench/peers/loaders/), in turns; it prints medians, or with --least
the best of the rounds: for busy machines, where only CPU time counts.

A first process of each loader only checks: each row has the tokens of a place where rows may start, and no row comes
twice. Others measure tokens per second and CPU time of all processes, without the start of further epochs; their
memory at the end, without mapped files; the start, from that of the process to the first batch, with imports; and the
resume, the same from a saved state, whose first batch must be the one that the saved run gave next. A loader that
cannot run says why. `make bench-loaders` makes the environments.

--worlds: four ranks, a process each, make batches and save their states; two ranks go on with these. It says whether
the global batches are those that the four ranks would have made.

    loaders.py LEAT_BENCH [--worlds] [--only leat --only Grain] [--tokens 100M] [--seconds 3] [--rounds 3]
        [--least] [--json] [--keep FILE]
"""
import time

BEGAN = time.perf_counter()
import argparse  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pickle  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402

import measured  # noqa: E402

SEED = 7
CHECKED = 8  # batches
FIGURES = [("Mtok/s", "mtok_per_s", ".1f"), ("CPU ms/Mtok", "cpu_ms_per_mtok", ".2f"), ("start s", "start_s", ".2f"),
           ("its CPU s", "start_cpu_s", ".2f"), ("resume s", "resume_s", ".2f"), ("MiB", "memory_mib", ".0f")]

# ---- The loaders: how each is made. Packages are imported where they are used: each process has those of one loader


def tokens_of(o):
    import numpy
    return numpy.memmap(o.name + ".tokens", dtype="<u2", mode="r")


def rows_of(o):
    return (os.path.getsize(o.name + ".tokens") // 2 - 1) // o.seq_len


def row_of(tokens, number, o):
    import numpy
    return tokens[number * o.seq_len:(number + 1) * o.seq_len + 1].astype(numpy.int64)


def rows_at(tokens, numbers, o):
    """Several rows in one new array."""
    import numpy
    rows = numpy.empty((len(numbers), o.seq_len + 1), numpy.int64)
    for at, number in enumerate(numbers):
        rows[at] = tokens[number * o.seq_len:(number + 1) * o.seq_len + 1]
    return rows


def pair(rows):
    """Inputs and labels of an array or a tensor of rows."""
    return rows[:, :-1], rows[:, 1:]


# each returns an iterator of (inputs, labels), and a function that gives the state after the last one


def memmap(o, state):
    import numpy
    tokens, order = tokens_of(o), numpy.random.default_rng(SEED).permutation(rows_of(o))
    at = [state or 0]

    def batches():
        while at[0] + o.batch <= len(order):
            rows = rows_at(tokens, order[at[0]:at[0] + o.batch], o)
            at[0] += o.batch
            yield pair(rows)
    return batches(), lambda: at[0]


def torch_rows(o, batched):
    import torch
    tokens = tokens_of(o)

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return rows_of(o)

        def __getitem__(self, number):
            return torch.from_numpy(row_of(tokens, number, o))

    class Batched(Rows):
        def __getitems__(self, numbers):
            return torch.from_numpy(rows_at(tokens, numbers, o))
    return Batched() if batched else Rows()


def join(o):
    """Sets rank and world where packages look for them: in PyTorch and in the environment."""
    import torch
    if o.world > 1:
        for name, value in ("RANK", o.rank), ("WORLD_SIZE", o.world), ("LOCAL_RANK", o.rank), \
                ("LOCAL_WORLD_SIZE", o.world):
            os.environ[name] = str(value)
        meeting = f"file://{o.state}.{LOADERS[o.run][0]}.{o.world}"
        torch.distributed.init_process_group("gloo", init_method=meeting, rank=o.rank, world_size=o.world)


def as_it_is(batch):
    return batch


def dataloader(workers, batched):
    def make(o, state):
        import torch
        torch.set_num_threads(1)
        order = torch.randperm(rows_of(o), generator=torch.Generator().manual_seed(SEED)).tolist()
        at = [state or 0]
        more = {"collate_fn": as_it_is} if batched else {}
        loader = torch.utils.data.DataLoader(torch_rows(o, batched), batch_size=o.batch, drop_last=True,
                                             sampler=order[at[0]:], num_workers=workers, **more)

        def batches():
            for rows in loader:
                at[0] += o.batch
                yield pair(rows)
        return batches(), lambda: at[0]
    return make


def torchdata(o, state):
    import torch
    import torchdata.stateful_dataloader
    torch.set_num_threads(1)
    loader = torchdata.stateful_dataloader.StatefulDataLoader(
        torch_rows(o, False), batch_size=o.batch, shuffle=True, drop_last=True, num_workers=o.workers,
        generator=torch.Generator().manual_seed(SEED))
    if state:
        loader.load_state_dict(state)
    return map(pair, loader), loader.state_dict


def megatron(o, state):
    import logging
    import types
    import warnings

    import numpy
    import torch
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
    prefix = os.path.join(o.folder, "megatron")
    if not os.path.exists(prefix + ".idx"):  # all tokens are one document, so that rows begin where they do elsewhere
        os.symlink(o.name + ".tokens", prefix + ".bin")
        count = os.path.getsize(o.name + ".tokens") // 2
        with open(prefix + ".idx", "wb") as file:
            file.write(b"MMIDIDX\0\0" + (1).to_bytes(8, "little") + b"\x08" + (1).to_bytes(8, "little")
                       + (2).to_bytes(8, "little"))
            for array in (numpy.array([count], "<i4"), numpy.array([0], "<i8"), numpy.array([0, 1], "<i8")):
                file.write(array.tobytes())
    tokenizer = types.SimpleNamespace(vocab_size=65536, eod=65535, unique_identifiers={})
    config = GPTDatasetConfig(random_seed=SEED, sequence_length=o.seq_len, blend=([prefix], None), split="1,0,0",
                              reset_position_ids=False, reset_attention_mask=False, eod_mask_loss=False,
                              create_attention_mask=False, tokenizer=tokenizer, path_to_cache=prefix + ".cache")
    data = BlendedMegatronDatasetBuilder(GPTDataset, [rows_of(o), None, None], lambda: True, config).build()[0]
    at = [state or 0]
    count = rows_of(o)
    loader = torch.utils.data.DataLoader(data, batch_size=o.batch, drop_last=True, sampler=range(at[0], count),
                                         num_workers=o.workers)

    def batches():
        for batch in loader:
            at[0] += o.batch
            yield batch["tokens"], batch["labels"]
    return batches(), lambda: at[0]


def litdata(o, state):
    import litdata as package
    import torch
    join(o)
    from litdata.streaming.item_loader import TokensLoader
    from litdata.streaming.writer import BinaryWriter
    where = os.path.join(o.folder, "litdata")
    if not os.path.exists(where):
        tokens, part = tokens_of(o), 64 * (o.seq_len + 1)
        os.mkdir(where)
        writer = BinaryWriter(where, chunk_bytes="64MB", item_loader=TokensLoader())
        for number in range(len(tokens) // part):  # rows do not overlap there, and pieces hold whole ones
            writer.add_item(number, torch.from_numpy(tokens[number * part:(number + 1) * part].astype("int32")))
        writer.done()
        writer.merge()
    data = package.StreamingDataset(where, item_loader=TokensLoader(block_size=o.seq_len + 1), shuffle=True, seed=SEED)
    loader = package.StreamingDataLoader(data, batch_size=o.batch // o.world, num_workers=o.workers, drop_last=True)
    if state:
        loader.load_state_dict(state)

    def batches():
        for rows in loader:
            yield pair(rows.long())
    return batches(), loader.state_dict


def streaming(o, state):
    import streaming as package
    join(o)
    where = os.path.join(o.folder, "mds")
    if not os.path.exists(where):
        tokens = tokens_of(o)
        with package.MDSWriter(out=where, columns={"tokens": f"ndarray:uint16:{o.seq_len + 1}"},
                               size_limit=1 << 26) as out:
            for number in range(rows_of(o)):
                out.write({"tokens": tokens[number * o.seq_len:(number + 1) * o.seq_len + 1].copy()})
    data = package.StreamingDataset(local=where, shuffle=True, shuffle_seed=SEED, batch_size=o.batch // o.world)
    loader = package.StreamingDataLoader(data, batch_size=o.batch // o.world, num_workers=o.workers, drop_last=True)
    if state:
        loader.load_state_dict(state)

    return (pair(batch["tokens"].long()) for batch in loader), loader.state_dict


def arrow(o, state):
    import datasets
    where = os.path.join(o.folder, "arrow")
    if not os.path.exists(where):
        tokens = tokens_of(o)

        def rows():
            for number in range(rows_of(o)):
                yield {"tokens": tokens[number * o.seq_len:(number + 1) * o.seq_len + 1]}
        features = datasets.Features({"tokens": datasets.Sequence(datasets.Value("uint16"), length=o.seq_len + 1)})
        datasets.Dataset.from_generator(rows, features=features, cache_dir=where + ".cache").save_to_disk(where)
    data = datasets.load_from_disk(where).shuffle(seed=SEED).with_format("numpy")
    at = [state or 0]

    def batches():
        while at[0] + o.batch <= len(data):
            rows = data[at[0]:at[0] + o.batch]["tokens"]
            at[0] += o.batch
            yield pair(rows.astype("int64"))
    return batches(), lambda: at[0]


def grain(o, state):
    import grain as package
    import numpy
    tokens = tokens_of(o)

    class Rows:
        def __len__(self):
            return rows_of(o)

        def __getitem__(self, number):
            return row_of(tokens, number, o)
    rows = package.MapDataset.source(Rows()).shuffle(seed=SEED)
    data = rows.batch(o.batch, drop_remainder=True, batch_fn=numpy.stack)
    iterator = iter(data.to_iter_dataset())
    if state:
        iterator.set_state(state)
    return map(pair, iterator), iterator.get_state


def zephon(o, state):
    """Its rows come from Parquet, in small groups, as it reads rows one at a time; its usual shuffle: the shards, and
    the rows within each. With `lanes`, other numbers of ranks can go on."""
    import pyarrow
    import pyarrow.parquet
    import zephon as package
    from zephon.io import Dataset
    from zephon.work import MixtureSpec, StaticMixtureWorkSource
    where = os.path.join(o.folder, "zephon")
    if not os.path.exists(where):
        tokens, part = tokens_of(o), 1 << 13
        os.mkdir(where + ".part")
        for first in range(0, rows_of(o), part):
            rows = [tokens[n * o.seq_len:(n + 1) * o.seq_len + 1] for n in range(first, min(first + part, rows_of(o)))]
            column = pyarrow.FixedSizeListArray.from_arrays(
                pyarrow.concat_arrays([pyarrow.array(row) for row in rows]), o.seq_len + 1)
            pyarrow.parquet.write_table(pyarrow.table({"input_ids": column}), f"{where}.part/{first:09}.parquet",
                                        row_group_size=16, compression="none", use_dictionary=False)
        os.rename(where + ".part", where)
    data = Dataset.from_path("tokens", where)
    source = StaticMixtureWorkSource(datasets=[data], mixture=MixtureSpec({"tokens": 1.0}), seed=SEED,
                                     chunk_size=o.batch // o.lanes)
    pipeline = package.Pipeline(source).batch(microbatch_size=o.batch // o.lanes).options(
        world_size=o.world, global_rank=o.rank, canonical_replicas=o.lanes,
        aggregate_dir=os.path.join(o.folder, "zephon.states") if o.world > 1 else None)
    if state:
        pipeline.restore(state)

    def batches():
        import numpy
        parts = []
        for batch in pipeline:
            parts.append(numpy.stack([record.payload["input_ids"] for record in batch.records]))
            if len(parts) == o.lanes // o.world:
                yield pair(numpy.concatenate(parts).astype("int64"))
                parts = []
    return batches(), pipeline.checkpoint


def tokbin(o, state):
    """PyTorch's DataLoader decides the order; the package writes texts only, so each text is the number of a piece."""
    import torch
    from tokbin import Dataset, WriterConfig, read_source
    from tokbin.adapters.torch import WindowDataset
    from tokbin.tokenizer.hf import HFTokenizer
    where = os.path.join(o.folder, "tokbin")
    if not os.path.exists(where):
        import numpy
        import tokenizers
        tokens, part = tokens_of(o), 1 << 16
        words = tokenizers.models.WordLevel({str(n): n for n in range(65536)}, unk_token="0")

        class Pieces(HFTokenizer):
            def encode_batch(self, texts):
                pieces = [tokens[int(text) * part:(int(text) + 1) * part] for text in texts]
                return numpy.concatenate(pieces).astype("int64"), numpy.array([len(piece) for piece in pieces])
        Dataset(where).write("tokens", map(str, range(-(-len(tokens) // part))), Pieces(tokenizers.Tokenizer(words)),
                             config=WriterConfig(append_eos=False, batch_docs=16))
    torch.set_num_threads(1)
    data = WindowDataset(read_source(os.path.join(where, "tokens")), o.seq_len + 1, stride=o.seq_len)
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(SEED)).tolist()
    at = [state or 0]
    loader = torch.utils.data.DataLoader(data, batch_size=o.batch, drop_last=True, sampler=order[at[0]:],
                                         num_workers=o.workers)

    def batches():
        for rows in loader:
            at[0] += o.batch
            yield pair(rows)
    return batches(), lambda: at[0]


def guideloom(o, state):
    """Its windows do not overlap, so rows begin where litdata's do. MmapIO takes the least CPU time of its readers."""
    import pathlib

    import numpy
    import torch
    from guideloom.io import MmapIO
    from guideloom.pytorch import StatefulDataLoader
    from guideloom.storage import StreamStorage
    from guideloom.storage_format import StreamNumpyFormat
    torch.set_num_threads(1)
    where, form = os.path.join(o.folder, "guideloom"), StreamNumpyFormat(numpy.dtype([("tokens", "<u2")]))
    if not os.path.exists(where):
        tokens = tokens_of(o)
        part = -(-len(tokens) // 8)
        with StreamStorage(pathlib.Path(where + ".part"), form).sync_writer() as out:
            for shard in range(8):
                out.append(shard, {"tokens": tokens[shard * part:(shard + 1) * part]})
        os.rename(where + ".part", where)

    def rows(samples):
        return torch.from_numpy(numpy.stack([sample["tokens"] for sample in samples]).astype("int64"))
    loader = StatefulDataLoader.from_storage(
        StreamStorage(pathlib.Path(where), form, MmapIO()), rows, sequence_length=o.seq_len + 1,
        device=torch.device("cpu"), local_batch_size=o.batch // o.world, rank=o.rank, world_size=o.world,
        num_workers=o.workers, shuffle=True, shuffle_seed=SEED)
    loader.open()
    if state:
        loader.load_state_dict(state)
    return map(pair, loader), loader.state_dict


def torchtitan(o, state):
    """The source, and the packing to rows, as its README shows them."""
    sys.path.insert(0, os.environ["LEAT_TORCHTITAN"])
    import dataclasses

    import torch
    from torchtitan.components import data as package
    from torchtitan.config import Configurable
    torch.set_num_threads(1)

    class Rows(Configurable, package.RandomAccessDataSource):
        @dataclasses.dataclass(kw_only=True, slots=True)
        class Config(Configurable.Config):
            pass

        def __init__(self, config, *, dataset_iteration_policy):
            self.tokens = tokens_of(o)

        def __len__(self):
            return rows_of(o)

        def __getitem__(self, number):
            return row_of(self.tokens, number, o)

    class Shifted(package.SampleProcessor):
        @dataclasses.dataclass(kw_only=True, slots=True)
        class Config(package.SampleProcessor.Config):
            pass

        def __init__(self, config, *, context):
            pass

        def __call__(self, row, rng):
            return package.TextSequence(input_ids=row[:-1], labels=row[1:])
    dataset = package.SingleDatasetConfig(source=Rows.Config(), processor=Shifted.Config())
    each = o.batch // o.world
    loader = package.GrainDataLoader.Config(
        dataset=package.ConcatThenSplitPackingConfig(dataset=dataset), seed=SEED).build(
        dp_world_size=o.world, dp_rank=o.rank, tokenizer=None, max_context_length=o.seq_len,
        num_tokens_per_batch=each * o.seq_len)
    if state:
        loader.load_state_dict(state)
    return ((batch["input"].reshape(each, -1), labels.reshape(each, -1)) for batch, labels in loader), loader.state_dict


def leat(o, state):
    import leat as package
    plan = package.Plan(o.name, o.seq_len, SEED, epochs=1)
    loader = package.Loader(plan, o.batch // o.world, rank=o.rank, world=o.world, framework="numpy", notices=False,
                            last="dropped", state=state)

    return ((batch.inputs, batch.labels) for batch in loader), loader.state_dict


# what it is called: the file of bench/peers/loaders/ that names its packages, and how it is made
LOADERS = {
    "leat": ("torch", leat),
    "numpy.memmap": ("torch", memmap),
    **{f"DataLoader, {'batched' if batched else 'plain'}, {workers} workers": ("torch", dataloader(workers, batched))
       for batched in (False, True) for workers in (0, 1, 2, 4)},
    "StatefulDataLoader": ("torchdata", torchdata),
    "Megatron-Core": ("megatron", megatron),
    "litdata": ("litdata", litdata),
    "MosaicML streaming": ("streaming", streaming),
    "Hugging Face datasets": ("datasets", arrow),
    "Grain": ("grain", grain),
    "Zephon": ("zephon", zephon),
    "tokbin, DataLoader": ("tokbin", tokbin),
    "torchtitan's Grain loader": ("torchtitan", torchtitan),
    "GuideLoom": ("guideloom", guideloom),
}
NO_OVERLAP = ("litdata", "GuideLoom")  # rows of these share no token
RANKED = ("leat", "Zephon", "torchtitan's Grain loader", "litdata", "MosaicML streaming", "GuideLoom")  # for --worlds

# ---- A run: a process of its own


def numbers(array):
    import numpy
    return numpy.asarray(array)


def place_of(row, known):
    """Where a row begins, by its first tokens; None: nowhere."""
    return known.get(row[:8].astype("<u2").tobytes())


def check_rows(o, inputs, labels, known):
    """Ends the process where a row has no place in the tokens, or one that has come before."""
    import numpy
    rows = numpy.concatenate([numbers(inputs), numbers(labels)[:, -1:]], axis=1)
    if numbers(inputs).dtype != numpy.int64 or rows.shape != (o.batch, o.seq_len + 1) or \
            not numpy.array_equal(rows[:, 1:], numbers(labels)):
        sys.exit("inputs and labels are not the rows that were asked for")
    tokens = known["tokens"]
    for row in rows:
        place = place_of(row, known["places"])
        if place is None or not numpy.array_equal(tokens[place:place + o.seq_len + 1], row):
            sys.exit("a row has other tokens than the dataset")
        if place in known["seen"]:
            sys.exit(f"the row at token {place} came twice")
        known["seen"].add(place)


def places(o):
    """Where rows may start, by their first tokens."""
    tokens = tokens_of(o)
    step = o.seq_len + (o.run in NO_OVERLAP)
    return {tokens[at:at + 8].tobytes(): at for at in range(0, len(tokens) - o.seq_len, step)}


def check(o):
    """What --run --check does."""
    known = {"tokens": tokens_of(o), "seen": set(), "places": places(o)}
    batches = LOADERS[o.run][1](o, None)[0]
    for _ in range(CHECKED):
        check_rows(o, *next(batches), known)
    return {"checked": len(known["seen"])}


def hash_of(batch):
    return hashlib.sha256(b"".join(numbers(array).tobytes() for array in batch)).hexdigest()


def run(o):
    """What --run does: the loader's figures; --resume FILE: only the start from that state."""
    make = LOADERS[o.run][1]
    state = pickle.load(open(o.resume, "rb")) if o.resume else None
    batches, save = make(o, state)
    batch = next(batches)
    start, start_cpu = time.perf_counter() - BEGAN, measured.cpu_seconds(os.getpid())
    if o.resume:
        return {"resume_s": start, "hash": hash_of(batch)}
    for _ in range(3):
        batch = next(batches)
    with open(o.state, "wb") as file:  # after this batch
        pickle.dump(save(), file)
    result, count = {"start_s": start, "start_cpu_s": start_cpu, "hash": hash_of(next(batches))}, 0
    del batch
    cpu, began = measured.cpu_seconds(os.getpid()), time.perf_counter()
    while count == 0 or time.perf_counter() - began < o.seconds:
        try:
            next(batches)
            count += 1
        except StopIteration:  # another epoch: its start does not count
            cpu_before, before = measured.cpu_seconds(os.getpid()), time.perf_counter()
            batches = make(o, None)[0]
            next(batches)
            cpu += measured.cpu_seconds(os.getpid()) - cpu_before
            began += time.perf_counter() - before
    seconds = time.perf_counter() - began
    made = count * o.batch * o.seq_len
    return {**result, "mtok_per_s": made / seconds / 1e6,
            "cpu_ms_per_mtok": (measured.cpu_seconds(os.getpid()) - cpu) * 1e9 / made,
            "memory_mib": measured.memory_mib(os.getpid())}


def command(name, o, *more):
    """What runs a loader in a process of its own."""
    return [o.pythons.get(LOADERS[name][0], sys.executable), os.path.abspath(__file__), o.leat_bench, "--run", name,
            "--name", o.name, "--folder", o.folder, "--seq-len", str(o.seq_len), "--batch", str(o.batch), *more]


def why_failed(stderr):
    return stderr.decode("utf-8", "replace").strip().split("\n")[-1][:200]


def answer(stdout):
    """Of such a process: the last line, since packages print, too."""
    return json.loads(stdout.decode().strip().split("\n")[-1])


# ---- Ranks: a process each, all at once


def steps(o):
    """What --run --steps does: the hashes of the rows of each step; the state after half of them, in a file."""
    make = LOADERS[o.run][1]
    batches, save = make(o, pickle.load(open(o.resume, "rb")) if o.resume else None)
    rows = []
    for step in range(o.steps):
        inputs, _ = next(batches)
        rows.append([hashlib.sha256(row.tobytes()).hexdigest()[:16] for row in numbers(inputs)])
        if step == o.steps // 2 - 1 and not o.resume:
            state = save()
            with open(f"{o.state}.{o.rank}", "wb") as file:
                pickle.dump(state, file)
    return rows


def of_ranks(name, o, world, count, state, resume):
    """The rows of each global batch, those of rank 0 first."""
    words = command(name, o, "--state", state, "--world", str(world), "--lanes", "4", "--steps", str(count))
    ranks = [subprocess.Popen(words + ["--rank", str(rank)] + (["--resume", f"{state}.{rank}"] if resume else []),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(world)]
    try:
        said = [rank.communicate(timeout=o.most_seconds) for rank in ranks]
    finally:
        for rank in ranks:  # those that wait for one that hangs
            rank.kill()
            rank.wait()
    for rank, (_, error) in zip(ranks, said):
        if rank.returncode:
            raise RuntimeError(why_failed(error))
    rows = [answer(out) for out, _ in said]
    return [sum((one[step] for one in rows), []) for step in range(count)]


def worlds(o):
    """Four ranks make ten batches; two ranks go on after five."""
    for name in measured.names(RANKED, o.only):
        state, failed = os.path.join(o.folder, "states"), "cannot run"
        try:
            of_ranks(name, o, 1, 2, state, False)  # makes its data
            whole = of_ranks(name, o, 4, 10, state, False)[5:]
            failed = "no resume"
            again = of_ranks(name, o, 2, 5, state, True)
            said = "the same rows of each batch in the same places" if again == whole else \
                "the same rows of each batch in other places" if list(map(sorted, again)) == list(map(sorted, whole)) \
                else "other batches"
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as why:
            said = f"{failed}: {why}"
        print(f"{name:34} {said}", flush=True)


# ---- All of them


def measure(name, o, checking):
    """A check, or a run and its resume; {"not_measured": why} if it cannot run."""
    python = o.pythons.get(LOADERS[name][0], sys.executable)
    if not os.path.exists(python):
        return {"not_measured": f"its packages cannot be installed: no {python}"}
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state")
        words = command(name, o, "--seconds", str(o.seconds), "--workers", str(o.workers), "--state", state)
        result = {}
        for more in [["--check"]] if checking else [[], ["--resume", state]]:
            try:
                done = subprocess.run(words + more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                      timeout=o.most_seconds)
            except subprocess.TimeoutExpired:
                hung = f"it did not end within {o.most_seconds} s"
                return {**result, "no_resume" if result else "not_measured": hung}
            if done.returncode:
                return {**result, "no_resume" if result else "not_measured": why_failed(done.stderr)}
            said = answer(done.stdout)
            if result and said["hash"] != result["hash"]:
                return {**result, "no_resume": "the first batch after the resume is another one"}
            result.update(said)
    return result


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench")
    parser.add_argument("--python", action="append", default=[], help="NAME=PYTHON")
    parser.add_argument("--tokens", type=measured.number, default=100_000_000)
    parser.add_argument("--seq-len", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--workers", type=int, default=0, help="of loaders other than DataLoader")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most-seconds", type=int, default=1800, help="of a process; one that hangs is ended")
    parser.add_argument("--folder", help="for the data; default: a temporary one")
    measured.add_options(parser)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--worlds", action="store_true", help="whether half of the ranks go on with the same batches")
    parser.add_argument("--least", action="store_true", help="the best of the rounds, not their median")
    for name in "run", "name", "state", "resume":
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    for name, usual in ("rank", 0), ("world", 1), ("lanes", 1), ("steps", 0):
        parser.add_argument(f"--{name}", type=int, default=usual, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    o = options()
    if o.run:
        print(json.dumps(check(o) if o.check else steps(o) if o.steps else run(o)))
        return
    o.pythons = dict(word.split("=", 1) for word in o.python)
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        o.folder, o.name = folder, measured.counting(o.leat_bench, folder, o.tokens)
        machine = measured.machine(o.leat_bench, o.name)
        if o.worlds:
            worlds(o)
            return
        names = measured.names(LOADERS, o.only)
        rounds = {name: [measure(name, o, True)] for name in names}
        for _ in range(o.rounds):  # in turns, so that all see the same machine
            for name in names:
                if not any("not_measured" in x for x in rounds[name]):
                    rounds[name].append(measure(name, o, False))
    best = {key: max if key == "mtok_per_s" else min for _, key, _ in FIGURES} if o.least else {}
    measured.say(o, {"work": "loading", "tokens": o.tokens, "seq_len": o.seq_len, "batch": o.batch,
                     "rounds": o.rounds, "machine": machine,
                     "peers": [{"name": name, **measured.medians(all_of, [key for _, key, _ in FIGURES], best)}
                               for name, all_of in rounds.items()]}, FIGURES)


if __name__ == "__main__":
    main()
