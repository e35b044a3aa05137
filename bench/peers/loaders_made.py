"""loaders_made.py: the loaders that loaders.py measures, and how each is made: shuffled batches of int64 inputs and
labels, from the same tokens. Packages are imported where they are used: each process has those of one loader."""
import os

SEED = 7


def tokens_of(o):
    import numpy
    return numpy.memmap(o.name + ".tokens", dtype="<u2", mode="r")


def rows_of(o):
    return (os.path.getsize(o.name + ".tokens") // 2 - 1) // o.seq_len


def row_of(tokens, number, o):
    import numpy
    return tokens[number * o.seq_len:(number + 1) * o.seq_len + 1].astype(numpy.int64)


def rows_at(tokens, numbers, o):
    """Several at once, in an array that is made once."""
    import numpy
    rows = numpy.empty((len(numbers), o.seq_len + 1), numpy.int64)
    for at, number in enumerate(numbers):
        rows[at] = tokens[number * o.seq_len:(number + 1) * o.seq_len + 1]
    return rows


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
