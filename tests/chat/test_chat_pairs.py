#!/usr/bin/env python3
"""test_chat_pairs.py: pairs of a prompt and its completion, weights of records, and documents that are too long,
against twins that know nothing of leat but the ids of a text: random records in JSON lines, CSV and, with pyarrow,
Parquet, for any threads and small buffers. What is none of these is rejected, with the reason. (Once a pair needed a
chat template, a record's own weight was ignored, and a conversation that was too long could not be rejected, cut or
split.)"""
import csv
import json
import os

from chat_reference import byte_letters, folder, leat, packed, rejects, render, rng, tokens_of, vocabulary, write
from dataset import Dataset
from programs import LEAT, SMALL

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = None
    print("without Parquet: pyarrow is not installed")

LETTERS = ["water ", "été", "水車", "\n", "🌊", "\"", "\\", "xx", "xxx", " 12", "x"]


def text(most=8):
    return "".join(rng.choices(LETTERS, k=rng.randrange(1, most)))


def lines(records, name="in.jsonl"):
    write(name, "".join(json.dumps(r, ensure_ascii=rng.random() < 0.5) + "\n" for r in records))
    return name


def tables(records):
    """The records as CSV, and as Parquet."""
    with open(os.path.join(folder, "in.csv"), "w", newline="") as f:
        out = csv.DictWriter(f, list(records[0]))
        out.writeheader()
        out.writerows(records)
    made = ["in.csv"]
    if pa:
        pq.write_table(pa.Table.from_pylist(records), os.path.join(folder, "in.parquet"), row_group_size=7)
        made.append("in.parquet")
    return made


def weighed(weight, learned):
    return [int(weight * 255 + 0.5) * one for one in learned]


# ---- Pairs of texts: the ids are those of the joined text, and what holds a byte of the completion is learned ------

merging = os.path.join(folder, "merging")  # a vocabulary with tokens of several bytes
with open(os.path.join(vocabulary, "tokenizer.json")) as f:
    spec = json.load(f)
letter = byte_letters()
for pair in (b"x", b"x"), (b"xx", b"xx"), (b"w", b"a"), (b" ", b"1"), (b" 1", b"2"), (b"\n", b"\n"), (b":", b"x"):
    a, b = ("".join(letter[one] for one in part) for part in pair)
    spec["model"]["merges"].append(f"{a} {b}")
    spec["model"]["vocab"][a + b] = len(spec["model"]["vocab"])
for n, token in enumerate(spec["added_tokens"]):
    token["id"] = len(spec["model"]["vocab"]) + n
END = spec["added_tokens"][0]["id"]
os.makedirs(merging)
with open(os.path.join(merging, "tokenizer.json"), "w") as f:
    json.dump(spec, f)
BYTES = {i: len(token) for token, i in spec["model"]["vocab"].items()}
ALPACA = {  # as Stanford's train.py has them
    True: "Below is an instruction that describes a task, paired with an input that provides further context. Write a "
          "response that appropriately completes the request.\n\n### Instruction:\n{instruction}\n\n### Input:\n{input}"
          "\n\n### Response:",
    False: "Below is an instruction that describes a task. Write a response that appropriately completes the request."
           "\n\n### Instruction:\n{instruction}\n\n### Response:"}


def check(records, joined, weights, *options, longest=None):
    """`joined`: (prompt, completion) of each, as texts."""
    usual = dict(tokenizer=merging)
    leat("-o", "plain", "--end", str(END), lines([{"text": a + b} for a, b in joined], "plain.jsonl"), **usual)
    plain, want = Dataset(os.path.join(folder, "plain")), []
    for (prompt, _), weight, a, b in zip(joined, weights, plain.starts, plain.starts[1:]):
        end, learned = 0, []
        for i in plain.tokens[a:b - 1]:
            end += BYTES[i]
            learned.append(end > len(prompt.encode()))
        ids = list(plain.tokens[a:b - 1])
        if longest:
            ids, learned = ids[:longest - 1], learned[:longest - 1]
        want.append((ids + [END], weighed(weight, learned + learned[-1:])))
    for program in LEAT, SMALL:
        for name in lines(records), *tables(records):
            leat("-o", "out", "--end", str(END), "--threads", rng.choice("123"), *options, name, program=program,
                 **usual)
            assert packed() == want, (program, name, options, [
                (w, h) for w, h in zip(want, packed()) if w != h][:1], rejects()[:1])


for turn in range(3):
    pairs = [(text(), text()) for _ in range(60)]
    weights = [rng.choice([0, 1, 0.5, 0.1, 0.004, 1 / 3, 1e-9, 0.998]) for _ in pairs]
    records = [{"q": a, "w": w, "a": b, "id": str(n)} for n, ((a, b), w) in enumerate(zip(pairs, weights))]
    check(records, pairs, [1] * len(pairs), "--prompt", "q", "--completion", "a")
    check(records, pairs, weights, "--prompt", "q", "--completion", "a", "--weight", "w")
    check(records, pairs, weights, "--prompt", "q", "--completion", "a", "--weight", "w", "--max-length", "9",
          "--too-long", "cut", longest=9)
    check([{"prompt": a, "completion": b} for a, b in pairs], pairs, [1] * len(pairs), "--prompt", "prompt")
    check([{"text": a, "w": w} for (a, _), w in zip(pairs, weights)], [("", a) for a, _ in pairs], weights,
          "--weight", "w")
    records = [{"instruction": a, "output": b, "input": rng.choice(["", text(), None])} for a, b in pairs]
    check(records, [(ALPACA[bool(r["input"])].format(**r), r["output"]) for r in records], [1] * len(pairs), "--alpaca")

# ---- Conversations: weights, pairs, and splitting -------------------------------------------------------------------

TURNS = ("{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{% generation %}{{ m.content + '<|im_end|>' }}"
         "{% endgeneration %}{{ '\\n' }}{% endfor %}")
PLAIN = TURNS.replace("{% generation %}", "").replace("{% endgeneration %}", "")


def made_of(messages, learned):
    """(ids, mask), where `learned` says how much each message's content counts, and the token that ends its turn."""
    ids, mask = [], []
    for message, weight in zip(messages, learned):
        for part, on in ((f"<|im_start|>{message['role']}\n", 0), (message["content"], weight), ("<|im_end|>", weight),
                         ("\n", 0)):
            new = tokens_of(part, [False] * len(part))[0]
            ids += new
            mask += [int(on * 255 + 0.5)] * len(new)
    assert render(PLAIN, messages)[0] == "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n"
                                                 for m in messages)
    return ids, mask


def conversation(most=6):
    made = [{"role": "system", "content": text(3)}] * (rng.random() < 0.5)
    made += [{"role": "assistant", "content": text()}] * (rng.random() < 0.1)
    for _ in range(rng.randrange(1, most)):
        made += [{"role": "user", "content": text()}] * rng.choice([1, 1, 1, 2])
        made += [{"role": "assistant", "content": text()}] * rng.choice([1, 1, 1, 0])
    return made


def answers(messages):
    return [float(m["role"] == "assistant") for m in messages]


def parts_of(messages, most):
    """The conversations that one becomes, and how many turns are too long: as many turns as fit, one by one."""
    if len(made_of(messages, answers(messages))[0]) <= most:
        return [messages], 0
    head = messages[:1] if messages[0]["role"] == "system" else []
    turns = []
    for message in messages[len(head):]:
        before = turns[-1][-1]["role"] if turns else "user"
        if not turns or (message["role"] == "user" != before and any(m["role"] == "user" for m in turns[-1])):
            turns.append([])
        turns[-1].append(message)
    parts, too_long, open_part = [], 0, []
    for turn in turns:
        grown = open_part + turn
        if len(made_of(head + grown, answers(head + grown))[0]) <= most:
            open_part = grown
            continue
        if open_part:
            parts.append(head + open_part)
        open_part = turn if len(made_of(head + turn, answers(head + turn))[0]) <= most else []
        too_long += not open_part
    return parts + [head + open_part] * bool(open_part), too_long


write("turns.jinja", PLAIN)
for turn in range(4):
    many = [conversation() for _ in range(50)]
    weights = [rng.choice([1, 0.5, 0.1, 0]) for _ in many]
    lines([{"messages": m, "w": w} for m, w in zip(many, weights)])
    leat("-o", "out", "--chat", "turns.jinja", "--weight", "w", "in.jsonl")
    whole = [made_of(m, [w * one for one in answers(m)]) for m, w in zip(many, weights)]
    assert packed() == whole
    most = rng.choice([60, 120, 200])
    long = sum(len(ids) > most for ids, _ in whole)
    for program in LEAT, SMALL:
        usual = ["-o", "out", "--chat", "turns.jinja", "--weight", "w", "--max-length", str(most), "--threads",
                 rng.choice("123"), "--json", "in.jsonl"]
        assert json.loads(leat(*usual, program=program))["too_long"] == long
        assert packed() == [made for made in whole if len(made[0]) <= most] and len(rejects()) == long
        assert json.loads(leat(*usual, "--too-long", "cut", program=program))["too_long"] == long
        assert packed() == [(ids[:most], mask[:most]) for ids, mask in whole]
        parts = [(parts_of(m, most), w) for m, w in zip(many, weights)]
        divided = sum(len(ids) > most and len(few) > 0 for (ids, _), ((few, _), _) in zip(whole, parts))
        assert json.loads(leat(*usual, "--too-long", "split", program=program))["too_long"] == divided
        want = [made_of(p, [w * one for one in answers(p)]) for (few, _), w in parts for p in few]
        assert packed() == want, [(w, h) for w, h in zip(want, packed()) if w != h][:1]
        assert len(rejects()) == sum(too_long for (_, too_long), _ in parts)
        assert all("of the conversation alone has" in reason for reason in rejects())
    # a pair's messages: those of the completion are learned
    cuts = [rng.randrange(len(m)) for m in many]
    pairs = [{"p": m[:cut], "c": m[cut:], "w": w} for m, cut, w in zip(many, cuts, weights)]
    inputs = [lines(pairs)]
    if pa:
        pq.write_table(pa.Table.from_pylist(pairs), os.path.join(folder, "in.parquet"), row_group_size=7)
        inputs.append("in.parquet")
    for template in PLAIN, TURNS:
        write("turns.jinja", template)
        for name in inputs:
            leat("-o", "out", "--chat", "turns.jinja", "--prompt", "p", "--completion", "c", "--weight", "w", name)
            assert packed() == [made_of(m, [w * (n >= cut) for n in range(len(m))]) for m, cut, w in
                                zip(many, cuts, weights)], (name, template == TURNS, rejects())
    write("turns.jinja", PLAIN)

# ---- What is rejected -----------------------------------------------------------------------------------------------

NUMBER = '"w" is not a number from 0 to 1: it says how much the record counts'
TEXTS = ["--prompt", "p", "--completion", "c"]
CHAT = ["--chat", "turns.jinja"]
for options, record, reason in (
        *((["--weight", "w"], f'{{"text":"a","w":{value}}}', NUMBER)
          for value in ('"high"', "1e999999999", "NaN", "Infinity", "-0.1", "1.0000000000000000000001", "true", "null",
                        "[1]", "2", "-1e-999999")),
        (["--weight", "w"], '{"text":"a"}', 'the record has no "w" that says how much it counts'),
        *((["--weight", "w"], f'{{"text":"a","w":{value}}}', None)
          for value in ("1", "0", "-0", "1e-999999", "1.0", "0e5")),
        (TEXTS, '{"p":"a"}', 'the record has no "c"'), (TEXTS, '{"c":"a"}', 'the record has no "p"'),
        (TEXTS, '{"p":1,"c":"a"}', '"p" is a number, not a string'),
        (TEXTS, '{"p":"a","c":["b"]}', '"c" is an array, not a string'),
        (TEXTS, '{"p":"a","c":null}', '"c" is null, not a string'),
        (TEXTS, '{"p":"a","c":""}', '"c" is empty: nothing of the record is learned'),
        (TEXTS, '{"p":"","c":"b"}', None), (TEXTS, '{"p":"b' + "x" * 5000000 + '","c":"b"}',
                                           "the record has more than 4 MiB, which is too long for one with a mask"),
        (["--alpaca"], '{"instruction":"a","input":1,"output":"b"}', '"input" is a number, not a string'),
        (["--alpaca"], '{"instruction":"a","input":null,"output":"b"}', None),
        (["--alpaca"], '{"input":"a","output":"b"}', 'the record has no "instruction"'),
        ([*TEXTS, *CHAT], '{"p":"a","c":[]}', '"p" is a string, not an array of messages'),
        ([*TEXTS, *CHAT], '{"p":[],"c":[]}', "the completion has no messages"),
        ([*TEXTS, *CHAT], '{"p":[1],"c":[{"role":"assistant","content":"b"}]}',
         "message 0 of the conversation is a number, not an object"),
        ([*TEXTS, *CHAT], '{"p":[],"c":[{"role":"assistant","content":"b"}]}', None)):
    good = ('{"text":"a","w":1,"p":[],"c":[{"role":"assistant","content":"b"}]}' if "--chat" in options else
            '{"text":"a","w":1,"p":"a","c":"b","instruction":"a","output":"b"}')
    write("in.jsonl", record + "\n" + good + "\n")
    leat("-o", "out", *options, "in.jsonl")
    assert rejects() == [reason] * bool(reason), (options, record[:100], rejects())
    if reason:
        leat("-o", "out", *options, "--max-rejects", "0", "in.jsonl", code=4)
