"""train_lightning.py: the same with Lightning: a DataModule of leat's, and a checkpoint of Lightning's.

    python python/examples/train_lightning.py corpus --steps 20 --save run.ckpt
    python python/examples/train_lightning.py corpus --steps 40 --resume run.ckpt

The second run has the losses of one without a stop.
"""
import argparse
import warnings
import zlib

import lightning.pytorch as lightning
import torch
from small_gpt import GPT

import leat

warnings.filterwarnings("ignore", module="lightning")


class Model(lightning.LightningModule):
    def __init__(self, vocabulary, length):
        super().__init__()
        self.gpt = GPT(vocabulary, length)

    def training_step(self, batch, index):
        loss = self.gpt(batch.inputs, batch.labels)
        batch_sum = zlib.crc32(batch.inputs.numpy().tobytes())
        print(f"step {self.global_step} loss {float(loss)!r} batch {batch_sum:08x}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 1e-3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a dataset that leat pack has written")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seq-len", type=int, default=128)
    parser.add_argument("--save", help="write a checkpoint after the last step")
    parser.add_argument("--resume", help="a checkpoint to go on from")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)

    data = leat.DataModule(leat.Plan(options.data, options.seq_len, seed=7), options.batch)
    model = Model(leat.open(options.data).info.vocabulary, options.seq_len)
    trainer = lightning.Trainer(accelerator="cpu", devices=1, max_steps=options.steps, logger=False,
                                enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, datamodule=data, ckpt_path=options.resume, weights_only=False)
    if options.save:
        trainer.save_checkpoint(options.save)


if __name__ == "__main__":
    main()
