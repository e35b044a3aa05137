"""learned_twin.py: which tokens of a conversation training learns, derived a second time, for the modes that no trainer
has: what comes after reasoning and tool calls, parts of answers, ends of turns, and a message's own weight. The twin
finds the messages' own strings in the rendered text, in their order; each learned character has a weight, and a token
that of its heaviest one."""
import itertools
import json
import random
import re

CALLS = {  # how a template writes a tool call
    "qwen3": '<tool_call>\n{"name": "weather", "arguments": %s}\n</tool_call>',
    "llama3.1": '{"name": "weather", "parameters": %s}',
    "deepseek": "(?:(?<=<｜Assistant｜>)<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>)?"  # later ones have no header
                "function<｜tool▁sep｜>weather\n```json\n%s\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
}


def pattern(form, string):
    """The regular expression of a form, whose braces are plain ones, with a string in it."""
    before, after = re.sub("[{}]", r"\\\g<0>", form).split("%s")
    return before + re.escape(string) + after


def pieces_of(family, message):
    """(part, the expression that finds it) of what the template may show of a message."""
    content = message.get("content") or ""
    if message["role"] != "assistant":
        written = json.dumps(content, ensure_ascii=False)  # which some templates make of what a tool says
        return [("content", f"{re.escape(written)}|{re.escape(content)}")]
    thought = message.get("reasoning_content")
    out = [("reasoning", f"<think>\n{re.escape(thought)}\n</think>\n\n")] if thought else []
    out += [("content", re.escape(content))] if content else []
    lines = "\n" * (family == "qwen3" and bool(content))
    given = [json.dumps(call["function"]["arguments"], ensure_ascii=False) for call in message.get("tool_calls") or []]
    return out + [("calls", lines + pattern(CALLS[family], one)) for one in given]


def places_of(family, messages, text):
    """For each message (part, begin, end) of what the text shows of it. A template may drop reasoning alone."""
    at, out = 0, []
    for message in messages:
        out.append([])
        for part, expression in pieces_of(family, message):
            found = re.compile(expression).search(text, at)
            assert found or part == "reasoning", (part, expression, text[at:])
            follows = [re.compile(one).search(text, at) for name, one in pieces_of(family, message) if name != part]
            if found and not (part == "reasoning" and any(one and one.start() < found.start() for one in follows)):
                out[-1].append((part, *found.span()))
                at = found.end()
    return out


def weights_of(messages, learn):
    """How much the tokens of each message count: its own word, or what the mode says."""
    answers = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
    chosen = answers if learn == "assistant" else answers[-1:]
    for n, message in enumerate(messages):
        weight = float(n in chosen)
        if "train" in message or "weight" in message:
            weight = message.get("train", 1) * message.get("weight", 1)
        yield weight, n == (answers or [None])[-1]


def learned(family, special, messages, text, learn="assistant", learn_reasoning="yes", learn_tool_calls="yes",
            learn_end="all"):
    """The weight of each character."""
    out, ends = [0.0] * len(text), []
    parts = {"content"} if learn == "final" else {"content"} | {
        part for part, say in (("reasoning", learn_reasoning), ("calls", learn_tool_calls)) if say == "yes"}
    closes = re.compile(f"[ \t\r\n]*(?:{'|'.join(map(re.escape, special))})")
    for places, (weight, last) in zip(places_of(family, messages, text), weights_of(messages, learn)):
        kept = [place for place in places if place[0] in parts]
        if learn == "final" and last:
            kept = list(itertools.takewhile(lambda place: place[0] == "content", reversed(places)))
        for _, begin, end in kept:
            out[begin:end] = [weight] * (end - begin)
        if kept and weight > 0:
            ends.append((closes.match(text, places[-1][2]), weight))
    for ending, weight in {"all": ends, "last": ends[-1:], "no": []}[learn_end]:
        if ending:
            out[ending.start():ending.end()] = [weight] * len(ending[0])
    return out


def masks(family, tokenizer, special, records, template, **learn):
    """(ids, mask) of each record, the mask in 255ths."""
    for record in records:
        tools = record["tools"] and json.loads(record["tools"])
        text = tokenizer.apply_chat_template(record["messages"], tools=tools, chat_template=template, tokenize=False)
        weights = learned(family, special, record["messages"], text, **learn)
        made = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        yield made["input_ids"], [int(max(weights[begin:max(end, begin + 1)], default=0) * 255 + 0.5)
                                 for begin, end in made["offset_mapping"]]


def with_words(records, seed):
    """The records, cut after any answer, with words of messages."""
    rng, out = random.Random(seed), []
    for record in records:
        answers = [n for n, message in enumerate(record["messages"], 1) if message["role"] == "assistant"]
        messages = [dict(message) for message in record["messages"][:rng.choice(answers)]]
        for message in messages:
            if rng.random() < 0.3:
                message[rng.choice(["train", "weight"])] = rng.choice([0, 1, True, False])
            if rng.random() < 0.2:
                message["weight"] = rng.choice([0.5, 0.1, 1 / 3])
        out.append({**record, "messages": messages})
    return out


MODES = [dict(zip(("learn", "learn_reasoning", "learn_tool_calls", "learn_end"), mode)) for mode in itertools.product(
    ("assistant", "last", "final"), ("yes", "no"), ("yes", "no"), ("all", "last", "no"))]
