"""distill.py: trains a small GPT on what a teacher says of each next token, read from disk or computed beside it.

    leat pack -o corpus -t gpt2 examples/corpus
    python python/examples/distill.py corpus --steps 20
    python python/examples/distill.py corpus --steps 20 --online

The first run lets the teacher write its 8 likeliest next tokens and their log-probabilities beside the tokens of the
batches, as columns, and trains the student from disk. In the second one the teacher computes them in each step: the
losses are the same. A teacher that runs on many machines writes each plan's rows once, and any number of students read
them.
"""
import argparse
import itertools
import zlib

import torch
import torch.nn.functional as F
from small_gpt import GPT

import leat

TOP = 8


def teach(teacher, inputs):
    """The likeliest next tokens at each place, and their log-probabilities."""
    with torch.no_grad():
        logprobs, ids = torch.log_softmax(teacher.logits(inputs), -1).topk(TOP)
    return ids, logprobs


def write(data, plan, teacher, batch, steps):
    """Attaches what the teacher says of the first batches. Both columns have an entry for each token that is an input;
    in windows, it is one once an epoch, behind the same tokens each time."""
    places, ids, logprobs = [], [], []
    for step in itertools.islice(leat.Loader(plan, batch, outputs=("inputs", "places")), steps):
        said = teach(teacher, step.inputs)
        places.append(step.places.numpy())
        ids.append(said[0].numpy())
        logprobs.append(said[1].numpy())
    for column, kind, values in (("teacher_ids", f"u32x{TOP}", ids), ("teacher_logprobs", f"f32x{TOP}", logprobs)):
        leat.attach(data, column, kind, values, places=places, default=0, force=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a dataset that leat pack has written; columns are added beside it")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seq-len", type=int, default=128)
    parser.add_argument("--online", action="store_true", help="the teacher computes in each step, and writes nothing")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(1)
    plan = leat.Plan(options.data, options.seq_len, seed=7)
    vocabulary = leat.open(options.data).info.vocabulary
    teacher, student = GPT(vocabulary, options.seq_len, width=96).eval(), GPT(vocabulary, options.seq_len)
    optimizer = torch.optim.AdamW(student.parameters(), 1e-3)
    columns = () if options.online else ("teacher_ids", "teacher_logprobs")
    if not options.online:
        write(options.data, plan, teacher, options.batch, options.steps)
    for step, batch in enumerate(itertools.islice(leat.Loader(plan, options.batch, columns=columns), options.steps)):
        ids, logprobs = teach(teacher, batch.inputs) if options.online else (
            batch["teacher_ids"].long(), batch["teacher_logprobs"])
        said = torch.log_softmax(student.logits(batch.inputs), -1).gather(-1, ids)
        loss = F.kl_div(said, logprobs, reduction="sum", log_target=True) / ids[..., 0].numel()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step} loss {float(loss.detach())!r} batch {zlib.crc32(batch.inputs.numpy().tobytes()):08x}",
              flush=True)


if __name__ == "__main__":
    main()
