"""check_openrlhf.py: OpenRLHF's train_sft by the lines of its page, with its own actor, sampler, collator and loss: the
conversations of each micro-batch are compared with the token file, each once in an epoch, padded and packed, and
evaluated; stopped in the second epoch and resumed. DeepSpeed's engine and flash attention need a GPU: here torch's
optimizer has their place, what packs is written in torch, and sdpa finds the documents by position_ids."""
import importlib.machinery
import json
import multiprocessing
import os
import pathlib
import shlex
import sys
import types

import common
import numpy
from check_llamafactory import make_model, plain_rows
from check_transformers import conversations

import leat

BATCH, MICRO, EPOCHS, LONGEST = 8, 4, 2, 120


# ---- What stands in for what needs a GPU

def stand_ins():
    """flash_attn's functions for packing, in torch."""
    import torch

    def unpad_input(values, mask):
        places = mask.flatten().nonzero().flatten()
        lengths = mask.sum(-1)
        ends = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).to(torch.int32)
        return values.flatten(0, 1)[places], places, ends, int(lengths.max()), lengths

    def pad_input(values, places, batch, length):
        whole = values.new_zeros(batch * length, *values.shape[1:])
        return whole.index_copy(0, places, values).unflatten(0, (batch, length))

    from einops import rearrange
    names = {"flash_attn": {}, "flash_attn.utils": {}, "flash_attn.utils.distributed": {"all_gather": None},
             "flash_attn.bert_padding": {"unpad_input": unpad_input, "pad_input": pad_input, "rearrange": rearrange,
                                         "index_first_axis": lambda values, places: values[places]}}
    for name, has in names.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(has, __spec__=importlib.machinery.ModuleSpec(name, None))


def without_gpu(notes, stop):
    """OpenRLHF's strategy and actor, with torch's optimizer; the actor notes what it is given."""
    import openrlhf.models
    import openrlhf.utils
    import torch
    from openrlhf.utils.deepspeed import DeepspeedStrategy

    class Engine(torch.nn.Module):
        def __init__(self, module, steps):
            super().__init__()
            self.module, self.steps, self.micro, self.global_steps = module, steps, 0, 0
            self.config, self.optimizer = module.config, torch.optim.SGD(module.parameters(), 0.1)

        def forward(self, *args, **given):
            return self.module(*args, **given)

        def backward(self, loss):
            (loss / self.steps).backward()

        def step(self):
            self.micro += 1
            if self.micro % self.steps == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.global_steps += 1

    class Strategy(DeepspeedStrategy):
        def setup_distributed(self):
            torch.manual_seed(self.seed)
            torch.distributed.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store.{os.getpid()}",
                                                 rank=0, world_size=1)
            self.ds_device_mesh = torch.distributed.init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
            self.ring_attn_rank, self.world_size = 0, 1
            self.accumulated_gradient = self.train_batch_size // self.micro_train_batch_size

        def get_ds_train_config(self):
            return None

        def all_reduce(self, data, op="mean"):
            return data

        def prepare(self, pair):
            model, _ = pair
            model.model = Engine(model.model, self.accumulated_gradient)
            return model, model.model.optimizer, types.SimpleNamespace(get_last_lr=lambda: [0.1])

        def save_ckpt(self, model, folder, tag, most, memory, states):
            os.makedirs(folder, exist_ok=True)
            torch.save([model.state_dict(), states], f"{folder}/saved")
            if model.global_steps == stop:
                raise KeyboardInterrupt

        def load_ckpt(self, model, folder):
            parts, states = torch.load(f"{folder}/saved", weights_only=False)
            model.load_state_dict(parts)
            return folder, states

        def save_model(self, model, tokenizer, folder):
            pass

    class Actor(openrlhf.models.Actor):
        def __init__(self, *args, **options):
            super().__init__(*args, **{**options, "attn_implementation": "sdpa"})

        def forward(self, ids, *, attention_mask, **options):
            found = super().forward(ids, attention_mask=attention_mask, **options)
            self.given = ids, attention_mask
            self.logs = found[0] if isinstance(found, tuple) else found
            return found

    class Loss(openrlhf.models.SFTLoss):
        def forward(self, logs, mask, **options):
            found = super().forward(logs, mask, **options)
            ids, seen = strategies[0].actor.given
            notes.write(json.dumps([torch.is_grad_enabled(), ids.tolist(), seen.tolist(), mask.tolist(), logs.tolist(),
                                    float(found)]) + "\n")
            return found

    strategies = []

    def strategy(args):
        strategies.append(Strategy(args.train.seed, False, 1.0, args.train.micro_batch_size, args.train.batch_size,
                                   2, args))
        return strategies[0]

    def actor(*args, **options):
        strategies[0].actor = Actor(*args, **options)
        return strategies[0].actor

    openrlhf.models.Actor, openrlhf.models.SFTLoss, openrlhf.utils.get_strategy = actor, Loss, strategy


def train(out, program, line, stop):
    import torch
    torch.set_num_threads(1)
    stand_ins()
    with open(out, "w", encoding="ascii") as notes:
        without_gpu(notes, stop)
        sys.argv = line
        try:
            exec(compile(program, "train_chats.py", "exec"), {"__name__": "__main__"})
        except KeyboardInterrupt:
            pass


# ---- What it is to be given

def run(out, program, words, stop=None):
    """The micro-batches that were trained on, and those evaluated: a list of rows and of their losses each."""
    usual = ["--model.model_name_or_path", "model", "--train.batch_size", BATCH, "--train.micro_batch_size", MICRO,
             "--train.max_epochs", EPOCHS, "--data.max_len", LONGEST, "--ckpt.save_steps", 1, "--ckpt.path", "saved",
             "--eval.steps", 7]
    process = multiprocessing.get_context("fork").Process(
        target=train, args=(out, program, ["train_chats.py", *map(str, [*words, *usual])], stop))
    process.start()
    process.join()
    assert process.exitcode == 0, f"{out}: OpenRLHF ended with {process.exitcode}"
    found = [], []
    for line in pathlib.Path(out).read_text().splitlines():
        training, *parts, loss = json.loads(line)
        found[0 if training else 1].append((list(zip(*parts)), loss))
    return found


def wanted_rows(name):
    dataset = leat.open(name)
    for number, (ids, _, _) in enumerate(plain_rows(name)):
        weights = dataset.mask(int(dataset.starts(number, 1)[0]), len(ids)) / 255
        yield tuple(ids[:LONGEST].tolist()), weights[1:LONGEST]


def check_rows(batches, name, what, most_left=0):
    """Each conversation is one of the dataset's, with its mask, and none comes twice."""
    wanted = dict(wanted_rows(name))
    for n, (ids, seen, mask, _) in enumerate(row for rows, _ in batches for row in rows):
        size = sum(seen)
        assert seen == [1] * size + [0] * (len(seen) - size), f"{what}: attention_mask of row {n}"
        weights = wanted.pop(tuple(ids[:size]))
        weights = numpy.pad(weights, (0, len(mask) - len(weights)))
        assert numpy.allclose(mask, weights, atol=1e-6), f"{what}: mask of row {n}"
    assert len(wanted) <= most_left, f"{what}: {len(wanted)} are missing"


def check_losses(batches, evaluated):
    """The loss is the mean over learned places by their weights, over all micro-batches of a step."""
    def total(rows):
        return sum(-(numpy.array(mask) * logs).sum() for _, _, mask, logs in rows)

    def count(rows):
        return sum(sum(mask) for _, _, mask, _ in rows)

    steps = BATCH // MICRO
    for n, (rows, loss) in enumerate(batches):
        first = n - n % steps
        among = sum(count(rows) for rows, _ in batches[first:first + steps]) / steps
        assert abs(loss - total(rows) / among) < 1e-3, (n, loss)
    for rows, loss in evaluated:
        assert abs(loss - total(rows) / count(rows)) < 1e-3, loss


def check_program(program, words, what):
    trained, evaluated = run(what, program, words)
    steps = len(trained) // EPOCHS
    for epoch in range(EPOCHS):
        check_rows(trained[epoch * steps:(epoch + 1) * steps], "chats", f"{what}, epoch {epoch}", MICRO - 1)
    held = -(-len(leat.open("heldout")) // MICRO)
    for at in range(0, len(evaluated), held):
        check_rows(evaluated[at:at + held], "heldout", f"{what}, evaluated")
    assert evaluated
    check_losses(trained, evaluated)
    return trained


def main():
    common.need("openrlhf")
    import deepspeed  # noqa: F401 (once, for all processes that train)
    import transformers  # noqa: F401
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for --chat
    with common.own_folder() as folder:
        make_model()
        texts = common.corpus("texts/a.jsonl", length=300)
        conversations("chats.jsonl", texts[:61])
        conversations("heldout.jsonl", texts[61:78])
        lines = [json.loads(line) for line in pathlib.Path("chats.jsonl").read_text().splitlines()]
        for line in lines[::3]:
            line["messages"][1]["weight"] = 0.4
        pathlib.Path("chats.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        page = common.page("openrlhf", folder)
        page.shell()
        program = page.take()[1]
        line = shlex.split(page.take()[1])
        page.done()
        assert line[:2] == ["deepspeed", "train_chats.py"] and line[-1] == "$@"
        packed = line[2:-1]
        padded = [word for word in packed if word != "--ds.packing_samples"]

        assert (leat.open("chats").mask() == 102).any(), "the weight 0.4 is not in the mask"
        lengths = [len(ids) for ids, _ in wanted_rows("chats")]
        assert min(lengths) < LONGEST == max(lengths), f"not one is cut, or all are: {min(lengths)}"
        alone = check_program(program, padded, "padded")[0][0]
        whole = check_program(program, packed, "packed")
        for one, other in zip(alone, whole[0][0]):
            assert one[:3] == other[:3], "padded and packed batches differ"
            size = sum(one[1]) - 1
            assert numpy.allclose(one[3][:size], other[3][:size], atol=0.05), "packed conversations see each other"
        middle = len(whole) // EPOCHS + BATCH // MICRO
        stop = middle // (BATCH // MICRO)
        begun, _ = run("begun", program, packed, stop)
        rest, _ = run("rest", program, [*packed, "--ckpt.load_enable"])
        given = [[row[:3] for row in rows] for rows, _ in begun + rest]
        assert given == [[row[:3] for row in rows] for rows, _ in whole], "the resumed run has other rows"


if __name__ == "__main__":
    main()
