"""check_axolotl.py: axolotl on the folders that its page writes: 8 steps on packed rows, and on one conversation per
row, whose ids, labels and documents are all compared with the token file; packed rows resumed after 4 steps; and
evaluated. What sees what is taken from the mask that attention gets."""
import json
import os
import pathlib
import sys

import common
from check_llamafactory import compare, make_model, packed_rows, plain_rows, run
from check_transformers import conversations

import leat

STEPS, MIDDLE, ROWS, LENGTH = 8, 4, 2, 384


def train(out, resume, **changed):
    """By the page's lines; notes what the model is given."""
    import torch
    import transformers
    import yaml
    from axolotl.cli.train import do_cli
    torch.set_num_threads(1)
    page = common.page("axolotl", pathlib.Path.cwd())
    kinds = dict(page.take() for _ in range(3))
    page.done()
    given = dict(base_model="model", special_tokens={"pad_token": "<|endoftext|>"}, sequence_len=LENGTH, num_epochs=1,
                 gradient_accumulation_steps=1, max_steps=STEPS, save_steps=MIDDLE, eval_steps=STEPS,
                 learning_rate=0.01, optimizer="adamw_torch", lr_scheduler="constant", output_dir="run", bf16=False,
                 tf32=False, attn_implementation="sdpa", resume_from_checkpoint=resume or None,
                 **yaml.safe_load(kinds["yaml"]))
    pathlib.Path("config.yml").write_text(yaml.safe_dump({**given, **changed}))
    functions = transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS
    forward, attend, seen = transformers.LlamaForCausalLM.forward, functions["sdpa"], []
    with open(out, "w", encoding="ascii") as notes:
        def noted(self, *args, **inputs):
            assert "attention_mask" not in inputs, "the mask of a row would hide what position_ids say"
            made = forward(self, *args, **inputs)
            rows = [inputs[key].tolist() for key in ("input_ids", "labels", "position_ids")]
            notes.write(json.dumps([self.training, *rows, seen.pop()]) + "\n")
            return made

        def attended(module, query, key, value, attention_mask, **options):
            mask = torch.ones(query.shape[2], query.shape[2]).tril()[None, None] if attention_mask is None else (
                attention_mask)
            assert mask.dtype in (torch.bool, torch.float32), mask.dtype
            seen.append(mask[:, 0].sum(-1).expand(query.shape[0], -1).int().tolist())
            return attend(module, query, key, value, attention_mask, **options)

        transformers.LlamaForCausalLM.forward = noted
        functions["sdpa"] = attended
        sys.argv[1:] = []  # which axolotl reads, too
        do_cli("config.yml")


def main():
    common.need("axolotl")
    os.environ.update(PATH=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",  # for --chat
                      AXOLOTL_DO_NOT_TRACK="1", HF_HUB_OFFLINE="1")
    with common.own_folder() as folder:
        make_model()
        texts = common.corpus("texts/a.jsonl", length=300)
        conversations("chats.jsonl", texts[:60])
        conversations("heldout.jsonl", texts[60:75])
        page = common.page("axolotl", folder)
        page.shell()
        lines = page.python()

        wanted, held = list(packed_rows("chats", LENGTH)), list(packed_rows("heldout", LENGTH))
        assert any((positions == 0).sum() > 1 for _, _, positions in wanted[:STEPS]), "no row has two conversations"
        trained, evaluated = run("whole")
        compare(trained, wanted[:STEPS], "packed")
        compare(evaluated, 2 * held, "packed, evaluated")  # before the first step and after the last
        trained, _ = run("resumed", resume=f"run/checkpoint-{MIDDLE}")
        compare(trained, wanted[MIDDLE:STEPS], "packed, resumed")

        plain = leat.fit(max_per_row=1)
        for name in "chats", "heldout":
            lines["write"](name, f"{name}.rows", plain)
        trained, evaluated = run("plain", micro_batch_size=ROWS, output_dir="plain-run")
        wanted, held = (list(packed_rows(name, LENGTH, plain, "--max-per-row", 1)) for name in ("chats", "heldout"))
        whole = {tuple(ids.tolist()) for ids, _, _ in plain_rows("chats")}
        assert all(tuple(ids.tolist()) in whole for ids, _, _ in wanted), "a row is not one conversation"
        compare(trained, wanted[:STEPS * ROWS], "plain")
        compare(evaluated, 2 * held, "plain, evaluated")


if __name__ == "__main__":
    if sys.argv[1:2] == ["train"]:
        train(sys.argv[2], sys.argv[3], **json.loads(sys.argv[4]))
    else:
        main()
