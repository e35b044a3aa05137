#!/usr/bin/env python3
"""check_olmo_core.py: OLMo-core's Trainer with the program of docs/trainers/olmo-core.md. Two ranks train, the batch
size doubles, and the validation set is evaluated to its end, twice; one rank goes on, to the plan's end. Every batch
that the Trainer trains on or evaluates is compared with the token file, and the metric with the loss of each
prediction.

Instead of a GPU: attention within documents by torch's plain function, and DDP over gloo. Checkpoints are not saved
asynchronously: each rank records how long that took at the step where its own save ends, and gloo hangs or aborts where
ranks then reduce different numbers of metrics."""
import os
import pathlib
import sys

import common
import numpy

LENGTH, STOP, GROWS = 128, 22, 20  # GROWS: the step after which a batch has 16 rows, not 8


def train(out, stop):
    import torch
    from olmo_core.nn.attention.backend import TorchAttentionBackend
    from olmo_core.train import Duration
    from olmo_core.train.callbacks import CheckpointerCallback
    from olmo_core.train.train_module import TransformerTrainModule

    def attend(self, qkv, cu_doc_lens=None, **unused):
        q, k, v = (each.transpose(1, 2) for each in qkv)
        places = torch.arange(q.shape[0] * q.shape[2])
        document = torch.searchsorted(cu_doc_lens, places, right=True).view(q.shape[0], 1, -1)
        mask = (document[..., None] == document[..., None, :]).tril()
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2)

    def train_batch(self, batch, dry_run=False, process=TransformerTrainModule.train_batch):
        if not dry_run:
            kept["train"].append([batch[name].clone() for name in ("input_ids", "labels", "doc_lens")])
            assert batch["max_doc_lens"] == batch["doc_lens"].max(1).values.tolist()
        return process(self, batch, dry_run)

    def eval_batch(self, batch, labels=None, process=TransformerTrainModule.eval_batch):
        given = [batch[name].clone() for name in ("input_ids", "label_mask", "doc_lens")]
        output = process(self, batch, labels)
        kept["valid"].append([*given, output.ce_loss.clone()])
        return output

    def pre_train(self, process=CheckpointerCallback.pre_train):
        self.save_async = False
        process(self)

    kept = {"train": [], "valid": []}
    CheckpointerCallback.pre_train = pre_train
    TorchAttentionBackend.forward = attend
    TransformerTrainModule.train_batch, TransformerTrainModule.eval_batch = train_batch, eval_batch
    names = {"__name__": "__main__", "stop": Duration.steps(int(stop))}
    exec(compile(pathlib.Path("train.py").read_text(), "train.py", "exec"), names)
    kept["metrics"] = {name: [float(metric.weighted_sum), float(metric.weight)]
                       for name, metric in names["valid"].metrics.items()}
    kept["end"] = [names["trainer"].global_step, names["trainer"].epoch, names["loader"].total_batches]
    torch.save(kept, f"{out}-{os.environ['RANK']}.pt")


def kept(name, rank):
    import torch
    return torch.load(f"{name}-{rank}.pt")


def documents(tokens, at, length):
    """The lengths of the stretches of one document in a row."""
    starts = [start - at for start in tokens.starts if at < start < at + length]
    return numpy.diff([0, *starts, length])


def check_row(tokens, at, length, inputs, doc_lens, what):
    common.equal(inputs, tokens.all[at:at + length], f"{what}, inputs")
    lengths = documents(tokens, at, length)
    common.equal(doc_lens[:len(lengths)], lengths, f"{what}, documents")
    assert not doc_lens[len(lengths):].any(), f"{what}: more documents"


def check_train(tokens, samples, got, begin, rank, ranks, first):
    """Batches of a rank, from this sample and step on; returns the sample after them."""
    for step, (inputs, labels, doc_lens) in enumerate(got, first):
        rows = (16 if step >= GROWS else 8) // ranks
        assert len(inputs) == rows, f"step {step}: {len(inputs)} rows, not {rows}"
        for row in range(rows):
            at = samples[begin + rank * rows + row]["window"] * LENGTH
            check_row(tokens, at, LENGTH, inputs[row], doc_lens[row], f"step {step}, rank {rank}")
            common.equal(labels[row], tokens.all[at + 1:at + 1 + LENGTH], f"step {step}, labels")
        begin += rows * ranks
    return begin


def check_valid(tokens, runs, times):
    count = (len(tokens.all) - 1) // LENGTH
    samples = common.order("--source", "corpus.valid", "--seq-len", LENGTH, count=count)
    losses = []
    for rank, run in enumerate(runs):
        batches = -(-count // (4 * len(runs)))
        assert len(run["valid"]) == batches * times, f"{len(run['valid'])} batches in {times} evaluations of {batches}"
        for number, (inputs, mask, doc_lens, loss) in enumerate(run["valid"]):
            first = (number % batches * len(runs) + rank) * 4
            for row in range(4):
                if first + row >= count:
                    assert not mask[row].any(), "padding counts"
                    continue
                check_row(tokens, samples[first + row]["window"] * LENGTH, LENGTH + 1, inputs[row], doc_lens[row],
                          f"evaluation, rank {rank}, batch {number}")
                assert mask[row, 1:].all(), "a prediction does not count"
                if number >= batches * (times - 1):
                    losses.append(loss[row, :-1])
    for run in runs:  # each has the sums of all ranks
        found, weight = run["metrics"]["corpus.valid"]
        assert weight == count * LENGTH, f"{weight} predictions of {count * LENGTH} count"
        assert abs(found - sum(float(loss.sum()) for loss in losses)) < 1e-3 * found, "the sum of losses is another"


def check():
    common.need("olmo_core")
    with common.own_folder() as folder:
        common.vocabulary()
        common.corpus("data/texts.jsonl")
        page = common.page("olmo-core", folder)
        page.shell()
        pathlib.Path("train.py").write_text(page.take()[1])
        page.done()
        common.torchrun(2, __file__, "train", "first", STOP)
        common.torchrun(1, __file__, "train", "rest", 1000)
        corpus = common.Tokens("corpus")
        count = (len(corpus.all) - 1) // LENGTH
        samples = common.order("--source", "corpus", "--seq-len", LENGTH, "--seed", 7, count=count)
        runs = [kept("first", rank) for rank in range(2)]
        for rank, run in enumerate(runs):
            assert len(run["train"]) == STOP, f"{len(run['train'])} batches of {STOP} steps"
            begin = check_train(corpus, samples, run["train"], 0, rank, 2, 0)
        rest = kept("rest", 0)
        steps = (count - begin) // 16
        assert steps > 2 and len(rest["train"]) == steps, f"after the resume, {len(rest['train'])} steps of {steps}"
        check_train(corpus, samples, rest["train"], begin, 0, 1, STOP)
        assert rest["end"] == [STOP + steps, 2, 0], f"step, epoch and batches at the end: {rest['end']}"
        check_valid(common.Tokens("corpus.valid"), runs, 2)


if sys.argv[1:2] == ["train"]:
    train(*sys.argv[2:])
else:
    check()
