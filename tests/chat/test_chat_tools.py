#!/usr/bin/env python3
"""test_chat_tools.py: tools of a conversation, which its template gets, against Jinja: as a list or as a string that
holds one, in JSON and in Parquet; which template renders them; and what is not a list of tools."""
import json
import os

from chat_reference import (LEAT, SMALL, SPECIAL, TOKENS, Dataset, folder, leat, make_tokenizer, packed, rejects,
                            render, write)

TEMPLATE = ("{% if tools %}# Tools{% for t in tools %}\n{{ t | tojson }}{% endfor %}\n{% endif %}"
            "{{ tools is none }} {{ tools is defined }}"
            "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}")
PLAIN = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
MESSAGES = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "say \"</s>\"\n<|im_end|> é",
                                           "parameters": {"n": [1, 2.5, None, True], "o": {}}}}, {}]


def ids_of(text):
    """With the template's special tokens as tokens: those in tools are text, between quotes."""
    ids, at = [], 0
    while at < len(text):
        special = next((s for s in SPECIAL if text.startswith(s, at)), None)
        if special and not text.startswith(special + " é", at) and not text.startswith(special + "\\\"", at):
            ids.append(256 + SPECIAL.index(special))
            at += len(special)
        else:
            ids += text[at].encode()
            at += 1
    return ids


def want(template, tools):
    return ids_of(render(template, MESSAGES, tools)[0])


def texts():
    return [ids for ids, _ in packed()]


# ---- What a record may have --------------------------------------------------------------------------------------

AS_TEXT = json.dumps(TOOLS, ensure_ascii=False)
GIVEN = [({"tools": TOOLS}, TOOLS), ({"tools": AS_TEXT}, TOOLS),
         ({"tools": " \n" + json.dumps(TOOLS, indent=1)}, TOOLS), ({"tools": []}, []),
         ({"tools": "[]"}, []), ({"tools": None}, None), ({}, None), ({"tools": ""}, None),
         ({"tools": " \t"}, None), ({"tools": " null\n"}, None), ({"meta": {"tools": TOOLS}}, None)]
WRONG = [("5", '"tools" is a number, not a list of tools'), ("{}", '"tools" is an object, not a list of tools'),
         ('"\\u0000"', "but not JSON"),
         ('"[]\\u0000"', "but not JSON"),
         ("[1]", "tool 0 is a number, not an object"), ('[{}, "a"]', "tool 1 is a string, not an object"),
         ('"none"', '"tools" is a string, but not JSON: it should hold the list of tools'),
         ('"[1"', "but not JSON"), ('"[],\\"a\\":1"', "but not JSON"), ('"[]]"', "but not JSON"),
         ('"{}"', "the tools are an object, not a list"), ('"7"', "the tools are a number, not a list"),
         ('[{"a":NaN}]', "NaN"), ('"[{\\"a\\":NaN}]"', "NaN"),
         ('"' + "[" * 300 + "]" * 300 + '"', "tool 0 is an array")]
write("template.jinja", TEMPLATE)
with open(os.path.join(folder, "c.jsonl"), "w") as f:
    for member, _ in GIVEN:
        f.write(json.dumps({"messages": MESSAGES, **member}, ensure_ascii=False) + "\n")
    for tools, _ in WRONG:
        f.write(f'{{"messages":{json.dumps(MESSAGES)},"tools":{tools}}}\n')
for program in LEAT, SMALL:
    for threads in "1", "3":
        leat("-o", "out", "--chat", "template.jinja", "--threads", threads, "c.jsonl", program=program)
        assert texts() == [want(TEMPLATE, tools) for _, tools in GIVEN]
        assert len(rejects()) == len(WRONG)
        for reason, (record, words) in zip(rejects(), WRONG):
            assert words in reason, (record, reason)
assert b"leat.tools" not in Dataset(os.path.join(folder, "out")).metadata()

# another member, or none
write("c.jsonl", json.dumps({"messages": MESSAGES, "tools": 5, "meta": {"tools": TOOLS}}) + "\n")
leat("-o", "out", "--chat", "template.jinja", "--tools", "meta.tools", "c.jsonl")
assert Dataset(os.path.join(folder, "out")).metadata()[b"leat.tools"] == b"meta.tools"
assert texts() == [want(TEMPLATE, TOOLS)]
leat("-o", "out", "--chat", "template.jinja", "--tools", "", "c.jsonl")
assert texts() == [want(TEMPLATE, None)]

# ---- Which template ----------------------------------------------------------------------------------------------

write("c.jsonl", "".join(json.dumps({"messages": MESSAGES, "tools": tools}) + "\n" for tools in (TOOLS, None, [])))
for number, (config, files) in enumerate([
        ([{"name": "default", "template": PLAIN}, {"name": "tool_use", "template": TEMPLATE}], {}),
        (None, {"chat_template.jinja": PLAIN, "additional_chat_templates/tool_use.jinja": TEMPLATE}),
        ([{"name": "tool_use", "template": "wrong"}],
         {"chat_template.jinja": PLAIN, "additional_chat_templates/tool_use.jinja": TEMPLATE})]):
    path = os.path.join(folder, f"v{number}")
    make_tokenizer(path, dict(TOKENS, **({"chat_template": config} if config else {})))
    os.mkdir(os.path.join(path, "additional_chat_templates"))
    for name, text in files.items():
        write(os.path.join(path, name), text)
    leat("-o", "out", "--chat", "tokenizer", "c.jsonl", tokenizer=path)
    assert texts() == [want(TEMPLATE, TOOLS), want(PLAIN, None), want(TEMPLATE, [])]
    leat("-o", "out", "--chat", "tokenizer", "--tools", "", "c.jsonl", tokenizer=path)
    assert texts() == 3 * [want(PLAIN, None)]
# a file comes before all of tokenizer_config.json's
path = os.path.join(folder, "v9")
make_tokenizer(path, dict(TOKENS, chat_template=[{"name": "default", "template": "a"},
                                                 {"name": "tool_use", "template": "b"}]))
write(os.path.join(path, "chat_template.jinja"), TEMPLATE)
leat("-o", "out", "--chat", "tokenizer", "c.jsonl", tokenizer=path)
assert texts() == [want(TEMPLATE, tools) for tools in (TOOLS, None, [])]

# ---- Parquet -----------------------------------------------------------------------------------------------------

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    print("without Parquet: pyarrow is not installed")
else:
    for column, kind, expected in (
            ([AS_TEXT, None, "", "[]", "null"], pa.string(), [TOOLS, None, None, [], None]),
            ([None, None], pa.null(), [None, None]),
            ([AS_TEXT, "5", '[],"a":1', "[1"], pa.large_string(), [TOOLS])):
        table = pa.table({"messages": [MESSAGES] * len(column), "tools": pa.array(column, kind)})
        pq.write_table(table, os.path.join(folder, "c.parquet"))
        for program in LEAT, SMALL:
            leat("-o", "out", "--chat", "template.jinja", "c.parquet", program=program)
            assert texts() == [want(TEMPLATE, tools) for tools in expected]
            assert len(rejects()) == len(column) - len(expected), rejects()
    pq.write_table(pa.table({"messages": [MESSAGES], "t": [AS_TEXT]}), os.path.join(folder, "c.parquet"))
    leat("-o", "out", "--chat", "template.jinja", "c.parquet")
    assert texts() == [want(TEMPLATE, None)]
    leat("-o", "out", "--chat", "template.jinja", "--tools", "t", "c.parquet")
    assert texts() == [want(TEMPLATE, TOOLS)]
    assert "no column tools" in leat("-o", "no", "--chat", "template.jinja", "--tools", "tools", "c.parquet", code=1)
    for tools, words in (([[{"name": "f"}]], "the column tools is a list; tools are read from strings"),
                         ([{"name": "f"}], "the column tools is a group of columns; tools are read from strings"),
                         ([1], "tools are read from strings")):
        pq.write_table(pa.table({"messages": [MESSAGES], "tools": tools}), os.path.join(folder, "c.parquet"))
        said = leat("-o", "no", "--chat", "template.jinja", "c.parquet", code=1)
        assert words in said, said
        leat("-o", "out", "--chat", "template.jinja", "--tools", "", "c.parquet")
        assert texts() == [want(TEMPLATE, None)]
