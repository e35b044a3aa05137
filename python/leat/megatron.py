"""megatron.py: for programs of Megatron: datasets and batches of megatron-core's GPTDataset and BlendedDataset, made
by leat. A plan of order "megatron" decides what a sample shows; masks, positions and padding are made here from its
tokens, for all rows of a batch at once. megatron-core itself gives only the rank, if none is given, and the name of a
split.
"""
from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass

from leat._lazy import need
from leat._values import whole
from leat.loader import Loader as PlanLoader
from leat.options import Order
from leat.plan import Plan, decimal

TYPE_CHECKING = False  # as typing has it, whose import takes time
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Sequence

__all__ = ["Dataset", "Loader", "build", "loader", "order"]

USES = ("train", "valid", "test")

# settings of a GPTDatasetConfig with which Megatron makes other samples than leat does, unless they have this value
NEEDED = {"mock": False, "add_extra_token_to_sequence": True, "drop_last_partial_validation_sequence": True,
          "hybrid_context_parallel": False, "inter_document_masking": False, "fim_rate": None}


@dataclass(frozen=True, repr=False)
class order(Order):
    """The order "megatron" of leat.Plan with Megatron's settings:

        leat.Plan({"web": 0.7, "code": 0.3}, 4096, split="969,30,1", order=leat.megatron.order(samples=10**6))

    samples   how many samples to build for, as --train-samples; needed with weights
    mid_level_dataset_surplus   Megatron's setting of that name; None: 0.005
    """

    _: KW_ONLY
    samples: int | None = None
    mid_level_dataset_surplus: Any = None
    called, order = "leat.megatron.order", "megatron"

    def __post_init__(self) -> None:
        if self.samples is not None:
            self._check(whole, "samples", 1)

    def _settings(self) -> dict[str, Any]:
        given = dict(samples=self.samples, mid_level_dataset_surplus=decimal(self.mid_level_dataset_surplus))
        return {name: value for name, value in given.items() if value is not None}


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
    for name, value in NEEDED.items():
        if getattr(config, name, value) not in (value, None):
            raise ValueError(f"leat.megatron supports {name}={value!r} only, and the config has "
                             f"{getattr(config, name)!r}: use Megatron's own dataset")
    if not is_built_on_rank():
        return [None] * len(USES)
    return [_build(config, number, size) for number, size in enumerate(sizes)]


def _build(config: Any, number: int, size: int | None) -> Any:
    if size == 0:
        return None
    if config.blend is not None:
        if config.split_matrix[number] is None:
            return None
        return Dataset(config, config.blend, number, size, config.split)
    blend = config.blend_per_split[number]
    if blend is None:
        return None
    prefixes, weights = blend
    if len(prefixes) > 1 and config.multiple_validation_sets and USES[number] == "valid":
        return [Dataset(config, ([prefix], None), number, size) for prefix in prefixes]
    return Dataset(config, (prefixes, weights if len(prefixes) > 1 else None), number, size)


class Dataset:
    """The samples of one of Megatron's datasets, for a DataLoader (map-style): item n has the keys and the values of
    Megatron's item n. build() makes them.

    `plan` is the plan that it reads, `config` Megatron's config.
    """

    def __init__(self, config: Any, blend: tuple[Sequence[str], Sequence[float] | None], number: int,
                 size: int | None = None, split: str | None = None):
        prefixes, weights = blend
        self.config = config
        sources = list(prefixes) if weights is None else list(zip(prefixes, map(float, weights)))
        self.plan: Any = Plan(sources, config.sequence_length, config.random_seed, split=split,
                              use=None if split is None else USES[number],
                              order=order(samples=size, mid_level_dataset_surplus=config.mid_level_dataset_surplus))
        self._number = number
        # Megatron also blends a single source, if it has a weight and a split
        self._blends = len(prefixes) > 1 or (weights is not None and split is not None)
        self._items = _Items(config)

    @property
    def split(self) -> Any:
        """Megatron's Split.train, .valid or .test."""
        return need("megatron.core.datasets.utils", "leat.megatron.Dataset.split").Split(self._number)

    def __len__(self) -> int:
        return len(self.plan)

    def __repr__(self) -> str:
        return f"<leat.megatron.Dataset: {len(self)} samples for {USES[self._number]}, of {self.plan!r}>"

    def __getitem__(self, n: int | None) -> dict:
        """Sample n; None, with which Megatron fills up a batch: the first one, without any loss."""
        import numpy
        import torch

        sample = 0 if n is None else n + len(self) if n < 0 else n
        if not 0 <= sample < len(self):
            raise IndexError(f"no sample {n}: there are {len(self)}")
        inputs, labels = self.plan._rows([int(sample)], 8, ("inputs", "labels"),
                                         lambda array: torch.utils.dlpack.from_dlpack(array.__dlpack__()))
        made = self._items.make(inputs.contiguous(), labels.contiguous())
        item = {key: value[0] for key, value in made.items()}
        if n is None:
            item["loss_mask"].zero_()
        if not self._blends:
            return item
        return {"dataset_id": numpy.int16(self.plan.order(int(sample)).source), **item}


def loader(dataset: Dataset | list | None, micro_batch_size: int, consumed_samples: int = 0, *, rank: int | None = None,
           world: int | None = None, **options: Any) -> Any:
    """A Loader of a dataset that build() made; None for None, and a list for a list."""
    if dataset is None:
        return None
    if isinstance(dataset, list):
        return [loader(one, micro_batch_size, consumed_samples, rank=rank, world=world, **options) for one in dataset]
    return Loader(dataset, micro_batch_size, consumed_samples, rank=rank, world=world, **options)


class Loader:
    """The batches that Megatron takes of a dataset (--dataloader-type single), as dicts of tensors: those of its
    MegatronPretrainingSampler and a DataLoader, made by a leat.Loader in the background.

    micro_batch_size  rows of a batch
    consumed_samples  where to begin: Megatron's args.consumed_train_samples
    rank, world       among the data-parallel ranks; None: as megatron.core.parallel_state says
    options           of leat.Loader: device="cuda" gives tensors on the GPU, copied from pinned memory; restart=True,
                      io, ... Samples left over at the end that make no whole batch are dropped unless last says
                      otherwise

    Give it to Megatron with --dataloader-type external. It needs no state in a checkpoint: Megatron's own count of
    consumed samples says where to go on, with any number of ranks.
    """

    def __init__(self, dataset: Dataset, micro_batch_size: int, consumed_samples: int = 0, *, rank: int | None = None,
                 world: int | None = None, **options: Any):
        if (rank is None) != (world is None):
            raise TypeError("rank and world go together: give both or none")
        if rank is None:
            state = need("megatron.core.parallel_state", "leat.megatron.Loader without rank and world")
            rank, world = state.get_data_parallel_rank(), state.get_data_parallel_world_size()
        self.dataset = dataset
        self.loader = PlanLoader(dataset.plan, micro_batch_size, rank=rank, world=world, position=consumed_samples,
                                 outputs=("inputs", "labels"), **{"last": "dropped", **options})

    @property
    def consumed_samples(self) -> int:
        """How many samples all ranks have consumed with the batches that were given."""
        return self.loader.cursor

    def __iter__(self) -> Iterator[dict]:
        iter(self.loader)
        return self

    def __next__(self) -> dict:
        batch = next(self.loader)
        made = self.dataset._items.make(batch.inputs, batch.labels)
        if not self.dataset._blends:
            return made
        import torch

        return {"dataset_id": torch.tensor([sample.source for sample in batch.samples], dtype=torch.int16,
                                           device=batch.inputs.device), **made}

    def __len__(self) -> int:
        return len(self.loader)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<leat.megatron.Loader: {self.loader!r} of {self.dataset!r}>"

    def close(self) -> None:
        """Stops the thread and frees its memory."""
        self.loader.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()


class _Items:
    """What GPTDataset.__getitem__ makes of a sample's tokens, for all rows of a batch at once."""

    def __init__(self, config: Any):
        self.end, self.pad = config.tokenizer.eod, _pad_of(config)
        self.resets_positions, self.resets_attention = config.reset_position_ids, config.reset_attention_mask
        self.masks_end, self.with_attention = config.eod_mask_loss, config.create_attention_mask

    def make(self, tokens: Any, labels: Any) -> dict:
        """Of tensors of rows x length, which become the items' own."""
        import torch

        rows, length = tokens.shape
        place = torch.arange(length, device=tokens.device)
        positions = place.expand(rows, -1)
        if self.resets_positions or self.resets_attention:
            # where the document of each place begins: after the last end token before it, or with the row
            begins = torch.zeros_like(tokens)
            begins[:, 1:] = place[1:] * (tokens[:, :-1] == self.end)
            begins = begins.cummax(dim=1).values
        if self.resets_positions:
            positions = place - begins
        loss_mask = torch.ones((rows, length), dtype=torch.float, device=tokens.device)
        # padded rows, and what damage or a dataset's mask leaves out: Megatron's loss looks at the mask alone
        loss_mask.masked_fill_(labels < 0, 0)
        labels.masked_fill_(labels < 0, 0)
        if self.masks_end:
            loss_mask.masked_fill_(tokens == self.end, 0)
        items = {"tokens": tokens, "labels": labels}
        if self.with_attention:
            hidden = (place > place[:, None]).expand(rows, 1, -1, -1)  # what comes later
            if self.resets_attention:
                hidden = hidden | (place < begins[:, None, :, None])
            items["attention_mask"] = hidden.contiguous()
        if self.pad is not None:
            loss_mask.masked_fill_(labels == self.pad, 0)
            tokens.masked_fill_(tokens == self.pad, 0)
            labels.masked_fill_(labels == self.pad, 0)
        return {**items, "loss_mask": loss_mask, "position_ids": positions.contiguous()}


def _pad_of(config: Any) -> int | None:
    """The id that Megatron masks as padding: none if the tokenizer has none, or uses it for something else too."""
    tokenizer = config.tokenizer
    try:
        pad = tokenizer.pad
    except Exception:  # as Megatron does: tokenizers say by all kinds of exceptions that they have none
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
