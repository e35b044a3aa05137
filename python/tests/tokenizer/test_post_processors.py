"""What post-processors make of a text, beside tokenizers: types of tokens, templates without the text
or with it several times, and what is written as an array."""
import json

import pytest

import leat

tokenizers = pytest.importorskip("tokenizers")
VOCAB = {"[UNK]": 0, "a": 1, "b": 2, "<s>": 3, "</s>": 4}
SEP, CLS = ["</s>", 4], ["<s>", 3]
BERT, ROBERTA = {"sep": SEP, "cls": CLS}, {"sep": SEP, "cls": CLS, "trim_offsets": True, "add_prefix_space": False}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
TOKENS = {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}, "both": {"id": "both", "ids": [4, 3],
                                                                       "tokens": ["</s>", "<s>"]}}


def template(*words):
    """Of words such as "$A:1" and "<s>:0"."""
    pieces = []
    for name, kind in (word.split(":") for word in words):
        pieces.append({"Sequence": {"id": name[1:], "type_id": int(kind)}} if name[0] == "$" else
                      {"SpecialToken": {"id": name, "type_id": int(kind)}})
    return {"type": "TemplateProcessing", "single": pieces, "pair": [], "special_tokens": TOKENS}


def sequence(*processors):
    return {"type": "Sequence", "processors": list(processors)}


PROCESSORS = [
    template("$A:0", "<s>:0", "both:2"),  # as XLNet's
    template("<s>:3", "$A:1", "<s>:2"), template("$A:7"),
    template("<s>:3", "both:2"), template(), template("$A:0", "<s>:2", "$A:5"), template("$A:1", "$A:1"),
    None, BYTES, BERT, ROBERTA, [SEP, CLS], [SEP, CLS, True, False],
    [template("$A:1", "<s>:2")["single"], [], TOKENS],
    [[{"Sequence": ["A", 2]}, {"SpecialToken": ["<s>", 1]}], [], {"<s>": ["<s>", [3], ["<s>"]]}],
    sequence(BYTES, template("$A:1", "$A:2", "<s>:1")), sequence(template("$A:1", "$A:2", "<s>:1"), BYTES),
    sequence([SEP, CLS], BYTES), sequence(template("$A:1"), BERT), sequence(template("$A:1"), ROBERTA),
    sequence(template("$A:1"), template("<s>:1", "$A:2")),
]


def written(path, processor, truncation=None):
    t = tokenizers.Tokenizer(tokenizers.models.WordLevel(VOCAB, unk_token="[UNK]"))
    t.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    path.write_text(json.dumps({**json.loads(t.to_str()), "post_processor": processor, "truncation": truncation}))
    return leat.Tokenizer.from_file(path), tokenizers.Tokenizer.from_file(str(path))


def same(mine, want):
    assert (mine.ids, mine.type_ids, mine.special_tokens_mask, mine.offsets, mine.attention_mask, mine.tokens) == (
        want.ids, want.type_ids, want.special_tokens_mask, want.offsets, want.attention_mask, want.tokens)


@pytest.mark.parametrize("processor", PROCESSORS, ids=json.dumps)
def test_beside_tokenizers(tmp_path, processor):
    mine, theirs = written(tmp_path / "tokenizer.json", processor)
    assert mine.num_special_tokens_to_add() == theirs.num_special_tokens_to_add(False)
    for most in (None, 4):
        for t in (mine, theirs) if most else ():
            t.enable_truncation(most)
        for add in True, False:
            for text in "", "a", "a b a b a b":
                same(mine.encode(text, add_special_tokens=add, offsets=True),
                     theirs.encode(text, add_special_tokens=add))
            batch = ["a b", "", "b a b a b"]
            assert [(e.ids, e.type_ids) for e in mine.encode_batch(batch, add_special_tokens=add)] == [
                (e.ids, e.type_ids) for e in theirs.encode_batch(batch, add_special_tokens=add)]


@pytest.mark.parametrize("processor, sentence, also_without", [
    (template("$B:0"), "not known: give add_special_tokens=False", "is malformed"),
    (template("<x>:0", "$A:0"), "not known: give add_special_tokens=False", None),
    (sequence(BERT, BERT), "goes on after one that adds tokens.*: give add_special_tokens=False", None),
    (sequence(template("$A:0", "$A:0"), BERT), "repeats the text.*: give add_special_tokens=False", "repeats the text"),
])
def test_refused(tmp_path, processor, sentence, also_without):
    """Where tokenizers panics, or takes the tokens of one for texts of the next."""
    mine, theirs = written(tmp_path / "tokenizer.json", processor)
    with pytest.raises((ValueError, NotImplementedError), match=sentence):
        mine.encode("a")
    if also_without is None:
        assert mine.encode("a", add_special_tokens=False).ids == theirs.encode("a", add_special_tokens=False).ids
        return
    with pytest.raises((ValueError, NotImplementedError), match=also_without):
        mine.encode("a", add_special_tokens=False)


@pytest.mark.parametrize("truncation", [
    ["Right", 3, "LongestFirst", 0], ["Left", 3, {"OnlyFirst": None}, 0],
    {"direction": {"Left": None}, "max_length": 3, "strategy": {"LongestFirst": None}, "stride": 1}], ids=json.dumps)
def test_truncation_in_other_shapes(tmp_path, truncation):
    mine, theirs = written(tmp_path / "tokenizer.json", None, truncation)
    assert mine.truncation == theirs.truncation
    assert mine.encode("a b a b b").ids == theirs.encode("a b a b b").ids


@pytest.mark.parametrize("truncation", [[], {}, False, "x", [3, "LongestFirst", 0], ["Right", 3, "LongestFirst", 0, 1]],
                         ids=json.dumps)
def test_malformed_truncation(tmp_path, truncation):
    """tokenizers refuses these files."""
    with pytest.raises(Exception):
        written(tmp_path / "tokenizer.json", None, truncation)
    try:
        mine = leat.Tokenizer.from_file(tmp_path / "tokenizer.json")
    except leat.Error:
        return
    with pytest.raises(ValueError, match="truncation in tokenizer.json is malformed"):
        mine.encode("a")
