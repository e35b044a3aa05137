"""check_litgpt.py: `litgpt pretrain` by the lines of docs/trainers/litgpt.md: 30 batches of rows, all compared; resumed
from the middle with one process and with two, and from its last checkpoint, which it saves after a batch that it took and
left; validation on fewer rows than a global batch.

Instead of FSDP, which wants GPUs, two processes have DDP here. torch.compile() does nothing, to save time."""
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
    pretrain.FSDPStrategy = lambda **options: lightning.fabric.strategies.DDPStrategy(process_group_backend="gloo")
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
        words = shlex.split(page.take()[1])
        page.done()
        tokens = common.Tokens("data/tokens")
        shares = {"train": 0.99, "valid": 0.01}
        plan, valid = (leat.Plan("data/tokens", LENGTH, seed=42, split=shares, use=use) for use in shares)
        count = len(leat.Plan("data/tokens", LENGTH, seed=42, split=shares, use="valid", epochs=1))

        train, validated = run(words, "whole")
        assert len(train) == 30 and train[0][0] != train[1][0]
        compare(train, plan, tokens, 0)
        batches = -(-count // ROWS)
        # two to begin with, then at steps 10 and at the end of step 15
        compare(validated[:2], valid, tokens, 0)
        assert len(validated) == min(2, batches) + 2 * batches, (len(validated), batches)
        for at in 2, 2 + batches:
            compare(validated[at:at + batches], valid, tokens, 0)

        # 20 of 30 batches were trained on at step 10; with two processes, 5 of each of them are left
        middle = f"{folder}/out/step-00000010"
        more, _ = run(words, "middle", resume=middle, out_dir="again")
        compare(more, plan, tokens, 20 * ROWS)
        assert len(more) == 10
        more, validated = run(words, "two", world=2, resume=middle, out_dir="two-out",
                              **{"train.max_tokens": 2 * 25 * ROWS * LENGTH})
        compare(more, plan, tokens, 20 * ROWS)
        assert len(more) == 5 and len(validated[0]) == 2 * ROWS

        # the last checkpoint: all 30 were trained on, and a 31st was taken
        last = f"{folder}/out/final"
        more, _ = run(words, "last", resume=last, out_dir="last-out", **{"train.max_tokens": 32 * ROWS * LENGTH})
        compare(more, plan, tokens, 30 * ROWS)
        assert len(more) == 2

        # fewer rows than a global batch of two processes, which dropped all of them, and litgpt failed
        share = 1.5 * LENGTH / tokens.all.size
        few = {"train": 1 - share, "valid": share}
        small = leat.Plan("data/tokens", LENGTH, seed=42, split=few, use="valid", epochs=1)
        assert len(small) < 2 * ROWS
        _, validated = run(words, "few", world=2, out_dir="few-out",
                           **{"data.valid_share": share, "train.max_tokens": 4 * ROWS * LENGTH})
        assert validated and all(len(batch) == 2 * ROWS for batch in validated)
        assert leat.Plan("data/tokens", LENGTH, seed=42, split=few, use="valid").order(0).token is not None
        compare(validated[:1], leat.Plan("data/tokens", LENGTH, seed=42, split=few, use="valid"), tokens, 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["watched"]:
        out = sys.argv[2]
        del sys.argv[1:3]
        torch.set_num_threads(1)
        watched(out)
    else:
        main()
