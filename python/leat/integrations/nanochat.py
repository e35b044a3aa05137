"""nanochat.py: packed rows of whole documents for nanochat's scripts/base_train.py and base_eval.py, in place of its
own, which crop documents; and its tokenizer and shards for leat. Written for nanochat of July 2026 (92d63d4).

The two functions with long names have those of nanochat.dataloader, so that the scripts change in one import."""
from __future__ import annotations

import os

import leat
from leat._values import shown_name


def tokenizer(theirs=None):
    """Returns leat's tokenizer with the ranks, pattern and special tokens of nanochat's. None means the one that
    nanochat has trained; nanochat itself reads its file, a pickle."""
    if theirs is None:
        from nanochat.tokenizer import get_tokenizer
        theirs = get_tokenizer()
    return leat.Tokenizer(name="nanochat", pat_str=theirs.enc._pat_str, mergeable_ranks=theirs.enc._mergeable_ranks,
                          special_tokens=theirs.enc._special_tokens)


def _folder():
    from nanochat.common import get_base_dir
    return os.path.join(get_base_dir(), "leat")


def pack(folder=None, **options):
    """Packs nanochat's shards to FOLDER/train and FOLDER/val: the last one is for validation, as nanochat has it.
    Documents stand between two begin tokens, so that each predicts the one after it, as in nanochat's rows.

    folder   None: "leat" in nanochat's base directory
    options  further ones of leat.pack()
    """
    from nanochat.dataset import list_parquet_files
    from nanochat.tokenizer import get_tokenizer
    theirs, shards = get_tokenizer(), list_parquet_files()
    begin = theirs.get_bos_token_id()
    os.makedirs(folder := folder or _folder(), exist_ok=True)
    return [leat.pack(part, os.path.join(folder, split), tokenizer(theirs), begin=begin, end=begin, **options)
            for split, part in (("train", shards[:-1]), ("val", shards[-1:]))]


def _check_tokenizer(name, theirs):
    stored = leat.open(name).stored_tokenizer
    if stored is not None:
        stored, encoding = leat.Tokenizer.from_stored(*stored), theirs.enc
        if (stored._mergeable_ranks, stored.special_tokens) != (encoding._mergeable_ranks, encoding._special_tokens):
            raise ValueError(f"{shown_name(name)} was packed with another tokenizer than nanochat's: pack it again")


def _loader(tokenizer, rows, length, split, device, state, folder, order, seed):
    import torch
    from nanochat.common import get_dist_info
    if split not in ("train", "val"):
        raise ValueError(f"split must be \"train\" or \"val\", not {split!r}")
    name = os.path.join(folder or _folder(), split)
    _check_tokenizer(name, tokenizer)
    plan = leat.Plan(name, length, seed=seed, order=order or leat.fit(begin=True), epochs=1 if split == "val" else None)
    _, rank, _, world = get_dist_info()
    kind = "cuda" if torch.device(device).type == "cuda" else "cpu"
    return leat.Loader(plan, rows, rank=rank, world=world, style="tuple", ignore_index=-1, device=kind, last="padded",
                       restart=split == "val" or None, state=state)


def tokenizing_distributed_data_loader_with_state_bos_bestfit(tokenizer, B, T, split, *, device="cuda",
                                                              resume_state_dict=None, folder=None, order=None,
                                                              seed=42):
    """(inputs, targets, state) of B rows of T tokens each, for ever; targets of padding are -1.

    nanochat asks for a batch while it trains on the one before, and saves the state that came with the batch it has
    not trained on. So a state is from before its batch, and a resumed run begins with that one, on any number of ranks.

    tokenizer  nanochat's
    folder     where pack() has put the datasets "train" and "val"
    order      as in leat.Plan; None: leat.fit(begin=True), rows of whole documents that all begin with the begin token
    """
    state = None
    if resume_state_dict is not None:
        state = resume_state_dict.get("leat")
        if state is None:
            raise ValueError("this checkpoint was written with nanochat's own data loader, which leat cannot continue")
    with _loader(tokenizer, B, T, split, device, state, folder, order, seed) as loader:
        while True:
            before = loader.state_dict()
            position = before["position"]
            # nanochat prints epoch, pq_idx and rg_idx
            about = {"epoch": loader.plan.order(position).epoch + 1, "pq_idx": position, "rg_idx": 0, "leat": before}
            inputs, targets = next(loader)
            yield inputs.to(device), targets.to(device), about


def tokenizing_distributed_data_loader_bos_bestfit(tokenizer, B, T, split, *, device="cuda", folder=None, order=None,
                                                   seed=42):
    """(inputs, targets) for evaluation: the rows of "val" once, then again from the first."""
    with _loader(tokenizer, B, T, split, device, None, folder, order, seed) as loader:
        while True:
            for inputs, targets in loader:
                yield inputs.to(device), targets.to(device)
