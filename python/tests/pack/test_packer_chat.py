"""leat.Packer(chat=...) beside leat.pack(chat=...) of the same conversations in JSON lines: the same tokens, masks, ids
and rejects, in whatever form they are given; from checkpoints, too. LEAT_TEST_SEED=7 changes the conversations."""
import json
import os
import random
import resource
import sys

import pytest

import leat
from conftest import ROOT

pytest.importorskip("jinja2")
rng = random.Random(int(os.environ.get("LEAT_TEST_SEED", "1")))
CHATML = (ROOT / "tests" / "chat" / "templates" / "chatml.jinja").read_text()
TEMPLATES = {
    "turns": CHATML, "generation": (ROOT / "tests" / "chat" / "templates" / "generation.jinja").read_text(),
    "tools": "{% if tools %}{{ tools | tojson }}{% endif %}" + CHATML,
    "raises": "{% if messages | length > 4 %}{{ raise_exception('too ' + 'long') }}{% endif %}" + CHATML,
    "date": "{{ strftime_now('%d %b %Y') }}" + CHATML,
    "fails": "{{ messages[0].content + 1 if messages | length == 3 else '' }}" + CHATML}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"a": [1, 0.5, True], "b": "é水\ud800"}}}]


def row(number):
    messages = [{"role": "system", "content": "s"}] * (rng.random() < 0.3)
    for _ in range(rng.randrange(1, 4)):
        messages += [{"role": role, "content": "".join(rng.choices("ab c\né\"\\<|>水\ud800", k=rng.randrange(1, 20)))}
                     for role in ("user", "assistant")]
    if number % 9 == 4:
        messages = [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]
    if number % 20 == 7:  # no conversations
        messages = rng.choice([[], [{"role": None, "content": "x"}], ["x"], [{"content": "x"}]])
    made = {"id": f"c{number}", "messages": messages}
    if number % 3 == 0:
        made["tools"] = rng.choice([TOOLS, json.dumps(TOOLS), None, []])
    if number % 40 == 11:
        made["tools"] = rng.choice(["not JSON", [1], "1"])
    return made


ROWS = [row(number) for number in range(200)]
# what Arrow can hold
PLAIN = [{"id": r["id"], "messages": [dict(m, content=m["content"].replace("\ud800", "")) for m in r["messages"]],
          "tools": rng.choice([None, [], [{"name": "f", "strict": True, "more": {"a": [1, 2]}}]])}
         for r in ROWS if r["messages"] and all("content" in m and "role" in m for m in r["messages"])]


def as_lines(path, rows):
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def made_of(name):
    """All that the two must have in common."""
    dataset = leat.open(name)
    many = range(dataset.info.documents)
    rejects = []
    if os.path.exists(f"{name}.rejects.jsonl"):
        with open(f"{name}.rejects.jsonl", encoding="utf-8") as f:
            rejects = [json.loads(line)["reason"] for line in f]
    learned = json.loads(dataset.metadata["leat.learned"])
    assert learned["tokens"] == sum(map(bool, dataset.mask()))
    assert sum(learned["by_role"].values()) == (learned["tokens"] if "leat.chat" in dataset.metadata else 0)
    assert learned["documents_without"] == sum(not any(dataset.mask()[a:b]) for a, b in zip(
        dataset.starts(), dataset.starts()[1:]))
    return (dataset.info.identity, dataset.read(0, dataset.info.tokens).tolist(), dataset.mask().tolist(),
            [dataset.place(i).id for i in many], dataset.starts().tolist(), rejects, dataset.metadata,
            [dataset.text_hash(i) for i in many])


def both(tmp_path, template, rows, give, chat={}, **options):
    """What leat.pack() makes of the rows, and leat.Packer, to which give(packer) gives them; template None: no chat."""
    options = {"threads": 2, "max_rejects": None, **options}
    if template:
        (tmp_path / "t.jinja").write_text(template)
        options["chat"] = leat.Chat(tmp_path / "t.jinja", **chat)
    files = leat.pack(as_lines(tmp_path / "c.jsonl", rows), tmp_path / "files", "bytes", force=True, **options)
    with leat.Packer(tmp_path / "given", "bytes", force=True, **options) as packer:
        give(packer)
    assert packer.summary.rejected == files.rejected and packer.summary.documents == files.documents
    assert packer.summary.text_bytes == files.text_bytes and files.documents > 0
    assert packer.summary.learned == files.learned == json.loads(leat.open(
        tmp_path / "files").metadata["leat.learned"])
    return made_of(tmp_path / "files"), made_of(tmp_path / "given")


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("special", [False, True])
def test_as_pack(tmp_path, name, special):
    files, given = both(tmp_path, TEMPLATES[name], ROWS, lambda packer: packer.extend(ROWS), special=special,
                        chat={"date": "2026-01-31"})
    assert given == files
    assert len(files[5]) >= 10 and 0 < sum(map(bool, files[2])) < len(files[2])


@pytest.mark.parametrize("tools", [None, "", "more.tools"])
def test_fields(tmp_path, tools):
    rows = [{"id": r["id"], "a": {"b": r["messages"]}, "tools": r.get("tools"), "more": {"tools": TOOLS}} for r in ROWS]
    files, given = both(tmp_path, TEMPLATES["tools"], rows, lambda packer: packer.extend(rows),
                        {"messages": "a.b", "tools": tools})
    assert given == files


def test_forms(tmp_path):
    """Lists of messages, JSON, dicts, pairs with an id; one at a time or many."""
    rows = [{"id": r["id"], "messages": r["messages"]} for r in ROWS]

    def one_by_one(packer):
        for n, r in enumerate(rows):
            form = [r["messages"], json.dumps(r["messages"]), json.dumps(r["messages"]).encode(), r,
                    tuple(r["messages"])][n % 5]
            packer.add(form, id=r["id"])

    for give in (one_by_one, lambda packer: packer.extend((r["messages"], r["id"]) for r in rows),
                 lambda packer: packer.extend([(json.dumps(r["messages"]), r["id"]) for r in rows])):
        files, given = both(tmp_path, TEMPLATES["generation"], rows, give)
        assert given == files
    rows = [{"messages": r["messages"]} for r in ROWS]
    files, given = both(tmp_path, CHATML, rows, lambda packer: packer.extend(r["messages"] for r in rows))
    assert given == files and set(given[3]) == {None}


def test_tables(tmp_path):
    pa = pytest.importorskip("pyarrow")
    structs = pa.table({**{name: [r[name] for r in PLAIN] for name in PLAIN[0]}, "other": [1] * len(PLAIN)})
    assert pa.types.is_list(structs.schema.field("messages").type) and len(PLAIN) > 50
    texts = structs.set_column(1, "messages", pa.array([json.dumps(r["messages"]) for r in PLAIN])).set_column(
        2, "tools", pa.array([None if r["tools"] is None else json.dumps(r["tools"]) for r in PLAIN]))
    for table in structs, texts:
        for documents in table, table.to_reader(7), table.to_batches(13), iter(table.to_batches()):
            files, given = both(tmp_path, TEMPLATES["tools"], PLAIN, lambda p, d=documents: p.extend(d))
            assert given == files
    files, given = both(tmp_path, TEMPLATES["tools"], PLAIN, lambda p: [p.extend(b) for b in structs.to_batches(20)])
    assert given == files
    files, given = both(tmp_path, TEMPLATES["tools"], PLAIN[30:], lambda p: p.extend(structs, skip=30))
    assert given == files
    (tmp_path / "t.jinja").write_text(CHATML)
    with leat.Packer(tmp_path / "no", "bytes", chat=leat.Chat(tmp_path / "t.jinja", messages="chats")) as packer:
        with pytest.raises(ValueError, match="the table has no column chats"):
            packer.extend(structs)
        packer.abandon()


PAIRS = [{"id": f"p{n}", "q": "ab é水"[:n % 6], "a": "".join(rng.choices("xyz\n水", k=1 + n % 5)), "w": n % 11 / 10,
          "p": r["messages"][:1], "c": r["messages"][1:]} for n, r in enumerate(PLAIN)]
del PAIRS[3]["a"], PAIRS[3]["c"], PAIRS[5]["w"]
PAIRS[7].update(a="", c=[])


@pytest.mark.parametrize("template", [None, CHATML, TEMPLATES["generation"]])
def test_pairs(tmp_path, template):
    """Pairs of texts and of messages with weights, in dicts and tables; what is missing is a reject."""
    pa = pytest.importorskip("pyarrow")
    pairs = leat.Pairs(prompt="p", completion="c") if template else leat.Pairs(prompt="q", completion="a")
    table = pa.Table.from_pylist(PAIRS)
    for documents in PAIRS, iter(PAIRS), table, table.to_reader(7), table.to_batches(13):
        files, given = both(tmp_path, template, PAIRS, lambda packer, d=documents: packer.extend(d), pairs=pairs,
                            weight="w", max_length=60, too_long="cut")
        assert given == files and len(files[5]) == (4 if template else 3)
        assert max(map(len, [files[1][a:b] for a, b in zip(files[4], files[4][1:])])) <= 60
        assert len(set(files[2])) == 11  # 0 and ten weights
    if template:
        weighed = both(tmp_path, template, PAIRS, lambda packer: [packer.add(r, id=r["id"]) for r in PAIRS],
                       {"weight": "w"}, pairs=pairs, max_length=60, too_long="cut")
        assert weighed == (files, files)


def test_alpaca(tmp_path):
    rows = [{"instruction": r["q"], "input": r["q"][2:], "output": r.get("a", 1)} for r in PAIRS]
    files, given = both(tmp_path, None, rows, lambda packer: packer.extend(rows), pairs=leat.Pairs(alpaca=True))
    assert given == files and len(files[5]) == 2
    with leat.open(tmp_path / "files") as dataset:
        text = bytes(dataset.read(0, int(dataset.starts()[1]) - 1).tolist()).decode()
    assert text.startswith("Below is an instruction that describes a task. Write a response") and text.endswith(
        "### Response:" + rows[0]["output"])


def test_too_long(tmp_path):
    for how in "reject", "cut", "split":
        files, given = both(tmp_path, CHATML, PLAIN, lambda packer: packer.extend(PLAIN), max_length=160, too_long=how)
        assert given == files and (len(files[5]) > 1) == (how != "cut")
    summary = leat.pack(as_lines(tmp_path / "c.jsonl", PLAIN), tmp_path / "files", "bytes", force=True, max_rejects=1,
                        chat=leat.Chat(tmp_path / "t.jinja"), max_length=160, too_long="cut")
    lengths = [b - a for a, b in zip(files[4], files[4][1:])]
    # a conversation of which nothing is left was rejected: it counted as split, too
    alone = [{"messages": [{"role": "user", "content": "q" * 200}, {"role": "assistant", "content": "a"}]}]
    short = [{"messages": [{"role": "user", "content": "q"}]}]
    apart = leat.pack(as_lines(tmp_path / "alone.jsonl", alone * 2 + short), tmp_path / "alone", "bytes",
                      chat=leat.Chat(tmp_path / "t.jinja"), max_length=160, too_long="split", max_rejects=2)
    assert (apart.rejected, apart.too_long, apart.documents) == (2, 0, 1)
    assert summary.too_long > 10 and summary.rejected == 1 and max(lengths) <= 160 < len(lengths) + summary.too_long
    with leat.Packer(tmp_path / "ids", "bytes", max_length=4, too_long="cut", store_mask=True) as packer:
        packer.add([1, 2, 3, 4, 5], mask=[0, 1, 0, 1, 1])
        packer.add([6])
    assert packer.summary.too_long == 1
    with leat.open(tmp_path / "ids") as dataset:
        assert dataset.read(0, 6).tolist() == [1, 2, 3, 256, 6, 256]
        assert dataset.mask().tolist() == [0, 255, 0, 0, 255, 255]


def test_refused(tmp_path):
    (tmp_path / "t.jinja").write_text(CHATML)
    chat = leat.Chat(tmp_path / "t.jinja", weight="w")
    for error, says, options in (
            (ValueError, "name the same field", dict(chat=chat, weight="w")),
            (TypeError, "pairs must be a leat.Pairs, not 'q'", dict(pairs="q")),
            (leat.Error, "only a conversation has turns", dict(max_length=9, too_long="split")),
            (leat.Error, "a packer takes texts, which have no fields for weights", dict(weight="w")),
            (ValueError, "max_length", dict(max_length=0)), (ValueError, "too_long must be", dict(too_long="drop"))):
        with pytest.raises(error, match=says):
            leat.Packer(tmp_path / "no", "bytes", **options)
    with leat.Packer(tmp_path / "no", "bytes", pairs=leat.Pairs()) as packer:
        with pytest.raises(TypeError, match="a pair is a dict"):
            packer.add("text")
        packer.abandon()


def test_checkpoints(tmp_path):
    """Sources, notes, and going on from a checkpoint, as with texts."""
    (tmp_path / "t.jinja").write_text(TEMPLATES["raises"])
    options = {"chat": tmp_path / "t.jinja", "threads": 2, "max_rejects": None}
    leat.pack(as_lines(tmp_path / "c.jsonl", ROWS), tmp_path / "files", "bytes", **options)
    packer = leat.Packer(tmp_path / "given", "bytes", **options)
    packer.extend(ROWS[:90], source="c.jsonl")
    packer.checkpoint("so far")
    packer.extend(ROWS[90:120], source="c.jsonl")
    packer.suspend()
    with pytest.raises(leat.Error, match="(?s)chat template"):
        dated = {**options, "chat": leat.Chat(tmp_path / "t.jinja", date="2026-01-31")}
        leat.Packer(tmp_path / "given", "bytes", resume=True, **dated).suspend()
    with leat.Packer(tmp_path / "given", "bytes", resume=True, **options) as packer:
        assert packer.note == "so far" and packer.sources == {"c.jsonl": 90}
        packer.extend(ROWS, source="c.jsonl", skip=90)
    assert made_of(tmp_path / "given") == made_of(tmp_path / "files")
    with leat.open(tmp_path / "given") as dataset:
        place = dataset.place(100)
        assert place.path == "c.jsonl" and ROWS[place.line - 1]["id"] == place.id


def test_long(tmp_path):
    """What needs more memory than a thread has, and what is too long."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

    def of_length(n):
        messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "ab" * n}]
        return {"id": str(n), "messages": messages}

    rows = [ROWS[0], of_length(1500000), ROWS[1], of_length(3000000), ROWS[2]]
    files, given = both(tmp_path, TEMPLATES["generation"], rows, lambda packer: packer.extend(rows),
                        memory=f"{held + 800}MiB")
    assert given == files and len(files[1]) > 3000000
    assert files[5] == ["the record has more than 4 MiB, which is too long for one with a mask"]


def test_own_template(tmp_path):
    folder = tmp_path / "tokenizer"
    folder.mkdir()
    letters = {bytes([b]).decode("latin-1"): b for b in range(33, 127)}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None,
        "decoder": None, "model": {"type": "BPE", "vocab": letters, "merges": [], "unk_token": None}}))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"eos_token": "</s>", "chat_template": "{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"}))
    rows = [{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}]
    leat.pack(as_lines(tmp_path / "c.jsonl", rows), tmp_path / "files", folder, chat="tokenizer")
    with leat.Packer(tmp_path / "given", folder, chat="tokenizer") as packer:
        packer.extend(rows)
    assert made_of(tmp_path / "given") == made_of(tmp_path / "files") and packer.summary.tokens == 10


def test_refused(tmp_path):
    (tmp_path / "t.jinja").write_text(CHATML)
    (tmp_path / "date.jinja").write_text(TEMPLATES["date"])
    slow = "{% for i in range(99999) %}{% for k in range(99999) %}{% endfor %}{% endfor %}"
    (tmp_path / "slow.jinja").write_text(slow)
    messages = ROWS[0]["messages"]
    with pytest.raises(leat.Error, match="strftime_now"):
        leat.Packer(tmp_path / "no", "bytes", chat=tmp_path / "date.jinja")
    for wrong, said in (({"date": "2026-01-31"}, "template"), ({"template": 5}, "template of leat.Chat"),
                        ({"template": "t", "messages": None}, "messages of leat.Chat"),
                        ({"template": "t", "seconds": 0}, "seconds of leat.Chat")):
        with pytest.raises((TypeError, ValueError), match=said):
            leat.Chat(**wrong)
    with leat.Packer(tmp_path / "no", "bytes", chat=tmp_path / "t.jinja") as packer:
        for wrong, said in ((5, "a conversation is a list of dicts"), ([{"role": object()}], "what JSON can say")):
            with pytest.raises(TypeError, match=said):
                packer.add(wrong)
        with pytest.raises(ValueError, match="has no messages"):
            packer.add({"text": "x"})
        with pytest.raises(TypeError, match="text and mask do not apply"):
            packer.add(messages, mask=[])
        with pytest.raises(TypeError, match="text and mask do not apply"):
            packer.extend([messages], text="chats")
        with pytest.raises(ValueError, match="document 1 has no messages; nulls=\"skip\""):
            packer.extend([{"messages": messages}, {"id": 7}])
        assert packer.given == 1 and packer.extend([None, messages, {"id": 7}], nulls="skip") == 1
        assert packer.skipped == 2
    assert packer.summary.documents + packer.summary.rejected == 2
    with pytest.raises(leat.Error, match=r"the conversation that begins with \[\{\"role\".* takes longer than 1 s.*"
                                         r"leat.Chat\(..., seconds=N\), or skip_slow_chats=True"):
        chat = leat.Chat(tmp_path / "slow.jinja", seconds=1)
        with leat.Packer(tmp_path / "no", "bytes", chat=chat, force=True) as packer:
            packer.add([{"role": "user", "content": "q"}])
    chat = leat.Chat(tmp_path / "slow.jinja", seconds=1, skip_slow_chats=True)
    with leat.Packer(tmp_path / "slow", "bytes", chat=chat, max_rejects=None) as packer:
        packer.add([{"role": "user", "content": "q"}])
    assert packer.summary.rejected == 1


def test_apart(tmp_path, monkeypatch):
    """A renderer runs no file of the current folder, finds what PYTHONPATH names, and gets no credentials. (Formerly it
    had the whole environment, and ran a sitecustomize.py of the current folder if PYTHONPATH began with a colon.)"""
    for name in *sys.stdlib_module_names, "leat", "jinja2", "markupsafe", "sitecustomize", "usercustomize":
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()")
    (tmp_path / "t.jinja").write_text(CHATML)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "sitecustomize.py").write_text("import os; print(dict(os.environ), file=open('variables', 'w'))")
    before = map(os.path.abspath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(mine), "", *before, ""]))
    for name in "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "MY_PASSWORD":
        monkeypatch.setenv(name, "secret")
    monkeypatch.chdir(tmp_path)
    with leat.Packer("out", "bytes", chat="t.jinja") as packer:
        packer.extend(ROWS[:3])
    said = (tmp_path / "variables").read_text()
    assert "secret" not in said and "HOME" in said and not (tmp_path / "ran").exists(), said


def test_no_end(tmp_path):
    """That nothing that ends a turn is learned is said at once."""
    (tmp_path / "t.jinja").write_text(CHATML)
    with pytest.warns(RuntimeWarning, match=r"nothing that ends a turn is learned: <\|im_end\|> is no token of gpt2; "):
        leat.pack([as_lines(tmp_path / "in.jsonl", ROWS[:3])], tmp_path / "out", "gpt2", chat=tmp_path / "t.jinja")
    with pytest.warns(RuntimeWarning, match="nothing that ends a turn is learned") as said:
        with leat.Packer(tmp_path / "added", "gpt2", chat=tmp_path / "t.jinja") as packer:
            packer.add(ROWS[0])
    assert said[0].filename == __file__


def test_nothing_learned(tmp_path):
    """That training learns no token is a warning of the line that ends the packer; only the command had said it."""
    (tmp_path / "t.jinja").write_text(CHATML)
    with pytest.warns(RuntimeWarning, match="training learns no token of these conversations") as said:
        with leat.Packer(tmp_path / "chat", "bytes", chat=tmp_path / "t.jinja") as packer:
            packer.add([{"role": "user", "content": "q"}])
    assert [w.filename for w in said if "learns no token" in str(w.message)] == [__file__]
    packer = leat.Packer(tmp_path / "ids", "bytes", store_mask=True)
    packer.add([1, 2], mask=[0, 0])
    with pytest.warns(RuntimeWarning, match="their masks are all 0") as said:
        packer.finish()
    assert [w.filename for w in said] == [__file__] and packer.finish() is packer.summary
