#!/usr/bin/env python3
"""check_automodel.py: the dataset of docs/trainers/automodel.md in NeMo AutoModel's own loader, with its collator: two
ranks feed a tiny model, one goes on to the end of the data with the state of one of them. Each row is compared with the
token file. A .bin of its format is read as its own reader reads it. Its recipe needs a GPU; the model is trained by
torch."""
import os
import pathlib
import sys

import common
import numpy
import yaml
from check_transformers import TEMPLATE, conversations

LENGTH, ROWS, STEPS = 64, 4, 15


def batches(config, world, loader_type, collate):
    return [loader_type(config.build(), dp_rank=rank, dp_world_size=world, batch_size=ROWS, collate_fn=collate)
            for rank in range(world)]


def rows_of(batch, seen, n, world, rank, wanted):
    for row in range(len(batch["input_ids"])):
        sample = n + row * world + rank
        common.equal(batch["input_ids"][row], wanted[sample][0], f"inputs of sample {sample}")
        common.equal(batch["labels"][row], wanted[sample][1], f"labels of sample {sample}")
        seen.append(sample)


def conversation_rows(page, loader, collate):
    """The rows of the page's conversations, as its loader and collator give them: several in a row, and a label where
    an answer's token is predicted alone."""
    import leat
    page.shell()
    settings = yaml.safe_load(page.take()[1])["dataset"]
    config = loader.make_dataset_config(settings.pop("_target_"), {**settings, "epochs": 1})
    one, = batches(config, 1, loader.ParallelAwareDataloader, collate)
    chats, learned = numpy.fromfile("chats.tokens", "<u2").astype(numpy.int64), leat.open("chats").mask() > 0
    plan = leat.Plan("chats", settings["seq_len"], order="fit", epochs=1)
    found, most = 0, 0
    for batch in one:
        assert {len(part) for part in batch.values()} == {len(batch["input_ids"])}, "keys differ in their rows"
        for row in range(len(batch["input_ids"])):
            pieces, labels = plan.pieces(found), numpy.full(batch["labels"].shape[1], -100)
            most, found = max(most, len(pieces)), found + 1
            for piece in pieces:
                at = slice(piece.at, piece.at + piece.count - 1)
                after = slice(piece.token + 1, piece.token + piece.count)
                labels[at] = numpy.where(learned[after], chats[after], -100)
                common.equal(batch["input_ids"][row, at], chats[piece.token:after.stop - 1], f"chats of row {found}")
                common.equal(batch["position_ids"][row, at], range(piece.count - 1), f"positions of row {found}")
            common.equal(batch["labels"][row], labels, f"labels of the chats of row {found}")
    assert found == len(plan) and most > 1, f"{found} rows of {len(plan)}, with at most {most} conversations"


def own_format():
    """What its writer writes, by its own reader's definition of the format."""
    import leat
    from nemo_automodel.components.datasets.llm import nanogpt_dataset
    documents = [numpy.concatenate([[7], numpy.arange(100, 100 + n)]) for n in (5, 1, 40, 9)]
    for dtype in ("<u2", "<u4"):
        tokens = numpy.concatenate(documents).astype(dtype)
        head = numpy.zeros(nanogpt_dataset.HEADER_SIZE, "<i4")
        head[:4] = nanogpt_dataset.MAGIC, nanogpt_dataset.VERSION, len(tokens), tokens.itemsize
        with open("shard.bin", "wb") as file:
            file.write(head.tobytes() + tokens.tobytes())
        starts = numpy.cumsum([0, *map(len, documents)])[:-1]
        (1024 + starts * tokens.itemsize).astype("<i4").tofile("shard.bos.idx")
        opened = leat.open("shard.bin")
        common.equal(nanogpt_dataset.load_bin_shard("shard.bin").numpy(), tokens, "its own reader")
        assert opened.info.documents == len(documents)
        for n, document in enumerate(documents):
            common.equal(numpy.asarray(opened[n]), document, f"document {n}")
        common.clear("shard.bin.documents")


def main():
    common.need("nemo_automodel")
    from nemo_automodel.components.datasets import loader
    from nemo_automodel.components.datasets.utils import default_collater
    import torch
    import transformers
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for --chat
    with common.own_folder() as here:
        common.vocabulary()
        texts = common.corpus("data/a.jsonl")
        conversations("chats.jsonl", [text[:160] for text in texts])
        pathlib.Path("chat_template.jinja").write_text(TEMPLATE)
        page = common.page("automodel", here)
        page.shell()
        settings = yaml.safe_load(page.take()[1])["dataset"]
        conversation_rows(page, loader, default_collater)
        page.done()
        config = loader.make_dataset_config(settings.pop("_target_"), {**settings, "epochs": 1})
        tokens = common.Tokens("tokens")
        windows = (len(tokens.all) - 1) // LENGTH
        wanted = [tokens.row(line["pieces"][0]["token"], LENGTH) for line in common.order(
            "--source", "tokens", "--seq-len", LENGTH, "--seed", 1, "--epochs", 1, count=windows)]
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=512, n_positions=LENGTH, n_embd=16,
                                                                     n_layer=1, n_head=2))
        optimizer, seen = torch.optim.SGD(model.parameters(), 0.1), []

        def train(batch):
            logits = model(batch["input_ids"]).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            assert loss.isfinite()

        two = batches(config, 2, loader.ParallelAwareDataloader, default_collater)
        iterators = [iter(one) for one in two]
        for step in range(STEPS):
            for rank, iterator in enumerate(iterators):
                batch = next(iterator)
                rows_of(batch, seen, step * 2 * ROWS, 2, rank, wanted)
                train(batch)
        states = [one.state_dict() for one in two]
        one, = batches(config, 1, loader.ParallelAwareDataloader, default_collater)
        one.load_state_dict(states[1])
        for step, batch in enumerate(one):
            rows_of(batch, seen, STEPS * 2 * ROWS + step * ROWS, 1, 0, wanted)
            train(batch)
        assert sorted(seen) == list(range(windows)), "each row once"
        own_format()


main()
