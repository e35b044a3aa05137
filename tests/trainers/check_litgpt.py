"""check_litgpt.py: `litgpt pretrain` by the lines of docs/trainers/litgpt.md: 30 batches of rows, all compared; resumed
from the middle with one process, and with two from its last checkpoint, which it saves after a batch that it took and
left; validation on fewer rows than a global batch.

Instead of FSDP, which wants GPUs, two processes have DDP here. torch.compile() does nothing, to save time."""
import functools
import json
import os
import pathlib
import shlex
import subprocess
import sys

import common
import torch

import leat

LENGTH, ROWS = 64, 2


def watched(out):
    """litgpt with a model that notes its rows: whether it trains, inputs, and the labels of its loss."""
    import lightning
    import litgpt.__main__
    import litgpt.pretrain as pretrain

    class OnCPU:
        def __new__(cls, **options):
            return lightning.fabric.strategies.DDPStrategy(process_group_backend="gloo")

    real_loss, notes = pretrain.chunked_cross_entropy, open(f"{out}.{os.environ.get('RANK', 0)}", "a")
    seen = []

    class Model(pretrain.GPT):
        def forward(self, ids, *args, **options):
            if ids.device.type != "meta":
                seen[:] = [self.training, ids.tolist()]
            return super().forward(ids, *args, **options)

    def loss(logits, targets, **options):
        if logits.device.type != "meta":
            notes.write(json.dumps([*seen, targets.tolist()]) + "\n")
            notes.flush()
        return real_loss(logits, targets, **options)

    pretrain.GPT, pretrain.chunked_cross_entropy = Model, loss
    pretrain.FSDPStrategy = OnCPU
    # no more ids than the vocabulary has: the model has 50,304, which are most of its work
    pretrain.Config.from_name = functools.partial(pretrain.Config.from_name, padded_vocab_size=512)
    litgpt.__main__.main()


def read(out, world):
    """The rows of each global batch: of training, and of validation."""
    ranks = [[json.loads(line) for line in pathlib.Path(f"{out}.{rank}").read_text().splitlines()]
             for rank in range(world)]
    assert len({len(rank) for rank in ranks}) == 1, "ranks have different numbers of batches"
    train, valid = [], []
    for parts in zip(*ranks):
        rows = [(row, label) for _, inputs, labels in parts for row, label in zip(inputs, labels)]
        (train if parts[0][0] else valid).append(rows)
    return train, valid


def run(words, out, world=1, **changes):
    """Runs the page's command with options changed."""
    words = words[1:]
    for name, value in changes.items():
        if f"--{name}" in words:
            words[words.index(f"--{name}") + 1] = str(value)
        else:
            words += [f"--{name}", str(value)]
    where = {"TORCHDYNAMO_DISABLE": "1", "CUDA_VISIBLE_DEVICES": ""}
    if world > 1:
        common.torchrun(world, __file__, "watched", out, *words, "--devices", str(world), env=where)
    else:
        done = subprocess.run([sys.executable, __file__, "watched", out, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env={**os.environ, **where})
        assert done.returncode == 0, done.stdout
    return read(out, world)


def compare(rows, plan, tokens, first):
    """Rows of global batches are those of the plan from sample `first` on."""
    for n, (row, label) in enumerate(pair for batch in rows for pair in batch):
        inputs, labels = tokens.row(plan.order(first + n).token, LENGTH)
        common.equal(row, inputs, f"inputs of sample {first + n}")
        common.equal(label, labels, f"labels of sample {first + n}")


def main():
    common.need("litgpt")
    with common.own_folder() as folder:
        common.vocabulary()
        common.corpus("texts/a.jsonl")
        page = common.page("litgpt", folder)
        page.shell()
        words = shlex.split(page.take()[1].replace("\\\n", ""))
        page.done()
        tokens = common.Tokens("tokens")
        shares = {"train": 0.9, "valid": 0.1}
        plan, valid = (leat.Plan("tokens", LENGTH, seed=42, split=shares, use=use) for use in shares)
        count = len(leat.Plan("tokens", LENGTH, seed=42, split=shares, use="valid", epochs=1))

        train, validated = run(words, "whole")
        assert len(train) == 30 and train[0][0] != train[1][0]
        compare(train, plan, tokens, 0)
        every = -(-count // ROWS)
        assert every > 1
        # at most two to begin with, then all at step 10 and at the end, each from the set's first row
        for batches in min(2, every), every, every:
            compare(validated[:batches], valid, tokens, 0)
            del validated[:batches]
        assert not validated

        # 20 of 30 batches were trained on at step 10
        middle = f"{folder}/out/step-00000010/lit_model.pth"
        more, _ = run(words, "middle", resume=middle, out_dir="again")
        compare(more, plan, tokens, 20 * ROWS)
        assert len(more) == 10

        # the last checkpoint: all 30 were trained on, and a 31st was taken; each of two processes trains on 5 more
        last = f"{folder}/out/final/lit_model.pth"
        more, validated = run(words, "two", world=2, resume=last, out_dir="two-out",
                              **{"train.max_tokens": 2 * 35 * ROWS * LENGTH})
        compare(more, plan, tokens, 30 * ROWS)
        assert len(more) == 5 and len(validated[0]) == 2 * ROWS

        # fewer rows than a global batch of two processes, which dropped all of them, and litgpt failed
        share = round(3 * LENGTH / tokens.all.size, 6)
        few = f"train={1 - share:.6f},valid={share:.6f}"
        small = leat.Plan("tokens", LENGTH, seed=42, split=few, use="valid", epochs=1)
        assert len(small) < 2 * ROWS
        _, validated = run(words, "few", world=2, out_dir="few-out",
                           **{"data.valid_share": share, "train.max_tokens": 4 * ROWS * LENGTH})
        assert validated and all(len(batch) == 2 * ROWS for batch in validated)
        compare(validated[:1], leat.Plan("tokens", LENGTH, seed=42, split=few, use="valid"), tokens, 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["watched"]:
        out = sys.argv[2]
        del sys.argv[1:3]
        torch.set_num_threads(1)
        watched(out)
    else:
        main()
