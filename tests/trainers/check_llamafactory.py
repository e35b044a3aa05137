"""check_llamafactory.py: LLaMA-Factory on the folder that its page writes: 8 steps on packed rows, and on one
conversation per row, whose ids, labels and documents are all compared with the token file; packed rows resumed after 4
steps; and evaluated."""
import json
import os
import pathlib
import subprocess
import sys

import common
import numpy
from check_transformers import TEMPLATE, conversations

import leat

STEPS, MIDDLE, ROWS = 8, 4, 2
PLAIN = TEMPLATE.replace("{% generation %}", "").replace("{% endgeneration %}", "")


def train(out, resume, **changed):
    """By the page's lines; notes what the model is given."""
    import torch
    import transformers
    import yaml
    from llamafactory.train.tuner import run_exp
    torch.set_num_threads(1)
    page = common.page("llamafactory", pathlib.Path.cwd())
    kinds = dict(page.take() for _ in range(3))
    usual = dict(model_name_or_path="model", stage="sft", do_train=True, finetuning_type="full", use_cpu=True,
                 output_dir="run", overwrite_output_dir=False, max_steps=STEPS, save_steps=MIDDLE, logging_steps=1,
                 eval_strategy="steps", eval_steps=STEPS, learning_rate=0.01, report_to="none", disable_tqdm=True,
                 flash_attn="sdpa", dataloader_num_workers=0, preprocessing_num_workers=1)
    given = {**usual, **yaml.safe_load(kinds["yaml"]), **changed}
    given = {name: value for name, value in given.items() if value is not None}
    if resume:
        given["resume_from_checkpoint"] = resume
    forward = transformers.LlamaForCausalLM.forward
    with open(out, "w", encoding="ascii") as notes:
        def noted(self, *args, **inputs):
            mask = inputs["attention_mask"]
            places = inputs.get("position_ids")
            notes.write(json.dumps([self.training, inputs["input_ids"].tolist(), inputs["labels"].tolist(),
                                    places.tolist() if places is not None else None, sees(mask)]) + "\n")
            return forward(self, *args, **inputs)

        transformers.LlamaForCausalLM.forward = noted
        run_exp(given)


def sees(mask):
    """How many places each place sees, of rows or of a mask in four dimensions."""
    import torch
    if mask.dim() == 4:
        return (mask[:, 0] == 0).sum(-1).tolist()
    return torch.where(mask == 1, mask.cumsum(-1), 0).tolist()


def packed_rows(name, length=128, order="fit", *words):
    """The rows of a plan, whose order has these further words in the command."""
    tokens = numpy.fromfile(f"{name}.tokens", "<u2").astype(numpy.int64)
    learned, plan = leat.open(name).mask(), leat.Plan(name, length, seed=7, order=order, epochs=1)
    for sample in common.order("--source", name, "--seq-len", length, "--seed", 7, "--order", "fit", "--epochs", 1,
                               *words, count=len(plan)):
        parts = [(piece["token"], piece["count"]) for piece in sample["pieces"]]
        places = numpy.concatenate([numpy.arange(at, at + size) for at, size in parts])
        positions = numpy.concatenate([numpy.arange(size) for _, size in parts])
        ids = tokens[places]
        yield ids, numpy.where((positions == 0) | (learned[places] == 0), -100, ids), positions


def plain_rows(name):
    dataset = leat.open(name)
    learned = dataset.mask()
    for number, ids in enumerate(dataset):
        at, ids = int(dataset.starts(number, 1)[0]), ids.astype(numpy.int64)
        yield ids, numpy.where(learned[at:at + len(ids)] == 0, -100, ids), numpy.arange(len(ids))


def compare(found, wanted, what):
    assert len(found) == len(wanted), f"{what}: {len(found)} rows, not {len(wanted)}"
    for n, ((ids, labels, places, seen), (want_ids, want_labels, positions)) in enumerate(zip(found, wanted)):
        size = len(want_ids)
        common.equal(ids[:size], want_ids, f"{what}: ids of row {n}")
        common.equal(labels[1:size], want_labels[1:], f"{what}: labels of row {n}")
        common.equal(seen[:size], positions + 1, f"{what}: what row {n} sees")
        if places is not None:
            common.equal(places[:size], positions, f"{what}: position_ids of row {n}")
        assert not any(label != -100 for label in labels[size:]), f"{what}: padding of row {n} has labels"


def run(out, resume="", **changed):
    """What the model was given, for training and for evaluation, by train() of the program that runs."""
    done = subprocess.run([sys.executable, sys.argv[0], "train", out, resume, json.dumps(changed)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-6000:]
    found = [], []
    for line in pathlib.Path(out).read_text().splitlines():
        training, ids, labels, places, seen = json.loads(line)
        found[0 if training else 1].extend(zip(ids, labels, places or [None] * len(ids), seen))
    return found


def make_model():
    import transformers
    transformers.set_seed(1)
    transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=500, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=512)).save_pretrained("model")
    common.vocabulary("model/tokenizer.json")
    pathlib.Path("model/tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>", "chat_template": PLAIN}))


def main():
    common.need("llamafactory")
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for --chat
    with common.own_folder() as folder:
        make_model()
        texts = common.corpus("texts/a.jsonl", length=300)
        conversations("chats.jsonl", texts[:60])
        conversations("heldout.jsonl", texts[60:75])
        page = common.page("llamafactory", folder)
        page.shell()
        lines = page.python()

        wanted, held = list(packed_rows("chats")), list(packed_rows("heldout"))
        trained, evaluated = run("whole")
        compare(trained, wanted[:STEPS], "packed")
        compare(evaluated, 2 * held, "packed, evaluated")  # after the last step, and after training
        trained, _ = run("resumed", resume=f"run/checkpoint-{MIDDLE}")
        compare(trained, wanted[MIDDLE:STEPS], "packed, resumed")

        lines["write"]("plain", lines["plain"])
        off = dict(tokenized_path="plain", packing=None, neat_packing=None, output_dir="plain-run",
                   per_device_train_batch_size=ROWS, per_device_eval_batch_size=ROWS)
        trained, evaluated = run("plain.notes", **off)
        compare(trained, list(plain_rows("chats"))[:STEPS * ROWS], "plain")
        compare(evaluated, 2 * list(plain_rows("heldout")), "plain, evaluated")


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"]:
        train(sys.argv[2], sys.argv[3], **json.loads(sys.argv[4]))
    else:
        main()
