"""ranks_program.py KIND CORPUS OUT: a training program of several processes, as people start them (test_ranks.py). Each
writes to OUT.RANK a line for each batch that it trained on: its step, and the sum of each of its rows."""
import os
import sys
import warnings

import torch

import leat

warnings.filterwarnings("ignore")
BATCH, LENGTH = 4, 64


def line(step, inputs):
    return f"{step} {' '.join(str(int(n)) for n in inputs.sum(1))}\n"


def lightning(plan, out, steps, devices, resume, save):
    import lightning.pytorch as pl

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(()))

        def training_step(self, batch, index):
            with open(f"{out}.{self.global_rank}", "a", encoding="ascii") as file:
                file.write(line(self.global_step, batch.inputs))
            return self.weight ** 2

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    trainer = pl.Trainer(accelerator="cpu", devices=devices, strategy="ddp" if devices > 1 else "auto", logger=False,
                         max_steps=steps, enable_checkpointing=False, enable_progress_bar=False,
                         enable_model_summary=False)
    data = leat.DataModule(plan, BATCH * 2 // devices)
    trainer.fit(Model(), datamodule=data, ckpt_path=resume or None, weights_only=False)
    if save:
        trainer.save_checkpoint(save)


def accelerate(plan, out, steps, devices, resume, save):
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True)
    assert accelerator.num_processes == devices
    model = torch.nn.Linear(1, 1)
    loader = leat.Loader(plan, BATCH * 2 // devices, rank=accelerator.process_index, world=accelerator.num_processes,
                         device=accelerator.device)
    model, optimizer, prepared = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.1), loader)
    assert prepared is loader
    accelerator.register_for_checkpointing(loader)
    if resume:
        accelerator.load_state(resume)
    with open(f"{out}.{accelerator.process_index}", "a", encoding="ascii") as file:
        for batch in prepared:
            file.write(line(batch.cursor // (2 * BATCH) - 1, batch.inputs))
            accelerator.backward(model(batch.inputs.float().mean()[None]).sum())
            optimizer.step()
            if batch.cursor == steps * 2 * BATCH:
                break
    if save:
        accelerator.save_state(save)
    accelerator.end_training()


def transformers(plan, out, steps, devices, resume, save):
    import transformers as hf
    rank = int(os.environ.get("RANK", "0"))

    class Trainer(leat.LoaderMixin, hf.Trainer):
        def training_step(self, model, inputs, *more):
            with open(f"{out}.{rank}", "a", encoding="ascii") as file:
                file.write(line(self.state.global_step, inputs["input_ids"][:, :-1]))  # the last one is a label
            return super().training_step(model, inputs, *more)

    arguments = hf.TrainingArguments(os.path.dirname(save or resume), max_steps=steps, save_steps=steps, report_to=[],
                                     use_cpu=True, disable_tqdm=True, per_device_train_batch_size=BATCH * 2 // devices,
                                     save_strategy="steps" if save else "no")
    model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=50257, n_positions=LENGTH + 1, n_embd=8, n_layer=1, n_head=1))
    options = dict(ranks="ddp") if devices > 1 else dict(rank=0, world=1)
    loader = leat.Loader(plan, BATCH * 2 // devices, style="huggingface", **options)
    Trainer(model, arguments, loader=loader).train(resume_from_checkpoint=resume or None)


def main(kind, corpus, out, steps, devices, resume="", save=""):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    globals()[kind](leat.Plan(corpus, LENGTH, 5), out, int(steps), int(devices), resume, save)


if __name__ == "__main__":
    main(*sys.argv[1:])
