#!/usr/bin/env python3
"""check_megatron.py [ROW]: megatron-core from PyPI (its GPTModel, its forward and backward, its
data-parallel groups), or a checkout of Megatron-LM, with its own pretrain_gpt.py, changed by the line of
docs/trainers/megatron.md. Two ranks train on Megatron's samples, one goes on from the consumed samples; then rows of
whole documents by the page's provider, and a validation to its end. Every batch is compared with the token file.

With the checkout, also: on three pipeline stages, or on two with two virtual stages each, with two tensor or context
ranks, its get_batch() gives what it gives with its own datasets, sampler and DataLoader, for training and evaluation;
on three, the page's provider gives each the same documents under --dataloader-inter-document-masking;
its evaluate() goes to the end of a finite set, twice, on two ranks and on virtual stages; all samples under
--dataloader-inter-document-masking are those of its own GPTDataset.

Instead of a GPU: tensors that are asked for on one stay on the CPU. Instead of Python 3.12, for main:
typing.override. What main has in C++ is that of PyPI's package. torch.compile, which takes longer than all else here,
leaves functions as they are."""
import contextlib
import functools
import importlib.util
import itertools
import os
import re
import subprocess
import sys
import sysconfig
import types

import common
import numpy

LENGTH, ROWS, STEPS = 64, 3, 30
EVALUATED, MICRO = 2, 2  # rows of a batch for evaluation; batches of a step
MASKING = "--dataloader-inter-document-masking", "--no-create-attention-mask-in-dataloader"


def on_cpu():
    import torch
    torch.cuda.current_device = lambda: torch.device("cpu")
    torch.Tensor.cuda = lambda self, *given, **options: self
    torch.cuda.synchronize = lambda *given: None
    for name in ("tensor", "zeros", "ones", "empty", "arange"):
        made = getattr(torch, name)
        setattr(torch, name, lambda *given, device=None, made=made, **options: made(*given, **options))


def model_of(config_type, gpt_model, layers):
    config = config_type(num_layers=1, hidden_size=16, num_attention_heads=2, use_cpu_initialization=True)
    return gpt_model(config=config, transformer_layer_spec=layers(), vocab_size=512, max_sequence_length=LENGTH)


def modules(folder, here):
    """What all ranks use, imported once, before they begin."""
    if folder:
        import typing
        import typing_extensions
        typing.override = typing_extensions.override
        sys.path[:0] = [str(here), str(folder)]
        name = "megatron.core.datasets.helpers_cpp"
        built = os.path.join(sysconfig.get_path("purelib"), *name.split(".")) + sysconfig.get_config_var("EXT_SUFFIX")
        spec = importlib.util.spec_from_file_location(name, built)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        import pretrain_gpt
        assert pretrain_gpt.BlendedMegatronDatasetBuilder.__module__ == "leat.integrations.megatron"
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.tensor_parallel.random import CudaRNGStatesTracker
    CudaRNGStatesTracker.fork = lambda self, *name: contextlib.nullcontext()
    where = sys.modules[GPTModel.__module__].__file__
    assert not folder or where.startswith(str(folder)), where


def train(out, folder, consumed, steps):
    """One rank: trains, and keeps what the model gets."""
    import torch
    from megatron.core import parallel_state
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.transformer.transformer_config import TransformerConfig
    parallel_state.initialize_model_parallel()
    batches = iterator(folder, consumed)
    torch.manual_seed(1)
    model = model_of(TransformerConfig, GPTModel, get_gpt_layer_local_spec)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    kept = []
    for _ in range(steps):
        tokens, labels, mask, positions = next(batches)
        hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)[None, None]
        losses = model(tokens, positions, hidden, labels=labels)
        loss = (losses * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        for parameter in model.parameters():
            if parameter.grad is not None:
                torch.distributed.all_reduce(parameter.grad)
        optimizer.step()
        assert loss.isfinite()
        kept.append(torch.stack([tokens, labels, positions]).numpy())
    numpy.save(f"{out}-{torch.distributed.get_rank()}.npy", numpy.array(kept))


def dataset_config(**more):
    from megatron.core.datasets.gpt_dataset import GPTDatasetConfig
    tokenizer = types.SimpleNamespace(vocab_size=500, eod=0, unique_identifiers={"class": "none"})
    given = dict(random_seed=1234, sequence_length=LENGTH, blend=(["web"], None), split="90,10,0",
                 reset_position_ids=True, reset_attention_mask=False, eod_mask_loss=True, create_attention_mask=False,
                 tokenizer=tokenizer)
    return GPTDatasetConfig(**{**given, **more})


def iterator(folder, consumed):
    """The batches that a forward pass gets."""
    if not folder:
        from leat.integrations import megatron
        train, _, _ = megatron.build([ROWS * 2 * STEPS, 6, 0], lambda: True, dataset_config())
        for batch in megatron.loader(train, ROWS, consumed):
            yield batch["tokens"], batch["labels"], batch["loss_mask"], batch["position_ids"]
        return
    import pretrain_gpt
    given = arguments(consumed, *"--data-path web --no-create-attention-mask-in-dataloader".split())
    found, _, _ = iterators(given)
    while True:
        batch = dict(zip(pretrain_gpt.BATCH_KEYS, pretrain_gpt.get_batch(found)))
        yield batch["tokens"], batch["labels"], batch["loss_mask"], batch["position_ids"]


def arguments(consumed, *more):
    """Those of a program of Megatron-LM that has consumed so many samples, and is to evaluate for the second time."""
    import torch
    from megatron.training.arguments import parse_args
    sys.argv = ["pretrain_gpt.py", *words(), *more]
    args = parse_args()
    vars(args).update(params_dtype=torch.float32, iteration=consumed // (2 * ROWS), padded_vocab_size=512,
                      consumed_train_samples=consumed, consumed_valid_samples=2 * EVALUATED, data_parallel_size=1,
                      eval_micro_batch_size=EVALUATED, eval_global_batch_size=2 * EVALUATED)
    return args


def iterators(args, builder=None, chunk=None):
    """What a program of Megatron-LM makes of its arguments for training, validation and test; `builder` takes the place
    of leat's. `chunk`: the number of a virtual pipeline stage."""
    import pretrain_gpt
    from leat.integrations import megatron
    from megatron.training import training
    from megatron.training.global_vars import set_args
    set_args(args)
    pretrain_gpt.BlendedMegatronDatasetBuilder = builder or megatron.BlendedMegatronDatasetBuilder
    provider = functools.partial(pretrain_gpt.train_valid_test_datasets_provider, vp_stage=chunk)
    provider.is_distributed = True
    return training.build_train_valid_test_data_iterators(provider)


def words():
    return (f"--split 90,10,0 --seq-length {LENGTH} --max-position-embeddings {LENGTH} --num-layers 3 "
            f"--hidden-size 16 --num-attention-heads 2 --micro-batch-size {ROWS} --global-batch-size {2 * ROWS} "
            f"--train-iters {STEPS} --eval-iters 1 --eval-interval {STEPS} --seed 1234 --reset-position-ids "
            "--eod-mask-loss --dataloader-type external --tokenizer-type NullTokenizer --vocab-size 500 --lr 0.1 "
            "--transformer-impl local --no-rope-fusion --num-workers 0").split()


def stages(tensor, context, virtual, *more):
    """One rank of three pipeline stages, or of two with virtual ones: main's get_batch() with leat's batches, and with
    those of its own datasets."""
    import torch
    from megatron.core import parallel_state
    pipeline = 2 if virtual else 3
    parallel_state.initialize_model_parallel(tensor, pipeline, virtual, context_parallel_size=context)
    args = arguments(2 * ROWS, "--data-path", "0.3", "web", "0.7", "code", "--tensor-model-parallel-size", str(tensor),
                     "--context-parallel-size", str(context), "--pipeline-model-parallel-size", str(pipeline), *more)
    for chunk in range(virtual) if virtual else [None]:
        stage(args, chunk, pipeline * tensor * context)
    torch.distributed.barrier()


def stage(args, chunk, world):
    import pretrain_gpt
    import torch
    from megatron.core import parallel_state
    from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
    from megatron.training.utils import is_first_or_last_pipeline_stage
    args.dataloader_type = "external"
    mine = iterators(args, chunk=chunk)
    args.dataloader_type = "single"
    # without the number of a row's source, of one dimension, on which main's own get_batch() fails on context ranks
    theirs = [found and ({key: value for key, value in batch.items() if key != "dataset_id"}
                         for batch in found.iterable)
              for found in iterators(args, BlendedMegatronDatasetBuilder, chunk)]
    masking = args.dataloader_inter_document_masking
    first = parallel_state.is_pipeline_first_stage(chunk is None, chunk)
    tensor = args.tensor_model_parallel_size
    # on tensor ranks, main takes batches for evaluation to have the rows of those for training
    for use in (0, 1)[:1 if tensor > 1 else 2]:
        for _ in range(2):
            found = dict(zip(pretrain_gpt.BATCH_KEYS, pretrain_gpt.get_batch(mine[use], chunk)))
            there = {key for key, value in found.items() if value is not None}
            assert there >= {"cu_seqlens", "max_seqlen"} if masking else "cu_seqlens" not in there, there
            every = [None] * world
            torch.distributed.all_gather_object(every, (found["cu_seqlens"], found["max_seqlen"]))
            if not is_first_or_last_pipeline_stage(chunk):
                # main gives stages in the middle no dataset, not even where it wants cu_seqlens from them
                assert (mine[use] is None) == (not masking or tensor > 1), mine
                assert theirs[use] is None and there == ({"cu_seqlens", "max_seqlen"} if masking else set()), there
            else:
                same(found, dict(zip(pretrain_gpt.BATCH_KEYS, pretrain_gpt.get_batch(theirs[use], chunk))),
                     (use, chunk, first))
                rows = ROWS if use == 0 else EVALUATED
                place = found["tokens" if first else "labels"]
                assert place.numel() == rows * LENGTH // args.context_parallel_size, place.shape
            if masking:
                assert all(torch.equal(a, b) for one in every for a, b in zip(one, every[0])), every


def own_stages(provider):
    """One rank of three pipeline stages under --dataloader-inter-document-masking: the page's provider lets main's
    get_batch() have each stage's share of the same rows of whole documents, the middle's too."""
    import leat
    import pretrain_gpt
    import torch
    from megatron.core import parallel_state
    from megatron.training import training
    from megatron.training.global_vars import set_args
    parallel_state.initialize_model_parallel(1, 3)
    args = arguments(0, "--data-path", "web", "--pipeline-model-parallel-size", "3", *MASKING)
    args.consumed_valid_samples = 0
    set_args(args)
    provider.is_distributed = True
    found = training.build_train_valid_test_data_iterators(provider)
    options = dict(seq_len=LENGTH, seed=args.seed, order="fit", split="train=0.9,valid=0.1")
    for iterator, use, rows in zip(found, ("train", "valid"), (ROWS, EVALUATED)):
        plan = leat.Plan({"web": 0.7, "code": 0.3}, use=use, **options)
        for first in range(0, 3 * rows, rows):
            batch = dict(zip(pretrain_gpt.BATCH_KEYS, pretrain_gpt.get_batch(iterator)))
            there = {key for key, value in batch.items() if value is not None}
            assert there == {"cu_seqlens", "max_seqlen", *[(), ("labels", "loss_mask"), ("tokens", "position_ids")][
                parallel_state.is_pipeline_last_stage() + 2 * parallel_state.is_pipeline_first_stage()]}, there
            begins = {row * LENGTH + piece.at for row in range(rows) for piece in plan.pieces(first + row)}
            borders = set(batch["cu_seqlens"].flatten().tolist())
            assert begins <= borders and rows * LENGTH in borders, (use, first, begins, borders)
            every = [None] * 3
            torch.distributed.all_gather_object(every, (batch["cu_seqlens"], batch["max_seqlen"]))
            assert all(torch.equal(a, b) for one in every for a, b in zip(one, every[0])), every
    torch.distributed.barrier()


def evaluate(tokens, virtual):
    """One rank of two that share the data, or of four, with two pipeline stages of two virtual ones each: main's
    evaluate() goes through a set with an end twice. Its loss is that of each prediction, once."""
    import leat
    import pretrain_gpt
    import torch
    from leat.integrations import megatron
    from megatron.core import parallel_state
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.transformer.transformer_config import TransformerConfig
    from megatron.training import global_vars, training
    pipeline = 2 if virtual else 1
    parallel_state.initialize_model_parallel(1, pipeline, virtual)
    args = arguments(0, "--no-create-attention-mask-in-dataloader", "--pipeline-model-parallel-size", str(pipeline))
    plan = leat.Plan("web.bin", LENGTH, order="sequential", epochs=1)
    args.eval_global_batch_size, args.data_parallel_size, args.gtp_weight_remat_size = 2 * MICRO * EVALUATED, 2, 1
    global_vars.set_args(args)
    global_vars._set_timers(args)
    torch.manual_seed(1)
    kept, iterators, models = {}, [], []
    for chunk in range(virtual) if virtual else [None]:
        first, last = (function(chunk is None, chunk) for function in (parallel_state.is_pipeline_first_stage,
                                                                       parallel_state.is_pipeline_last_stage))
        config = TransformerConfig(num_layers=4, hidden_size=16, num_attention_heads=2, use_cpu_initialization=True,
                                   pipeline_model_parallel_size=pipeline, pipeline_dtype=torch.float32,
                                   virtual_pipeline_model_parallel_size=virtual)
        models.append(GPTModel(config, get_gpt_layer_local_spec(), 512, LENGTH, first, last, vp_stage=chunk))
        given = dataset_config(eod_mask_loss=False, reset_position_ids=False)
        dataset = megatron.Dataset(plan, given, "valid") if first or last else None
        iterators.append(megatron.loader(dataset, EVALUATED, cycle=MICRO))
    steps = -(-len(plan) // args.eval_global_batch_size)
    assert all(len(loader) == steps * MICRO for loader in iterators if loader), (iterators, steps)

    def get_batch(iterator, chunk, get_batch=pretrain_gpt.get_batch):
        found = get_batch(iterator, chunk)
        kept.setdefault(chunk, []).append(dict(zip(pretrain_gpt.BATCH_KEYS, found)))
        return found

    pretrain_gpt.get_batch = get_batch
    rank, losses = parallel_state.get_data_parallel_rank(), []
    for _ in range(2):
        kept.clear()
        found, _, _ = training.evaluate(pretrain_gpt.forward_step, iterators if virtual else iterators[0], models, None,
                                        config, eval_iters=steps)
        losses += [float(value) for value in found.values()]
        for chunk, batches in kept.items():
            assert len(batches) == steps * MICRO, (chunk, len(batches))
            first, last = (function(chunk is None, chunk) for function in (parallel_state.is_pipeline_first_stage,
                                                                           parallel_state.is_pipeline_last_stage))
            for row in range(len(batches) * EVALUATED):
                batch, place = divmod(row, EVALUATED)
                n, batch = batch * 2 * EVALUATED + rank * EVALUATED + place, batches[batch]
                if last:
                    assert (batch["loss_mask"][place] == (n < len(plan))).all(), (chunk, n)
                if n < len(plan):
                    for key, wanted, here in zip(("tokens", "labels"), tokens.row(n * LENGTH, LENGTH), (first, last)):
                        assert not here or common.equal(batch[key][place], wanted, (chunk, key, n)) is None
    if virtual:
        return
    total = 0
    with torch.no_grad():
        for n in range(len(plan)):
            inputs, labels = (torch.tensor(values)[None] for values in tokens.row(n * LENGTH, LENGTH))
            hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)[None, None]
            total += float(models[0](inputs, torch.arange(LENGTH)[None], hidden, labels=labels).sum())
    assert len(losses) == 2 and all(abs(loss - total / len(plan) / LENGTH) < 1e-4 for loss in losses), (losses, total)


def same(found, expected, where):
    import torch
    assert list(found) == list(expected), (where, list(found), list(expected))
    for key, value in expected.items():
        if not torch.is_tensor(value):
            assert found[key] == value, (where, key)
            continue
        assert found[key].dtype == value.dtype, (where, key)
        common.equal(found[key], value, (where, key))


def inter_document():
    """All samples of main's own GPTDataset under --dataloader-inter-document-masking, and batches of them."""
    import torch
    from leat.integrations import megatron
    from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
    from megatron.core.datasets.gpt_dataset import GPTDataset
    for blend in ((["web"], None), (["web", "code"], [0.3, 0.7])):
        for settings in (False, True):
            config = dataset_config(blend=blend, inter_document_masking=True, reset_position_ids=settings,
                                    eod_mask_loss=settings)
            sizes = [ROWS * 2 * STEPS, 6, 0]
            for theirs, mine in zip(BlendedMegatronDatasetBuilder(GPTDataset, sizes, lambda: True, config).build()[:2],
                                    megatron.build(sizes, lambda: True, config)):
                assert len(theirs) == len(mine) > 0
                loader = megatron.loader(mine, 1, rank=0, world=1)
                for n in range(len(theirs)):
                    expected = theirs[n]
                    assert "cu_seqlens" in expected
                    same(mine[n], expected, (blend, n))
                    same(next(loader), torch.utils.data.default_collate([expected]), (blend, n))
                assert next(loader, None) is None


def wanted(tokens, line, end):
    """Inputs, labels and positions of a sample, by numpy."""
    row = numpy.concatenate([tokens.all[p["token"]:p["token"] + p["count"]] for p in line["pieces"]])
    inputs, at, positions = row[:-1], 0, []
    for token in inputs:
        positions.append(at)
        at = 0 if token == end else at + 1
    return numpy.stack([inputs, row[1:], positions])


def compare(out, ranks, consumed, steps, tokens, lines, end):
    for rank in range(ranks):
        found = numpy.load(f"{out}-{rank}.npy")
        assert len(found) == steps
        for step, batch in enumerate(found):
            for row in range(ROWS):
                n = consumed + step * ROWS * ranks + rank * ROWS + row
                common.equal(batch[:, row], wanted(tokens, lines[n], end), f"{out}, rank {rank}, sample {n}")


def own_order(page, tokens):
    """The page's provider, and a validation to its end: each document's tokens are learned once."""
    import leat
    from leat.integrations import megatron
    from megatron.core import parallel_state
    parallel_state.get_data_parallel_rank, parallel_state.get_data_parallel_world_size = lambda: 0, lambda: 1
    args = types.SimpleNamespace(seq_length=LENGTH, seed=1, micro_batch_size=ROWS, dataloader_type="external",
                                 consumed_train_samples=6, consumed_valid_samples=0)
    module = types.ModuleType("megatron.training")
    module.get_args = lambda: args
    sys.modules["megatron.training"] = module
    config = dataset_config()
    config.inter_document_masking = True
    page.names.update(get_args=module.get_args, is_dataset_built_on_rank=lambda stage: True,
                      core_gpt_dataset_config_from_args=lambda args: config)
    train, valid, test = page.python()["train_valid_test_datasets_provider"]([0, 0, 0])
    assert test is None and train.consumed_samples == 6
    batch = next(train)
    assert list(batch) == ["dataset_id", "tokens", "labels", "loss_mask", "position_ids", "cu_seqlens", "max_seqlen"]
    assert batch["cu_seqlens"].shape == (ROWS, LENGTH + 1) and (batch["cu_seqlens"][:, -1] == LENGTH).all()
    plan = train.dataset.plan
    for row in range(ROWS):
        at = [piece.at for piece in plan.pieces(6 + row)]
        filled = max(piece.at + piece.count - 1 for piece in plan.pieces(6 + row))
        borders = set(batch["cu_seqlens"][row].tolist())  # padding after the last document may be one more sequence
        assert {*at, LENGTH} <= borders <= {*at, filled, LENGTH}, (borders, at, filled)
        for piece in plan.pieces(6 + row):
            shown = batch["tokens"][row, piece.at:piece.at + piece.count - 1].tolist()
            common.equal(shown, tokens.all[piece.token:piece.token + piece.count - 1], "a document in a row")
            assert int(batch["position_ids"][row, piece.at]) == 0
    masks_and_positions(tokens)
    # to the end of a finite set
    whole = leat.Plan("web.bin", LENGTH, order="sequential", epochs=1)
    learned = sum(int(batch["loss_mask"].sum()) for batch in
                  megatron.loader(megatron.Dataset(whole, dataset_config(eod_mask_loss=False)), ROWS, rank=0, world=1,
                                  last="padded", restart=False))
    assert learned == (len(tokens.all) - 1) // LENGTH * LENGTH


def masks_and_positions(tokens):
    """leat's own order, and what Megatron's function makes of a row's tokens. Rows of whole documents have end tokens
    as labels only, so that the function gets one in the place of each document's last input."""
    import leat
    import torch
    from leat.integrations import megatron
    from megatron.core.datasets.gpt_dataset import _get_ltor_masks_and_position_ids
    names = ("reset_position_ids", "reset_attention_mask", "eod_mask_loss")
    for masking, order in itertools.product((False, True), ("shuffled", "fit")):  # documents in pieces
        config = dataset_config(create_attention_mask=True)
        config.inter_document_masking = masking
        plan = leat.Plan("part", LENGTH, 1, order=order, epochs=4, fim=leat.FIM(1, 0.5, 2, 3, 4))
        dataset = megatron.Dataset(plan, config)
        batch = next(megatron.loader(dataset, STEPS, rank=0, world=1))
        for row in range(STEPS):
            if order == "fit":
                places = {}  # of each document, the first piece's
                for piece in plan.pieces(row):
                    places.setdefault(piece.document, piece.at)
                filled = batch["position_ids"][row, :piece.at + piece.count - 1]
                common.equal((filled == 0).nonzero()[:, 0], sorted(places.values()), ("documents of row", row))
            same(dataset[row], {key: value[row] for key, value in batch.items()}, (masking, order, "fim", row))
    for order, settings in itertools.product(("shuffled", "fit"), itertools.product((False, True), repeat=3)):
        config = dataset_config(create_attention_mask=True, **dict(zip(names, settings)))
        dataset = megatron.Dataset(leat.Plan("part", LENGTH, 1, order=order, epochs=4), config)
        batch = next(megatron.loader(dataset, STEPS, rank=0, world=1))
        several = 0
        for row in range(STEPS):
            ended, predicted = batch["tokens"][row].clone(), torch.ones(LENGTH)
            if order == "fit":
                last = [piece.at + piece.count - 2 for piece in dataset.plan.pieces(row)]
                ended[last] = tokens.end
                predicted[last[-1] + 1:] = 0  # padding
            several += int((ended[:-1] == tokens.end).sum())
            attention, mask, positions = _get_ltor_masks_and_position_ids(
                ended, tokens.end, *settings[:2], settings[2] and order != "fit", True)
            expected = dict(attention_mask=attention, loss_mask=mask * predicted, position_ids=positions)
            for key, value in expected.items():
                common.equal(batch[key][row], value, (order, settings, key, row))
            same(dataset[row], {key: value[row] for key, value in batch.items()}, (order, settings, row))
        assert several > 5  # else the settings would make no difference


def main(name="megatron"):
    folder = common.checkout("LEAT_MEGATRON", "Megatron-LM") if name == "megatron-main" else None
    importlib.util.find_spec("megatron") or common.not_run("megatron-core is not installed")
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    with common.own_folder() as here:
        common.vocabulary()
        common.corpus("data/a.jsonl")
        subprocess.run(["zstd", "-q", "data/a.jsonl"], check=True)
        page = common.page("megatron", here)
        page.shell()
        common.leat_command("export", "--to", "megatron", "-o", "code", "part")
        tokens = common.Tokens("part")
        common.equal(numpy.fromfile("web.bin", "<u2"), tokens.all, "web.bin")
        lines = common.order("--order", "megatron", "--source", "web", "--seq-len", LENGTH, "--split", "90,10,0",
                             "--use", "train", "--samples", ROWS * 2 * STEPS, count=ROWS * 2 * STEPS)
        if folder:
            line, = re.findall("^sed -i .* pretrain_gpt.py$", (common.ROOT / "docs/trainers/megatron.md").read_text(),
                               re.MULTILINE)
            (here / "pretrain_gpt.py").write_bytes((folder / "pretrain_gpt.py").read_bytes())
            subprocess.run(["bash", "-e", "-c", line], check=True)
        on_cpu()
        modules(folder, here)
        # NullTokenizer's end token is its last id
        end = 499 if folder else tokens.end
        common.ranks(2, train, "two", folder, 0, STEPS // 2)
        compare("two", 2, 0, STEPS // 2, tokens, lines, end)
        half = ROWS * 2 * (STEPS // 2)
        common.ranks(1, train, "one", folder, half, STEPS)
        compare("one", 1, half, STEPS, tokens, lines, end)
        if folder:
            common.ranks(6, stages, 2, 1, None)
            common.ranks(6, stages, 1, 2, None, "--no-create-attention-mask-in-dataloader")
            common.ranks(6, stages, 1, 2, None, *MASKING)
            common.ranks(4, stages, 2, 1, 2)
            common.ranks(4, stages, 1, 2, 2, *MASKING)
            provider = common.page("megatron", here, **vars(sys.modules["pretrain_gpt"]))
            provider.take()
            common.ranks(3, own_stages, provider.python()["train_valid_test_datasets_provider"])
            common.ranks(2, evaluate, tokens, None)
            common.ranks(4, evaluate, tokens, 2)
        if name != "megatron":
            inter_document()
        own_order(page, tokens)
        page.done()


if __name__ == "__main__":
    main(*sys.argv[1:])
