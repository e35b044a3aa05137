"""check_verl.py: verl's dataset by the lines of its page, with its own sampler, collator and loss; its engines ask for
a GPU. Two epochs of batches, whose conversations are all compared with the token file, each once in an epoch; stopped
in the second one and resumed; the loss is the mean over learned tokens, by their weights."""
import json
import os
import pathlib
import sys

import common
import numpy
from check_llamafactory import make_model, plain_rows
from check_transformers import conversations

import leat

BATCH, STOP = 4, 3


def batches(config, state=None, epoch=0):
    """The batches of an epoch, as SFTTrainer has them, each with the state after it."""
    import torch
    from torchdata.stateful_dataloader import StatefulDataLoader
    from verl.trainer.sft_trainer import SFTTensorCollator, create_sft_dataset
    dataset = create_sft_dataset(config.data.train_files, config.data, None, None)
    sampler = torch.utils.data.DistributedSampler(dataset, shuffle=True, num_replicas=1, rank=0, drop_last=True)
    loader = StatefulDataLoader(dataset=dataset, batch_size=BATCH, sampler=sampler, drop_last=True, num_workers=0,
                                collate_fn=SFTTensorCollator(config.data.pad_mode))
    if state is not None:
        loader.load_state_dict(state)
    sampler.set_epoch(epoch)
    for batch in loader:
        yield batch, loader.state_dict()


def rows(batch):
    return list(zip(*([part.tolist() for part in batch[key].unbind()] for key in ("input_ids", "loss_mask",
                                                                                  "position_ids"))))


def check_loss(batch):
    """verl's loss is the mean over learned places, weighted by the mask, of what each predicts."""
    import torch
    from tensordict import TensorDict
    from verl.utils import tensordict_utils
    from verl.workers.utils.losses import sft_loss
    mask, ids = batch["loss_mask"], batch["input_ids"]
    logs = torch.nested.nested_tensor_from_jagged(torch.arange(len(ids.values())) * -0.01, ids.offsets())
    # the log-probability at a place is that of the next token, which has its weight
    total = sum(float(weights[1:] @ -values[:-1]) for weights, values in zip(mask.unbind(), logs.unbind()))
    count = float(mask.values().sum())
    data = TensorDict({"loss_mask": mask}, batch_size=[BATCH])
    tensordict_utils.assign_non_tensor(data, dp_size=1, batch_num_tokens=count, pad_mode="no_padding")
    loss, _ = sft_loss(None, {"log_probs": logs}, data)
    assert abs(float(loss) - total / count) < 1e-4, (float(loss), total / count)


def compare(found, what):
    """Each conversation is one of the dataset's, with its mask and places, and none comes twice."""
    wanted = {tuple(ids.tolist()): weights for (ids, _, _), weights in zip(plain_rows("chats"), weights_of("chats"))}
    for n, (ids, mask, places) in enumerate(found):
        weights = wanted.pop(tuple(ids))
        assert numpy.allclose(mask, numpy.concatenate([[0], weights[1:]]), atol=1e-6), f"{what}: mask of {n}"
        common.equal(places, numpy.arange(len(ids)), f"{what}: position_ids of {n}")
    assert len(wanted) < BATCH, f"{what}: {len(wanted)} are missing"


def weights_of(name):
    dataset = leat.open(name)
    for number, ids in enumerate(dataset):
        yield dataset.mask(int(dataset.starts(number, 1)[0]), len(ids)) / 255


def main():
    common.need("verl")
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for --chat
    import hydra
    import verl.trainer
    import yaml
    from omegaconf import OmegaConf
    with common.own_folder() as folder:
        make_model()
        texts = common.corpus("texts/a.jsonl", length=300)
        conversations("chats.jsonl", texts[:60])
        conversations("heldout.jsonl", texts[60:76])
        lines = [json.loads(line) for line in pathlib.Path("chats.jsonl").read_text().splitlines()]
        lines[3]["messages"][1]["weight"] = 0.4
        pathlib.Path("chats.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        page = common.page("verl", folder)
        page.shell()
        assert (leat.open("chats").mask() == 102).any(), "the weight 0.4 is not in the mask"
        with hydra.initialize_config_dir(str(pathlib.Path(verl.trainer.__file__).parent / "config"),
                                         version_base=None):
            config = hydra.compose("sft_trainer_engine")
        config = OmegaConf.merge(config, yaml.safe_load(page.take()[1]))
        page.done()

        for epoch in range(2):
            whole = list(batches(config, epoch=epoch))
            compare([row for batch, _ in whole for row in rows(batch)], f"epoch {epoch}")
        for batch, _ in whole:
            check_loss(batch)
        again = [rows(batch) for batch, _ in batches(config, whole[STOP - 1][1], epoch=1)]
        assert again == [rows(batch) for batch, _ in whole[STOP:]], "the resumed run has other batches"


if __name__ == "__main__":
    main()
