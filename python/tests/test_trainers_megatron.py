"""docs/trainers/megatron.md: the page's line changes pretrain_gpt.py of Megatron-LM, and what it makes of it gives
Megatron's own functions the iterators that the unchanged file gives them: the same batches for training, validation and
test on each data-parallel rank, with leat's loaders and with leat's datasets under Megatron's sampler. Skipped where
megatron-core or the files of Megatron-LM cannot be had (public_files.py)."""
import ast
import logging
import random
import re
import subprocess
import sys
import types
from functools import partial

import numpy as np
import pytest
from conftest import ROOT
from public_files import public_files

torch = pytest.importorskip("torch")
pytest.importorskip("megatron.core.datasets.gpt_dataset", exc_type=ImportError)

from megatron.core import parallel_state, rerun_state_machine  # noqa: E402
from megatron.core.datasets import gpt_dataset, utils  # noqa: E402
from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder  # noqa: E402
from megatron.core.datasets.indexed_dataset import IndexedDatasetBuilder  # noqa: E402

logging.getLogger("megatron").setLevel(logging.ERROR)
FILES = {
    "pretrain_gpt.py": "5a5b8fe909610892146e4d2ef5b303bd9b73bb31dfc96d73f2d0afb8937d4b22",
    "megatron/training/training.py": "457cd234a88659aa395a988366e60e61f2c9d16a51df7efc8cc09c1f22fd48b1",
    "megatron/training/datasets/data_samplers.py": "e314c6faa8d09836b4dae777c1e315a88dcd16384cabf276941d0953797a1ce8",
    "megatron/training/utils.py": "3b1b31f6462e09a043a2e812dde9d26bd94de22818ecc2d89ebb5f69640118c8",
}
IMPORT = "from leat.integrations.megatron import BlendedMegatronDatasetBuilder"
COMMIT = "55ac7082517c3878ae653c07c09c534b8aed49f6"  # core_v0.16.1
PROVIDER = ["core_gpt_dataset_config_from_args", "is_dataset_built_on_rank", "train_valid_test_datasets_provider"]
ITERATORS = ["cyclic_iter", "get_train_valid_test_num_samples", "build_train_valid_test_datasets",
             "build_train_valid_test_data_loaders", "build_train_valid_test_data_iterators"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of Megatron-LM; "changed" is pretrain_gpt.py with the page's line."""
    found = {path: text.decode() for path, text in
             public_files("LEAT_TEST_MEGATRON", "NVIDIA/Megatron-LM", COMMIT, FILES).items()}
    folder = tmp_path_factory.mktemp("Megatron-LM")
    (folder / "pretrain_gpt.py").write_text(found["pretrain_gpt.py"])
    line, = re.findall("^sed -i .* pretrain_gpt.py$", (ROOT / "docs/trainers/megatron.md").read_text(), re.MULTILINE)
    subprocess.run(["bash", "-e", "-c", line], cwd=folder, check=True)
    found["changed"] = (folder / "pretrain_gpt.py").read_text()
    assert IMPORT in found["changed"] and IMPORT not in found["pretrain_gpt.py"]
    return found


def functions(text, wanted, names):
    """These functions of a module, which see `names`; what the page's line imports is the module's own."""
    parts = [part for part in ast.parse(text.replace("device='cuda'", "device='cpu'")).body
             if getattr(part, "name", None) in wanted or ast.unparse(part) == IMPORT]
    assert {getattr(part, "name", None) for part in parts} >= set(wanted)
    exec(compile(ast.Module(parts, []), "Megatron-LM", "exec"), names)
    return names


@pytest.fixture()
def one_process(monkeypatch):
    """A process group of one, which takes the place of any data-parallel rank."""
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    monkeypatch.setattr(parallel_state, "get_tensor_model_parallel_rank", lambda: 0)
    for module in ("megatron.training", "megatron.training.dist_signal_handler"):
        monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
    sys.modules["megatron.training.dist_signal_handler"].DistributedSignalHandler = None
    yield monkeypatch
    torch.distributed.destroy_process_group()


def iterators(files, which, args):
    """What pretrain_gpt.py (or "changed") makes Megatron train with."""
    tokenizer = types.SimpleNamespace(vocab_size=1000, eod=0, unique_identifiers={"class": "none"})
    sys.modules["megatron.training"].get_args = lambda: args
    samplers, blends = {"__name__": "data_samplers"}, {"get_blend_from_list": utils.get_blend_from_list}
    exec(files["megatron/training/datasets/data_samplers.py"], samplers)
    functions(files["megatron/training/utils.py"], ["get_blend_and_blend_per_split"], blends)
    names = {**samplers, **blends, **vars(gpt_dataset), "parallel_state": parallel_state,
             "BlendedMegatronDatasetBuilder": BlendedMegatronDatasetBuilder, "print_rank_0": lambda *words: None,
             "build_tokenizer": lambda args: tokenizer, "core_transformer_config_from_args": lambda args: None,
             "is_first_or_last_pipeline_stage": lambda stage: True, "SFTDataset": None, "GPTFIMDataset": None,
             "RerunDataIterator": rerun_state_machine.RerunDataIterator, "get_args": lambda: args, "partial": partial}
    functions(files[which], PROVIDER, names)
    functions(files["megatron/training/training.py"], ITERATORS, names)
    names["train_valid_test_datasets_provider"].is_distributed = True
    return names["build_train_valid_test_data_iterators"](names["train_valid_test_datasets_provider"])


@pytest.fixture(scope="module")
def prefixes(tmp_path_factory):
    r, found = random.Random(5), []
    for name in ("web", "code"):
        found.append(str(tmp_path_factory.mktemp("data") / name))
        builder = IndexedDatasetBuilder(found[-1] + ".bin", dtype=np.uint16)
        for _ in range(90):
            document = [r.randint(1, 999) for _ in range(r.choice([3, 20, 90]))] + [0]
            builder.add_document(document, [len(document)])
        builder.finalize(found[-1] + ".idx")
    return found


def arguments(loader, iteration, **more):
    """The arguments of a run that is at this iteration."""
    given = dict(
        data_path=None, data_args_path=None, train_data_path=None,
        valid_data_path=None, test_data_path=None, per_split_data_args_path=None, per_dataset_sequences_path=None,
        seed=1234, seq_length=32, split="80,10,10", multiple_validation_sets=False, full_validation=False,
        num_dataset_builder_threads=1, data_cache_path=None, mmap_bin_files=True, reset_position_ids=True,
        reset_attention_mask=True, eod_mask_loss=True, create_attention_mask_in_dataloader=True,
        object_storage_cache_path=None, mid_level_dataset_surplus=0.005, allow_ambiguous_pad_tokens=False,
        dataloader_fast_cache_load=False, dataloader_defer_npy_index_mmap=False, context_parallel_size=1,
        data_parallel_size=2, tensor_model_parallel_size=1, sequence_parallel=False, hybrid_context_parallel=False,
        fim_data=False, sft=False, mock_data=False, legacy_tokenizer=False, num_workers=0, exit_signal_handler=False,
        dataloader_type=loader, micro_batch_size=3, global_batch_size=12, train_samples=None, train_iters=20,
        eval_iters=2, eval_interval=5, iteration=iteration, consumed_train_samples=iteration * 12,
        consumed_valid_samples=iteration // 5 * 24, skip_train=False, phase_transition_iterations=None,
        perform_rl_step=False)
    return types.SimpleNamespace(**{**given, **more})


# a number in the place of a path: of the datasets made here
RUNS = {
    "blend": (0, 0, {"data_path": ["0.3", 0, "0.7", 1]}),
    "no masks": (1, 0, {"data_path": ["0.3", 0, "0.7", 1], "create_attention_mask_in_dataloader": False,
                        "reset_position_ids": False, "reset_attention_mask": False, "eod_mask_loss": False}),
    "one": (1, 7, {"data_path": [1]}),
    "paths for each use": (0, 11, {"split": None, "train_data_path": ["3", 0, "1", 1], "valid_data_path": [1],
                                   "test_data_path": [0]}),
}


@pytest.mark.parametrize("loader", ["external", "single"])
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.filterwarnings("ignore:'pin_memory'")
def test_line(files, prefixes, one_process, run, loader):
    rank, iteration, more = RUNS[run]
    for key in more:
        if key.endswith("_path"):
            more = {**more, key: [prefixes[word] if isinstance(word, int) else word for word in more[key]]}
    one_process.setattr(parallel_state, "get_data_parallel_rank", lambda *args, **options: rank)
    one_process.setattr(parallel_state, "get_data_parallel_world_size", lambda *args, **options: 2)
    want = iterators(files, "pretrain_gpt.py", arguments("single", iteration, **more))
    got = iterators(files, "changed", arguments(loader, iteration, **more))
    for use, theirs, mine in zip(("train", "valid", "test"), want, got):
        batches = list(theirs.iterable)
        paths = more.get(f"{use}_data_path") or more["data_path"]
        assert batches and ("dataset_id" in batches[0]) == (len(paths) > 1)
        for batch in batches:
            other = next(mine)
            assert list(batch) == list(other)
            for key in batch:
                assert batch[key].dtype == other[key].dtype and torch.equal(batch[key], other[key]), (use, key)
        assert next(mine.iterable, None) is None, use
