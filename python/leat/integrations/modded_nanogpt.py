"""modded_nanogpt.py: batches for modded-nanogpt's train_gpt.py, in place of its distributed_data_generator(). Written
for its main of August 2026 (f411b3d)."""
from __future__ import annotations

import glob
import os

import leat
from leat._values import flag, path_of, shown, shown_name, whole

BEGIN = 50256
MOST_DOCUMENTS = {16384: 64, 32768: 96, 49152: 128}  # limits of train_gpt.py, by the tokens of a rank


def _room(tokens):
    return MOST_DOCUMENTS.get(tokens, -(-(tokens // 300) // 128) * 128)


class Batches:
    """(inputs, targets, cum_lengths, bigrams on the device, bigrams in numpy) for ever; without `bigram_hash`, as
    train_gpt_medium.py takes them, the first three. send() takes None, or (num_tokens, max_seq_len, grad_accum_steps)
    for the batches from the next one on, as the generator's.

    files        shards as a pattern that ends in .bin, or the name of a dataset of leat
    num_tokens   of the global batch, with all ranks and all grad_accum_steps
    max_seq_len  attention does not reach across so many tokens: longer documents are several ones to it. -1: no limit
    align_to_bos True: rows of whole documents (order "fit"), none without its begin token but what continues one longer
                 than a row. The dataset's documents stand between two begin tokens: see the page for shards. The last
                 places of a row, where no document fits, have the row's first tokens again: the kernels of train_gpt.py
                 need a target everywhere. False: windows in the files' order, once, as its validation reads them
    row, order, seed    with align_to_bos=True. The plan's rows, in tokens: a divisor of each batch of a rank; None: the
                 first batch's. The others as in leat.Plan: such as leat.fit(cut_length=2049)
    bigram_hash  train_gpt.py's get_bigram_hash
    state        of state_dict(), to go on after the batch that was given last
    """

    def __init__(self, files, num_tokens, max_seq_len, grad_accum_steps=1, align_to_bos=True, *, bigram_hash=None,
                 row=None, order="fit", seed=42, device="cuda", state=None):
        from torch import distributed
        alone = not distributed.is_initialized()
        self._ranks = (0, 1) if alone else (distributed.get_rank(), distributed.get_world_size())
        self._device, self._hash, self._loader = device, bigram_hash, None
        tokens = self._of_rank(num_tokens, grad_accum_steps)
        files = os.fsdecode(path_of("files", files))
        found = sorted(glob.glob(files)) if files.endswith(".bin") else None
        if found == []:
            raise FileNotFoundError(f"no files for the pattern {shown_name(files)}")
        dataset = leat.open(files if found is None else [f"llmc:{file}?begin={BEGIN}" for file in found])
        begin = dataset.info.begin_token
        if flag("align_to_bos", align_to_bos) and (begin is None or begin != dataset.info.end_token):
            raise ValueError(f"documents of {shown_name(files)} do not stand between two begin tokens, as "
                             "align_to_bos=True needs: pack them so, or use align_to_bos=False")
        self._row = tokens if row is None or not align_to_bos else whole("row", row, 1)
        self._plan = leat.Plan(dataset, self._row, seed=seed, order=order if align_to_bos else "sequential",
                               epochs=None if align_to_bos else 1)
        self._go_on(tokens, max_seq_len, state)

    def _of_rank(self, num_tokens, grad_accum_steps):
        num_tokens = whole("num_tokens", num_tokens, 1)
        if num_tokens % (self._ranks[1] * whole("grad_accum_steps", grad_accum_steps, 1)):
            raise ValueError(f"{num_tokens} tokens are not the same for each of {self._ranks[1]} ranks and "
                             f"{grad_accum_steps} steps")
        return num_tokens // (self._ranks[1] * grad_accum_steps)

    def _go_on(self, tokens, max_seq_len, state=None):
        if tokens % self._row:
            raise ValueError(f"a rank's batch of {tokens} tokens is not made of rows of {self._row}: give row= a "
                             "divisor of all batches")
        before, self._tokens, self._longest = self._loader, tokens, whole("max_seq_len", max_seq_len, -1)
        if before is not None:
            state = before.state_dict()
            before.close()
        self._loader = leat.Loader(self._plan, tokens // self._row, rank=self._ranks[0], world=self._ranks[1],
                                   outputs=("inputs", "labels", "cu_seqlens"), style="tuple", last="dropped",
                                   state=state)

    def __iter__(self):
        return self

    def __next__(self):
        return self.send(None)

    def send(self, settings):
        if settings is not None:
            if not isinstance(settings, (tuple, list)) or len(settings) != 3:
                raise TypeError(f"send() takes (num_tokens, max_seq_len, grad_accum_steps), not {shown(settings)}")
            num_tokens, longest, grad_accum_steps = settings
            self._go_on(self._of_rank(num_tokens, grad_accum_steps), longest)
        return self._batch(*next(self._loader))

    def _batch(self, inputs, targets, starts):
        import torch
        starts = set(starts.tolist())
        for n, (row, after) in enumerate(zip(inputs, targets)):
            empty = int((after < 0).sum())
            if empty:
                first, size = n * self._row, self._row - empty
                if (after[:size] < 0).any():
                    raise ValueError("rows have targets without loss in them, for which train_gpt.py has no place: no "
                                     "masks, and no leat.fit(align=..., overlap=...)")
                again = torch.arange(empty) % size
                row[size:], after[size:] = row[again], after[again]
                starts -= set(range(first + size + 1, first + self._row))
                starts |= {first + size + at for at in range(empty) if first + again[at].item() in starts}
        cum_lengths = torch.full((_room(self._tokens),), self._tokens, dtype=torch.int32)
        ends = sorted(self._split(sorted(starts - {self._tokens})))
        if len(ends) > len(cum_lengths):
            raise ValueError(f"a batch has {len(ends)} documents, and room for {len(cum_lengths)}: give "
                             "order=leat.fit(max_per_row=...), or more room in MOST_DOCUMENTS")
        cum_lengths[:len(ends)] = torch.tensor(ends, dtype=torch.int32)
        inputs = inputs.flatten().int()
        values = [inputs, targets.flatten().long(), cum_lengths]
        bigrams = () if self._hash is None else (self._hash(inputs),)
        return (*(value.to(self._device, non_blocking=True) for value in (*values, *bigrams)),
                *(value.numpy() for value in bigrams))

    def _split(self, starts):
        """Returns the places where attention begins anew."""
        for start, end in zip(starts, [*starts[1:], self._tokens]):
            yield from range(start, end, self._longest if self._longest > 0 else self._tokens)

    def state_dict(self):
        """Returns the state after the batch that was given last."""
        return self._loader.state_dict()
