"""train_gpt.py: trains a small GPT with PyTorch, in one process or several, and goes on from a checkpoint.

    leat pack -o corpus -t gpt2 examples/corpus
    python python/examples/train_gpt.py corpus --steps 20 --save run.pt
    python python/examples/train_gpt.py corpus --steps 40 --resume run.pt
    python python/examples/train_gpt.py corpus --steps 40 --resume run.pt --world 2

The second run has the losses of one without a stop; the third, in two processes, its global batches. --save writes the
checkpoint after the last step, every N steps with --save-every N, and on Ctrl-C. Each line has the step, the loss and a
checksum of the global batch's tokens. leat's part: a plan, a loader, and its state in the
checkpoint. With --device cuda, each process has a GPU of its own, and the loader's batches arrive there.
"""
import argparse
import os
import signal
import socket
import zlib

import torch
import torch.distributed as dist
import torch.multiprocessing
from small_gpt import GPT

import leat


def average(tensors, world):
    """Over all processes."""
    for tensor in tensors:
        dist.all_reduce(tensor)
        tensor /= world


def checksum(inputs, rank, world):
    """Of the rows of all ranks, in their order; on rank 0."""
    if world > 1:
        rows = [torch.empty_like(inputs) for _ in range(world)] if rank == 0 else None
        dist.gather(inputs, rows)
        inputs = torch.cat(rows) if rank == 0 else inputs
    return zlib.crc32(inputs.cpu().numpy().tobytes())


class Stop:
    """Whether Ctrl-C was pressed: a step is taken to its end, and a second Ctrl-C ends the process at once."""

    def __init__(self):
        self.pressed = False
        signal.signal(signal.SIGINT, self.press)

    def press(self, number, frame):
        self.pressed = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def by_any(self, device, world):
        """Whether a process of the run stops: then all do, after the same step."""
        if world == 1:
            return self.pressed
        pressed = torch.tensor(float(self.pressed), device=device)
        dist.all_reduce(pressed, dist.ReduceOp.MAX)
        return bool(pressed)


def save(path, **state):
    """In place of an older checkpoint only when all of it is written."""
    torch.save(state, f"{path}.new")
    os.replace(f"{path}.new", path)


def train(rank, options, port):
    stop = Stop()
    world = options.world
    torch.set_num_threads(1)
    torch.manual_seed(1)
    device = torch.device(options.device, rank) if options.device == "cuda" else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if world > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", init_method=f"tcp://127.0.0.1:{port}",
                                rank=rank, world_size=world)

    plan = leat.Plan(options.data, options.seq_len, seed=7)
    loader = leat.Loader(plan, options.batch // world, rank=rank, world=world, device=device)
    model = GPT(leat.open(options.data).info.vocabulary, options.seq_len).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    begin = 0
    if options.resume:
        saved = torch.load(options.resume, map_location=device, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])  # the same file for every rank, whatever the world was
        begin = saved["step"]

    for step, (inputs, labels) in enumerate(loader, begin):
        if step == options.steps:
            break
        loss = model(inputs, labels)
        loss.backward()
        loss = loss.detach()
        if world > 1:
            average([p.grad for p in model.parameters()] + [loss], world)
        optimizer.step()
        optimizer.zero_grad()
        batch = checksum(inputs, rank, world)
        if rank == 0:
            print(f"step {step} loss {float(loss)!r} batch {batch:08x}", flush=True)
        stopped = stop.by_any(device, world)
        last = stopped or step + 1 == options.steps
        if options.save and rank == 0 and (last or (options.save_every and (step + 1) % options.save_every == 0)):
            save(options.save, model=model.state_dict(), optimizer=optimizer.state_dict(),
                 loader=loader.state_dict(), step=step + 1)
        if stopped:
            break
    if world > 1:
        dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a dataset that leat pack has written")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8, help="rows of a global batch")
    parser.add_argument("--seq-len", type=int, default=128)
    parser.add_argument("--world", type=int, default=1, help="processes")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--save", help="write a checkpoint after the last step, and on Ctrl-C")
    parser.add_argument("--save-every", type=int, metavar="N", help="and after every N steps")
    parser.add_argument("--resume", help="a checkpoint to go on from")
    options = parser.parse_args()
    if options.world == 1:
        train(0, options, 0)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it goes to the processes, too, which end after their step
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(train, (options, port), options.world)


if __name__ == "__main__":
    main()
