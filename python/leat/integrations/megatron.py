"""megatron.py: for programs of Megatron: datasets and batches as megatron-core's GPTDataset and BlendedDataset have
them, made by leat. A plan decides what a sample shows: of order "megatron", Megatron's samples, or any other. Masks,
positions and padding are made here from its tokens, for all rows of a batch at once. megatron-core itself gives only
the rank, if none is given, and the name of a split.

It meets what megatron-core 0.16.1 and 0.19.2 and Megatron-LM's main of August 2026 (0.20) take, by pretrain_gpt.py with
--dataloader-type external or single: the keys of BATCH_KEYS, with --dataloader-inter-document-masking too.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable as Function
from dataclasses import KW_ONLY, dataclass

from leat._lazy import need
from leat._values import MOST, attributes_of, check_plan, choice, flag, instance, listed, sample_number, shown, whole
from leat.loader import Loader as PlanLoader
from leat.options import Order
from leat.plan import Plan, decimal

TYPE_CHECKING = False  # in place of typing.TYPE_CHECKING, because typing is slow to import
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Sequence

__all__ = ["BlendedMegatronDatasetBuilder", "Dataset", "Loader", "build", "loader", "loaders", "needs_data", "order"]

USES = ("train", "valid", "test")
CONFIG = ("sequence_length", "tokenizer", "reset_position_ids", "reset_attention_mask", "eod_mask_loss",
          "create_attention_mask")  # settings that decide how items are made

# Settings of a GPTDatasetConfig that must have this value, because Megatron would make other samples than leat; and
# what a program can do instead.
NEEDED = {"mock": (False, ""), "add_extra_token_to_sequence": (True, ""),
          "drop_last_partial_validation_sequence": (True, ""),
          "hybrid_context_parallel": (False, "; it takes Megatron's own packed datasets only"),
          "fim_rate": (None, ", whose random numbers depend on the workers, or leat's own order: "
                             "Dataset(leat.Plan(..., fim=leat.FIM(...)), config)")}


@dataclass(frozen=True, repr=False)
class order(Order):
    """The order "megatron" of leat.Plan with Megatron's settings:

        from leat.integrations import megatron
        leat.Plan({"web": 0.7, "code": 0.3}, 4096, split="969,30,1", order=megatron.order(samples=10**6))

    samples   how many samples to build for, as --train-samples; needed with weights
    mid_level_dataset_surplus   Megatron's setting of that name; None: 0.005
    """

    _: KW_ONLY
    samples: int | None = None
    mid_level_dataset_surplus: Any = None
    called, order = "leat.integrations.megatron.order", "megatron"

    def __post_init__(self) -> None:
        if self.samples is not None:
            self._check(whole, "samples", 1)

    def _settings(self) -> dict[str, Any]:
        given = dict(samples=self.samples, mid_level_dataset_surplus=decimal(self.mid_level_dataset_surplus))
        return {name: value for name, value in given.items() if value is not None}


class BlendedMegatronDatasetBuilder:
    """In the place of megatron-core's class of this name in pretrain_gpt.py and its kin: GPTDatasets are leat's, and
    with --dataloader-type external leat makes their batches, too. Other classes are built by Megatron's own.
    """

    def __init__(self, cls: type, sizes: Sequence[int | None], is_built_on_rank: Callable[[], bool], config: Any):
        self.cls, self.sizes, self.is_built_on_rank, self.config = cls, sizes, is_built_on_rank, config

    def build(self) -> list:
        """The datasets for training, validation and test; with --dataloader-type external, their Loaders."""
        what = "leat.integrations.megatron.BlendedMegatronDatasetBuilder"
        if self.cls is not need("megatron.core.datasets.gpt_dataset", what).GPTDataset:
            theirs = need("megatron.core.datasets.blended_megatron_dataset_builder", what)
            return theirs.BlendedMegatronDatasetBuilder(self.cls, self.sizes, self.is_built_on_rank,
                                                        self.config).build()
        return loaders(build(self.sizes, lambda: needs_data(self.config, self.is_built_on_rank()), self.config))


def needs_data(config: Any, is_built_on_rank: bool) -> bool:
    """Returns True if get_batch() takes batches on this rank: if the program's is_dataset_built_on_rank() says so, and
    with inter_document_masking also on middle pipeline stages, whose attention needs cu_seqlens."""
    if is_built_on_rank or not getattr(config, "inter_document_masking", False):
        return is_built_on_rank
    state = need("megatron.core.parallel_state", "leat.integrations.megatron.needs_data")
    return state.get_tensor_model_parallel_rank() == 0


def loaders(datasets: Sequence[Any]) -> list:
    """What train_valid_test_datasets_provider() returns for these datasets for training, validation and test, by the
    arguments of the program: with --dataloader-type external their Loaders, from the samples that are consumed on, on
    the GPU; else the datasets."""
    from torch.cuda import is_available

    args = need("megatron.training", "leat.integrations.megatron.loaders").get_args()
    if args.dataloader_type != "external":
        return list(datasets)
    for name in ("full_validation", "phase_transition_iterations"):
        if getattr(args, name, None):
            raise ValueError(f"--{name.replace('_', '-')} needs Megatron's own samplers: use --dataloader-type single")
    evaluated = getattr(args, "eval_micro_batch_size", None) or args.micro_batch_size
    return [loader(dataset, rows, consumed, device="cuda" if is_available() else "cpu")
            for dataset, rows, consumed in zip(datasets, (args.micro_batch_size, evaluated, evaluated),
                                               (args.consumed_train_samples, args.consumed_valid_samples, 0))]


def build(sizes: Sequence[int | None], is_built_on_rank: Callable[[], bool], config: Any) -> list:
    """The datasets for training, validation and test, in the place of BlendedMegatronDatasetBuilder(GPTDataset, sizes,
    is_built_on_rank, config).build(): each a Dataset, or None where Megatron has none: outside of the split, where
    nothing is built on this rank; also where the size is 0. With multiple_validation_sets, that for validation is a
    list.

    sizes   how many samples to build for; None: one epoch
    config  a GPTDatasetConfig, of which blend or blend_per_split, split, random_seed, sequence_length,
            mid_level_dataset_surplus, the tokenizer's eod and pad, and the settings of masks and positions count. Those
            of Megatron's caches and threads have no effect: indexes are made in memory, in seconds
    """
    for name, (value, instead) in NEEDED.items():
        if getattr(config, name, value) not in (value, None):
            raise ValueError(f"leat.integrations.megatron supports {name}={value!r} only, and the config has "
                             f"{getattr(config, name)!r}: use Megatron's own dataset{instead}")
    attributes_of("config", config, "blend", "blend_per_split", "split", "random_seed", "multiple_validation_sets",
                  "mid_level_dataset_surplus", *CONFIG)
    for blend in [config.blend] if config.blend is not None else config.blend_per_split or [()]:
        if blend is not None and (not isinstance(blend, (tuple, list)) or len(blend) != 2):
            raise TypeError(f"a blend of the config must be (prefixes, weights), not {shown(blend)}")
    if not instance("is_built_on_rank", is_built_on_rank, Function, "a function")():
        return [None] * len(USES)
    return [_build(config, number, size) for number, size in enumerate(listed("sizes must be a list", sizes))]


def _build(config: Any, number: int, size: int | None) -> Any:
    if size == 0:
        return None
    if config.blend is not None:
        if config.split_matrix[number] is None:
            return None
        return _blended(config, config.blend, number, size, config.split)
    blend = config.blend_per_split[number]
    if blend is None:
        return None
    prefixes, weights = blend
    if len(prefixes) > 1 and config.multiple_validation_sets and USES[number] == "valid":
        return [_blended(config, ([prefix], None), number, size) for prefix in prefixes]
    return _blended(config, (prefixes, weights if len(prefixes) > 1 else None), number, size)


def _blended(config: Any, blend: tuple[Sequence[str], Sequence[float] | None], number: int, size: int | None,
             split: str | None = None) -> Dataset:
    prefixes, weights = blend
    sources: Any = list(prefixes) if weights is None else list(zip(prefixes, map(float, weights)))
    plan = Plan(sources, config.sequence_length, config.random_seed, split=split,
                use=None if split is None else USES[number],
                order=order(samples=size, mid_level_dataset_surplus=config.mid_level_dataset_surplus))
    # Megatron also blends a single source if it has a weight and a split.
    return Dataset(plan, config, USES[number], len(prefixes) > 1 or (weights is not None and split is not None))


class Dataset:
    """The samples of a plan with the keys that Megatron's datasets have, for a DataLoader (map-style). Of those that
    build() makes, item n has the values of Megatron's item n.

    plan    of order "megatron", or any other: leat's own order, rows of whole documents, fill-in-the-middle, ...
    config  a GPTDatasetConfig: its tokenizer's eod and pad, and the settings of masks and positions
    use     "train", "valid" or "test"
    blends  whether items have a dataset_id, the number of their source; None: if there are several. With context
            parallelism they have none: get_batch() of Megatron's main fails on it
    """

    def __init__(self, plan: Any, config: Any, use: str = "train", blends: bool | None = None):
        attributes_of("config", config, *CONFIG)
        self.plan, self.config = check_plan(plan), config
        if plan.seq_len != config.sequence_length:
            raise ValueError(f"the plan has rows of {plan.seq_len} tokens, and the config says "
                             f"{config.sequence_length}")
        self._number = choice("use", use, {name: number for number, name in enumerate(USES)})
        self._blends = ((plan.info.sources > 1 if blends is None else blends)
                        and (getattr(config, "context_parallel_size", None) or 1) == 1)
        self._items = _Items(config)
        # Otherwise documents begin after end tokens, which rows of whole documents have only as labels.
        self._by_documents = self._items.packs or (self._items.resets and plan.info.order == "fit")

    @property
    def split(self) -> Any:
        """Megatron's Split.train, .valid or .test."""
        return need("megatron.core.datasets.utils", "leat.integrations.megatron.Dataset.split").Split(self._number)

    def __len__(self) -> int:
        return len(self.plan)

    def __repr__(self) -> str:
        return f"<leat.integrations.megatron.Dataset: {len(self)} samples for {USES[self._number]}, of {self.plan!r}>"

    def __getitem__(self, n: int | None) -> dict:
        """Returns sample n. None, with which Megatron fills up a batch, gives the first sample without any loss."""
        import numpy
        import torch

        number = 0 if n is None else whole("the number of a sample", n, -MOST)
        sample = sample_number(number + len(self) if number < 0 else number, len(self))
        outputs = ("inputs", "labels", *(["document_ids"] if self._by_documents else []))
        inputs, labels, *documents = self.plan._rows([sample], 8, outputs, lambda array:
                                                     torch.utils.dlpack.from_dlpack(array.__dlpack__()))
        begins = None
        for ids in documents:  # padding counts as a document, as in a loader's cu_seqlens
            begins = torch.nn.functional.pad(ids[0].diff() != 0, (1, 0), value=True).nonzero()[:, 0]
        made = self._items.make(inputs.contiguous(), labels.contiguous(), begins)
        item = {key: value[0] for key, value in made.items()}
        if n is None:
            item["loss_mask"].zero_()
        if not self._blends:
            return item
        return {"dataset_id": numpy.int16(self.plan.order(sample).source), **item}


def loader(dataset: Dataset | list | None, micro_batch_size: int, consumed_samples: int = 0, *, rank: int | None = None,
           world: int | None = None, **options: Any) -> Any:
    """Returns a Loader of a Dataset, None for None (on middle pipeline stages), and a list for a list."""
    if dataset is None:
        return None
    if isinstance(dataset, list):
        return [loader(one, micro_batch_size, consumed_samples, rank=rank, world=world, **options) for one in dataset]
    return Loader(dataset, micro_batch_size, consumed_samples, rank=rank, world=world, **options)


class Loader:
    """The batches that Megatron takes of a Dataset, as dicts of tensors: those of its MegatronPretrainingSampler and a
    DataLoader (--dataloader-type single), made by a leat.Loader in the background.

    micro_batch_size  rows of a batch
    consumed_samples  where to begin: Megatron's args.consumed_train_samples
    rank, world       among the data-parallel ranks; None: as megatron.core.parallel_state says
    options           of leat.Loader: device="cuda" gives tensors on the GPU, copied from pinned memory; restart=True,
                      io, ... Samples left over at the end that make no whole batch are dropped unless last says
                      otherwise; with "padded", these have rows without loss
    cycle             for evaluation of a whole set each time: how many micro batches a step of evaluation has. The end
                      is filled up to a step, with rows and batches without loss, and then the set begins again

    Give it to Megatron with --dataloader-type external. It needs no state in a checkpoint: Megatron's own count of
    consumed samples says where to go on, with any number of ranks.
    """

    def __init__(self, dataset: Dataset, micro_batch_size: int, consumed_samples: int = 0, *, rank: int | None = None,
                 world: int | None = None, cycle: int | None = None, **options: Any):
        attributes_of("dataset", dataset, "plan", "_items")
        if (rank is None) != (world is None):
            raise TypeError("rank and world go together: give both or none")
        if rank is None:
            state = need("megatron.core.parallel_state", "leat.integrations.megatron.Loader without rank and world")
            rank, world = state.get_data_parallel_rank(), state.get_data_parallel_world_size()
        if options.get("slice") is not None:
            raise ValueError("Megatron cuts rows itself (get_batch_on_this_cp_rank): leave slice= out")
        if cycle is not None and consumed_samples:
            raise ValueError("cycle goes through the whole set each time: leave consumed_samples out")
        if cycle is not None:
            options = {"last": "padded", **options, "restart": True}
        self.dataset = dataset
        self.loader = PlanLoader(dataset.plan, micro_batch_size, rank=rank, world=world, position=consumed_samples,
                                 outputs=("inputs", "labels", *(["cu_seqlens"] if dataset._by_documents else [])),
                                 **{"last": "dropped", **options})
        self._cycles, self._filling, self._filled = cycle is not None, 0, 0
        self._last: dict | None = None
        if cycle is not None:
            self._filling = -(self.loader._left_from(0) or 0) % whole("cycle", cycle, 1)

    @property
    def consumed_samples(self) -> int:
        """The number of samples that all ranks have consumed with the batches given so far."""
        return self.loader.cursor

    def __iter__(self) -> Iterator[dict]:
        iter(self.loader)
        self._filled = 0
        return self

    def __next__(self) -> dict:
        batch = next(self.loader, None)
        if batch is None:
            if self._last and self._filled < self._filling:
                self._filled += 1
                return dict(self._last)  # a copy, because Megatron changes it
            if not self._cycles:
                raise StopIteration
            self._filled = 0
            batch = next(iter(self.loader))
        made = self._made(batch)
        if self._filling:
            self._last = {**made, "loss_mask": made["loss_mask"].new_zeros(made["loss_mask"].shape)}
        return made

    def _made(self, batch: Any) -> dict:
        made = self.dataset._items.make(batch.inputs, batch.labels,
                                        batch.cu_seqlens if self.dataset._by_documents else None)
        if not self.dataset._blends:
            return made
        import torch

        return {"dataset_id": torch.tensor([source or 0 for source in batch.sources], dtype=torch.int16,
                                           device=batch.inputs.device), **made}

    def __len__(self) -> int:
        return len(self.loader) + self._filling

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<leat.integrations.megatron.Loader: {self.loader!r} of {self.dataset!r}>"

    def close(self) -> None:
        """Stops the thread and frees its memory."""
        self.loader.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()


class _Items:
    """Makes the items of GPTDataset.__getitem__ from tokens, for all rows of a batch at once."""

    def __init__(self, config: Any):
        attributes_of("the tokenizer of config", config.tokenizer, "eod")
        self.end, self.pad = config.tokenizer.eod, _pad_of(config)
        self.resets_positions, self.resets_attention, self.masks_end, masks = (
            flag(f"{name} of the config", getattr(config, name)) for name in (
                "reset_position_ids", "reset_attention_mask", "eod_mask_loss", "create_attention_mask"))
        self.resets = self.resets_positions or self.resets_attention
        self.packs = bool(getattr(config, "inter_document_masking", False))
        self.with_attention = masks and not self.packs

    def make(self, tokens: Any, labels: Any, documents: Any = None) -> dict:
        """Returns the items of tensors of rows x length, which then belong to the items. `documents` are the places
        where documents begin, counted through all rows; None means after end tokens."""
        import torch

        rows, length = tokens.shape
        place = torch.arange(length, device=tokens.device)
        positions = place.expand(rows, -1)
        if documents is not None:
            first = torch.zeros(rows * length + 1, dtype=torch.bool, device=tokens.device)
            first[documents.long()] = True
            first = first[:-1].reshape(rows, length)
            begins = (place * first).cummax(dim=1).values
        elif self.resets:
            # Each place's document begins after the last end token before it, or with the row.
            begins = torch.zeros_like(tokens)
            begins[:, 1:] = place[1:] * (tokens[:, :-1] == self.end)
            begins = begins.cummax(dim=1).values
        if self.resets_positions or self.packs:
            positions = place - begins
        loss_mask = torch.ones((rows, length), dtype=torch.float, device=tokens.device)
        # Padded rows, damage and a dataset's mask have no loss either; Megatron's loss reads only the mask.
        loss_mask.masked_fill_(labels < 0, 0)
        labels.masked_fill_(labels < 0, 0)
        if self.masks_end:
            loss_mask.masked_fill_(tokens == self.end, 0)
        items = {"tokens": tokens, "labels": labels}
        if self.with_attention:
            hidden = (place > place[:, None]).expand(rows, 1, -1, -1)  # later places
            if self.resets_attention:
                hidden = hidden | (place < begins[:, None, :, None])
            items["attention_mask"] = hidden.contiguous()
        if self.pad is not None:
            loss_mask.masked_fill_(labels == self.pad, 0)
            tokens.masked_fill_(tokens == self.pad, 0)
            labels.masked_fill_(labels == self.pad, 0)
        items.update(loss_mask=loss_mask, position_ids=positions.contiguous())
        if self.packs:
            # the beginnings of each row in order, then its length in the remaining places
            ends = torch.where(first, place, length).sort(dim=1).values
            ends = torch.nn.functional.pad(ends, (0, 1), value=length).to(torch.int32)
            items.update(cu_seqlens=ends, max_seqlen=ends.diff(dim=1).amax(dim=1))
        return items


def _pad_of(config: Any) -> int | None:
    """Returns the id that Megatron masks as padding. None if the tokenizer has none, or also uses it for something
    else."""
    tokenizer = config.tokenizer
    try:
        pad = tokenizer.pad
    except Exception:  # As in Megatron, any exception of a tokenizer means that it has none.
        return None
    try:
        others = [token for name, token in tokenizer.special_tokens_dict.items() if name != "pad_token"]
    except (AttributeError, IndexError, ValueError):
        others = []
    for name in () if others else ("eos", "eod"):
        try:
            others.append(getattr(tokenizer, name))
        except (AttributeError, NotImplementedError):
            pass
    if pad not in others or config.allow_ambiguous_pad_tokens:
        return pad
    warnings.warn(f"the tokenizer uses token {pad} for padding and for something else, so that no token is masked as "
                  "padding, as in Megatron", stacklevel=4)
    return None
