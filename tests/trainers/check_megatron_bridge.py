#!/usr/bin/env python3
"""check_megatron_bridge.py: the configuration of docs/trainers/megatron-bridge.md, as a subclass of the
DatasetProvider of a checkout: two ranks' batches beside the token file, and a state that goes on with one rank. The
checkout's own functions make iterators of it, and save and load their places, with two ranks and then three. Its own
dataset reads rows that leat.export() wrote, and its collator gives the plan's tokens, labels and mask. Its training
needs a GPU and Transformer Engine: what was compared is said, and the rest is not run."""
import __future__

import ast
import functools
import importlib.util
import os
import pathlib
import shutil
import sys
import types

import common
from check_transformers import TEMPLATE, conversations

LENGTH, ROWS = 64, 2


def module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def functions(path, names, *wanted):
    """These functions of a file whose imports need a GPU; they see `names`."""
    parts = [part for part in ast.parse(path.read_text()).body if getattr(part, "name", None) in wanted]
    assert len(parts) == len(wanted), f"{path} has not all of {wanted}"
    exec(compile(ast.Module(parts, []), str(path), "exec", __future__.annotations.compiler_flag), names)


def own_iterators(root, base, config, place, first, compare):
    """A rank of Megatron-Bridge: its iterators begin at the sample `first`, where `place` has been saved, if any; after
    15 batches it saves their place."""
    import torch
    from check_megatron import on_cpu
    from megatron.core.rerun_state_machine import RerunDataIterator
    from megatron.core.utils import get_pg_rank
    on_cpu()
    kind, silent = type("Other", (), {}), lambda *words: None
    names = dict(vars(base), torch=torch, os=os, shutil=shutil, RerunDataIterator=RerunDataIterator, _REGISTRY={},
                 get_pg_rank=get_pg_rank, print_rank_0=silent, GPTSFTDatasetConfig=kind, GPTDatasetConfig=kind,
                 MultiStorageClientFeature=types.SimpleNamespace(is_enabled=lambda: False), join_paths=os.path.join,
                 energon_torch_load=module("safe_pickle", root / "utils/safe_pickle.py").energon_torch_load)
    for other, what in (("data.megatron_mimo.base_provider", "MegatronMIMODatasetProvider"),
                        ("models.megatron_mimo.megatron_mimo_provider", "MegatronMIMOProvider")):
        for end in range(len(parts := other.split(".")) + 1):
            sys.modules.setdefault(".".join(["megatron.bridge", *parts[:end]]), types.ModuleType(other)).__path__ = []
        setattr(sys.modules[f"megatron.bridge.{other}"], what, kind)
    functions(root / "data/utils.py", names, "get_dataset_provider")
    functions(root / "data/samplers.py", names, "build_pretraining_data_loader")
    functions(root / "data/loaders.py", names, "get_train_valid_test_num_samples", "build_train_valid_test_datasets",
              "build_train_valid_test_data_loaders", "build_train_valid_test_data_iterators")
    functions(root / "training/utils/checkpoint_utils.py", names, "get_checkpoint_name", "ensure_directory_exists")
    functions(root / "training/checkpointing.py", names, "maybe_save_dataloader_state", "maybe_load_dataloader_state")
    group, rank, world = torch.distributed.group.WORLD, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    groups = types.SimpleNamespace(dp=group, pp=None, tp=None, cp=None)
    settings = types.SimpleNamespace(
        model=None, dataset=config, train=types.SimpleNamespace(
            num_epochs=None, train_samples=None, train_iters=30, global_batch_size=world * ROWS, micro_batch_size=ROWS,
            exit_signal=None, exit_signal_handler_for_dataloader=False),
        validation=types.SimpleNamespace(eval_iters=1, eval_interval=10, skip_train=False, eval_global_batch_size=None,
                                         eval_micro_batch_size=None))
    state = types.SimpleNamespace(consumed_train_samples=first, consumed_valid_samples=0)
    provider = functools.partial(names["get_dataset_provider"](config), tokenizer=types.SimpleNamespace(eod=0),
                                 pg_collection=groups)
    train, valid, test = names["build_train_valid_test_data_iterators"](settings, state, provider, group)
    assert test is None and state.do_train and state.do_valid
    names["maybe_load_dataloader_state"](train, 15, place, pg_collection=groups)
    for step in range(15):
        compare(next(train), train.iterable, first + (step * world + rank) * ROWS)
    compare(next(valid), valid.iterable, rank * ROWS)
    names["maybe_save_dataloader_state"](None, train, 15, place, pg_collection=groups)


def packed_rows(root, name, length):
    """Rows of texts and of the page's conversations, read and collated by the checkout's own code. Of the base of its
    dataset, whose imports need much else, it has only the two methods that the collator calls."""
    import leat
    import numpy
    wanted = "_collate_item", "_ceil_to_nearest"
    base = next(part for part in ast.parse((root / "data/datasets/gpt_sft.py").read_text()).body
                if getattr(part, "name", None) == "GPTSFTDataset")
    base.body, base.bases = [part for part in base.body if getattr(part, "name", None) in wanted], []
    assert len(base.body) == len(wanted)
    for part in ("data.datasets", "data.datasets.gpt_sft", "data.packing", "utils"):
        sys.modules["megatron.bridge." + part] = types.ModuleType("megatron.bridge." + part)
        sys.modules["megatron.bridge." + part].__path__ = []
    made = vars(sys.modules["megatron.bridge.data.datasets.gpt_sft"])
    exec(compile(ast.Module([base], []), "gpt_sft.py", "exec", __future__.annotations.compiler_flag),
         made | {"math": __import__("math"), "np": numpy, "torch": __import__("torch")}, made)
    module("megatron.bridge.utils.safe_pickle", root / "utils/safe_pickle.py")
    for part in ("paths", "gpt_sft", "parquet"):
        last = module("megatron.bridge.data.packing." + part, root / f"data/packing/{part}.py")
    plan = leat.Plan([(name, 1), ("chats", 1, leat.fit(whole=True))], length, order="fit", seed=3, epochs=1)
    leat.export(plan, "rows.idx.parquet", "packed-parquet", count=100)
    data = last.GPTSFTPackedParquetDataset.__new__(last.GPTSFTPackedParquetDataset)
    for attribute, value in dict(
            _file_path_spec="rows.idx.parquet", _parquet_files={}, _cached_file_idx=None, _cached_row_group_id=None,
            max_num_samples=None, pad_to_max_length=False, max_seq_length=length, pad_seq_length_to_mult=16,
            answer_only_loss=True, pad_cu_seqlens=False, return_cu_seqlen=False, _pad_seq_to_mult=1,
            ceil_to_power_2=False, tokenizer=types.SimpleNamespace(eos_id=0),
            _create_attention_mask=lambda length: __import__("torch").zeros(length)).items():
        setattr(data, attribute, value)
    data._load_dataset()
    data._build_samples_mapping()
    assert len(data) == 100
    for n in range(len(data)):
        batch, datasets = data.collate_fn([data[n]]), [source.dataset for source in plan.sources]
        for piece in plan.pieces(n):
            ids = datasets[piece.source].read(piece.token, piece.count)
            stop = piece.at + piece.count - 1
            common.equal(batch["tokens"][0, piece.at:stop], ids[:-1], f"packed sample {n}")
            common.equal(batch["labels"][0, piece.at:stop], ids[1:], f"labels of packed sample {n}")
            common.equal(batch["position_ids"][0, piece.at:stop], range(piece.count - 1), "positions")
            mask = numpy.asarray(datasets[1].mask(piece.token, piece.count)) > 0 if piece.source else [1] * piece.count
            common.equal(batch["loss_mask"][0, piece.at:stop], mask[1:], f"mask of packed sample {n}")


def conversation_rows(page, context):
    """The rows of the page's conversations, drawn from the plan: a loss where an answer's token is predicted alone."""
    import leat
    import numpy
    page.shell()
    train, _, _ = page.python()["chats"].build(context(0, 1))
    chats, learned = numpy.fromfile("chats.tokens", "<u2").astype(numpy.int64), leat.open("chats").mask() > 0
    most = 0
    for n in range(0, 20, ROWS):
        batch = next(train)
        for row in range(ROWS):
            pieces, losses = train.dataset.plan.pieces(n + row), numpy.zeros(batch["tokens"].shape[1])
            most = max(most, len(pieces))
            for piece in pieces:
                at = slice(piece.at, piece.at + piece.count - 1)
                after = slice(piece.token + 1, piece.token + piece.count)
                losses[at] = learned[after]
                common.equal(batch["tokens"][row, at], chats[piece.token:after.stop - 1], f"chats of sample {n + row}")
                common.equal(batch["labels"][row, at], numpy.where(learned[after], chats[after], 0), "their labels")
                common.equal(batch["position_ids"][row, at], range(piece.count - 1), "their positions")
            common.equal(batch["loss_mask"][row], losses, f"loss_mask of the chats of sample {n + row}")
    assert most > 1, "no row has several conversations"


def main(name=""):
    root = common.checkout("LEAT_MEGATRON_BRIDGE", "Megatron-Bridge") / "src/megatron/bridge"
    common.need("megatron.core")
    for name in ("", ".data", ".training", ".training.tokenizers", ".training.tokenizers.tokenizer"):
        empty = sys.modules["megatron.bridge" + name] = types.ModuleType("megatron.bridge" + name)
        empty.__path__ = []
    empty.MegatronTokenizer = object  # the name of a type
    base = module("megatron.bridge.data.base", root / "data/base.py")

    def context(rank, world):
        group = types.SimpleNamespace(rank=lambda: rank, size=lambda: world)
        return base.DatasetBuildContext(100, 100, 0, types.SimpleNamespace(eod=0), types.SimpleNamespace(dp=group))

    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for --chat
    with common.own_folder() as here:
        common.vocabulary()
        texts = common.corpus("data/a.jsonl")
        conversations("chats.jsonl", [text[:160] for text in texts])
        pathlib.Path("chat_template.jinja").write_text(TEMPLATE)
        page = common.page("megatron-bridge", here)
        page.shell()
        config = page.python()["dataset"]
        conversation_rows(page, context)
        page.done()
        assert isinstance(config, base.DatasetProvider) and config.dataloader_type == "external"
        config.finalize()
        config.reset_position_ids = True
        tokens = common.Tokens("tokens")

        def compare(batch, loader, n):
            for row in range(ROWS):
                for piece in loader.dataset.plan.pieces(n + row):
                    stop = piece.at + piece.count - 1
                    common.equal(batch["tokens"][row, piece.at:stop],
                                 tokens.all[piece.token:piece.token + piece.count - 1], f"sample {n + row}")
                    common.equal(batch["position_ids"][row, piece.at:stop], range(piece.count - 1), "positions")
                    common.equal(batch["labels"][row, piece.at:stop],
                                 tokens.all[piece.token + 1:piece.token + piece.count], f"labels of sample {n + row}")

        common.ranks(2, own_iterators, root, base, config, "places", 0, compare)
        shutil.copy("places/iter_0000015/train_dataloader_dprank000.pt",
                    "places/iter_0000015/train_dataloader_dprank002.pt")  # as the page says
        common.ranks(3, own_iterators, root, base, config, "places", 15 * 2 * ROWS, compare)
        for rank in range(2):
            train, valid, test = config.build_datasets(context(rank, 2))
            assert test is None and valid.dataset.plan.text != train.dataset.plan.text
            for step in range(15):
                compare(next(train), train, (step * 2 + rank) * ROWS)
            compare(next(valid), valid, rank * ROWS)
        one, _, _ = config.build(context(0, 1))
        one.restore_state(train.save_state())
        for step in range(15):
            compare(next(one), one, 15 * 2 * ROWS + step * ROWS)
        packed_rows(root, "tokens", 256)
    common.not_run("the batches of its configuration are right, but its training needs a GPU and Transformer Engine")


main(*sys.argv[1:])
