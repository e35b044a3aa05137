"""train_mixture.py: trains a tiny model on a mixture that the losses of its sources decide, and repeats such a run.

    python train_mixture.py web code --run run --steps 40
    torchrun --nproc-per-node 2 train_mixture.py web code --run run --steps 80     goes on, also after a kill
    python train_mixture.py web code --run run --steps 80 --replay                 the same losses, from the log

Each line has the step and the loss; they are the same, bit for bit, for any number of processes, because nothing is
summed in an order that depends on it: each row is computed by itself, and its loss and gradient are rounded to whole
numbers of 2^-32, whose sum over rows and ranks is exact. leat's part: the plan that the run began with and the log of
its changes, run.changes; the loader's state and the mixture's in the checkpoint, run.pt.
"""
import argparse
import math
import os

import torch
import torch.distributed as dist

import leat

VOCABULARY = 512  # ids modulo this
UNIT = 2.0**32


def decide(weights, losses):
    """More of the sources whose loss is above the mean."""
    mean = sum(losses.values()) / len(losses)
    return {name: weight * math.exp(min(max(losses.get(name, mean) - mean, -1), 1)) for name, weight in weights.items()}


def whole(numbers):
    return (numbers.detach().double() * UNIT).round().long()


def step_of(model, batch):
    """The losses of this rank's rows; and the sums of losses and gradients over all ranks."""
    losses, sums = [], None
    for inputs, labels in zip(batch.inputs % VOCABULARY, batch.labels):
        model.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels % VOCABULARY)
        loss.backward()
        losses.append(float(loss.detach()))
        row = [whole(loss), *(whole(p.grad) for p in model.parameters())]
        sums = row if sums is None else [a + b for a, b in zip(sums, row)]
    if dist.is_initialized():
        for numbers in sums:
            dist.all_reduce(numbers)
    return losses, sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help="datasets, which begin with equal weights")
    parser.add_argument("--run", required=True, help="RUN.changes is the log, RUN.pt the checkpoint")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8, help="rows of a global batch")
    parser.add_argument("--seq-len", type=int, default=32)
    parser.add_argument("--every", type=int, default=3, help="steps between decisions")
    parser.add_argument("--save-every", type=int, default=4, help="steps between checkpoints")
    parser.add_argument("--replay", action="store_true", help="repeat the run from its log")
    options = parser.parse_args()
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    if world > 1:
        dist.init_process_group("gloo")

    model = torch.nn.Sequential(torch.nn.Embedding(VOCABULARY, 16), torch.nn.Linear(16, VOCABULARY))
    saved = None
    if not options.replay and os.path.exists(options.run + ".pt"):
        saved = torch.load(options.run + ".pt", weights_only=True)
        model.load_state_dict(saved["model"])
    mixture = leat.Mixture(leat.Plan(options.data, options.seq_len, seed=7), options.run + ".changes",
                           every=options.every, state=saved and saved["mixture"], replay=options.replay)
    loader = leat.Loader(mixture.plan, options.batch // world, rank=rank, world=world, state=saved and saved["loader"])

    for step, batch in enumerate(loader, saved["step"] if saved else 0):
        losses, (loss, *gradients) = step_of(model, batch)
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients):
                parameter -= (gradient.double() / UNIT / options.batch).float()
        mixture.add(batch, losses)
        mixture.step(loader, decide)
        if rank == 0:
            print(f"step {step} loss {float(loss) / UNIT / options.batch!r}", flush=True)
        if not options.replay and (step + 1) % options.save_every == 0:
            state = {"model": model.state_dict(), "mixture": mixture.state_dict(loader),
                     "loader": loader.state_dict(), "step": step + 1}
            if rank == 0:
                torch.save(state, options.run + ".tmp")
                os.replace(options.run + ".tmp", options.run + ".pt")
        if step + 1 == options.steps:
            break
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
