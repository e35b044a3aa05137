#!/usr/bin/env python3
"""loaders.py LEAT_BENCH [--python NAME=PYTHON]...: the same work through other loaders: batches of rows of L + 1 tokens
as int64 inputs and labels, shuffled, from one set of counting tokens. Every run is a process of its own, by the Python
that has its package (NAME is a file of bench/peers/loaders/), in turns; medians are printed.

Checked at the consumer, before it is timed: each row has the tokens of a place that rows may begin at, and none comes
twice. Then tokens per second; CPU time of all processes; the start, from the process's own to the first batch, with
imports; the resume, the same from a state that was saved, whose first batch must be the one that the saved run gave
next; and the peak of resident memory of the process and its largest child. What cannot run says so. `make
bench-loaders` makes the environments.

    loaders.py LEAT_BENCH [--only leat --only Grain] [--tokens 100M] [--seconds 3] [--rounds 3] [--json]
"""
import time

BEGAN = time.perf_counter()
import argparse  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pickle  # noqa: E402
import resource  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402

SEED = 7


def tokens_of(o):
    import numpy
    return numpy.memmap(o.name + ".tokens", dtype="<u2", mode="r")


def rows_of(o):
    return (os.path.getsize(o.name + ".tokens") // 2 - 1) // o.seq_len


def row_of(tokens, number, o):
    import numpy
    return tokens[number * o.seq_len:(number + 1) * o.seq_len + 1].astype(numpy.int64)


def pair(rows):
    """Inputs and labels of an array or a tensor of rows."""
    return rows[:, :-1], rows[:, 1:]


# ---- The loaders: each returns an iterator of (inputs, labels) and a function that gives the state after the last one


def memmap(o, state):
    import numpy
    tokens, order = tokens_of(o), numpy.random.default_rng(SEED).permutation(rows_of(o))
    at = [state or 0]

    def batches():
        while at[0] + o.batch <= len(order):
            rows = numpy.stack([row_of(tokens, n, o) for n in order[at[0]:at[0] + o.batch]])
            at[0] += o.batch
            yield pair(rows)
    return batches(), lambda: at[0]


def torch_rows(o, batched):
    import numpy
    import torch
    tokens = tokens_of(o)

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return rows_of(o)

        def __getitem__(self, number):
            return torch.from_numpy(row_of(tokens, number, o))

    class Batched(Rows):
        def __getitems__(self, numbers):
            return torch.from_numpy(numpy.stack([row_of(tokens, n, o) for n in numbers]))
    return Batched() if batched else Rows()


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
    loader = package.StreamingDataLoader(data, batch_size=o.batch, num_workers=o.workers, drop_last=True)
    if state:
        loader.load_state_dict(state)
    return (pair(rows.long()) for rows in loader), loader.state_dict


def streaming(o, state):
    import streaming as package
    where = os.path.join(o.folder, "mds")
    if not os.path.exists(where):
        tokens = tokens_of(o)
        with package.MDSWriter(out=where, columns={"tokens": f"ndarray:uint16:{o.seq_len + 1}"}) as out:
            for number in range(rows_of(o)):
                out.write({"tokens": tokens[number * o.seq_len:(number + 1) * o.seq_len + 1].copy()})
    data = package.StreamingDataset(local=where, shuffle=True, shuffle_seed=SEED, batch_size=o.batch)
    loader = package.StreamingDataLoader(data, batch_size=o.batch, num_workers=o.workers, drop_last=True)
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
    data = package.MapDataset.source(Rows()).shuffle(seed=SEED)
    data = data.batch(o.batch, drop_remainder=True, batch_fn=numpy.stack)
    iterator = iter(data.to_iter_dataset())
    if state:
        iterator.set_state(state)
    return map(pair, iterator), iterator.get_state


def leat(o, state):
    import leat as package
    plan = package.Plan(o.name, o.seq_len, SEED, epochs=1)
    loader = package.Loader(plan, o.batch, framework="numpy", notices=False, last="dropped", state=state)
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
}

# ---- A run: a process of its own


def numbers(array):
    import numpy
    return numpy.asarray(array)


def places(o, inputs, labels, known):
    """The place that each row has in the tokens; ends the process where one has none."""
    import numpy
    rows = numpy.concatenate([numbers(inputs), numbers(labels)[:, -1:]], axis=1)
    if numbers(inputs).dtype != numpy.int64 or rows.shape != (o.batch, o.seq_len + 1) or \
            not numpy.array_equal(rows[:, 1:], numbers(labels)):
        sys.exit("inputs and labels are not the rows that were asked for")
    tokens = known["tokens"]
    for row in rows:
        place = known["places"].get(row[:8].astype("<u2").tobytes())
        if place is None or not numpy.array_equal(tokens[place:place + o.seq_len + 1], row):
            sys.exit("a row has other tokens than the dataset")
        if place in known["seen"]:
            sys.exit(f"the row at token {place} came twice")
        known["seen"].add(place)


def hash_of(batch):
    return hashlib.sha256(b"".join(numbers(array).tobytes() for array in batch)).hexdigest()


def cpu_seconds():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def run(o):
    """What --run does: the loader's figures, as JSON; --resume FILE: only the start from that state."""
    make = LOADERS[o.run][1]
    state = pickle.load(open(o.resume, "rb")) if o.resume else None
    batches, save = make(o, state)
    batch = next(batches)
    start = time.perf_counter() - BEGAN
    if o.resume:
        return {"resume": start, "hash": hash_of(batch)}
    tokens = tokens_of(o)
    step = o.seq_len + (o.run == "litdata")
    known = {"tokens": tokens, "seen": set(), "places": {tokens[at:at + 8].tobytes(): at
                                                         for at in range(0, len(tokens) - o.seq_len, step)}}
    for _ in range(3):
        places(o, *batch, known)
        batch = next(batches)
    with open(o.state, "wb") as file:  # after this batch
        pickle.dump(save(), file)
    following = next(batches)
    result, count, cpu = {"start": start, "hash": hash_of(following)}, 0, cpu_seconds()
    del known, batch, following
    began = time.perf_counter()
    while time.perf_counter() - began < o.seconds:
        try:
            next(batches)
        except StopIteration:
            batches, _ = make(o, None)
            next(batches)
        count += 1
    seconds = time.perf_counter() - began
    del batches, save  # workers' time counts when they have ended
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    made = count * o.batch * o.seq_len
    return {**result, "mtok_per_s": made / seconds / 1e6, "cpu_ms_per_mtok": (cpu_seconds() - cpu) * 1e9 / made,
            "memory_mib": (own.ru_maxrss + children.ru_maxrss) / 1024}


# ---- All of them


def measure(name, o):
    """One run and its resume; {"not_measured": why} if it cannot run."""
    python = o.pythons.get(LOADERS[name][0], sys.executable)
    if not os.path.exists(python):
        return {"not_measured": f"its packages cannot be installed: there is no {python}"}
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state")
        words = [python, "-B", os.path.abspath(__file__), o.leat_bench,
                 "--run", name, "--name", o.name, "--folder", o.folder, "--seq-len", str(o.seq_len), "--batch",
                 str(o.batch), "--seconds", str(o.seconds), "--workers", str(o.workers), "--state", state]
        result = {}
        for more in [], ["--resume", state]:
            done = subprocess.run(words + more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            if done.returncode:
                said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
                return {**result, "not_measured" if not more else "no_resume": said[:200]}
            said = json.loads(done.stdout.decode().strip().split("\n")[-1])
            if more and said["hash"] != result["hash"]:
                return {**result, "no_resume": "the first batch after the resume is another one"}
            result.update(said)
    return result


def size(text):
    return int(float(text[:-1]) * {"K": 1e3, "M": 1e6, "G": 1e9}[text[-1]]) if text[-1] in "KMG" else int(text)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench")
    parser.add_argument("--python", action="append", default=[], help="NAME=PYTHON")
    parser.add_argument("--only", action="append", help="loaders whose name begins so; several times for several")
    parser.add_argument("--tokens", type=size, default=100_000_000)
    parser.add_argument("--seq-len", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--workers", type=int, default=0, help="of those that are no DataLoader")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="for the data; default: a temporary one")
    parser.add_argument("--json", action="store_true")
    for name in "run", "name", "state", "resume":
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    return parser.parse_args()


def table(results):
    columns = [("Mtok/s", "mtok_per_s", "10.1f"), ("CPU ms/Mtok", "cpu_ms_per_mtok", "12.2f"),
               ("start s", "start", "8.2f"), ("resume s", "resume", "9.2f"), ("MiB", "memory_mib", "8.0f")]
    print(f"{'':34}" + "".join(f"{title:>{int(form.split('.')[0])}}" for title, _, form in columns))
    for name, x in results.items():
        if "not_measured" in x:
            print(f"{name:34}  cannot run: {x['not_measured']}")
            continue
        cells = "".join(f"{x[key]:{form}}" if key in x else " " * (int(form.split(".")[0]) - 1) + "-"
                        for _, key, form in columns)
        print(f"{name:34}{cells}" + (f"  no resume: {x['no_resume']}" if "no_resume" in x else ""))


def main():
    o = options()
    if o.run:
        print(json.dumps(run(o)))
        return
    o.pythons = dict(word.split("=", 1) for word in o.python)
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        o.folder, o.name = folder, os.path.join(folder, "counting")
        subprocess.run([o.leat_bench, "counting", "-o", o.name, "--tokens", str(o.tokens)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        names = [name for name in LOADERS if not o.only or any(name.startswith(only) for only in o.only)]
        rounds = {name: [] for name in names}
        for _ in range(o.rounds):  # in turns, so that all see the same machine
            for name in names:
                if not any("not_measured" in x for x in rounds[name]):
                    rounds[name].append(measure(name, o))
    results = {}
    for name, all_of in rounds.items():
        words = {k: v for x in all_of for k, v in x.items() if isinstance(v, str) and k != "hash"}
        results[name] = {**{key: statistics.median(x[key] for x in all_of if key in x)
                            for key in ("mtok_per_s", "cpu_ms_per_mtok", "start", "resume", "memory_mib")
                            if any(key in x for x in all_of)}, **words}
    if o.json:
        print(json.dumps({"tokens": o.tokens, "seq_len": o.seq_len, "batch": o.batch, "rounds": o.rounds,
                          "cores": os.cpu_count(), "loaders": results}))
    else:
        table(results)


if __name__ == "__main__":
    main()
