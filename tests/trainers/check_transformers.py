"""check_transformers.py [trl]: transformers' Trainer, or TRL's SFTTrainer, by the lines of its page: 30 steps whose
rows are all compared; resumed from the middle by two processes; evaluated to the end of finite sets, whose losses are
those of a model that sees each document alone."""
import json
import os
import pathlib
import subprocess
import sys

import common
import numpy

import leat

STEPS, MIDDLE, ROWS = 30, 15, 2
TEMPLATE = ("{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
            "{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}")


# ---- The program that trains

def train(name, out, world, resume):
    """By the page's lines, which stand in the current folder; notes what the model is given."""
    import torch
    import transformers
    torch.set_num_threads(1)
    page = common.page(name, pathlib.Path.cwd())
    page.take()
    lines = page.python()
    page.done()
    usual = dict(output_dir="run", max_steps=STEPS, save_steps=MIDDLE, eval_strategy="steps", eval_steps=MIDDLE,
                 per_device_train_batch_size=ROWS // world, per_device_eval_batch_size=ROWS, report_to=[], use_cpu=True,
                 disable_tqdm=True, learning_rate=0.01, save_strategy="no" if resume else "steps")
    torch.manual_seed(1)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=500, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=512))
    if name == "trl":
        import trl
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file="tokenizer.json", eos_token="<|endoftext|>")
        trainer = lines["make"](model, tokenizer, trl.SFTConfig(bf16=False, **usual))
    else:
        trainer = lines["make"](model, transformers.TrainingArguments(**usual))
    rank = int(os.environ.get("RANK", 0))
    with open(f"{out}.{rank}", "w", encoding="ascii") as notes:
        def note(module, args, given):
            assert "attention_mask" not in given and given["use_cache"] is False, list(given)
            rows = [given[key].tolist() for key in ("input_ids", "labels", "position_ids")]
            notes.write(json.dumps([module.training, *rows]) + "\n")

        hook = model.register_forward_pre_hook(note, with_kwargs=True)
        trainer.train(resume_from_checkpoint=resume or None)
        hook.remove()
    losses = {key: value for key, value in trainer.evaluate().items() if key.endswith("_loss")}
    sets = {"eval_loss": "heldout"} if name == "trl" else {f"eval_{which}_loss": which for which in ("web", "code")}
    for key, dataset in sets.items():
        assert abs(losses[key] - alone(model, name, dataset)) < 1e-4, (key, losses, alone(model, name, dataset))
    one = next(iter(sets.values()))
    again = trainer.evaluate(lines["loader"](one, ROWS, epochs=1))
    assert abs(again["eval_loss"] - next(iter(losses.values()))) < 1e-6


def alone(model, name, dataset):
    """The mean loss over the labels that count, of a model that is given one document after another."""
    import torch
    total = count = 0
    model.eval()
    with torch.no_grad():
        for ids, labels, positions in expected(name, dataset):
            for begin, end in zip(begins := numpy.flatnonzero(positions == 0), [*begins[1:], len(ids)]):
                logits = model(input_ids=torch.from_numpy(ids[begin:end])[None]).logits[0, :-1]
                after = torch.from_numpy(labels[begin + 1:end])
                total += float(torch.nn.functional.cross_entropy(logits, after, reduction="sum"))
                count += int((after != -100).sum())
    return total / count


# ---- What it is to be given

def expected(name, dataset, first=0, count=None):
    """input_ids, labels and position_ids of samples, from the token file; to the plan's end without a count."""
    made = {"epochs": 1} if count is None else {}
    if name == "trl":
        tokens = numpy.fromfile(f"{dataset}.tokens", "<u2").astype(numpy.int64)
        learned = leat.open(dataset).mask()
        words = ["--source", dataset, "--seq-len", 128, "--seed", 7, "--order", "fit", "--epochs", 1]
        samples = len(leat.Plan(dataset, 128, seed=7, order="fit", epochs=1)) if count is None else count
        for sample in common.order(*(words if count is None else words[:-2]), first=first, count=samples):
            parts = [(piece["token"], piece["count"]) for piece in sample["pieces"]]
            places = numpy.concatenate([numpy.arange(at, at + size) for at, size in parts])
            positions = numpy.concatenate([numpy.arange(size) for _, size in parts])
            ids = tokens[places]
            yield ids, numpy.where((positions == 0) | (learned[places] == 0), -100, ids), positions
        return
    tokens, plan = common.Tokens(dataset), leat.Plan(dataset, 63, seed=7, **made)
    for n in range(first, first + (len(plan) if count is None else count)):
        at = plan.order(n).token
        ids, positions = tokens.all[at:at + 64], tokens.position_ids(at, 64)
        yield ids, numpy.where(positions == 0, -100, ids), positions


def compare(name, rows, dataset, first=0, count=None):
    wanted = list(expected(name, dataset, first, count))
    assert len(rows) == len(wanted), f"{len(rows)} rows, not {len(wanted)}"
    for n, (given, row) in enumerate(zip(rows, wanted)):
        size = len(row[0])
        for what, found, want in zip(("input_ids", "labels", "position_ids"), given, row):
            start = int(what == "labels")  # the first label of a row is that of no input
            common.equal(found[start:size], want[start:], f"{what} of sample {first + n} of {dataset}")
        assert not any(label != -100 for label in given[1][size:]), f"sample {first + n}: padding has labels"


def read(out, world):
    """The rows that ranks trained on, in the order of global batches, and those that they evaluated."""
    ranks = [[json.loads(line) for line in pathlib.Path(f"{out}.{rank}").read_text().splitlines()]
             for rank in range(world)]
    found = [], []
    for parts in zip(*ranks, strict=True):
        for training, *rows in parts:
            found[0 if training else 1].extend(zip(*rows))
    return found


def run(name, out, world=1, resume=""):
    words = [__file__, "train", name, out, str(world), resume]
    if world > 1:
        common.torchrun(world, *words)
    else:
        done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
    return read(out, world)


def conversations(path, texts):
    talks = [[{"role": "user", "content": text[:40]}, {"role": "assistant", "content": text[40:]}] for text in texts
             if len(text) > 80]
    lines = [json.dumps({"messages": talk}) for talk in talks]
    pathlib.Path(path).write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def main(name):
    common.need(name)
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for --chat
    with common.own_folder() as folder:
        common.vocabulary()
        texts = common.corpus("texts/a.jsonl", length=300)
        common.corpus("heldout/web.jsonl", length=200, count=30)
        common.corpus("heldout/code.jsonl", length=250, count=17)
        pathlib.Path("chat_template.jinja").write_text(TEMPLATE)
        conversations("chats.jsonl", texts)
        conversations("heldout.jsonl", texts[:20])
        page = common.page(name, folder)
        page.shell()
        source = "chats" if name == "trl" else "train"
        finite = ["heldout"] if name == "trl" else ["web", "code"]

        trained, evaluated = run(name, "whole")
        compare(name, trained, source, 0, STEPS * ROWS)
        for dataset in 2 * finite:  # in the middle and at the end
            rows = sum(1 for _ in expected(name, dataset))
            compare(name, evaluated[:rows], dataset)
            del evaluated[:rows]
        assert not evaluated

        trained, _ = run(name, "two", world=2, resume=f"run/checkpoint-{MIDDLE}")
        compare(name, trained, source, MIDDLE * ROWS, (STEPS - MIDDLE) * ROWS)


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"]:
        train(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        main(sys.argv[1] if sys.argv[1:] else "transformers")
