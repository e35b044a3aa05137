"""check_ms_swift.py: ms-swift by the lines of its page: 8 steps on packed rows, and on one conversation per row, whose
ids, labels, weights and documents are all compared with the token file; resumed after 4 steps, evaluated, and shuffled
by ms-swift. Its refusal to pack without flash attention is taken away here: with sdpa, transformers finds the documents
by position_ids."""
import json
import multiprocessing
import os
import pathlib
import sys

import common
import numpy
from check_llamafactory import make_model
from check_transformers import conversations

import leat

STEPS, MIDDLE, ROWS = 8, 4, 2


def train(out, given):
    """By the page's configuration; notes what the trainer is given."""
    import torch
    from swift.arguments import SftArguments
    from swift.pipelines import sft_main
    from swift.trainers import Seq2SeqTrainer
    torch.set_num_threads(1)
    check, loss = SftArguments._check_padding_free, Seq2SeqTrainer.compute_loss

    def allowed(self):
        self.attn_impl = "flash_attn"
        check(self)
        self.attn_impl = "sdpa"

    with open(out, "w", encoding="ascii") as notes:
        def noted(self, model, inputs, *args, **options):
            names = ("input_ids", "labels", "loss_scale", "position_ids", "attention_mask")
            rows = [inputs[name].tolist() if inputs.get(name) is not None else None for name in names]
            found = loss(self, model, inputs, *args, **options)
            value = found[0] if isinstance(found, tuple) else found
            notes.write(json.dumps([model.training, float(value.detach()), *rows]) + "\n")
            return found

        SftArguments._check_padding_free, Seq2SeqTrainer.compute_loss = allowed, noted
        sft_main([word for name, value in given.items() for word in (f"--{name}", str(value))])


def rows_of(name, order):
    """The rows of the plan on the page, by `leat order` and numpy: ids, labels, weights, positions."""
    tokens = numpy.fromfile(f"{name}.tokens", "<u2").astype(numpy.int64)
    weights, plan = leat.open(name).mask() / 255, leat.Plan(name, 128, seed=42, order=order, epochs=1)
    for sample in common.order("--source", name, "--seq-len", 128, "--seed", 42, "--order", order, "--epochs", 1,
                               count=len(plan)):
        parts = [(piece["token"], piece["count"]) for piece in sample["pieces"]]
        places = numpy.concatenate([numpy.arange(at, at + size) for at, size in parts])
        positions = numpy.concatenate([numpy.arange(size) for _, size in parts])
        ids = tokens[places]
        yield ids, numpy.where((positions == 0) | (weights[places] == 0), -100, ids), weights[places], positions


def run(out, settings, **changed):
    """The rows that were trained on, those evaluated, and the losses of the batches trained on."""
    usual = dict(model="model", model_type="llama", template="llama3_2", tuner_type="full", torch_dtype="float32",
                 output_dir="run", add_version=False, max_steps=STEPS, save_steps=MIDDLE, logging_steps=1,
                 eval_strategy="steps", eval_steps=STEPS, learning_rate=0.01, report_to="none", use_cpu=True,
                 gradient_accumulation_steps=1, train_dataloader_shuffle=False, seed=1,
                 check_model=False, use_logits_to_keep=False)  # the latter cuts the labels that are noted
    process = multiprocessing.get_context("fork").Process(target=train, args=(out, {**usual, **settings, **changed}))
    process.start()
    process.join()
    assert process.exitcode == 0, f"{out}: the trainer ended with {process.exitcode}"
    found, losses = ([], []), []
    for line in pathlib.Path(out).read_text().splitlines():
        training, loss, *parts = json.loads(line)
        found[0 if training else 1].extend(zip(*(part or [None] * len(parts[0]) for part in parts)))
        if training:
            losses.append(loss)
    return *found, losses


def compare(found, wanted, what):
    assert len(found) == len(wanted), f"{what}: {len(found)} rows, not {len(wanted)}"
    for n, ((ids, labels, weights, places, mask), (want_ids, want_labels, want_weights, positions)) in enumerate(
            zip(found, wanted)):
        size = len(want_ids)
        common.equal(ids[:size], want_ids, f"{what}: ids of row {n}")
        common.equal(labels[:size], want_labels, f"{what}: labels of row {n}")
        assert not any(label != -100 for label in labels[size:]), f"{what}: padding of row {n} has labels"
        assert numpy.allclose(weights[:size], want_weights), f"{what}: weights of row {n}"
        if mask is None:
            common.equal(places, positions, f"{what}: position_ids of row {n}")
        else:
            common.equal(mask, [1] * size + [0] * (len(ids) - size), f"{what}: attention_mask of row {n}")


def first_loss(rows):
    """The loss of the model before training: over labels that count, by their weights, each document alone."""
    import torch
    import transformers
    model = transformers.LlamaForCausalLM.from_pretrained("model", dtype=torch.float32)
    total = count = 0
    for ids, labels, weights, positions in rows:
        begins = numpy.flatnonzero(positions == 0)
        for begin, end in zip(begins, [*begins[1:], len(ids)]):
            with torch.no_grad():
                logits = model(input_ids=torch.from_numpy(ids[begin:end])[None]).logits[0, :-1]
            losses = torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels[begin + 1:end]),
                                                       reduction="none")
            total += float(losses @ torch.from_numpy(weights[begin + 1:end]).float())
            count += int((labels[begin:end] != -100).sum())
    return total / count


def main():
    common.need("swift")
    os.environ.update(USE_HF="1", HF_HUB_OFFLINE="1")
    import swift.pipelines  # noqa: F401 (once, for all processes that train)
    import yaml
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for --chat
    with common.own_folder() as folder:
        make_model()
        texts = common.corpus("texts/a.jsonl", length=300)
        conversations("chats.jsonl", texts[:60])
        conversations("heldout.jsonl", texts[60:75])
        lines = [json.loads(line) for line in pathlib.Path("chats.jsonl").read_text().splitlines()]
        for line in lines[::3]:
            line["messages"][1]["weight"] = 0.4
        pathlib.Path("chats.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        page = common.page("ms-swift", folder)
        page.shell()
        pathlib.Path("packed_rows.py").write_text(page.take()[1])
        settings = yaml.safe_load(page.take()[1])
        page.done()

        assert (leat.open("chats").mask() == 102).any(), "the weight 0.4 is not in the mask"
        wanted, held = list(rows_of("chats", "fit")), list(rows_of("heldout", "fit"))
        assert max(len(numpy.flatnonzero(row[3] == 0)) for row in wanted[:STEPS]) > 1, "no row has two conversations"
        trained, evaluated, losses = run("whole", settings)
        compare(trained, wanted[:STEPS], "packed")
        compare(evaluated, held, "packed, evaluated")
        assert abs(losses[0] - first_loss(wanted[:1])) < 1e-4, (losses[0], first_loss(wanted[:1]))
        trained, _, again = run("resumed", settings, resume_from_checkpoint=f"run/checkpoint-{MIDDLE}")
        compare(trained, wanted[MIDDLE:STEPS], "packed, resumed")
        assert numpy.allclose(again, losses[MIDDLE:]), (again, losses)

        off = dict(packing=False, output_dir="plain", per_device_train_batch_size=ROWS, per_device_eval_batch_size=ROWS)
        wanted, held = list(rows_of("chats", "documents")), list(rows_of("heldout", "documents"))
        trained, evaluated, losses = run("plain.notes", settings, **off)
        compare(trained, wanted[:STEPS * ROWS], "plain")
        compare(evaluated, held, "plain, evaluated")
        assert abs(losses[0] - first_loss(wanted[:ROWS])) < 1e-4, (losses[0], first_loss(wanted[:ROWS]))
        whole, _, _ = run("shuffled", settings, train_dataloader_shuffle=True, output_dir="shuffled-run")
        trained, _, _ = run("shuffled-resumed", settings, train_dataloader_shuffle=True, output_dir="shuffled-run",
                            resume_from_checkpoint=f"shuffled-run/checkpoint-{MIDDLE}")
        assert trained == whole[MIDDLE:], "the resumed run has other rows"


if __name__ == "__main__":
    main()
