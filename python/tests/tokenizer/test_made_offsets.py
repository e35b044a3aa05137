"""Offsets of leat.Tokenizer by the rules of tokenizers, of made files of every kind: the reference's, or unknown."""
import json
import random

import pytest

import leat
from made_files import file_of, unigram, words

tokenizers = pytest.importorskip("tokenizers")

PIECES = ("Hello The then caf\u00e9 \u00c9clair \ufb01ne \u0130s \u03a3\u0391\u03a3 \u65e5\u672c don't 12,5 x\u00b2 "
          "e\u0301te \u1e69 \ud55c \uff76\uff9e \u00e5 \u00a0nb \u2003 \u00bd \u0301 \u0323 . ! `` <s> [UNK] "
          "\ufffd \u200b \u00ad \u2581 \ufdfa q").split(" ") + [" ", "  ", "\n", "\t"]


def made(kind, normalizer, pre):
    """A vocabulary with unknown tokens; None if such a one cannot be trained."""
    from tokenizers import models, trainers
    options = dict(special_tokens=["[UNK]", "<s>"], show_progress=False)
    t = tokenizers.Tokenizer({
        "BPE": lambda: models.BPE(unk_token="[UNK]", fuse_unk=True),
        "WordLevel": lambda: models.WordLevel(unk_token="[UNK]"),
        "WordPiece": lambda: models.WordPiece(unk_token="[UNK]"), "Unigram": models.Unigram}[kind]())
    trainer = {"BPE": trainers.BpeTrainer, "WordLevel": trainers.WordLevelTrainer, "Unigram": trainers.UnigramTrainer,
               "WordPiece": trainers.WordPieceTrainer}[kind](vocab_size=150, **options, **{
                   "Unigram": {"unk_token": "[UNK]"}, "WordLevel": {}}.get(kind, {"limit_alphabet": 40}))
    t.normalizer, t.pre_tokenizer = normalizer, pre
    t.train_from_iterator([" ".join(random.Random(i).choices(PIECES, k=9)) for i in range(300)], trainer)
    return t


def test_offsets_of_texts(tmp_path):
    """Of each kind of model with pre-tokenizers that keep the text, unknown tokens among them: those of tokenizers.
    With a normalizer they are refused, by its name; the ids are the same."""
    from tokenizers import normalizers as n, pre_tokenizers as p
    r, known, path = random.Random(5), 0, tmp_path / "tokenizer.json"
    letters = p.Sequence([p.Punctuation(), p.Digits(), p.ByteLevel(add_prefix_space=False)])
    for kind, pres in (("BPE", [p.ByteLevel(add_prefix_space=False), letters]), ("Unigram", [letters]),
                       ("WordLevel", [p.WhitespaceSplit(), p.Whitespace(), p.BertPreTokenizer()]),
                       ("WordPiece", [p.WhitespaceSplit(), p.Whitespace(), p.BertPreTokenizer()])):
        for pre in pres:
            made(kind, None, pre).save(str(path))
            theirs, mine = tokenizers.Tokenizer.from_file(str(path)), leat.Tokenizer.from_file(path)
            for _ in range(60):
                text = "".join(r.choice(PIECES) + r.choice(["", " "]) for _ in range(r.randrange(1, 9)))
                want = theirs.encode(text)
                try:
                    got = mine.encode(text, offsets=True)
                except NotImplementedError:
                    continue
                assert (got.ids, got.offsets) == (want.ids, want.offsets), (kind, text)
                known += 1
        for normalizer, name in ((n.NFC(), "NFC"), (n.Lowercase(), "Lowercase"), (n.BertNormalizer(), "BertNormalizer"),
                                 (n.Sequence([n.NFD(), n.StripAccents()]), "NFD, StripAccents")):
            made(kind, normalizer, pres[0]).save(str(path))
            theirs, mine = tokenizers.Tokenizer.from_file(str(path)), leat.Tokenizer.from_file(path)
            with pytest.raises(NotImplementedError, match=rf"the normalizer \({name}\) of this tokenizer may change"):
                mine.encode("Hello caf\u00e9", offsets=True)
            assert mine.encode("Hello caf\u00e9").ids == theirs.encode("Hello caf\u00e9").ids
    made("Unigram", None, p.Metaspace()).save(str(path))
    with pytest.raises(NotImplementedError, match=r"the pre-tokenizer \(Metaspace\) of this tokenizer may change"):
        leat.Tokenizer.from_file(path).encode("a", offsets=True)
    assert known > 100


def test_offsets_beside_added_tokens(tmp_path):
    from tokenizers import models, pre_tokenizers
    theirs = tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 1, "[UNK]": 2}, unk_token="[UNK]"))
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    theirs.add_tokens([tokenizers.AddedToken("<l>", lstrip=True), tokenizers.AddedToken("<r>", rstrip=True)])
    theirs.save(str(tmp_path / "tokenizer.json"))
    mine = leat.Tokenizer.from_file(tmp_path / "tokenizer.json")
    for text in ("a  b", " b\u3000a ", "a  <l> b", "<r>  a<l>"):
        assert mine.encode(text, offsets=True).offsets == theirs.encode(text).offsets


@pytest.mark.parametrize("kind, pre, text", [
    ("WordPiece", "UnicodeScripts", " \u03b1\u03b1"),  # the space is dropped
    ("Unigram", "Whitespace", "a\U00013ebe\x9d"),  # a letter since Unicode 16, which few Pythons know
    ("WordPiece", "ByteLevel", "ab"),  # unknown, and called like the letter
    ("WordPiece", "WhitespaceSplit", "d<w> <w>|"),  # the second one is the token
])
def test_offsets_of_unknown_words(tmp_path, kind, pre, text):
    """These were offsets of other characters. They are those of tokenizers, or not known."""
    from tokenizers import models, pre_tokenizers
    model = (models.WordPiece({"a": 0, "c": 1}, unk_token="a") if kind == "WordPiece" else
             models.Unigram([("<unk>", 0.0), ("c", -1.0)], 0))
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = getattr(pre_tokenizers, pre)()
    theirs.add_tokens([tokenizers.AddedToken("<w>", single_word=True)])
    theirs.save(str(tmp_path / "tokenizer.json"))
    mine, want = leat.Tokenizer.from_file(tmp_path / "tokenizer.json"), theirs.encode(text)
    assert mine.encode(text).ids == want.ids
    try:
        assert mine.encode(text, offsets=True).offsets == want.offsets
    except NotImplementedError:
        pass


WORD_PIECE = dict(continuing_subword_prefix="##", max_input_chars_per_word=100)
PLAIN_BPE = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "##",
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "merges": [],
             "vocab": {"#": 0, "##f": 1, "##e": 2}}
TRIMS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


@pytest.mark.parametrize("file, text, known", [
    # of unknown words, no cut is known but those at white space and punctuation
    (file_of(words("WordLevel", "<u>"), pre={"type": "Digits", "individual_digits": False}), "a1b", False),
    # a letter touches the token, so it is the model's
    (file_of(words("WordLevel", "<u>", "<w>x"), pre={"type": "WhitespaceSplit"},
             added=[("<w>", "single_word")]), "<w>x <w>", True),
    # nor is the token that it has in it
    (file_of(words("WordPiece", "<u>", **WORD_PIECE), added=[("h",), ("the", "single_word")]), "theh\ud55c", False),
    # an unknown word is all of what it stands for, also where the text has its name
    (file_of(words("WordLevel", "<u>"), pre=dict(TRIMS, use_regex=False)), "\u00a0<u>", False),
    # unknown characters that are dropped take no place, nor does a space before the text
    (file_of({**PLAIN_BPE, "vocab": {"a": 0, "b": 1}, "continuing_subword_prefix": None},
             pre=dict(TRIMS, add_prefix_space=True, use_regex=False)), "ab", False),
    (file_of(PLAIN_BPE, pre={"type": "Digits", "individual_digits": False}), "x##fe", False),
])
def test_offsets_once_wrong(tmp_path, file, text, known):
    """Found by comparing thousands of random tokenizer.json. They are those of tokenizers, or not known. With a
    normalizer or Metaspace they never are, which test_offsets_of_texts() has."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(file))
    mine, want = leat.Tokenizer.from_file(path), tokenizers.Tokenizer.from_file(str(path)).encode(text)
    assert mine.encode(text).ids == want.ids
    if known:
        assert mine.encode(text, offsets=True).offsets == want.offsets
    else:
        with pytest.raises(NotImplementedError):
            mine.encode(text, offsets=True)


BERT = {"sep": ["b", 2], "cls": ["a", 1]}


@pytest.mark.parametrize("changes", [
    {"normalizer": {"strip_left": True, "strip_right": True}}, {"normalizer": [True, True]},
    {"normalizer": {"type": {"NFC": None}}}, {"pre_tokenizer": {"type": "Punctuation", "behavior": {"Removed": None}}},
    {"model": {"vocab": {"<u>": 0, "a": 1, "b": 2}, "unk_token": "<u>", **WORD_PIECE}},
    {"model": {"vocab": [["<u>", 0.0], ["a", -1.0]], "unk_id": 0}}, {"post_processor": BERT},
    {"post_processor": {"type": "X", **BERT}}], ids=str)
def test_odd_files(tmp_path, changes):
    """Parts that tokenizers knows by their options alone. Offsets may be unknown, and are never others."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**file_of(words("WordLevel", "<u>", "a", "b")), **changes}))
    mine, theirs = leat.Tokenizer.from_file(path), tokenizers.Tokenizer.from_file(str(path))
    for text in ("a", " a.b", "b a"):
        want = theirs.encode(text)
        assert mine.encode(text).ids == want.ids
        try:
            assert mine.encode(text, offsets=True).offsets == want.offsets
        except NotImplementedError:
            pass


def test_offsets_with_surrogates(tmp_path):
    mine = leat.Tokenizer("gpt2")
    for text in ("a\ud83d b", "\udc00", "\udc00\ud800x"):
        clean = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
        assert mine.encode(text, offsets=True).offsets == mine.encode(clean, offsets=True).offsets
    with pytest.raises(NotImplementedError, match="pairs of surrogates"):
        mine.encode("\ud83d\ude00", offsets=True)


def test_offsets_of_words_that_are_added_too(tmp_path):
    """An added token with rstrip that is a whole word, and of which "foo" in "xfoo" is made, too."""
    vocab = {"[U]": 0, "foo": 1, "##foo": 2, "x": 3, "bar": 4}
    t = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocab, unk_token="[U]", continuing_subword_prefix=""))
    t.add_tokens([tokenizers.AddedToken("foo", single_word=True, rstrip=True)])
    t.save(str(tmp_path / "tokenizer.json"))
    mine = leat.Tokenizer.from_file(tmp_path / "tokenizer.json")
    for text in ("xfoo", "foo x"):
        want = t.encode(text)
        try:
            assert mine.encode(text, offsets=True).offsets == want.offsets
        except NotImplementedError:
            assert "foo" in text


def test_names_of_tokens(tmp_path):
    """tokenizers names added tokens with the white space that they took, and unknown ones of Unigram by their text;
    leat as its file does. Ids are the same."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(file_of(unigram("<unk>", "a"), added=[("<m>", "lstrip")])))
    mine, want = leat.Tokenizer.from_file(path).encode("a <m>z"), \
        tokenizers.Tokenizer.from_file(str(path)).encode("a <m>z")
    assert mine.ids == want.ids
    assert want.tokens == ["a", " <m>", "z"] and mine.tokens == ["a", "<m>", "<unk>"]
