#!/usr/bin/env python3
"""check_megatron.py [megatron-main]: megatron-core from PyPI (its GPTModel, its forward and backward, its
data-parallel groups), or a checkout of Megatron-LM, with its own pretrain_gpt.py, changed by the line of
docs/trainers/megatron.md. Two ranks train on Megatron's samples, one goes on from the consumed samples; then rows of
whole documents by the page's provider, and a validation to its end. Every batch is compared with the token file.

Instead of a GPU: tensors that are asked for on one stay on the CPU. Instead of Python 3.12, for main:
typing.override."""
import contextlib
import os
import re
import subprocess
import sys
import types

import common
import numpy

LENGTH, ROWS, STEPS = 64, 3, 30


def on_cpu():
    import torch
    torch.cuda.current_device = lambda: torch.device("cpu")
    torch.Tensor.cuda = lambda self, *given, **options: self
    made = torch.tensor
    torch.tensor = lambda *given, device=None, **options: made(*given, **options)


def model_of(config_type, gpt_model, layers):
    config = config_type(num_layers=1, hidden_size=16, num_attention_heads=2, use_cpu_initialization=True)
    return gpt_model(config=config, transformer_layer_spec=layers(), vocab_size=512, max_sequence_length=LENGTH)


def train(out, folder, consumed, steps):
    """One rank: trains, and keeps what the model gets."""
    on_cpu()
    import torch
    torch.distributed.init_process_group("gloo")
    if folder != "-":
        import typing
        import typing_extensions
        typing.override = typing_extensions.override
        sys.path[:0] = [os.getcwd(), folder]
    from megatron.core import parallel_state
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.transformer.transformer_config import TransformerConfig
    from megatron.core.tensor_parallel.random import CudaRNGStatesTracker
    CudaRNGStatesTracker.fork = lambda self, *name: contextlib.nullcontext()
    parallel_state.initialize_model_parallel()
    batches = iterator(folder, int(consumed))
    torch.manual_seed(1)
    model = model_of(TransformerConfig, GPTModel, get_gpt_layer_local_spec)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    kept = []
    for _ in range(int(steps)):
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
    numpy.save(f"{out}-{os.environ['RANK']}.npy", numpy.array(kept))
    torch.distributed.destroy_process_group()


def dataset_config(**more):
    from megatron.core.datasets.gpt_dataset import GPTDatasetConfig
    tokenizer = types.SimpleNamespace(vocab_size=500, eod=0, unique_identifiers={"class": "none"})
    given = dict(random_seed=1234, sequence_length=LENGTH, blend=(["web"], None), split="90,10,0",
                 reset_position_ids=True, reset_attention_mask=False, eod_mask_loss=True, create_attention_mask=False,
                 tokenizer=tokenizer)
    return GPTDatasetConfig(**{**given, **more})


def iterator(folder, consumed):
    """The batches that a forward pass gets."""
    if folder == "-":
        from leat.integrations import megatron
        train, _, _ = megatron.build([ROWS * 2 * STEPS, 6, 0], lambda: True, dataset_config())
        for batch in megatron.loader(train, ROWS, consumed):
            yield batch["tokens"], batch["labels"], batch["loss_mask"], batch["position_ids"]
        return
    sys.argv = ["pretrain_gpt.py", *words(consumed)]
    import pretrain_gpt
    from megatron.training import training
    from megatron.training.arguments import parse_args
    from megatron.training.global_vars import set_args
    args = parse_args()
    vars(args).update(params_dtype=__import__("torch").float32, iteration=consumed // (2 * ROWS), padded_vocab_size=512,
                      consumed_train_samples=consumed, consumed_valid_samples=0, eval_micro_batch_size=ROWS,
                      eval_global_batch_size=2 * ROWS, data_parallel_size=1)
    set_args(args)
    assert pretrain_gpt.BlendedMegatronDatasetBuilder.__module__ == "leat.integrations.megatron"
    pretrain_gpt.train_valid_test_datasets_provider.is_distributed = True
    found, _, _ = training.build_train_valid_test_data_iterators(pretrain_gpt.train_valid_test_datasets_provider)
    while True:
        batch = dict(zip(pretrain_gpt.BATCH_KEYS, pretrain_gpt.get_batch(found)))
        yield batch["tokens"], batch["labels"], batch["loss_mask"], batch["position_ids"]


def words(consumed):
    return (f"--data-path web --split 90,10,0 --seq-length {LENGTH} --max-position-embeddings {LENGTH} --num-layers 1 "
            f"--hidden-size 16 --num-attention-heads 2 --micro-batch-size {ROWS} --global-batch-size {2 * ROWS} "
            f"--train-iters {STEPS} --eval-iters 1 --eval-interval {STEPS} --seed 1234 --reset-position-ids "
            "--eod-mask-loss --no-create-attention-mask-in-dataloader --dataloader-type external "
            "--tokenizer-type NullTokenizer --vocab-size 500 --lr 0.1 --transformer-impl local "
            "--no-rope-fusion").split()


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
    # to the end of a finite set
    whole = leat.Plan("web.bin", LENGTH, order="sequential", epochs=1)
    learned = sum(int(batch["loss_mask"].sum()) for batch in
                  megatron.loader(megatron.Dataset(whole, dataset_config(eod_mask_loss=False)), ROWS, rank=0, world=1,
                                  last="padded", restart=False))
    assert learned == (len(tokens.all) - 1) // LENGTH * LENGTH


def main(name="megatron"):
    folder = "-"
    if name == "megatron-main":
        folder = str(common.checkout("LEAT_MEGATRON", "Megatron-LM"))
    common.need("megatron.core.datasets.gpt_dataset")
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
        if folder != "-":
            line, = re.findall("^sed -i .* pretrain_gpt.py$", (common.ROOT / "docs/trainers/megatron.md").read_text(),
                               re.MULTILINE)
            (here / "pretrain_gpt.py").write_bytes(open(f"{folder}/pretrain_gpt.py", "rb").read())
            subprocess.run(["bash", "-e", "-c", line], check=True)
        # NullTokenizer's end token is its last id
        end = tokens.end if folder == "-" else 499
        common.torchrun(2, __file__, "--train", "two", folder, 0, STEPS // 2)
        compare("two", 2, 0, STEPS // 2, tokens, lines, end)
        half = ROWS * 2 * (STEPS // 2)
        common.torchrun(1, __file__, "--train", "one", folder, half, STEPS)
        compare("one", 1, half, STEPS, tokens, lines, end)
        own_order(page, tokens)
        page.done()


if __name__ == "__main__":
    train(*sys.argv[2:]) if sys.argv[1:2] == ["--train"] else main(*sys.argv[1:])
