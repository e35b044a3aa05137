"""leat.PreTrainedTokenizer.apply_chat_template() in the place of transformers': the same texts, ids and masks of random
conversations, for published templates and for small ones, on published vocabularies where they are at hand and on one
that is made here; what a template gets of values of all kinds; where templates come from; what is refused.
LEAT_TEST_SEED=7 changes the random part."""
import collections
import copy
import dataclasses
import enum
import functools
import json
import os
import pickle
import random

import pytest

import leat
from conftest import ROOT
from made_texts import texts
from public_files import published_vocabulary

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
numpy = pytest.importorskip("numpy")
os.environ["HF_HUB_OFFLINE"] = "1"
SEED = int(os.environ.get("LEAT_TEST_SEED", "1"))
TEMPLATES = {path.stem: path.read_text() for path in sorted((ROOT / "tests" / "chat" / "templates").glob("*.jinja"))}
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<|im_start|>", "<|im_end|>", "<|user|>", "<|assistant|>", "<|end|>"]
NAMED = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
         "pad_token": "<pad>", "model_max_length": 60}
PUBLISHED = {  # what their configurations name
    "qwen2_5": {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "bos_token": "<|endoftext|>"},
    "llama3_1": {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>", "pad_token": "<|end_of_text|>"},
    "mistral_v1": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "</s>"},
    "gemma2": {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}}
# where {% generation %} stands in odd places
MASKED = {
    "plain": "{% for m in messages %}{{ m.role }}:{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
             "{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}",
    "one after another": "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}",
    "empty": "{% for m in messages %}{{ m.content }}\n{% generation %}{% endgeneration %}\n{% endfor %}",
    "at once": "{% generation %}{{ messages[0].content }}{% endgeneration %}{{ messages[-1].content }}",
    "nested": "a{% for m in messages %}{% generation %}b{{ m.content }}{% generation %}c{{ m.role }}{% endgeneration %}"
              "{% endgeneration %}{% endfor %}",
    "macro": "x{% macro turn(m) %}{{ m.role }} {% generation %}{{ m.content }}{% endgeneration %}{% endmacro %}"
             "{% for m in messages %}- {{ turn(m) }}{{ ' ' ~ turn(m) }}{% endfor %}",
    "set": "{% for m in messages %}q{% set text %}{{ m.role }}{% generation %}{{ m.content }}{% endgeneration %}"
           "{% endset %}{{ text }}{% endfor %}",
    "call": "{% macro f() %}{{ messages[0].content }}{% generation %}z{% endgeneration %}{% endmacro %}"
            "{% generation %}{{ f() }}{{ messages[-1].content }}{% endgeneration %}"}


def made(folder, config):
    from tokenizers import models, pre_tokenizers, processors, trainers
    t = tokenizers.Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(texts(500, 3), trainers.BpeTrainer(
        vocab_size=600, special_tokens=SPECIAL, show_progress=False, initial_alphabet=t.pre_tokenizer.alphabet()))
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    t.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({**NAMED, **config}))
    return opened(folder)


def opened(folder):
    return leat.PreTrainedTokenizer(folder), transformers.AutoTokenizer.from_pretrained(str(folder))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return made(tmp_path_factory.mktemp("small"), {"chat_template": TEMPLATES["chatml"]})


@pytest.fixture(scope="module", params=["small", *PUBLISHED])
def both(request, tmp_path_factory):
    if request.param == "small":
        return request.getfixturevalue("small")
    folder = tmp_path_factory.mktemp(request.param)
    published_vocabulary(request.param, folder)
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 60, **PUBLISHED[request.param]}))
    return opened(folder)


def content(r):
    words = ["Hello", "the", "水", "é", "\n", " ", "  ", "x y", "<|im_end|>", "</s>", "12", "\U0001f600", "a.", "\u2581",
             "don't", "<think>", "</think>", "\t", "ẘ"]
    return r.choice(["", " "]) + "".join(r.choices(words + [" "] * 5, k=r.randrange(12))) + r.choice(["", " ", "\n"])


def conversation(r):
    """Mostly as templates want them."""
    roles = ["system"] * r.randrange(2) + ["user", "assistant"] * r.randrange(1, 4) + ["user"] * r.randrange(2)
    if r.random() < 0.1:
        r.shuffle(roles)
    more = {"name": "n", "reasoning_content": "why", "thinking": "so", "tool_calls": None}
    return [{"role": role, "content": content(r), **{n: v for n, v in more.items() if r.random() < 0.1}}
            for role in roles]


def outcome(t, *args, **options):
    """What is returned, as lists; "raised" for an exception. transformers fails at a mask of an empty {% generation %}
    at the very beginning, "overflow"; leat does not know where all tokens of gemma2 stand in all texts, "offsets"."""
    try:
        out = t.apply_chat_template(*args, **options)
    except OverflowError:
        return "overflow"
    except Exception as why:  # noqa: BLE001
        return "offsets" if "the offsets of this text's tokens are not known" in str(why) else "raised"
    if not hasattr(out, "keys"):
        return out.tolist() if hasattr(out, "tolist") else out
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in dict(out).items()}


def options_of(r, masks):
    options = {"add_generation_prompt": r.random() < 0.3, "tokenize": r.random() < 0.8, "padding": r.random() < 0.5,
               "return_dict": r.random() < 0.8}
    if r.random() < 0.3:
        options.update(truncation=True, max_length=r.choice([None, 5, 20]))
    if r.random() < 0.2:
        options.update(padding="max_length", max_length=r.choice([None, 100]))
    if r.random() < 0.2:
        options.update(return_tensors="np", padding=True)
    if r.random() < 0.2:
        options["tokenizer_kwargs"] = {"return_offsets_mapping": True, "padding_side": "left"}
    if not masks and r.random() < 0.4:
        options.update(continue_final_message=r.choice([True, "content", "reasoning_content"]),
                       add_generation_prompt=r.random() < 0.1)
    if masks:
        options["return_assistant_tokens_mask"] = True
        options.update({} if r.random() < 0.1 else {"tokenize": True, "return_dict": True})
    return options


@pytest.mark.filterwarnings("ignore:the chat template has no")
@pytest.mark.parametrize("name", TEMPLATES)
def test_published_templates(both, name):
    mine, theirs = both
    r = random.Random(f"{SEED} {name}")
    good = 0
    for _ in range(40):
        given = [conversation(r) for _ in range(r.randrange(1, 4))] if r.random() < 0.5 else conversation(r)
        options = {**options_of(r, r.random() < 0.3), "chat_template": TEMPLATES[name]}
        kept = copy.deepcopy(given)
        have, want = outcome(mine, given, **options), outcome(theirs, given, **options)
        assert given == kept and (have in (want, "offsets")), (given, options, have, want)
        good += have != "offsets" and want != "raised"
    assert good > 10


@pytest.mark.parametrize("name", MASKED)
def test_masks(both, name):
    mine, theirs = both
    r = random.Random(f"{SEED} {name}")
    seen = set()
    for _ in range(40):
        given = [conversation(r) for _ in range(r.randrange(1, 4))] if r.random() < 0.5 else conversation(r)
        options = {**options_of(r, True), "chat_template": MASKED[name]}
        for side in "left", "right":
            for t in both:
                t.truncation_side = side
            have, want = outcome(mine, given, **options), outcome(theirs, given, **options)
            assert have in (want, "offsets") or want == "overflow" != have, (given, options, have, want)
            if isinstance(have, dict):
                seen.update(str(have["assistant_masks"]))
    assert "0" in seen and ("1" in seen or name == "empty")


class Color(str, enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Image:
    path: str
    pixels: object


SHOWN = ("{{ messages | tojson }}|{{ tools | tojson }}|{{ documents | tojson }}|{{ more | tojson }}|"
         "{{ bos_token | tojson }}{{ add_generation_prompt }}{{ other is defined }}{{ range is defined }}"
         "{{ sep_token is defined }}")



def test_masks_beside_a_second_text(small):
    """Places in the second text are none in the first, of which truncation leaves less."""
    given = [{"role": "user", "content": "a b c"}, {"role": "assistant", "content": "some words to learn " * 3}]
    seen = set()
    for longest in range(2, 120, 3):
        mine, theirs = (dict(t.apply_chat_template(
            given, chat_template=MASKED["plain"], return_assistant_tokens_mask=True, truncation=True,
            max_length=longest, tokenizer_kwargs={"text_pair": "xyz " * 40})) for t in small)
        assert mine == theirs, longest
        seen.update(mine["assistant_masks"])
    assert seen == {0, 1}


def test_what_a_template_gets(small):
    for value in (1, True, None, 0.5, -0.0, 1e300, 10**40, 1 - 10**4300, "é\u0000\u2028\"\\", Color.RED,
                  numpy.float32(0.5), numpy.int64(7), numpy.bool_(False), numpy.str_("s"), numpy.zeros(3),
                  Image("a", numpy.zeros(2)),
                  {"a": [1, {"b": None}]}, collections.OrderedDict(z=1, a=2), object(), {1, 2}, b"bytes", enum.IntEnum(
                      "N", "ONE").ONE, type, [[]], {}):
        for options in ({"more": value}, {"tools": [{"a": value}]}, {"documents": [{"title": value}]}, {
                "more": [value], "other": None, "bos_token": value}, {"range": value}):
            given = [{"role": "user", "content": value, "none": None, "deep": [{"none": None}]}]
            template = SHOWN if "more" in options else SHOWN.replace("{{ more | tojson }}", "")
            have, want = (t.apply_chat_template(given, chat_template=template, tokenize=False, **options)
                          for t in small)
            assert have == want, (value, options)
    for messages in ([{"text": "no role"}], [{"role": 5}], [{"role": "assistant", "thinking": "a", "reasoning": "b"}]):
        have, want = (t.apply_chat_template(messages, chat_template="{{ messages | tojson }}", tokenize=False)
                      for t in small)
        assert have == want
    for batch in ([[]], [[{"role": "user", "content": "a"}], []], [({"role": "user", "content": "a"},)]):
        have, want = (t.apply_chat_template(batch, chat_template="{{ messages | tojson }}", tokenize=False)
                      for t in small)
        assert have == want


def test_forms_of_arguments(small):
    """Tools of an iterator were lost, and those of an array refused; transformers takes both."""
    given, tools = [{"role": "user", "content": "a"}], [{"name": "f"}, {"name": "g"}]
    for make in (list, tuple, iter, lambda tools: numpy.array(tools, dtype=object), lambda _: [], lambda _: None):
        have, want = (t.apply_chat_template(given, make(tools), tokenize=False, chat_template="{{ tools | tojson }}")
                      for t in small)
        assert have == want
    for make in iter, lambda documents: numpy.array(documents, dtype=object):  # neither gets to a template
        have, want = (t.apply_chat_template(given, documents=make(tools), tokenize=False,
                                            chat_template="{{ documents | tojson }}") for t in small)
        assert have == want
    for value in True, 1, numpy.bool_(True), "content", 0, False, None, "":
        have, want = (t.apply_chat_template(given, continue_final_message=value, tokenize=False) for t in small)
        assert have == want
    for make in tuple, iter, lambda messages: numpy.array(messages, dtype=object):
        have, want = (t.apply_chat_template(make(given), tokenize=False) for t in small)
        assert have == want


def test_continues_in_blocks(small):
    template = "{% for m in messages %}{% for b in m.content %}[{{ b.text | trim }}]{% endfor %}</s>{% endfor %}"
    for blocks in ([{"text": "a"}, {"text": " b "}, {"image": 1}], [{"text": "a"}], [{"image": 1}], []):
        given = [{"role": "assistant", "content": blocks}]
        have, want = (outcome(t, given, chat_template=template, continue_final_message=True, tokenize=False)
                      for t in small)
        assert have == want, blocks


FOUND = [({}, {}), ({"chat_template": "a"}, {}), ({"chat_template": "a"}, {"chat_template.jinja": "b\r\nc\n"}),
         ({"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]}, {}),
         ({"chat_template": [{"name": "rag", "template": "r"}]}, {}),
         ({"chat_template": "a"}, {"chat_template.jinja": "b", "additional_chat_templates/tool_use.jinja": "t",
                                   "additional_chat_templates/notes.txt": "n"}),
         ({}, {"additional_chat_templates/x.jinja": "{{ 1 }}"})]


@pytest.mark.parametrize("config, files", FOUND, ids=str)
def test_where_templates_come_from(tmp_path, config, files):
    (tmp_path / "from" / "additional_chat_templates").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "from" / name).write_bytes(text.encode())
    mine, theirs = made(tmp_path / "from", config)
    for t in mine, pickle.loads(pickle.dumps(mine)), copy.copy(mine):
        assert t.chat_template == theirs.chat_template
        for args in (), ("given",), ("rag",), (None, []), ("tool_use", None):
            have, want = (said(u.get_chat_template, args) for u in (t, theirs))
            assert have == want, args
    mine.save_pretrained(tmp_path / "same")
    again, by_them = opened(tmp_path / "same")
    assert again.chat_template == by_them.chat_template == theirs.chat_template
    for n, template in enumerate(("new é", {"default": "x", "rag": "y"}, None)):
        mine.chat_template = template
        mine.save_pretrained(tmp_path / str(n))
        again, by_them = opened(tmp_path / str(n))
        assert again.chat_template == by_them.chat_template == template
    leat.PreTrainedTokenizer(leat.Tokenizer(tmp_path / "from")).save_pretrained(tmp_path / "alone")
    assert opened(tmp_path / "alone")[0].chat_template is None


def said(function, args):
    try:
        return function(*args)
    except ValueError:
        return ValueError


def test_refused(small):
    mine = small[0]
    given = [{"role": "user", "content": "a"}]
    for options, kind, sentence in (
            ({"chat_template": "{% include 'x' %}"}, NotImplementedError, "line 1 .* include: .*use transformers"),
            ({"chat_template": "{{ strftime_now('%Y') }}"}, leat.Error, "strftime_now"),
            ({"chat_template": "{{ raise_exception('no') }}"}, leat.Error, "the chat template refuses it: no"),
            ({"more": (1, 2)}, NotImplementedError, "a tuple in what"), ({"more": {1: 2}}, NotImplementedError, "key"),
            ({"more": float("nan")}, NotImplementedError, "NaN"), ({"more": "\ud800"}, ValueError, "surrogate"),
            ({"more": 10**5000}, NotImplementedError, "4300"),
            ({"more": functools.reduce(lambda a, _: [a], range(150), 1)}, leat.Error, "nested deeper than 100"),
            ({"tools": [len]}, TypeError, "get_json_schema"),
            ({"tools": "[{}]"}, TypeError, "json.loads"), ({"chat_template": b"a"}, TypeError, "is a str, not b'a'"),
            ({"chat_template": ["a"]}, TypeError, "is a str, not"),
            ({"documents": ["a"]}, TypeError, "title and text"), ({"messages": []}, TypeError, "messages"),
            ({"sanitize_control_tokens": True}, NotImplementedError, "sanitize_control_tokens"),
            ({"return_assistant_tokens_mask": True, "return_dict": False}, ValueError, "needs return_dict"),
            ({"continue_final_message": True, "add_generation_prompt": True}, ValueError, "cannot be used with"),
            ({"continue_final_message": "other"}, ValueError, "no 'other' to continue")):
        with pytest.raises(kind, match=sentence):
            mine.apply_chat_template(given, **options)
    for content in 5, {"text": "a"}, [{"text": 5}]:
        with pytest.raises(TypeError, match="continue_final_message: what is continued must be a text"):
            mine.apply_chat_template([{"role": "user", "content": content}], continue_final_message=True)
    for wrong in [], ["text"], {"role": "user"}, [1], None, 5, numpy.array([[{}] * 99, [{}] * 99], dtype=object):
        with pytest.raises((ValueError, TypeError), match="an? (empty )?conversation"):
            mine.apply_chat_template(wrong)
    with pytest.raises(ValueError, match="have no chat template"):
        leat.PreTrainedTokenizer("gpt2").apply_chat_template(given)
    with pytest.warns(UserWarning, match="has no {% generation %}"):
        assert set(mine.apply_chat_template(given, return_assistant_tokens_mask=True)["assistant_masks"]) == {0}
    with pytest.raises(leat.Error, match="takes more than 512 MiB"):
        mine.apply_chat_template([{"role": "user", "content": "x" * 10**6}], chat_template=(
            "{% set ns = namespace(s=messages[0].content) %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}"
            "{% endfor %}"))
    for wrong in b"", b"[]", b"{", b'{"messages": "\xff"}', b'{"a": 1} x':
        with pytest.raises(leat.Error, match="an object of JSON"):
            leat._leat.ChatTemplate("a").render(wrong)
