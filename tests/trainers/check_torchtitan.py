#!/usr/bin/env python3
"""check_torchtitan.py [torchtitan-main]: torchtitan's own train.py, from PyPI or a checkout of main, with the lines of
docs/trainers/torchtitan.md. Two ranks train on a finite dataset and evaluate one to its end; one rank goes on, with
accumulation, to the end. Every batch that a forward pass gets is compared with the token file.

Instead of a GPU: attention by torch's plain function under flex attention's own mask, sums of gradients that gloo has,
and a device without memory; two layers of the model's six, to save time."""
import os
import pathlib
import sys
import types

import common
import numpy

LENGTH, ROWS, RANKS, STEPS = 128, 4, 2, 12


def train(out, *words):
    """torchtitan's train.py on a CPU, which keeps what its forward passes get."""
    import torch
    import torch._utils
    torch._utils._get_available_device_type = lambda: "cpu"
    for name, value in (("get_device_name", "CPU"), ("get_device_properties", types.SimpleNamespace(total_memory=1)),
                        ("memory_stats", {}), ("current_device", 0), ("reset_peak_memory_stats", None),
                        ("empty_cache", None)):
        setattr(torch.cpu, name, lambda *given, value=value: value)
    from torch.distributed.fsdp import FSDPModule
    from torch.nn.attention.flex_attention import create_mask
    from torchtitan.components.validate import Validator
    from torchtitan.models import llama3
    from torchtitan.models.common.attention import FlexAttention
    from torchtitan.train import main
    from torchtitan.trainer import Trainer

    def attend(q, k, v, *, block_mask, scale, enable_gqa, **unused):
        mask = create_mask(block_mask.mask_mod, q.shape[0], None, q.shape[2], k.shape[2], device="cpu")
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, scale=scale, enable_gqa=enable_gqa), None

    FlexAttention.compiled_flex_attn = staticmethod(attend)
    divide = FSDPModule.set_gradient_divide_factor
    FSDPModule.set_gradient_divide_factor = lambda self, factor: (
        divide(self, factor), self.set_force_sum_reduction_for_comms(True))
    for kind, what in (("train", Trainer), ("valid", Validator)):
        def keep(self, inputs, labels, *more, kind=kind, process=what.post_dataloading_process):
            kept[kind].append([inputs["input"].clone(), inputs["positions"].clone(), labels.clone()])
            return process(self, inputs, labels, *more)

        what.post_dataloading_process = keep
    kept = {"train": [], "valid": []}
    layers = llama3._build_llama3_layers
    llama3._build_llama3_layers = lambda **options: layers(**{**options, "n_layers": 2})
    sys.argv = ["train.py", *words]
    main()
    numpy.savez(f"{out}-{os.environ['RANK']}.npz", **{kind: numpy.array([[t.reshape(-1, LENGTH).numpy() for t in batch]
                                                                         for batch in kept[kind]]) for kind in kept})


def batches(name, rank, kind):
    """What a rank got: batches x (inputs, positions, labels) x rows x tokens."""
    with numpy.load(f"{name}-{rank}.npz") as file:
        return file[kind]


def check_rows(tokens, samples, got, what):
    """Rows of one batch are these samples; those after the dataset's end have no labels."""
    for row in range(ROWS):
        inputs, positions, labels = got[:, row]
        if row >= len(samples):
            assert (labels == -100).all(), f"{what}: padding has labels"
            continue
        at = samples[row]["window"] * LENGTH
        wanted, after = tokens.row(at, LENGTH)
        common.equal(inputs, wanted, f"{what}, inputs")
        common.equal(positions, tokens.position_ids(at, LENGTH), f"{what}, positions")
        first = numpy.isin(numpy.arange(at + 1, at + 1 + LENGTH), tokens.starts)
        common.equal(labels, numpy.where(first, -100, after), f"{what}, labels")


def check(main_version):
    if main_version:
        where = common.checkout("LEAT_TORCHTITAN", "torchtitan's main")
        os.environ["PYTHONPATH"] = f"{where}:{os.environ.get('PYTHONPATH', '')}"
    else:
        common.need("torchtitan")
    with common.own_folder() as folder:
        pathlib.Path("assets").mkdir()
        common.vocabulary("assets/tokenizer.json")
        common.corpus("data/texts.jsonl", count=110)
        page = common.page("torchtitan", folder)
        page.shell()
        pathlib.Path("packed.py").write_text(page.take()[1])
        page.done()
        # 0.3.0 counts rows, main tokens. A CPU multiplies bfloat16 many times slower than float32.
        size = ["--training.max-context-length", LENGTH, "--training.num-tokens-per-microbatch-per-dp-rank",
                ROWS * LENGTH, "--training.num-tokens-per-train-step", ROWS * LENGTH * RANKS] if main_version else [
                "--training.seq-len", LENGTH, "--training.local-batch-size", ROWS, "--training.global-batch-size",
                ROWS * RANKS]
        words = ["--module", "packed", "--config", "packed", "--hf-assets-path", "assets", "--validator.freq", "1000",
                 "--training.disable-cuda-graphs", "--training.mixed-precision-param", "float32",
                 "--checkpoint.enable", "--checkpoint.interval", "1000", *size]
        # without compilers: what torch.compile makes takes a minute
        env = {"PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}", "TORCHDYNAMO_DISABLE": "1"}
        common.torchrun(RANKS, __file__, "train", "first", *words, "--training.steps", STEPS, env=env)
        said = common.torchrun(1, __file__, "train", "rest", *words, "--training.steps", "1000", env=env)
        assert "Ran out of data" in said, f"training did not end with the data:\n{said}"

        corpus, valid = common.Tokens("corpus"), common.Tokens("corpus.valid")
        count = (len(corpus.all) - 1) // LENGTH
        samples = common.order("--source", "corpus", "--seq-len", LENGTH, "--seed", 42, count=count)
        assert [sample["n"] for sample in samples] == list(range(count)) and samples[-1]["epoch"] == 0
        for rank in range(RANKS):
            taken = batches("first", rank, "train")
            assert len(taken) == STEPS, f"{len(taken)} batches of {STEPS} steps"
            for step, got in enumerate(taken):
                begin = (step * RANKS + rank) * ROWS
                check_rows(corpus, samples[begin:begin + ROWS], got, f"rank {rank}, step {step}")
        begin = STEPS * RANKS * ROWS
        taken = batches("rest", 0, "train")
        # torchtitan cancels a step whose accumulation the data does not fill
        steps = -(-(count - begin) // ROWS) // RANKS
        assert len(taken) == steps * RANKS, f"after the resume, {len(taken)} batches, not {steps * RANKS}"
        for number, got in enumerate(taken):
            check_rows(corpus, samples[begin + number * ROWS:][:ROWS], got, f"after the resume, batch {number}")
        # the validation set, to its end
        count = (len(valid.all) - 1) // LENGTH
        samples = common.order("--source", "corpus.valid", "--seq-len", LENGTH, "--seed", 42, count=count)
        for rank in range(RANKS):
            taken = batches("first", rank, "valid")
            assert len(taken) == -(-count // (RANKS * ROWS)), f"{len(taken)} batches for {count} rows"
            for number, got in enumerate(taken):
                begin = (number * RANKS + rank) * ROWS
                check_rows(valid, samples[begin:begin + ROWS], got, f"validation, rank {rank}, batch {number}")


if sys.argv[1:2] == ["train"]:
    train(*sys.argv[2:])
else:
    check("torchtitan-main" in sys.argv)
