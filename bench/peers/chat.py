#!/usr/bin/env python3
"""chat.py LEAT [--axolotl PYTHON] [--conversations N] [--processes N] [--repeat N]

How fast N (2) processes or threads make ids and masks of conversations: leat pack --chat beside TRL's way, which is
transformers' apply_chat_template() of each example in datasets.map(), as SFTTrainer does it with assistant_only_loss;
and axolotl's (`type: chat_template`, roles_to_train: assistant, train_on_eos: turn), with the interpreter of its
environment. The N (100,000) conversations are made of the words of examples/corpus, with a template that has
{% generation %}; the vocabulary is Qwen 2.5's (LEAT_VOCAB, else ../shared/vocab). All read JSON lines and write to a
disk. Each measurement is a fresh process, after one that warms the page cache, in turns. It prints the median of N (3)
with the least and the most, in conversations per second. All must give the same number of ids and of learned ones;
otherwise it says so and exits with 1. Exits with 77 if anything that it needs is missing. `make bench-chat` runs it in
virtual environments of their own.
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from measured import ROOT, VOCAB, skip, texts_of, unpacked

TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}"
            "{{ m.content }}<|im_end|>{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}")


def make_conversations(path, count):
    draw = random.Random(1)
    words = [word for text in texts_of(os.path.join(ROOT, "examples", "corpus", "english.jsonl"))
             for word in text.split()]

    def text(most):
        at, length = draw.randrange(len(words) - most), draw.randrange(4, most)
        return " ".join(words[at:at + length])

    with open(path, "w", encoding="utf-8") as f:
        for _ in range(count):
            messages = [{"role": "system", "content": text(20)}]
            for _ in range(draw.randrange(1, 4)):
                messages += [{"role": "user", "content": text(60)}, {"role": "assistant", "content": text(150)}]
            f.write(json.dumps({"messages": messages}) + "\n")


def make_tokenizer(folder):
    source = os.path.join(VOCAB, "qwen2_5.tokenizer.json.zst")
    os.makedirs(folder)
    os.rename(unpacked(folder, source) or skip(f"no {source}"), os.path.join(folder, "tokenizer.json"))
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as f:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>",
                   "pad_token": "<|endoftext|>", "chat_template": TEMPLATE}, f)


# ---- One measurement, in a process of its own ------------------------------------------------------------------------

def load(folder):
    import datasets
    import transformers
    return (transformers.AutoTokenizer.from_pretrained(os.path.join(folder, "tokenizer")),
            datasets.load_dataset("json", data_files=os.path.join(folder, "chats.jsonl"), split="train",
                                  cache_dir=os.path.join(folder, "cache")))


def count(rows, learned):
    """Tokens, and learned ones; only where it is asked for, since it takes long."""
    counts = [0, 0]
    for row in rows if os.environ.get("CHAT_COUNT") else ():
        counts[0] += len(row["input_ids"])
        counts[1] += learned(row)
    return counts


def trl(folder, processes):
    tokenizer, rows = load(folder)

    def tokenize(example):  # of trl/trainer/sft_trainer.py
        done = tokenizer.apply_chat_template(example["messages"], tokenize=True, return_dict=True,
                                             return_assistant_tokens_mask=True)
        return {"input_ids": done["input_ids"], "assistant_masks": done["assistant_masks"]}

    out = rows.map(tokenize, remove_columns=rows.column_names, num_proc=processes)
    return count(out, lambda row: sum(row["assistant_masks"]))


def axolotl(folder, processes):
    from axolotl.datasets import TokenizedPromptDataset
    from axolotl.prompt_strategies.chat_template import load as strategy_of
    from axolotl.utils.dict import DictDefault
    tokenizer, rows = load(folder)
    strategy = strategy_of(tokenizer, DictDefault({"chat_template": "tokenizer_default", "sequence_len": 1 << 20,
                                                   "train_on_inputs": False}), {})
    out = TokenizedPromptDataset(strategy, rows, process_count=processes)
    return count(out, lambda row: sum(label != -100 for label in row["labels"]))


PEERS = {"trl": trl, "axolotl": axolotl}


def measure(program, python, leat, folder, processes, count=False):
    """Seconds, or the counts."""
    for name in "cache", "out.leat", "out.tokens":
        path = os.path.join(folder, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)
    words = [leat, "pack", "-o", os.path.join(folder, "out"), "-t", os.path.join(folder, "tokenizer"), "--chat",
             "tokenizer", "--threads", str(processes), os.path.join(folder, "chats.jsonl")]
    if program in PEERS:
        words = [python, os.path.abspath(__file__), "--run", program, folder, "--processes", str(processes)]
    environment = dict(os.environ, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1",
                       HF_HOME=os.path.join(folder, "cache"), LEAT_PYTHON=sys.executable)
    environment.update({"CHAT_COUNT": "1"} if count else {})
    began = time.monotonic()
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stderr}")
    seconds = time.monotonic() - began
    if not count:
        return seconds
    if program in PEERS:
        return json.loads(done.stdout.splitlines()[-1])
    import leat as package
    dataset = package.open(os.path.join(folder, "out"))
    return [dataset.info.tokens, int(dataset.mask().astype(bool).sum())]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("leat", nargs="?")
    parser.add_argument("--axolotl", metavar="PYTHON")
    parser.add_argument("--run", nargs=2)
    parser.add_argument("--conversations", type=lambda n: int(float(n)), default=100000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    if asked.run:
        print(json.dumps(PEERS[asked.run[0]](asked.run[1], asked.processes)))
        return
    pythons = {"leat": sys.executable, "trl": sys.executable}
    if asked.axolotl and os.path.exists(asked.axolotl):
        pythons["axolotl"] = asked.axolotl
    elif asked.axolotl:
        print("without axolotl, which cannot be installed")
    with tempfile.TemporaryDirectory(prefix="leat-chat-") as folder:
        make_tokenizer(os.path.join(folder, "tokenizer"))
        make_conversations(os.path.join(folder, "chats.jsonl"), asked.conversations)
        counts = {program: measure(program, python, asked.leat, folder, asked.processes, count=True)
                  for program, python in pythons.items()}
        took = {program: [] for program in pythons}
        for turn in range(asked.repeat):
            for program in list(took)[::1 if turn % 2 else -1]:
                took[program].append(measure(program, pythons[program], asked.leat, folder, asked.processes))
    print(f"{asked.conversations} conversations, {counts['leat'][0]} tokens, {asked.processes} cores; per second")
    for program, seconds in took.items():
        rates = sorted(asked.conversations / s for s in seconds)
        print(f"{program:8} {statistics.median(rates):10.0f}   {rates[0]:.0f} to {rates[-1]:.0f}")
    for program in list(took)[1:]:
        print(f"leat / {program}: {statistics.median(took[program]) / statistics.median(took['leat']):.2f}")
    if any(counts[program] != counts["leat"] for program in counts):
        sys.exit(f"not the same tokens, or not the same learned ones: {counts}")


if __name__ == "__main__":
    main()
