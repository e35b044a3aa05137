#!/usr/bin/env python3
"""check_torchdata.py: a model trained from torchdata's StatefulDataLoader by the lines of docs/trainers/torchdata.md,
with 0 and 2 workers, which goes on from the state of the other number of them and of ranks; and an evaluation set to
its end. Every row is compared with the token file."""
import common
import numpy

LENGTH, ROWS, STEPS, MORE = 64, 4, 30, 8


def check_rows(tokens, order, first, batches, rank, world, what):
    """The batches of a rank from global batch `first` on are these samples; rows after their end have no labels."""
    for step, batch in enumerate(batches):
        for row in range(ROWS):
            n = (step * world + rank) * ROWS + row + first
            if n >= len(order):
                assert (batch["labels"][row] == -100).all(), f"{what}: padding has labels"
                continue
            inputs, labels = tokens.row(order[n]["window"] * LENGTH, LENGTH)
            common.equal(batch["inputs"][row], inputs, f"{what}, batch {step}, row {row}, inputs")
            common.equal(batch["labels"][row], labels, f"{what}, batch {step}, row {row}, labels")


def train(torch, batches, steps):
    """What a small model was trained on, whose loss must fall."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Embedding(512, 32), torch.nn.Linear(32, 512))
    optimizer, kept, losses = torch.optim.AdamW(model.parameters(), lr=0.02), [], []
    for _, batch in zip(range(steps), batches):
        loss = torch.nn.functional.cross_entropy(model(batch["inputs"]).flatten(0, 1), batch["labels"].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append(batch)
        losses.append(loss.item())
    assert len(kept) == steps and losses[-1] < losses[0], losses
    return kept


def main():
    common.need("torchdata.stateful_dataloader")
    import torch
    with common.own_folder() as folder:
        common.vocabulary()
        common.corpus("data/texts.jsonl")
        common.page("torchdata", folder).shell()
        tokens, valid = common.Tokens("corpus"), common.Tokens("corpus.valid")
        order = common.order("--source", "corpus", "--seq-len", LENGTH, "--seed", 42, "--epochs", 4, count=400)
        for workers, after in ((0, 2), (2, 0)):
            page = common.page("torchdata", folder, ranks=(0, 1), workers=workers)
            page.take()  # the shell's
            page.python()
            names = page.python()
            page.done()
            batches = iter(names["batches"])
            check_rows(tokens, order, 0, train(torch, batches, STEPS), 0, 1, f"{workers} workers")
            saved = names["batches"].state_dict()
            for rank in range(2):
                names.update(workers=after, ranks=(rank, 2))
                rest = train(torch, names["resume"](saved), MORE)
                check_rows(tokens, order, STEPS * ROWS, rest, rank, 2, f"{after} workers, rank {rank} of 2")
                found = list(names["loader"]("corpus.valid", 1))
                wanted = common.order("--source", "corpus.valid", "--seq-len", LENGTH, "--seed", 42, "--epochs", 1,
                                      count=(len(valid.all) - 1) // LENGTH)
                check_rows(valid, wanted, 0, found, rank, 2, f"evaluation, rank {rank} of 2")
                assert numpy.ceil(len(wanted) / ROWS / 2) == len(found) and len(wanted) % (2 * ROWS)


main()
