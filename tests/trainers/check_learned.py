"""check_learned.py learned/NAME[/published]: which tokens training learns of conversations, by leat and by the real
code of TRL, axolotl, LLaMA-Factory or verl, or by leat's own twin: the ids and the labels of every token, over the
templates of six families of models, with tools and reasoning, by the modes that both have; with vocabularies of few
ids, or with published ones. Where they differ by design, DIFFERENCES has the reason, and what exactly differs; a
difference of another kind fails, and so does a reason that no token has."""
import json
import os
import pathlib
import random
import re
import sys
from typing import NamedTuple

import common
import learned_twin

import leat


# ---- Families of templates: those that TRL's package brings, and those of leat's tests ----

class Family(NamedTuple):
    """A template, and what its tokenizer has. `end`: the token that ends a turn; `parts`: what of a conversation it
    shows (calls: an answer is either text or calls); `tokens`: its other special tokens; `llamafactory`: the name of
    its twin there."""
    template: str
    end: str
    parts: str
    tokens: tuple[str, ...]
    bos: str | None = None
    llamafactory: str = ""


CHATML = ("<|im_start|>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
HEADERS = ("<|start_header_id|>", "<|end_header_id|>")
DEEPSEEK = tuple(f"<｜{name}｜>" for name in (
    "User", "Assistant", "tool▁calls▁begin", "tool▁calls▁end", "tool▁call▁begin", "tool▁call▁end", "tool▁sep",
    "tool▁outputs▁begin", "tool▁outputs▁end", "tool▁output▁begin", "tool▁output▁end"))
FAMILIES = {
    "qwen3": Family("qwen3", "<|im_end|>", "system tools reasoning", CHATML, llamafactory="qwen3"),
    "llama3.1": Family("llama3_1", "<|eot_id|>", "system tools calls", HEADERS, "<|begin_of_text|>"),
    "llama3": Family("llama3", "<|eot_id|>", "system", HEADERS, "<|begin_of_text|>", "llama3"),
    "chatml": Family("chatml", "<|im_end|>", "system", CHATML[:1], llamafactory="chatml"),
    "deepseek": Family("deepseekv3", "<｜end▁of▁sentence｜>", "system tools calls", DEEPSEEK, "<｜begin▁of▁sentence｜>",
                       "deepseek3"),
    "gemma": Family("gemma", "<end_of_turn>", "", ("<start_of_turn>",), "<bos>", "gemma"),
    "gemma3": Family("gemma3", "<end_of_turn>", "system", ("<start_of_turn>",), "<bos>"),
    "mistral": Family("mistral", "</s>", "system", (), "<s>", "mistral"),
}


def template_of(name):
    """The text of a template, and of its variant for training if TRL has one."""
    own = common.ROOT / "tests" / "chat" / "templates" / f"{name}.jinja"
    of_trl = [folder for path in sys.path if (folder := pathlib.Path(path, "trl", "chat_templates")).is_dir()
              and (folder / "qwen3.jinja").exists()]
    found = [folder / f"{name}.jinja" for folder in of_trl if (folder / f"{name}.jinja").exists()]
    plain = (found[0] if found else own).read_text(encoding="utf-8")
    training = found and found[0].with_name(f"{name}_training.jinja")
    return plain, training.read_text(encoding="utf-8") if training and training.exists() else None


PUBLISHED = {"qwen3": "qwen2_5", "chatml": "qwen2_5", "llama3.1": "llama3_1", "llama3": "llama3_1",
             "deepseek": "deepseek_v3", "gemma": "gemma2", "gemma3": "gemma2", "mistral": "mistral_v1"}


def published(name):
    """The tokenizer.json that is published for a family, from LEAT_VOCAB or ../shared/vocab."""
    import pyarrow
    folder = os.environ.get("LEAT_VOCAB", common.ROOT.parent / "shared" / "vocab")
    path = pathlib.Path(folder, f"{PUBLISHED[name]}.tokenizer.json.zst")
    if not path.is_file():
        common.not_run(f"{path} is not at hand")
    with pyarrow.input_stream(str(path), compression="zstd") as file:
        return file.read()


def make_tokenizer(folder, family, template, vocabulary=None):
    """A tokenizer with this vocabulary, or of few ids, with pieces that go over the ends of contents, as those of Qwen
    have."""
    folder.mkdir(exist_ok=True)
    if vocabulary is None:
        train_tokenizer(folder / "tokenizer.json", family)
    else:
        (folder / "tokenizer.json").write_bytes(vocabulary)
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": family.end, "chat_template": template,
             "pad_token": family.end if vocabulary else "<pad>", **({"bos_token": family.bos} if family.bos else {})}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    from transformers import PreTrainedTokenizerFast
    return PreTrainedTokenizerFast.from_pretrained(str(folder))


def train_tokenizer(path, family):
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    special = [*filter(None, [family.bos]), family.end, *family.tokens, "<pad>"]
    made = Tokenizer(models.BPE())
    words = Regex(r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(words, "isolated"),
                                                  pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made.decoder = decoders.ByteLevel()
    joints = [f"{end}{line}" for end in ".!?)}>" for line in ("\n", "\n\n")] * 99 + ["\n\n", ' {"', '"}', '": "'] * 99
    made.train_from_iterator([*joints, common.ENGLISH.read_text(encoding="utf-8")], trainers.BpeTrainer(
        vocab_size=700, special_tokens=special, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    made.save(str(path))


# ---- Conversations ----

TOOLS = [{"type": "function", "function": {"name": "weather", "description": "The weather of a place.", "parameters": {
    "type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}}}]


def conversations(parts, count=16):
    """Records with messages and tools, of the parts that a family shows, drawn by a fixed seed."""
    rng, out = random.Random(7), []
    texts = [line for line in (json.loads(line)["text"] for line in
                               common.ENGLISH.read_text(encoding="utf-8").splitlines()) if len(line) > 400]

    def words(least=1):
        text = rng.choice(texts)
        at = rng.randrange(len(text) - 200)
        found = " ".join(text[at:at + rng.randrange(20, 160)].split()[1:-1]) or "So it is."
        before, after = ["", "Zoë: ", "1. ", "\"", "(", "👍 "], [".", "!", ")", "", ":\n\n- a\n- b"]
        return rng.choice(before) + found + rng.choice(after)

    for _ in range(count):
        messages = [{"role": "system", "content": words()}] * ("system" in parts and rng.random() < 0.5)
        tools = "tools" in parts and rng.random() < 0.5
        for _ in range(rng.randrange(1, 4)):
            messages.append({"role": "user", "content": words()})
            thought = {"reasoning_content": words()} if "reasoning" in parts and rng.random() < 0.5 else {}
            if tools and rng.random() < 0.6:
                given = {"place": words()}
                call = {"type": "function", "function": {"name": "weather", "arguments": given}}
                said = words() if "calls" not in parts and rng.random() < 0.5 else ""
                messages.append({"role": "assistant", "content": said, **thought, "tool_calls": [call]})
                messages.append({"role": "tool", "content": words()})
            messages.append({"role": "assistant", "content": words(), **thought})
        out.append({"messages": messages, "tools": json.dumps(TOOLS) if tools else None})
    return out


# ---- Rows: (ids, labels) of each conversation ----

def leat_rows(folder, records, template, **learn):
    name = str(folder / "packed")
    lines = folder / "records.jsonl"
    lines.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    (folder / "used.jinja").write_text(template, encoding="utf-8")
    leat.pack(str(lines), name, tokenizer=str(folder / "tokenizer.json"), force=True, special=True,
              chat=leat.Chat(str(folder / "used.jinja"), **learn))
    dataset = leat.open(name)
    assert len(dataset) == len(records), f"{len(dataset)} documents of {len(records)} records"
    rows = []
    for number, ids in enumerate(dataset):
        mask = dataset.mask(int(dataset.starts(number, 1)[0]), len(ids))
        rows.append(([int(one) for one in ids], [int(weight) for weight in mask]))
    return rows


def tiny_model(tokenizer):
    import transformers
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2))


def of_trl(family, tokenizer, records, plain, training):
    """By SFTTrainer's own preparation of a dataset."""
    import datasets
    import trl

    def rows(records, **config):
        args = trl.SFTConfig(output_dir="trl", use_cpu=True, bf16=False, max_length=None, report_to=[],
                             disable_tqdm=True, **config)
        made = trl.SFTTrainer(tiny_model(tokenizer), args, processing_class=tokenizer,
                              train_dataset=datasets.Dataset.from_list(records)).train_dataset
        return [(row["input_ids"], row["labels"]) for row in made]

    if training:
        tokenizer.chat_template = training
        yield "assistant_only_loss", rows(records, assistant_only_loss=True), training, {}
    tokenizer.chat_template = plain
    yield "no mask", rows(records), plain, {"learn": "all"}
    pairs = [{"prompt": record["messages"][:-1], "completion": record["messages"][-1:],
              **{key: record[key] for key in record if key != "messages"}} for record in records]
    yield "prompt and completion", rows(pairs), plain, {"learn": "last"}


def of_axolotl(family, tokenizer, records, plain, training):
    """By the strategy of datasets of type chat_template. It finds a turn by what changes in the text with another one
    in its place; with DeepSeek's tools, whose template then writes later turns differently, too much changes."""
    from axolotl.prompt_strategies.chat_template import load
    from axolotl.utils.dict import DictDefault

    if family.tokens == DEEPSEEK:
        records = conversations("system")

    def rows(records, **dataset):
        tokenizer.chat_template = plain
        given = DictDefault(chat_template="tokenizer_default", sequence_len=1 << 20, train_on_inputs=False,
                            eot_tokens=[family.end])
        strategy = load(tokenizer, given, {"chat_template": "tokenizer_default", **dataset})
        made = [strategy.tokenize_prompt(json.loads(json.dumps(record))) for record in records]
        return [(row["input_ids"], row["labels"]) for row in made]

    yield "assistant", rows(records), plain, {}, records
    yield "train_on_eos: none", rows(records, train_on_eos="none"), plain, {"learn_end": "no"}, records
    yield "train_on_eos: last", rows(records, train_on_eos="last"), plain, {"learn_end": "last"}, records
    chosen = random.Random(3)
    said = with_members(records, lambda message: chosen.random() < 0.5 if shows_all(message) else None)
    yield "message_field_training", rows(said, message_field_training="training"), plain, {}, said
    users = with_members(records, lambda message: message["role"] == "user")
    yield "roles_to_train: user", rows(records, roles_to_train=["user"]), plain, {}, users


def with_members(records, says):
    """The records whose messages have the member training, where `says` returns true or false."""
    return [{**record, "messages": [message if (word := says(message)) is None else {**message, "training": word}
                                    for message in record["messages"]]} for record in records]


def shows_all(message):
    """Returns true if every template shows the message as a turn of its own."""
    return message["role"] in ("user", "assistant")


def of_llamafactory(family, tokenizer, records, plain, training):
    """By the processor of supervised datasets. Its templates are its own code: leat gets the Jinja that it makes of
    them for the tokenizer; for Qwen3, whose answers all get a block of reasoning there, TRL's template for training."""
    from llamafactory.data.processor.supervised import SupervisedDatasetProcessor
    from llamafactory.data.template import get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments
    if not family.llamafactory:
        return
    reasons = "reasoning" in family.parts
    if reasons:  # with tools and no system, it writes two line feeds more; an answer that calls has no text there
        records = conversations(family.parts + " calls")
        records = [{**record, "messages": [{"role": "system", "content": "Be brief."}] * (
            record["messages"][0]["role"] != "system") + record["messages"]} for record in records]
    else:  # tools have another form there
        records = conversations(family.parts.replace("tools", ""))

    def rows(**arguments):
        tokenizer.chat_template = None
        given = DataArguments(template=family.llamafactory, cutoff_len=1 << 20, **arguments)
        template = get_template_and_fix_tokenizer(tokenizer, given)
        processor = SupervisedDatasetProcessor(template=template, tokenizer=tokenizer, processor=None, data_args=given)
        made = processor.preprocess_dataset({key: [one[key] for one in map(aligned, records)]
                                             for key in aligned(records[0])})
        return list(zip(made["input_ids"], made["labels"]))

    answers = rows()
    used = training if reasons else tokenizer.chat_template
    yield "answers", answers, used, {}, records
    yield "train_on_prompt", rows(train_on_prompt=True), used, {"learn": "all"}, records
    if not reasons:  # it leaves out the reasoning of earlier turns
        yield "mask_history", rows(mask_history=True), used, {"learn": "last"}, records


def aligned(record):
    """A record as LLaMA-Factory's converters make it."""
    messages, system = record["messages"], ""
    if messages[0]["role"] == "system":
        system, messages = messages[0]["content"], messages[1:]
    out = []
    for message in messages:
        role, content = message["role"], message["content"]
        if message.get("tool_calls"):
            role, content = "function", json.dumps([call["function"] for call in message["tool_calls"]])
        if message.get("reasoning_content"):
            content = f"<think>\n{message['reasoning_content']}\n</think>\n\n{content}"
        out.append({"role": "observation" if role == "tool" else role, "content": content})
    return {"_prompt": out[:-1], "_response": out[-1:], "_system": system, "_tools": record["tools"] or "",
            "_images": None, "_videos": None, "_audios": None}


def of_verl(family, tokenizer, records, plain, training):
    """By MultiTurnSFTDataset, which renders message by message; what a template does not say of one message alone, it
    refuses. For Qwen3, whose text of an answer depends on its place, TRL's template for training."""
    import pandas
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
    template = training if "reasoning" in family.parts else plain
    tokenizer.chat_template = template
    for mode, with_tools in (("answers", False), ("answers, tools", True)):
        chosen = [{**record, "tools": TOOLS} if with_tools else {"messages": record["messages"]} for record in records
                  if with_tools == bool(record["tools"])]
        if not chosen:
            continue
        pandas.DataFrame(chosen).to_parquet("verl.parquet")
        try:
            made = MultiTurnSFTDataset("verl.parquet", tokenizer, {"pad_mode": "no_padding", "max_length": 1 << 20})
            rows = [(row["input_ids"].tolist(), row["input_ids"].where(row["loss_mask"] == 1, -100).tolist())
                    for row in (made[n] for n in range(len(made)))]
        except Exception as error:  # whatever a template raises of a message alone, and what verl says of other ids
            rows = f"{type(error).__name__}: {' '.join(str(error).split())[:70]}"
        yield mode, rows, template, {}, chosen


def of_twin(family, tokenizer, records, plain, training):
    """By leat's own twin, whose labels are weights, for what no trainer has: all modes of all parts."""
    name = next(name for name, one in FAMILIES.items() if one is family)
    special = [token for token in (family.bos, family.end, *family.tokens) if token in tokenizer.get_added_vocab()]
    for number, learn in enumerate(learned_twin.MODES):
        said = learned_twin.with_words(records, number) if number % 3 else records
        mode = " ".join(learn.values())
        yield mode, list(learned_twin.masks(name, tokenizer, special, said, plain, **learn)), plain, learn, said


# ---- Differences ----

AXOLOTL = "axolotl learns no text that it finds in another answer in that place, too"
ENDS = "axolotl learns the end token alone; where a user's turn has none, leat takes the next added token for it"
ALL = "all that follows the header, or the generation prompt, is learned there; Mistral's prompt is empty"
# by trainer and mode: what differs, and why. The name of an exception: the trainer cannot do it
DIFFERENCES = {
    ("trl", "prompt and completion"): {"after the end": ALL, "empty think block": ALL, "space before the answer": ALL},
    ("axolotl", "assistant"): {"opening of reasoning": AXOLOTL},
    ("axolotl", "train_on_eos: none"): {"opening of reasoning": AXOLOTL},
    ("axolotl", "train_on_eos: last"): {"opening of reasoning": AXOLOTL},
    ("axolotl", "message_field_training"): {"opening of reasoning": AXOLOTL, "header of the next turn": ENDS},
    ("axolotl", "roles_to_train: user"): {"header of the next turn": ENDS},
    ("llamafactory", "answers"): {"after the end": ALL, "space before the answer": ALL},
    ("llamafactory", "mask_history"): {"after the end": ALL, "space before the answer": ALL},
    ("verl", "answers"): {
        "after the end": ALL,
        "first tokens of the answer": "verl leaves out as many tokens as the generation prompt has; DeepSeek's answers "
                                      "begin with fewer of them",
        "TemplateError": "the templates of Gemma and Mistral refuse a message alone",
    },
    ("verl", "answers, tools"): {"TypeError": "Llama 3.1's template writes tools into the first message of a user, "
                                              "DeepSeek's takes arguments that are a text"},
}
EMPTY = "<think>\n\n</think>\n\n"


def kind(tokenizer, end, ids, at):
    """What a token is whose label differs."""
    text = tokenizer.decode(ids[at:at + 1])
    if at and ids[at - 1] == end and not text.strip():
        return "after the end"
    if text == "<｜Assistant｜>":
        return "header of the next turn"
    began = tokenizer.decode(ids[max(at - 6, 0):at]).partition("<｜Assistant｜>")
    if began[1] and "｜" not in began[2]:
        return "first tokens of the answer"
    if not text.strip(" "):
        return "space before the answer"
    empty = tokenizer.encode(EMPTY, add_special_tokens=False)
    if any(ids[begin:begin + len(empty)] == empty for begin in range(max(at - len(empty) + 1, 0), at + 1)):
        return "empty think block"
    if text == "<think>" or (text == "\n" and at and tokenizer.decode(ids[at - 1:at]) == "<think>"):
        return "opening of reasoning"
    return f"{text!r} in {tokenizer.decode(ids[max(at - 12, 0):at + 8])!r}"


def compare(what, tokenizer, end, ours, theirs):
    """The kinds of labels that differ, each with who learns more of it."""
    found = set()
    for number, ((ids, labels), (their_ids, their_labels)) in enumerate(zip(ours, theirs, strict=True)):
        at = next((at for at, (one, other) in enumerate(zip(ids, their_ids)) if one != other), 0)
        assert ids == list(their_ids), (f"{what}: ids of conversation {number} differ:\n"
                                        f"{tokenizer.decode(ids[max(at - 20, 0):at + 20])!r}\n"
                                        f"{tokenizer.decode(their_ids[max(at - 20, 0):at + 20])!r}")
        found |= {kind(tokenizer, end, ids, at) for at in range(len(ids)) if labels[at] != their_labels[at]}
    return found


TRAINERS = {"trl": of_trl, "axolotl": of_axolotl, "llamafactory": of_llamafactory, "verl": of_verl,
            "twin": of_twin}


def main(trainer, vocabulary=""):
    common.need("trl" if trainer == "twin" else trainer)
    failed, used, modes, compared = [], set(), set(), set()
    with common.own_folder() as folder:
        for name, family in FAMILIES.items():
            plain, training = template_of(family.template)
            if name == "deepseek":  # the original takes arguments that are a text
                plain = re.sub(r"{%-? (end)?generation %}", "", training)
            tokenizer = make_tokenizer(folder / name, family, plain, published(name) if vocabulary else None)
            end = tokenizer.convert_tokens_to_ids(family.end)
            records = conversations(family.parts)
            for mode, theirs, template, learn, *said in TRAINERS[trainer](family, tokenizer, records, plain, training):
                what = f"{trainer}, {name}, {mode}"
                modes.add(mode)
                if isinstance(theirs, str):
                    found = {theirs.split(":")[0]}
                else:
                    ours = leat_rows(folder / name, said[0] if said else records, template, **learn)
                    if trainer != "twin":
                        ours = [(ids, [one if weight else -100 for one, weight in zip(ids, mask)])
                                for ids, mask in ours]
                    found = compare(what, tokenizer, end, ours, theirs)
                    compared.add(mode)
                stated = DIFFERENCES.get((trainer, mode), {})
                used |= {(mode, one) for one in found}
                print(f"{what}: {', '.join(sorted(found)) or 'equal'}", flush=True)
                failed += [f"{what}: {one}" for one in sorted(found - set(stated))[:3]]
    stale = [(mode, one) for (who, mode), stated in DIFFERENCES.items() for one in stated
             if who == trainer and (mode, one) not in used]
    failed += [f"{mode}: compared with no template" for mode in sorted(modes - compared)]
    assert not failed and not stale, "\n".join([*failed, *(f"no token differs so: {one}" for one in stale)])


if __name__ == "__main__":
    main(*sys.argv[1].split("/")[1:])
