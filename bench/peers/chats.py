#!/usr/bin/env python3
"""chats.py BUILD ENVIRONMENTS: conversations in JSON lines become packed rows, by leat and by what trainers
do before they train: whole programs with their start, on all cores, with Qwen3's tokenizer and the template that TRL
trains it with. TRL is of the Python that runs this; the others have the environments of `make check-trainers`, which
are made in the folder ENVIRONMENTS when first needed. Two sizes show what grows with the data. `again` is what the
same program takes for rows of half the length and another seed, in the folder of the first run: leat makes a plan.

The conversations have 1 to 20 turns of real text, from LEAT_CORPORA, else ../shared/corpora; one in 4,000 has 20 long
turns, which fill most of a row of 128 Ki tokens. The tokenizer is the one that -t names, else Qwen 2.5's from
LEAT_VOCAB, else ../shared/vocab, with the tokens that Qwen3 added. Exit code 77: these are missing. The figures are
those of packers.py, of each size. What each program learns is counted; a number other than leat's is printed.

    chats.py BUILD ENVIRONMENTS [--only leat --only TRL] [--conversations 100000] [--rounds 1] [--json] [--keep FILE]
"""
import argparse
import contextlib
import glob
import importlib.metadata
import importlib.util
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import types
import unicodedata

import measured
import packers

sys.path.append(os.path.join(measured.ROOT, "tests", "trainers"))
import check  # noqa: E402 (tests/trainers is not a package)

LONG_EVERY, LONG_LETTERS = 4000, 400_000  # 90 to 120 thousand tokens
MOST_SECONDS = 7200  # of a run
FIGURES = [(f"{title}{size}", f"{of}_{key}", ",.0f") for of, size in (("quarter", " 1/4"), ("whole", ""))
           for title, key in (("rows", "rows"), ("s", "s"), ("CPU s", "cpu_s"), ("MiB", "mib"),
                              ("     learned", "learned"))
           if (of, key) != ("quarter", "learned")] + [("again s", "again_s", ",.1f")]
QWEN3_ADDED = ("<tool_response>", "</tool_response>", "<think>", "</think>")
CORES = os.cpu_count()

# ---- Conversations


def documents(paths):
    """The texts of the files in turns, again and again, but those with tokens of the template, which leat takes as
    text, and those that Unicode's normal form C would change, which it rejects where a mask is wanted."""
    while True:
        with contextlib.ExitStack() as opened:
            files = [opened.enter_context(open(path, encoding="utf-8")) for path in paths]
            for text in (json.loads(line)["text"] for lines in zip(*files) for line in lines):
                if "<|" not in text and "think>" not in text and unicodedata.is_normalized("NFC", text):
                    yield text


class Speaker:
    """Says the next characters of the texts; `draw` chooses how many."""

    def __init__(self, texts, draw):
        self.texts, self.draw, self.text, self.at = texts, draw, "", 0

    def say(self, least, most):
        size = int(least * (most / least) ** self.draw.random())
        while self.at + size > len(self.text):
            self.text, self.at = next(self.texts), 0
        self.at += size
        return self.text[self.at - size:self.at].strip() or "So it is."


def make_conversations(paths, count, out):
    draw = random.Random(7)
    some, english = Speaker(documents(paths), draw), Speaker(documents(paths[:1]), draw)
    with open(out, "w", encoding="utf-8") as to:
        for number in range(count):
            long = number % LONG_EVERY == LONG_EVERY // 2 or number == count // 8
            messages = []
            for _ in range(20 if long else draw.randint(1, 20)):
                answer = english.say(LONG_LETTERS // 20, LONG_LETTERS // 20) if long else some.say(40, 800)
                messages += [{"role": "user", "content": some.say(20, 200)}, {"role": "assistant", "content": answer}]
            to.write(json.dumps({"messages": messages}) + "\n")


# ---- What is measured, by the Python that has the packages (--here): each returns the Arrow files of its rows, or how
# many rows there are and how many of their tokens are learned


def leat(job, to=""):
    import leat as package
    packed = job.out + "/packed"
    if not job.again:
        with open(job.out + "/pack.json", "wb") as said:
            subprocess.run([job.build + "/leat", "pack", "-t", job.model, "--chat", "tokenizer", "--memory", job.memory,
                            "--json", "-o", packed, job.path], check=True, stdout=said)
    plan = package.Plan(packed, job.seq_len, job.seed, order="fit", epochs=1)
    pathlib.Path(job.rows + ".plan").write_text(plan.text, encoding="utf-8")
    if to:
        made = package.export(plan, job.rows, to)
        return {"rows": made.rows, "learned": made.learned}
    return {"rows": len(plan),
            "learned": json.loads(pathlib.Path(job.out, "pack.json").read_text(encoding="utf-8"))["learned"]["tokens"]}


def trl(job):
    """The preparation of its trainer."""
    import datasets
    import transformers
    import trl as package
    args = package.SFTConfig(
        job.out + "/run", max_length=job.seq_len, packing=True, packing_strategy="bfd", seed=job.seed,
        shuffle_dataset=True, assistant_only_loss=True, dataset_num_proc=CORES, use_cpu=True, bf16=False, report_to=[],
        disable_tqdm=True)
    made = package.SFTTrainer(
        transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained(job.model)), args,
        processing_class=transformers.AutoTokenizer.from_pretrained(job.model),
        train_dataset=datasets.load_dataset("json", data_files=job.path, split="train")).train_dataset
    return {"files": [file["filename"] for file in made.cache_files]}


def llamafactory(job):
    """What it writes as tokenized_path, from where training goes on."""
    from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
    from llamafactory.hparams import get_train_args
    from llamafactory.model import load_tokenizer
    tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
    pathlib.Path(job.out, "dataset_info.json").write_text(json.dumps({"chats": {
        "file_name": job.path, "formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": tags}}))
    model, data, training, _, _ = get_train_args({
        "model_name_or_path": job.model, "stage": "sft", "do_train": True, "finetuning_type": "full", "use_cpu": True,
        "output_dir": job.out + "/run", "dataset": "chats", "dataset_dir": job.out, "template": "qwen3",
        "cutoff_len": job.seq_len, "packing": True, "neat_packing": True, "preprocessing_num_workers": CORES,
        "tokenized_path": job.rows, "seed": job.seed, "report_to": "none"})
    tokenizer = load_tokenizer(model)["tokenizer"]
    get_dataset(get_template_and_fix_tokenizer(tokenizer, data), model, data, training, "sft", tokenizer)
    return {"files": glob.glob(job.rows + "/train/*.arrow")}


def axolotl(job):
    """Its command preprocess, and the rows that its sampler makes of what that wrote, when training begins."""
    import numpy
    from axolotl.cli.preprocess import do_cli
    from axolotl.utils.samplers import MultipackBatchSampler, get_dataset_lengths
    from datasets import load_from_disk
    sys.argv[1:] = [job.rows + ".yaml"]
    pathlib.Path(sys.argv[1]).write_text(json.dumps({
        "base_model": job.model, "tokenizer_config": job.model, "sequence_len": job.seq_len, "sample_packing": True,
        "datasets": [{"path": job.path, "ds_type": "json", "type": "chat_template", "field_messages": "messages"}],
        "dataset_prepared_path": job.rows, "dataset_num_proc": CORES, "seed": job.seed, "output_dir": job.out + "/run",
        "chat_template": "tokenizer_default", "eot_tokens": ["<|im_end|>"], "micro_batch_size": 1, "num_epochs": 1,
        "gradient_accumulation_steps": 1, "learning_rate": 1e-4, "bf16": False,
        "attn_implementation": "flash_attention_2"}))
    do_cli(sys.argv[1])
    (folder,) = glob.glob(job.rows + "/*/")
    made = load_from_disk(folder)
    order = numpy.random.default_rng(job.seed).permutation(len(made))
    rows = MultipackBatchSampler(order, 1, job.seq_len, get_dataset_lengths(made), 200, drop_last=False,
                                 num_processes=CORES)
    return {"files": glob.glob(folder + "*.arrow"), "rows": len(rows)}


# what it is called: what runs it; the package that it is of
PROGRAMS = {
    "leat, an index": (leat, "leat"),
    "leat, arrow-dataset": (lambda job: leat(job, "arrow-dataset"), "leat"),
    "leat, packed-parquet": (lambda job: leat(job, "packed-parquet"), "leat"),
    "TRL": (trl, "trl"),
    "axolotl": (axolotl, "axolotl"),
    "LLaMA-Factory": (llamafactory, "llamafactory"),
}

# ---- One run


def counted(made):
    """The rows of a program, and how many of their tokens are learned."""
    if "files" not in made:
        return {key: made[key] for key in ("rows", "learned")}
    import pyarrow
    import pyarrow.compute as compute
    rows = learned = 0
    for path in made["files"]:
        with pyarrow.memory_map(path) as source:
            for batch in pyarrow.ipc.open_stream(source):
                if "labels" not in batch.schema.names:  # an order of rows
                    break
                rows += batch.num_rows
                learned += compute.sum(compute.not_equal(batch.column("labels").flatten(), -100)).as_py() or 0
    return {"rows": made.get("rows", rows), "learned": learned}


def one_run(name, o, out, path, again=False):
    """Its figures; RuntimeError with its last line."""
    seq_len = o.seq_len // 2 if again else o.seq_len
    job = {"path": path, "out": out, "rows": f"{out}/rows.{seq_len}", "seq_len": seq_len, "seed": 8 if again else 7,
           "again": again, "model": o.model, "build": o.build, "memory": o.memory}
    made = os.path.join(out, "made.json")
    if os.path.exists(made):
        os.remove(made)
    # TRL and leat have no environment of their own: this Python has both
    python = check.environment(check.Trainer(PROGRAMS[name][1]), pathlib.Path(sys.prefix), o.environments)
    seconds, cpu, memory = packers.run([*map(str, python), os.path.abspath(__file__), "--here", name, json.dumps(job)],
                                       out, o.folder, ["made.json"], MOST_SECONDS)
    with open(made, encoding="utf-8") as file:
        given = json.load(file)
    return {"s": seconds, "cpu_s": cpu, "mib": memory, "version": given["version"], **counted(given)}


def measure(name, o):
    """One round of a program; {"not_measured": why} if it cannot run."""
    out = os.path.join(o.folder, "out")
    result = {}
    try:
        for size, path in o.paths.items():
            shutil.rmtree(out, ignore_errors=True)
            result.update({f"{size}_{key}": value for key, value in one_run(name, o, out, path).items()})
        return {**result, "again_s": one_run(name, o, out, path, again=True)["s"]}
    except (RuntimeError, OSError) as why:
        return {"not_measured": str(why)}
    finally:
        shutil.rmtree(out, ignore_errors=True)


def differences(peers):
    """A sentence for each program that learns another number of tokens than the first."""
    learned = [(peer["name"], peer["whole_learned"]) for peer in peers if "whole_learned" in peer]
    for name, count in learned[1:]:
        if count != learned[0][1]:
            yield f"{name} learns {count - learned[0][1]:+,.0f} tokens beside {learned[0][0]}"


# ---- All of them


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("environments", type=pathlib.Path)
    parser.add_argument("-t", "--tokenizer", help="a tokenizer.json of the family of Qwen3")
    parser.add_argument("--conversations", type=int, default=100_000, help="also a quarter as many are measured")
    parser.add_argument("--seq-len", type=int, default=1 << 17)
    parser.add_argument("--memory", default="1GiB", help="leat's limit")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--folder", help="for the data; default: a temporary one")
    measured.add_options(parser)
    o = parser.parse_args()
    o.build, o.environments = os.path.abspath(o.build), o.environments.resolve()
    o.environments.mkdir(parents=True, exist_ok=True)
    return o


def make_model(o):
    """The tokenizer's folder, as AutoTokenizer and `leat pack -t` want it, of a tiny model."""
    trl_folder = importlib.util.find_spec("trl")
    if not trl_folder:
        measured.skip("no TRL, whose template is taken")
    path = os.path.join(measured.VOCAB, "qwen2_5.tokenizer.json.zst")
    path = o.tokenizer or measured.unpacked(o.folder, path) or measured.skip(f"no {path}")
    with open(path, encoding="utf-8") as file:
        made = json.load(file)
    known = {token["content"] for token in made["added_tokens"]}
    first = max(token["id"] for token in made["added_tokens"]) + 1
    made["added_tokens"] += [
        {"id": first + k, "content": name, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": False} for k, name in enumerate(name for name in QWEN3_ADDED if name not in known)]
    os.mkdir(o.model)
    template = pathlib.Path(trl_folder.origin).with_name("chat_templates") / "qwen3_training.jinja"
    files = {"tokenizer.json": made,
             "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>",
                                       "pad_token": "<|endoftext|>",
                                       "chat_template": template.read_text(encoding="utf-8")},
             "config.json": {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "vocab_size": first + 4,
                             "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "head_dim": 8,
                             "num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 1 << 18}}
    for name, value in files.items():
        pathlib.Path(o.model, name).write_text(json.dumps(value), encoding="utf-8")


def prepare(o):
    o.model = os.path.join(o.folder, "model")
    make_model(o)
    paths = [measured.unpacked(o.folder, measured.corpus(name)) or measured.skip(f"no {measured.corpus(name)}")
             for name in measured.TEXTS]
    o.paths = {size: os.path.join(o.folder, f"{size}.jsonl") for size in ("quarter", "whole")}
    make_conversations(paths, o.conversations, o.paths["whole"])
    with open(o.paths["whole"], encoding="utf-8") as lines, open(o.paths["quarter"], "w", encoding="utf-8") as to:
        to.writelines(itertools.islice(lines, o.conversations // 4))
    for path in paths:
        os.remove(path)
    os.environ["LEAT_PYTHON"] = sys.executable


def main():
    o = options()
    with tempfile.TemporaryDirectory(dir=o.folder) as o.folder:
        prepare(o)
        names = measured.names(PROGRAMS, o.only)
        rounds = {name: [] for name in names}
        for _ in range(o.rounds):  # in turns, so that all see the same machine
            for name in names:
                if not any("not_measured" in x for x in rounds[name]):
                    rounds[name].append(measure(name, o))
        machine = measured.machine(o.build + "/leat-bench", measured.counting(o.build + "/leat-bench", o.folder, 1000))
    spread = {key: measured.spread for _, key, _ in FIGURES if key.endswith("_s") and o.rounds > 1}
    peers = [{"name": f"{name} {all_of[0].get('whole_version', '')}".strip(),
              **measured.medians(all_of, [key for _, key, _ in FIGURES], spread)} for name, all_of in rounds.items()]
    result = {"work": "conversations", "conversations": [o.conversations // 4, o.conversations], "seq_len": o.seq_len,
              "memory": o.memory, "rounds": o.rounds, "machine": machine, "peers": peers}
    if not o.json:
        print(f"{o.conversations // 4:,} conversations (1/4), then {o.conversations:,}; rows of {o.seq_len:,} tokens; "
              f"leat pack --memory {o.memory}; {machine['cpu']}, {machine['cores']} cores, {machine['kernel']}\n")
    measured.say(o, result, [(title.rjust(16), key, ">16") if key in spread else (title, key, form)
                             for title, key, form in FIGURES])
    for line in differences(peers):
        print(line, file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        _, _, program, given = sys.argv
        given = types.SimpleNamespace(**json.loads(given))
        run, package = PROGRAMS[program]
        given_back = {**run(given), "version": importlib.metadata.version(package) if package != "leat" else ""}
        pathlib.Path(given.out, "made.json").write_text(json.dumps(given_back), encoding="utf-8")
    else:
        main()
