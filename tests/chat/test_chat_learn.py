#!/usr/bin/env python3
"""test_chat_learn.py: what of conversations is learned, by all modes, parts and words of messages, against a twin that
builds the text from pieces by itself: a template with reasoning and tool calls, with {% generation %} and without, on
random conversations. What no weight can be, and an answer that is to be learned and is not shown, is a reject. (Once
the contents of answers were learned and nothing else: of an answer of tool calls alone nothing, without a word.)"""
import json

from chat_reference import SPECIAL, leat, packed, rejects, render, rng, write

BODY = ("{%- if m.reasoning_content %}{{ '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}"
        "{{- m.content or '' }}{%- for c in m.tool_calls or [] %}{{ '\\n' if m.content or not loop.first else '' }}"
        "{{- '<tool_call>\\n{\"name\": \"' + c.function.name + '\", \"arguments\": ' }}"
        "{{- c.function.arguments | tojson }}{{- '}\\n</tool_call>' }}{%- endfor %}{{- '<|im_end|>' }}")
TURNS = ("{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{% if m.role == 'assistant' %}{% generation %}"
         + BODY + "{% endgeneration %}{% else %}{{ m.content + '<|im_end|>' }}{% endif %}{{ '\\n' }}{% endfor %}"
         "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
PLAIN = TURNS.replace("{% generation %}", "").replace("{% endgeneration %}", "")


def pieces_of(message):
    """(text, part): header, reasoning, content, calls, end, and what follows it."""
    out = [(f"<|im_start|>{message['role']}\n", "header")]
    thought, content = message.get("reasoning_content"), message.get("content") or ""
    if thought:
        out.append((f"<think>\n{thought}\n</think>\n\n", "reasoning"))
    out.append((content, "content"))
    for n, call in enumerate(message.get("tool_calls") or []):
        call = call["function"]
        line = json.dumps(call["arguments"], ensure_ascii=False)
        out.append(("\n" * bool(content or n) + f'<tool_call>\n{{"name": "{call["name"]}", "arguments": {line}}}\n'
                    "</tool_call>", "calls"))
    return [*((text, part) for text, part in out if text), ("<|im_end|>", "end"), ("\n", "after")]


def expected(messages, says, learn, reasoning, calls, end):
    """(ids, mask)"""
    answers = [n for n, m in enumerate(messages) if m["role"] == "assistant"]
    chosen = {"assistant": answers, "all": range(len(messages))}.get(learn, answers[-1:])
    parts = {"content"}
    if learn != "final":
        parts |= {name for name, on in (("reasoning", reasoning), ("calls", calls)) if on == "yes"}
    made, ends = [], []
    for n, message in enumerate(messages):
        word = 1.0
        given = [message[name] for name in ("train", "weight") if name in message]
        for value in given:
            word *= value
        weight = word if given else float(n in chosen)
        pieces = pieces_of(message)
        learned = [part in parts for _, part in pieces]
        if learn == "final" and n == answers[-1:][0] if answers else False:
            thoughts = [k for k, (_, part) in enumerate(pieces) if part in ("reasoning", "calls")]
            learned = [on and k > max(thoughts, default=-1) for k, on in enumerate(learned)]
        if says and message["role"] == "assistant" and len(pieces) == 3:  # its end is all that it has
            learned[1] = True
        counts = weight > 0 and (any(learned) or learn == "all")
        for (text, part), on in zip(pieces, learned):
            if part == "end":
                ends += [len(made)] * counts
                made.append((text, weight * (counts and end != "no")))
            elif part in ("header", "after"):
                made.append((text, (weight if part == "header" else None) if learn == "all" else 0))
            else:
                made.append((text, weight * on))
    if learn == "all":  # what follows a turn is of the next one
        for k, (text, weight) in enumerate(made):
            if weight is None:
                made[k] = text, made[k + 1][1] if k + 1 < len(made) else next(w for _, w in reversed(made[:k])
                                                                              if w is not None)
    for k in ends[:-1] if end == "last" else ():
        made[k] = made[k][0], 0
    ids, mask = [], []
    for text, weight in made:
        new, at = [], 0
        while at < len(text):
            special = next((s for s in SPECIAL if text.startswith(s, at)), None)
            new += [256 + SPECIAL.index(special)] if special else list(text[at].encode())
            at += len(special or text[at])
        ids += new
        mask += [int(weight * 255 + 0.5)] * len(new)
    return "".join(text for text, _ in made), ids, mask


def words(letters, most=6):
    return "".join(rng.choices(letters, k=rng.randrange(1, most)))


def answer():
    made = {"role": "assistant", "content": words("ΑΒ ?")} if rng.random() < 0.8 else {"role": "assistant"}
    if rng.random() < 0.4:
        made["reasoning_content"] = words("жщ\n")
    for _ in range(rng.choice([0, 0, 1, 2])):
        made.setdefault("tool_calls", []).append({"function": {"name": words("fg"), "arguments": {
            words("k"): rng.choice([1, True, None, "v", 2.5, [], {"l": [1, "x y"]}])}}})
    return made


def conversation():
    made = [{"role": "system", "content": "s"}] * (rng.random() < 0.3)
    for _ in range(rng.randrange(1, 4)):
        made += [{"role": "user", "content": words("ab c")}, answer()]
        if "tool_calls" in made[-1] and rng.random() < 0.7:
            made += [{"role": "tool", "content": words("01")}, answer()]
    for message in made:
        if rng.random() < 0.15:
            message[rng.choice(["train", "weight"])] = rng.choice([0, 1, True, False])
        if rng.random() < 0.1:
            message["weight"] = rng.choice([0.5, 0.1, 1 / 3])
    return made


checked = 0
for turn in range(30):
    says = turn % 2 == 1
    learn, reasoning, calls, end = (rng.choice(["assistant", "last", "final", "all"]), rng.choice(["yes", "yes", "no"]),
                                    rng.choice(["yes", "yes", "no"]), rng.choice(["all", "all", "last", "no"]))
    if turn < 2:
        learn, reasoning, calls, end = "assistant", "yes", "yes", "all"
    if says and learn == "all":
        learn = "assistant"
    many = [conversation() for _ in range(40)]
    if learn == "all":  # a message of which nothing is shown has no place in the text
        many = [m for m in many if not any(len(pieces_of(one)) < 4 for one in m)]
    write("turns.jinja", TURNS if says else PLAIN)
    write("c.jsonl", "".join(json.dumps({"messages": m}) + "\n" for m in many))
    leat("-o", "out", "--chat", "turns.jinja", "--learn", learn, "--learn-reasoning", reasoning, "--learn-tool-calls",
         calls, "--learn-end", end, "c.jsonl")
    have = packed()
    assert len(have) == len(many), rejects()
    for messages, made in zip(many, have):
        text, ids, mask = expected(messages, says, learn, reasoning, calls, end)
        assert render(TURNS if says else PLAIN, messages)[0] == text, messages
        assert made == (ids, mask), (says, learn, reasoning, calls, end, messages, [
            (bytes([i]) if i < 256 else SPECIAL[i - 256], a, b) for i, a, b in zip(ids, made[1], mask) if a != b])
        checked += 1
print(f"{checked} conversations")

# ---- Generation prompts, and templates of models --------------------------------------------------------------------


def learned(template, messages, *options):
    """The texts that are learned, special tokens too."""
    write("turns.jinja", template)
    write("c.jsonl", json.dumps({"messages": messages}) + "\n")
    leat("-o", "out", "--chat", "turns.jinja", *options, "c.jsonl")
    out, before = [], 0
    for i, weight in zip(*packed()[0]):
        if weight and not before:
            out.append(b"")
        if weight:
            out[-1] += bytes([i]) if i < 256 else SPECIAL[i - 256].encode()
        before = weight
    return [part.decode() for part in out]


CALL = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": [
    {"function": {"name": "f", "arguments": {"a": True}}}]}]
THOUGHT = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "c", "reasoning_content": "r"}]
INLINE = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "<think>\nr\n</think>\n\nc"}]
EMPTY = ("{{ '<think>\\n\\n</think>\\n\\n' if not m.reasoning_content else '' }}")
called = '<tool_call>\n{"name": "f", "arguments": {"a": true}}\n</tool_call><|im_end|>'
assert learned(PLAIN, CALL) == [called]
# an empty think block is never learned; nor is one that the generation prompt opens
empty = PLAIN.replace(BODY, EMPTY + BODY).replace("assistant\\n' }}{% endif %}",
                                                  "assistant\\n' }}{% if enable_thinking is false %}"
                                                  "{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}{% endif %}")
assert learned(empty, CALL) == [called]
assert learned(empty, [CALL[0], {"role": "assistant", "content": "c"}]) == ["c<|im_end|>"]
assert learned(empty, THOUGHT) == ["<think>\nr\n</think>\n\nc<|im_end|>"]
opened = PLAIN.replace("assistant\\n' }}{% endif %}", "assistant\\n<think>\\n' }}{% endif %}")
assert learned(opened, THOUGHT) == ["r\n</think>\n\nc<|im_end|>"]
# a generation prompt that opens a think block, and turns without one: DeepSeek's. (What opens a call was not learned.)
headed = ("{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}{% else %}[/INST]{{ m.content }}"
          "{% for c in m.tool_calls %}[CALLS] {{ c.function.name }}{% endfor %}</s>{% endif %}{% endfor %}"
          "{% if add_generation_prompt %}{{ '[/INST]<think>\n' }}{% endif %}")
assert learned(headed, CALL) == ["[CALLS] f</s>"]
# reasoning that stands in the content
simple = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
assert learned(simple, INLINE) == [INLINE[1]["content"] + "<|im_end|>"]
assert learned(simple, INLINE, "--learn", "final") == learned(simple, INLINE, "--learn-reasoning", "no") == \
    ["c<|im_end|>"]
# a user's turn that is to be learned, and an answer that is not; another name; no name at all
word = [{"role": "user", "content": "q", "w": 1, "train": False}, {"role": "assistant", "content": "a", "w": 0}]
assert learned(simple, word, "--message-weight", "w") == ["q<|im_end|>"]
slashed = [{name.replace("w", "w\\n"): value for name, value in message.items()} for message in word]
assert learned(simple, slashed, "--message-weight", "w\\n") == ["q<|im_end|>"]
assert learned(simple, word, "--message-weight", "none") == ["a<|im_end|>"]
assert learned(simple, word) == ["a<|im_end|>"]
assert learned(simple, [dict(word[0], role="human note", train=True), word[1]]) == ["q<|im_end|>", "a<|im_end|>"]
# TRL's and others' templates that take [/INST] for a generation prompt
inst = ("{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% elif m.tool_calls %}"
        "{{ '[CALLS] [' }}{% for c in m.tool_calls %}{{ c.function | tojson }}{% endfor %}{{ ']</s>' }}"
        "{% else %}{{ m.content }}</s>{% endif %}{% endfor %}")
assert learned(inst, CALL) == ['[CALLS] [{"name": "f", "arguments": {"a": true}}]</s>']

# ---- What is rejected -----------------------------------------------------------------------------------------------

NEITHER = "which is neither true nor false"
for message, reason in (
        ({"weight": "high"}, f'message 1 of the conversation has weight "high", {NEITHER}, nor a number from 0 to 1'),
        ({"weight": 1.5}, f"message 1 of the conversation has weight 1.5, {NEITHER}, nor a number from 0 to 1"),
        ({"loss_scale": -1}, f"message 1 of the conversation has loss_scale -1, {NEITHER}, nor a number from 0 to 1"),
        ({"train": 0.5}, f"message 1 of the conversation has train 0.5, {NEITHER}"),
        ({"loss": [1]}, f"message 1 of the conversation has loss [1], {NEITHER}"),
        ({"content": "hidden"}, "message 1 of the conversation is to be learned, and the chat template shows nothing "
                                "of its content"), ({"content": "hidden", "train": False}, None),
        # (formerly the square of its length of steps: no answer within the seconds of a conversation)
        ({"content": "hidden" * 200_000}, "message 1 of the conversation is to be learned, and the chat template shows "
                                          "nothing of its content"),
        ({"content": "<think>x</think>"}, None), ({"content": " "}, None), ({"weight": None}, None)):
    write("turns.jinja", "{% for m in messages %}{{ m.content if m.content == 'a' else '' }}<|im_end|>{% endfor %}")
    write("c.jsonl", json.dumps({"messages": [{"role": "user", "content": "q"},
                                              {"role": "assistant", "content": "a", **message}]}) + "\n")
    leat("-o", "out", "--chat", "turns.jinja", "c.jsonl")
    assert rejects() == [reason] * bool(reason), (message, rejects())
    if reason:
        leat("-o", "out", "--chat", "turns.jinja", "--max-rejects", "0", "c.jsonl", code=4)
# roles of one's own are none of the assistant's
write("c.jsonl", '{"messages":[{"role":"model","content":"hidden"}]}\n')
leat("-o", "out", "--chat", "turns.jinja", "c.jsonl")
assert not rejects() and not any(packed()[0][1])
