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
    with pytest.raises(TypeError, match="apply only to conversations"):
        leat.pack(tmp_path / "c.jsonl", tmp_path / "no", "bytes", chat_date="2026-01-31")
    loop = "{% for i in range(99999) %}{% for k in range(99999) %}{% endfor %}{% endfor %}"
    (tmp_path / "slow.jinja").write_text(loop)
    with pytest.raises(leat.Error, match="takes longer than 1 s.*chat_seconds=N, or skip_slow_chats=True"):
        leat.pack(tmp_path / "c.jsonl", tmp_path / "no", "bytes", chat=tmp_path / "slow.jinja", chat_seconds=1)
