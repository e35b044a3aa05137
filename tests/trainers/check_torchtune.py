"""check_torchtune.py: torchtune's recipe for one device, with the component of its page: two epochs of packed rows, and
of one conversation per row, whose tokens, labels, positions and documents are all compared with the token file; and
packed rows resumed after the first epoch."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import common
import numpy
from check_llamafactory import make_model
from check_transformers import conversations

import leat

LENGTH, ROWS, EPOCHS = 256, 2, 2
MODEL = dict(vocab_size=500, num_layers=1, num_heads=2, num_kv_heads=2, embed_dim=16, max_seq_len=512,
             intermediate_dim=16)


def train(out, **changed):
    """By the recipe; notes what the model is given."""
    import torch
    import torchtune
    import yaml
    from omegaconf import OmegaConf
    torch.set_num_threads(1)
    path = pathlib.Path(torchtune.__file__).parents[1] / "recipes" / "full_finetune_single_device.py"
    spec = importlib.util.spec_from_file_location("recipe", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    page = common.page("torchtune", pathlib.Path.cwd())
    kinds = dict(page.take() for _ in range(3))
    page.done()
    pathlib.Path("chat_data.py").write_text(kinds["python"])
    config = OmegaConf.create({
        "output_dir": "run", "model": {"_component_": "torchtune.models.llama3_2.llama3_2", **MODEL},
        "tokenizer": {"_component_": "check_torchtune.Tokenizer"}, "seed": 1,
        "checkpointer": {"_component_": "torchtune.training.FullModelTorchTuneCheckpointer", "model_type": "LLAMA3_2",
                         "checkpoint_dir": "first", "checkpoint_files": ["model.pt"], "output_dir": "${output_dir}",
                         "recipe_checkpoint": None},
        "resume_from_checkpoint": False, "batch_size": ROWS, "epochs": EPOCHS, "max_steps_per_epoch": None,
        "optimizer": {"_component_": "torch.optim.SGD", "lr": 0.01}, "gradient_accumulation_steps": 1,
        "loss": {"_component_": "torchtune.modules.loss.CEWithChunkedOutputLoss"}, "optimizer_in_bwd": False,
        "compile": False, "device": "cpu", "dtype": "fp32", "log_every_n_steps": 1,
        "metric_logger": {"_component_": "torchtune.training.metric_logging.DiskLogger", "log_dir": "logs"}})
    config = OmegaConf.merge(config, yaml.safe_load(kinds["yaml"]), changed)

    with open(out, "w", encoding="ascii") as notes:
        class Noted(made.FullFinetuneRecipeSingleDevice):
            def _loss_step(self, batch):
                ids, labels = batch["tokens"], batch["labels"]
                seen = batch["mask"].sum(-1) if "mask" in batch else torch.arange(ids.shape[1]).expand_as(ids) + 1
                places = batch.get("input_pos", seen - 1)
                notes.write(json.dumps([self.epochs_run, *(part.tolist() for part in (ids, labels, places, seen))])
                            + "\n")
                loss = super()._loss_step(batch)
                assert loss.isfinite()
                return loss

        recipe = Noted(cfg=config)
        recipe.setup(cfg=config)
        recipe.train()
        recipe.cleanup()


class Tokenizer:
    """All that a recipe asks of a tokenizer whose dataset needs none."""
    pad_id = 0


def run(out, **changed):
    """The rows that the model was given, by epoch."""
    here = str(pathlib.Path(__file__).parent)
    done = subprocess.run([sys.executable, __file__, "train", out, json.dumps(changed)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{here}"})
    assert done.returncode == 0, done.stdout[-6000:]
    found = {}
    for line in pathlib.Path(out).read_text().splitlines():
        epoch, *parts = json.loads(line)
        found.setdefault(epoch, []).extend(zip(*parts))
    return found


def wanted_rows(order):
    """Of each row the tokens that are inputs, the labels that they predict, and their places in their documents."""
    tokens = numpy.fromfile("chats.tokens", "<u2").astype(numpy.int64)
    learned, plan = leat.open("chats").mask(), leat.Plan("chats", LENGTH - 1, seed=7, order=order, epochs=1)
    for sample in common.order("--source", "chats", "--seq-len", LENGTH - 1, "--seed", 7, "--order", order, "--epochs",
                               1, count=len(plan)):
        parts = [(piece["token"], piece["count"] - 1) for piece in sample["pieces"]]
        places = numpy.concatenate([numpy.arange(at, at + size) for at, size in parts])
        labels = numpy.where(learned[places + 1] == 0, -100, tokens[places + 1])
        yield tokens[places], labels, numpy.concatenate([numpy.arange(size) for _, size in parts])


def compare(found, wanted, what):
    assert len(found) == len(wanted) // ROWS * ROWS, f"{what}: {len(found)} rows of {len(wanted)}"
    for n, ((ids, labels, places, seen), (want_ids, want_labels, positions)) in enumerate(zip(found, wanted)):
        size = len(want_ids)
        common.equal(ids[:size], want_ids, f"{what}: tokens of row {n}")
        # the label that the recipe's loss has for a place is the one after it
        common.equal(labels[1:size + 1], want_labels, f"{what}: labels of row {n}")
        common.equal(places[:size], positions, f"{what}: input_pos of row {n}")
        common.equal(seen[:size], positions + 1, f"{what}: what row {n} sees")
        assert not any(label != -100 for label in labels[size + 1:]), f"{what}: padding of row {n} has labels"


def main():
    common.need("torchtune")
    import torch
    from torchtune.models.llama3_2 import llama3_2
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for --chat
    with common.own_folder() as folder:
        make_model()
        os.mkdir("first")
        torch.save(llama3_2(**MODEL).state_dict(), "first/model.pt")
        texts = common.corpus("texts/a.jsonl", length=300)
        conversations("chats.jsonl", texts[:60])
        common.page("torchtune", folder).shell()

        packed, alone = list(wanted_rows("fit")), list(wanted_rows("documents"))
        assert max(numpy.count_nonzero(positions == 0) for _, _, positions in packed) > 1, "no row has two documents"
        whole = run("whole")
        for epoch in range(EPOCHS):
            compare(whole[epoch], packed, f"packed, epoch {epoch}")
        resumed = run("resumed", resume_from_checkpoint=True,
                      checkpointer={"checkpoint_files": ["epoch_0/model-00001-of-00001.bin"]})
        assert list(resumed) == [1], "the resumed run has other epochs than the second one"
        compare(resumed[1], packed, "packed, resumed")
        plain = run("plain", output_dir="plain-run", dataset={"packed": False})
        for epoch in range(EPOCHS):
            compare(plain[epoch], alone, f"plain, epoch {epoch}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"]:
        train(sys.argv[2], **json.loads(sys.argv[3]))
    else:
        main()
