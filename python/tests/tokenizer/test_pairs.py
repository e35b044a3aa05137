"""Pairs of texts with leat.PreTrainedTokenizer: the same ids, types, masks, offsets and numbers of texts as
transformers gives, for every kind of post-processor, truncation and padding, on vocabularies that are made here and on
published ones where they are at hand. LEAT_TEST_SEED=7 changes the random part."""
import json
import os
import random

import pytest

import leat
from made_texts import texts
from public_files import published_vocabulary

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
os.environ["HF_HUB_OFFLINE"] = "1"
SEED = int(os.environ.get("LEAT_TEST_SEED", "1"))
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>"]
CONFIG = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
          "pad_token": "<pad>", "model_max_length": 20,
          "model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
PAIR = [{"Sequence": {"id": name, "type_id": n}} for n, name in enumerate("AB")]
TOKEN = [{"SpecialToken": {"id": name, "type_id": n}} for n, name in ((2, "<s>"), (0, "</s>"))]
TEMPLATE = {"type": "TemplateProcessing", "single": [TOKEN[0], PAIR[0]], "pair": [
    TOKEN[0], PAIR[0], TOKEN[1], PAIR[1], TOKEN[1]], "special_tokens": {
        name: {"id": name, "ids": [n], "tokens": [name]} for n, name in ((1, "<s>"), (2, "</s>"))}}
BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
ENDS = {"sep": ["</s>", 2], "cls": ["<s>", 1]}
ROBERTA = {"type": "RobertaProcessing", **ENDS, "trim_offsets": True, "add_prefix_space": True}
PROCESSORS = {
    "none": None, "bytes": BYTES, "template": TEMPLATE, "bert": {"type": "BertProcessing", **ENDS}, "roberta": ROBERTA,
    "second first": {**TEMPLATE, "pair": [*PAIR[::-1], TOKEN[1]]},
    "one after another": {"type": "Sequence", "processors": [BYTES, TEMPLATE]}}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    from tokenizers import models, pre_tokenizers, trainers
    path = tmp_path_factory.mktemp("trained") / "tokenizer.json"
    t = tokenizers.Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.train_from_iterator(texts(500, 3), trainers.BpeTrainer(
        vocab_size=600, special_tokens=SPECIAL, show_progress=False, initial_alphabet=t.pre_tokenizer.alphabet()))
    t.save(str(path))
    return json.loads(path.read_text())


def opened(folder):
    return leat.PreTrainedTokenizer(folder), transformers.AutoTokenizer.from_pretrained(str(folder))


def with_processor(folder, trained, processor):
    (folder / "tokenizer.json").write_text(json.dumps({**trained, "post_processor": processor}))
    (folder / "tokenizer_config.json").write_text(json.dumps(CONFIG))
    return opened(folder)


def outcome(t, given, options, asked):
    """What is returned, and what it says of its texts."""
    try:
        out = t(*given, **options)
    except Exception as why:  # noqa: BLE001
        known = "less than the" in str(why) and "max_length" in str(why)
        return "no room" if known else "raised"
    said = []
    if not isinstance(given[0], str) and "return_tensors" not in options:
        for n in range(len(out["input_ids"])):
            said.append((out.sequence_ids(n), out.tokens(n)))
            if asked:
                said.append([out.char_to_token(n, at, text) for at in range(9) for text in (0, 1)])
    return {name: value.tolist() if hasattr(value, "tolist") else [
        [tuple(x) if isinstance(x, list) else x for x in row] if isinstance(row, list) else row for row in value]
        for name, value in out.items()}, said


def compare(both, r, times):
    good = 0
    for _ in range(times):
        some = [["", "a", "b c", " caf\u00e9 e\u0301", *texts(3, r.randrange(10**6))] for _ in range(2)]
        first, second = (r.choices(one, k=3) for one in some)
        given = r.choice([(first, second), (first[0], second[0]), (list(zip(first, second)),),
                          ([list(pair) for pair in zip(first, second)],), (tuple(first), tuple(second))])
        options = {"add_special_tokens": r.random() < 0.7, "padding": r.choice([False, True, "max_length"]),
                   "truncation": r.choice([None, True, "longest_first", "only_first", "only_second", False]),
                   "max_length": r.choice([None, 0, 1, 3, 4, 5, 7, 8, 12, 30]),
                   "return_special_tokens_mask": r.random() < 0.5, "return_length": r.random() < 0.2}
        options.update({"return_token_type_ids": r.random() < 0.5} if r.random() < 0.2 else {})
        options.update({"return_tensors": "np", "padding": True} if r.random() < 0.1 else {})
        asked = options["return_offsets_mapping"] = r.random() < 0.5
        if given[-1] == "" and options["truncation"] == "only_second":
            options["truncation"] = "only_first"  # an empty second text makes no pair, which only_second needs
        side = r.choice(["left", "right"])
        for t in both:
            t.truncation_side = t.padding_side = side
        have, want = (outcome(t, given, options, asked) for t in both)
        assert have in (want, "no room"), (given, options, side, have, want)
        good += isinstance(have, tuple)
    assert good > times / 2


@pytest.mark.parametrize("name", PROCESSORS)
def test_post_processors(tmp_path, trained, name):
    both = with_processor(tmp_path, trained, PROCESSORS[name])
    compare(both, random.Random(f"{SEED} {name}"), 150)
    for pair in True, False:
        assert both[0].num_special_tokens_to_add(pair) == both[1].num_special_tokens_to_add(pair)
    assert both[0].encode("a b", "c") == both[1].encode("a b", "c")
    assert both[0].tokenize("a b", "c", True) == both[1].tokenize("a b", "c", True)
    assert both[0].tokenize("a b", pair="c") == both[1].tokenize("a b", pair="c")
    assert both[0].max_len_sentences_pair == both[1].max_len_sentences_pair


@pytest.mark.parametrize("name", ["qwen2_5", "llama3_1", "mistral_v1", "gemma2", "gpt2"])
def test_published(tmp_path, name):
    published_vocabulary(name, tmp_path)
    token = next(t["content"] for t in json.loads((tmp_path / "tokenizer.json").read_text())["added_tokens"])
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 20, "pad_token": token}))
    compare(opened(tmp_path), random.Random(f"{SEED} {name}"), 60)


def test_refused(tmp_path, trained):
    mine, _ = with_processor(tmp_path, trained, {"type": "Sequence", "processors": [TEMPLATE, ROBERTA]})
    with pytest.raises(NotImplementedError, match="several post-processors"):
        mine("a", "b")
    mine, _ = with_processor(tmp_path, trained, {**TEMPLATE, "pair": [PAIR[0], TOKEN[0], PAIR[1], PAIR[0]]})
    with pytest.raises(NotImplementedError, match="each of the two texts"):
        mine("a", "b")
    assert mine("a") and mine("a", "") == mine("a")
    (tmp_path / "other").mkdir()
    mine, _ = with_processor(tmp_path / "other", trained, TEMPLATE)
    for given, kind, sentence in ((("a", ["b"]), TypeError, "both be a str"), ((["a"], "b"), TypeError, "both be"),
                                  ((["a"], ["b", "c"]), ValueError, "1 texts and 2"),
                                  (([("a", "b"), ("a",)],), TypeError, "two texts in each"),
                                  ((iter("a"), iter("b")), TypeError, "have a length")):
        with pytest.raises(kind, match=sentence):
            mine(*given)
    with pytest.raises(ValueError, match="less than the 3 tokens around each pair"):
        mine("a", "b", truncation=True, max_length=2)
    with pytest.raises(ValueError, match="single texts"):
        mine("a", truncation="only_second")
    with pytest.raises(ValueError, match="no room for the other text"):
        mine("a", "b c d e f g", truncation="only_first", max_length=4)
