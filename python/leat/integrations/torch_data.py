"""torch_data.py: a plan for torch.utils.data: an IterableDataset, with a state for torchdata's StatefulDataLoader, and
a map-style dataset for programs that keep their DataLoader."""
from __future__ import annotations

import mmap
from multiprocessing.context import get_spawning_popen

import torch.utils.data

from leat._passes import batches_in, last_of
from leat._values import (ROW_OUTPUTS, check_plan, entry, flag, listed, outputs_of, read_state, sample_number,
                          samples_of, whole)
from leat.loader import Loader, check_options
from leat.ranks import rank_and_world


class IterableDataset(torch.utils.data.IterableDataset):
    """Batches of a plan for the loaders of torch and torchdata: give these batch_size=None, because they receive
    finished batches.

    The arguments are those of leat.Loader, so ranks stay in step up to the plan's end, with worker processes and
    without (`last`). Batches are dicts, unless style is "tuple" or "huggingface". Every `for`
    starts at `position` again, except the first after load_state_dict(), which continues. (In new worker processes of
    torch's DataLoader, all that follow load_state_dict() do, in persistent ones none; StatefulDataLoader has no such
    limit.) Workers are not
    needed; with n of them, each makes every n-th batch, and batches come in the same order as without workers.

    transformers' Trainer would put several of these batches together: it takes a leat.Loader, by leat.LoaderMixin.

    A copy (copy.deepcopy, pickle) does not know how far a `for` is: give it the state, by load_state_dict(). Do not
    give a dataset with ranks to accelerator.prepare(), which shares out the rows a second time.
    """

    def __init__(self, plan, batch_size, *, rank=None, world=None, ranks=None, style="dict", **options):
        super().__init__()
        if style == "batch":
            raise ValueError("a DataLoader takes dicts or tuples: style must be \"dict\", \"tuple\" or "
                             "\"huggingface\"")
        if "steps" in options:
            raise TypeError("leat.IterableDataset has no option steps: the DataLoader counts its own")
        check_options(options)
        if options.get("max_tokens") is not None or check_plan(plan).info.max_tokens:
            raise TypeError("leat.IterableDataset has no batches by tokens: use leat.Loader")
        self.plan, self.batch_size = check_plan(plan), whole("batch_size", batch_size, 1)
        # now, because worker processes do not know the ranks
        self.rank, self.world = rank_and_world(rank, world, ranks)
        whole("position", options.get("position", 0))
        self.options = {**options, "style": style, "last": last_of(options.get("last"), self.world)}
        self._loader = self._resume = None
        self._away = mmap.mmap(-1, 1)  # shared with worker processes: 1 if they iterate instead of this one

    def __repr__(self):
        return (f"<leat.IterableDataset: batches of {self.batch_size} rows for rank {self.rank} of {self.world}, of "
                f"{self.plan!r}>")

    def __getstate__(self):
        if get_spawning_popen() is not None:  # it is sent to a new process, which shares no memory
            self._away[0] = 1
        return {**self.__dict__, "_loader": None, "_away": None}

    def __setstate__(self, state):
        self.__dict__.update(state, _away=mmap.mmap(-1, 1))

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        self._away[0] = int(worker is not None)
        number, count = (worker.id, worker.num_workers) if worker else (0, 1)
        # n global batches form one large batch; each worker takes the rows of one of them, as if it were a rank
        dealt = next((word for word in ("balance", "deal") if self.options.get(word) is not None), None)
        if count > 1 and dealt:
            raise ValueError(f"{dealt} and several workers exclude each other: a worker has rows of a global "
                             "batch of its own; give num_workers=1, whose loader has a thread anyway")
        options = {**self.options, "rank": number * self.world + self.rank, "world": count * self.world}
        if self._resume is not None:
            options["state"] = self._resume
        self._resume = None
        if count > 1 and options["last"] == "dropped":
            options["last"] = "short"  # the loader does not know which of the small batches is the last one
        self._loader = Loader(self.plan, self.batch_size, **options)
        if count == 1 and "state" not in options:
            self._loader._check_some()
        return self._batches(self._loader, number * self.batch_size * self.world)

    def _batches(self, loader, offset):
        """The batches of one worker, whose rows begin at `offset` in the loader's batches."""
        need = self.batch_size * self.world if self.options["last"] == "dropped" else 1
        with loader:
            while True:
                begin, end = loader.cursor + offset, self.plan.info.positions
                if end is not None and begin + need > end:
                    return
                batch = next(loader, None)
                if batch is None:
                    return
                yield batch

    def change(self, plan, *, group=None):
        """Goes on with another plan, in a `for` too, as Loader.change(): after the last batch that this process made
        (a DataLoader with worker processes makes batches in these, where no plan can be changed)."""
        if self._away[0]:
            raise RuntimeError("the batches are made in worker processes, whose plan cannot be changed: use "
                               "num_workers=0, or a leat.Loader")
        if self._loader is not None:
            self._loader.change(plan, group=group)
        elif self._resume is not None:
            check_plan(plan).load_state(self._resume["state"])
        self.plan = check_plan(plan)

    def __len__(self):
        if self.plan.info.positions is None:
            raise TypeError("this plan has no end")
        return batches_in(len(self.plan) - self.options.get("position", 0), self.batch_size, self.rank, self.world,
                          self.options["last"], self.options.get("balance") or self.options.get("deal"))

    def __bool__(self):
        return True  # also of a plan without end, which has no length

    def state_dict(self):
        """The state of the last `for`; in a worker process, the worker's own. An error where worker processes iterate
        the dataset, except that persistent ones that were spawned, and then go on, are not noticed any more once this
        process has iterated it, or load_state_dict() was called."""
        if self._away[0] and torch.utils.data.get_worker_info() is None:
            raise RuntimeError("the batches are made in worker processes, so their state is not known here: use "
                               "torchdata's StatefulDataLoader and its state_dict(), or num_workers=0")
        if self._loader is not None:
            return self._loader.state_dict()
        if self._resume is not None:
            return dict(self._resume)
        position = self.options.get("position", 0)
        return {"leat": 1, "position": position, "step": 0, "state": self.plan.state(position)}

    def load_state_dict(self, state):
        """Lets the next `for` continue from a state, also from one of torchdata's StatefulDataLoader, whatever number
        of worker processes that had; its own load_state_dict() wants the same number of them."""
        state = self._own_state(state)
        read_state(self.plan, state)
        self._resume, self._loader = dict(state), None
        if torch.utils.data.get_worker_info() is None:
            self._away[0] = 0

    def _own_state(self, state):
        """Returns this dataset's state out of a StatefulDataLoader's state, and any other state unchanged."""
        if not isinstance(state, dict):
            return state
        if "_snapshot" not in state:
            return state.get("dataset_state", state)
        snapshot, since = state["_snapshot"], whole("_steps_since_snapshot", entry(state, "_steps_since_snapshot"))
        count = whole("_num_workers", entry(entry(snapshot, "_main_snapshot"), "_num_workers"), 1)
        last = whole("_last_yielded_worker_id", entry(snapshot, "_last_yielded_worker_id"), 0, count - 1)
        # the worker whose turn it is stands before the round of batches that the others have begun
        turn = f"worker_{last if last + 1 == count else last + 1}"
        worker = entry(entry(entry(snapshot, "_worker_snapshots"), turn), "dataset_state")
        position, damaged, _ = read_state(self.plan, worker)
        position += ((last + 1) % count + since) * self.batch_size * self.world
        if self.plan.info.positions is not None:
            position = min(position, self.plan.info.positions)
        return {**worker, "position": position, "state": self.plan.state(position, damaged)}


class _Rows(list):
    """The rows of a batch, with the batch itself in `whole`, a tensor per output."""

    whole = None


class MapDataset(torch.utils.data.Dataset):
    """Random access to a plan, for a torch.utils.data.DataLoader: item p is the sample at position p, as a tuple of
    its outputs.

        DataLoader(dataset, batch_size=32, collate_fn=dataset.collate)

    The plan is already shuffled, so keep shuffle=False (transformers' Trainer shuffles a train_dataset again, and needs
    a data_collator that makes dicts of the tuples: rather use leat.LoaderMixin). A batch's rows are read together
    (__getitems__); with collate_fn=dataset.collate they are not copied a second time. Rows that differ in length (of
    order documents, or at a change of phases) need a collate_fn that pads them. leat.Loader is many times faster,
    without worker processes.

    samples     how many there are; needed if the plan has no end
    dtype       torch.int64 or torch.int32, of ids, labels and positions
    outputs     "inputs", "labels", "loss_mask", "loss_weights", "position_ids", "document_ids", "attention_mask", as a
                Loader's, in the order of the tuple. Rows of order fit are padded to the plan's longest
    mask_first  as in leat.Outputs: labels have no loss that begin another document, for attention within documents
    """

    def __init__(self, plan, samples=None, dtype=torch.int64, outputs=("inputs", "labels"), mask_first=False):
        if dtype not in (torch.int64, torch.int32):
            raise ValueError(f"dtype must be torch.int64 or torch.int32, not {dtype}")
        self.plan, self.dtype, self.samples = plan, dtype, samples_of(plan, samples)
        self.outputs = outputs_of("an output of single samples", outputs, ROW_OUTPUTS)
        self.mask_first = flag("mask_first", mask_first)

    def __repr__(self):
        return f"<leat.MapDataset: {self.samples} samples of {self.plan!r}>"

    def __len__(self):
        return self.samples

    def _read(self, positions):
        return self.plan._rows([sample_number(p, self.samples) for p in listed("positions must be a list", positions)],
                               self.dtype.itemsize, self.outputs,
                               lambda array: torch.utils.dlpack.from_dlpack(array.__dlpack__()), self.mask_first)

    def __getitem__(self, position):
        return tuple(array[0] for array in self._read([position]))

    def __getitems__(self, positions):
        try:
            whole = self._read(positions)
        except ValueError:  # they differ in length, or each alone fails, too
            return [self[p] for p in positions]
        rows = _Rows(zip(*whole))
        rows.whole = whole
        return rows

    @staticmethod
    def collate(rows):
        """Returns the batch of these rows, as a tuple of its outputs."""
        whole = getattr(rows, "whole", None)
        if whole is not None:
            return whole
        if len({len(row[0]) for row in rows}) > 1:
            raise ValueError("the rows of this batch differ in length; write a collate_fn that pads them")
        return torch.utils.data.default_collate(rows)
