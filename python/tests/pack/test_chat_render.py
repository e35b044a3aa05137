"""leat.chat.render() and leat.pack(chat=...) beside transformers' own rendering, and an encoding in plain Python: the
same texts, ids and masks, for published templates and for small ones. LEAT_TEST_SEED=7 changes the conversations."""
import json
import os
import random

import pytest

import leat
from conftest import ROOT

transformers = pytest.importorskip("transformers")
from jinja2.exceptions import TemplateError  # noqa: E402
from transformers.utils.chat_template_utils import render_jinja_template  # noqa: E402

import leat.chat  # noqa: E402

rng = random.Random(int(os.environ.get("LEAT_TEST_SEED", "1")))
TEMPLATES = {path.stem: path.read_text() for path in sorted((ROOT / "tests" / "chat" / "templates").glob("*.jinja"))}
PIECES = (ROOT / "tests" / "chat" / "pieces.jinja").read_text().strip().split("\n")
VARIABLES = {"bos_token": "<s>", "eos_token": "</s>"}
ODD = [{"role": "user", "content": " a \"b\"\n", "n": 3, "tags": ["x", "y"], "f": 0.25, "name": None,
        "more": {"k": None, "l": [1, True, "é"]}, "h": 10**25, "z": 0.0},
       {"role": "assistant", "content": "ΑΒ", "thinking": "hm"}]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"a": [1, None, "</s>"]}}}]


def conversation():
    made = [{"role": "system", "content": "s"}] * (rng.random() < 0.3)
    for _ in range(rng.randrange(1, 4)):
        made += [{"role": role, "content": "".join(rng.choices("ab c\né\"\\<|>水", k=rng.randrange(1, 20)))}
                 for role in ("user", "assistant")]
    return made


def theirs(template, messages, tools=None):
    """As apply_chat_template() does: without what is None."""
    messages = [{key: value for key, value in m.items() if value is not None} for m in messages]
    texts, places = render_jinja_template([messages], tools=tools, chat_template=template, **VARIABLES,
                                          return_assistant_tokens_mask="generation %}" in template)
    return texts[0], places


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("tools", [None, TOOLS])
def test_published(name, tools):
    template = TEMPLATES[name]
    for messages in [conversation() for _ in range(30)]:
        try:
            text, places = theirs(template, messages, tools)
        except TemplateError:
            with pytest.raises(TemplateError):
                leat.chat.render(template, messages, tools, **VARIABLES)
            continue
        done = leat.chat.render(template, messages, tools, **VARIABLES)
        assert type(done.text) is str and done.text == text
        if places:
            marked = [set(range(a, b)) for a, b in places[0]]
            assert set().union(*(range(a, b) for a, b in done.learned)) == set().union(*marked)


@pytest.mark.parametrize("template", PIECES[:-2])
def test_constructs(template):
    try:
        want = theirs(template, ODD)[0]
    except Exception as why:
        with pytest.raises(type(why)):
            leat.chat.render(template, ODD, date="2026-01-31", **VARIABLES)
        return
    assert leat.chat.render(template, ODD, date="2026-01-31", **VARIABLES).text == want


def test_by_turns():
    template = TEMPLATES["chatml"]
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a b"}]
    text, learned = leat.chat.render(template, messages, **VARIABLES)
    assert [text[a:b] for a, b in learned] == ["a b"]


SHAREGPT = [{"from": "system", "value": "s"}, {"from": "human", "value": "q", "weight": None, "role": None},
            {"from": "gpt", "value": "a b", "thinking": "hm", "content": None}, {"from": "tool", "value": "5"},
            {"from": "assistant", "value": "c"}, {"role": "user", "content": "d", "from": "x", "value": "y"},
            {"role": "user", "content": "from alone", "from": "x"}]


@pytest.mark.parametrize("template", [TEMPLATES["chatml"], TEMPLATES["generation"],
                                      "{% for m in messages %}{{ m | tojson }}\n{% endfor %}"])
def test_sharegpt(tmp_path, template):
    """TRL renames the same members; roles are axolotl's."""
    trl = pytest.importorskip("trl.data_utils")
    roles = {"human": "user", "gpt": "assistant"}
    known = [m for m in SHAREGPT if m.get("role") is None]
    renamed = trl.maybe_convert_to_chatml({"conversations": [dict(m) for m in known]})["messages"]
    renamed = [{**m, "role": roles.get(m["role"], m["role"])} for m in renamed] + SHAREGPT[len(known):]
    want = leat.chat.render(template, renamed, **VARIABLES)
    assert leat.chat.render(template, SHAREGPT, **VARIABLES) == want
    assert want.text == theirs(template, renamed)[0]
    (tmp_path / "t.jinja").write_text(template.replace("{{ bos_token }}", "<s>"))
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"conversations": m}) + "\n" for m in (
        SHAREGPT, [{"from": "human"}], [{"from": ["human"], "value": "x"}], [{"value": "x"}])))
    (tmp_path / "d.jsonl").write_text(json.dumps({"conversations": renamed}) + "\n")
    for name in "c", "d":
        leat.pack(tmp_path / f"{name}.jsonl", tmp_path / name, "bytes", id=None, max_rejects=3,
                  chat=leat.Chat(tmp_path / "t.jinja", messages="conversations"))
    ours, same = leat.open(tmp_path / "c"), leat.open(tmp_path / "d")
    assert bytes(ours.read(0, ours.info.tokens).astype("u1")) == bytes(same.read(0, same.info.tokens).astype("u1"))
    assert ours.mask().tolist() == same.mask().tolist() and ours.mask().any() == (want.learned != [])
    lines = (tmp_path / "c.rejects.jsonl").read_text().splitlines()
    assert [json.loads(line)["reason"] for line in lines] == ["message 0 of the conversation has no role"] * 3


# what stands alone between {{ and }}: booleans, None and others that are no text, of the template and of a message
ALONE = [{"role": "user", "content": "hi", "yes": True, "no": False, "l": [True, None, 1], "d": {"a": None, "b": 0}},
         {"role": "assistant", "content": "yo", "yes": True, "parts": [{"ok": True, "z": None}], "e": ""},
         {"role": "assistant", "content": True}, {"role": "assistant", "content": None, "a": 1},
         {"role": "assistant", "content": [True, None, 2, "x"]},
         {"role": "assistant", "content": {"a": False, "b": None}}]
VALUES = """true False none None tools documents add_generation_prompt undefined_name loop messages[0].yes
    messages[0].no messages[0].l messages[0].l[1] messages[0].d messages[0].d.a messages[1].parts[0].ok
    messages[1].parts[0].z messages[2].content messages[3].content messages[4].content messages[4].content[1]
    messages[5].content messages[5].content.a messages[1].content=='yo' messages[1].content.isdigit() messages[1].e+''
    messages[0].get('x') (messages[1].e)or(none) (not(messages[1].content)) ('y'in(messages[1].content))
    messages[2].content|string none|string none|upper true|tojson messages[2].content|tojson none~'x'
    messages[2].content~none messages[2].content+1 none+1 none|default('q') none|default('q',true) messages[2].content|e
    messages[0].l|join(',') messages[2].content|int messages[4].content|first messages[2].content|safe '%s'%none
    '{}'.format(true) [none] {'a':true} (true,)""".split()
AROUND = ["{{ V }}", "a{{ V }}b", "{% generation %}{{ V }}{% endgeneration %}", "{% set x = V %}{{ x }}",
          "{% set x %}{{ V }}{% endset %}{{ x }}", "{% set n = namespace(v=V) %}{{ n.v }}",
          "{% macro m(v) %}{{ v }}{% endmacro %}{{ m(V) }}", "{% for v in [V] %}{{ v }}{% endfor %}",
          "{% filter upper %}{{ V }}{% endfilter %}", "{{ V }}{{ V }}"]


def test_values_alone(tmp_path):
    packed = []  # templates
    for template in [around.replace("V", value) for value in VALUES for around in AROUND]:
        for tools in None, TOOLS:
            try:
                text, places = theirs(template, ALONE, tools)
            except Exception as why:
                with pytest.raises(type(why)):
                    leat.chat.render(template, ALONE, tools, **VARIABLES)
                continue
            done = leat.chat.render(template, ALONE, tools, **VARIABLES)
            assert done.text == text, template
            if places:
                learned = [set(range(*span)) for span in done.learned]
                assert set().union(*learned) == set().union(*(range(*span) for span in places[0])), template
            elif tools is None:
                packed.append(template)
    assert len(packed) > 400 and {"True", "False", "None"} <= {theirs(template, ALONE)[0] for template in packed}
    template = "\n".join(packed)
    (tmp_path / "c.jsonl").write_text(json.dumps({"messages": ALONE}) + "\n")
    (tmp_path / "t.jinja").write_text(template)
    leat.pack(tmp_path / "c.jsonl", tmp_path / "out", "bytes", chat=leat.Chat(tmp_path / "t.jinja", learn="last"))
    made = leat.open(tmp_path / "out")
    assert bytes(made.read(0, made.info.tokens).astype("u1")).decode() == theirs(template, ALONE)[0]


def test_refused():
    with pytest.raises(ValueError, match="strftime_now"):
        leat.chat.render("{{ strftime_now('%d') }}", ODD)
    assert leat.chat.render("{{ strftime_now('%d %b') }}", ODD, date="2026-01-31").text == "31 Jan"
    with pytest.raises(TypeError, match="what JSON can say, not object"):
        leat.chat.render("", [{"role": "user", "content": object()}])
    with pytest.raises(Exception, match="no user"):
        leat.chat.render("{{ raise_exception('no ' + messages[0].role) }}", ODD)
    with pytest.raises(Exception, match="unsafe"):
        leat.chat.render("{{ ''.__class__.__mro__ }}", ODD)


def test_packed(tmp_path):
    many = [conversation() for _ in range(300)]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"messages": m}) + "\n" for m in many))
    (tmp_path / "t.jinja").write_text(TEMPLATES["generation"])
    leat.pack(tmp_path / "c.jsonl", tmp_path / "out", "bytes", chat=tmp_path / "t.jinja", threads=3)
    dataset = leat.open(tmp_path / "out")
    want, mask = b"", []
    for messages in many:
        text, places = theirs(TEMPLATES["generation"], messages)
        learned = {at for a, b in places[0] for at in range(a, b)}
        want += text.encode()
        mask += [255 * (at in learned) for at, c in enumerate(text) for _ in c.encode()]
    assert bytes(dataset.read(0, dataset.info.tokens).astype("u1")) == want
    assert dataset.mask().tolist() == mask
    loop = "{% for i in range(99999) %}{% for k in range(99999) %}{% endfor %}{% endfor %}"
    (tmp_path / "slow.jinja").write_text(loop)
    with pytest.raises(leat.Error, match=r"takes longer than 1 s.*Chat\(..., seconds=N\), or skip_slow_chats=True"):
        leat.pack(tmp_path / "c.jsonl", tmp_path / "no", "bytes", chat=leat.Chat(tmp_path / "slow.jinja", seconds=1))
