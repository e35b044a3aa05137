"""leat.Tokenizer in the place of tiktoken's Encoding: the same results of the same calls, and the same refusals."""
import pickle
import random

import numpy as np
import pytest

import leat
from made_texts import SEED, texts

tiktoken = pytest.importorskip("tiktoken")


@pytest.fixture(scope="module", params=["gpt2", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"])
def both(request):
    """leat's tokenizer, and tiktoken's with the ranks of leat's tables, since tiktoken would download them."""
    from tiktoken_ext import openai_public
    mine = leat.Tokenizer(request.param)
    ranks = {mine.decode_single_token_bytes(i): i for i in range(mine.n_vocab)
             if mine.id_to_token(i) is not None and not mine.is_special_token(i)}
    patch = pytest.MonkeyPatch()
    patch.setattr(openai_public, "load_tiktoken_bpe", lambda *a, **k: dict(ranks))
    patch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", lambda *a, **k: dict(ranks))
    theirs = tiktoken.Encoding(**getattr(openai_public, request.param)())
    yield mine, theirs
    patch.undo()


def test_facts(both):
    mine, theirs = both
    assert mine.name == theirs.name
    assert mine.n_vocab == theirs.n_vocab
    assert mine.max_token_value == theirs.max_token_value
    assert mine.eot_token == theirs.eot_token
    assert mine.special_tokens_set == theirs.special_tokens_set
    assert mine.token_byte_values() == theirs.token_byte_values()
    for i in range(mine.n_vocab - 300, mine.n_vocab):
        assert mine.is_special_token(i) == theirs.is_special_token(i)


def test_encode(both):
    mine, theirs = both
    for text in texts(400, 1):
        want = theirs.encode(text)
        have = mine.encode(text)
        assert have == want, repr(text)
        assert isinstance(have, list) and type(have[0] if have else 0) is int
        assert mine.encode_ordinary(text) == want
        assert mine.decode(have) == text == theirs.decode(have)
        assert mine.decode_bytes(have) == text.encode()
        array = mine.encode_to_numpy(text)
        assert array.dtype == np.uint32 and array.tolist() == want
        assert mine.decode(array) == text


def test_special(both):
    mine, theirs = both
    r = random.Random(SEED)
    names = sorted(mine.special_tokens_set)
    names = r.sample(names, min(len(names), 40)) + ["<|nothing|>"]  # tiktoken makes a pattern of each set, slowly
    for text in texts(300, 2, longest=12):
        for _ in range(r.randrange(4)):
            at = r.randrange(len(text) + 1)
            text = text[:at] + r.choice(names) + text[at:]
        allowed = r.choice([set(), "all", set(r.sample(names, r.randrange(len(names) + 1)))])
        disallowed = r.choice([(), "all", set(r.sample(names, r.randrange(len(names) + 1)))])
        how = {"allowed_special": allowed, "disallowed_special": disallowed}
        try:
            want = theirs.encode(text, **how)
        except ValueError:
            for call in (mine.encode, mine.encode_to_numpy):
                with pytest.raises(ValueError, match="special token|disallowed"):
                    call(text, **how)
            with pytest.raises(ValueError):
                mine.encode_batch(["", text], **how)
            continue
        assert mine.encode(text, **how) == want, (text, how)
        assert mine.encode_to_numpy(text, **how).tolist() == want
        assert mine.encode_batch(["", text], **how) == [[], want]
        assert mine.decode(want) == text
        assert mine.encode_ordinary(text) == theirs.encode_ordinary(text)


def test_surrogates(both):
    mine, theirs = both
    for text in ("a\ud800b", "\udc00", "\ud83d\ude42", "x\udfff\ud800"):
        assert mine.encode(text) == theirs.encode(text)
        assert mine.encode_batch([text, "y"]) == theirs.encode_batch([text, "y"])


def test_batches(both):
    mine, theirs = both
    some = texts(3000, 3)
    want = theirs.encode_ordinary_batch(some)
    for threads in (None, 1, 2, 7):
        assert mine.encode_batch(some, num_threads=threads) == want
        assert mine.encode_ordinary_batch(some, num_threads=threads) == want
        ids, offsets = mine.encode_flat(some, num_threads=threads)
        assert ids.dtype == np.uint32 and offsets.dtype == np.int64 and len(offsets) == len(some) + 1
        assert [ids[a:b].tolist() for a, b in zip(offsets, offsets[1:])] == want
    assert mine.decode_batch(want) == some == theirs.decode_batch(want)
    assert mine.decode_bytes_batch(want) == [t.encode() for t in some]
    assert mine.encode_batch([]) == []


def test_single_tokens(both):
    mine, theirs = both
    r = random.Random(SEED)
    for i in [0, 255, mine.eot_token, *(r.randrange(50000) for _ in range(50))]:
        piece = theirs.decode_single_token_bytes(i)
        assert mine.decode_single_token_bytes(i) == piece
        assert mine.encode_single_token(piece) == i == theirs.encode_single_token(piece)
    for text in ("<|endoftext|>", "hello"):
        assert mine.encode_single_token(text) == theirs.encode_single_token(text)
    for nothing in ("no such token at all", b"\xff\xfe\xfd\xfc"):
        with pytest.raises(KeyError):
            theirs.encode_single_token(nothing)
        with pytest.raises(KeyError):
            mine.encode_single_token(nothing)
    with pytest.raises(KeyError):
        mine.decode_single_token_bytes(mine.n_vocab)


def test_decode(both):
    mine, theirs = both
    for text in texts(100, 4):
        ids = theirs.encode(text)
        cut = ids[:len(ids) // 2]  # perhaps within a character
        assert mine.decode(cut) == theirs.decode(cut)
        assert mine.decode(cut, errors="ignore") == theirs.decode(cut, errors="ignore")
        assert mine.decode_tokens_bytes(ids) == theirs.decode_tokens_bytes(ids)
        assert mine.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)
    with pytest.raises(UnicodeDecodeError):
        mine.decode([mine.encode_single_token(b"\xe6")], errors="strict")
    with pytest.raises(leat.Error, match=f"{mine.n_vocab + 5}"):
        mine.decode([mine.n_vocab + 5])


def test_what_an_encoding_keeps(both):
    mine, theirs = both
    assert mine._special_tokens == theirs._special_tokens and mine._mergeable_ranks == theirs._mergeable_ranks
    assert mine._pat_str == theirs._pat_str


def test_bytes_and_pieces(both):
    mine, theirs = both
    pytest.importorskip("regex")
    r = random.Random(SEED)
    some = [text.encode() for text in texts(150, 5, longest=30)]
    some += [text[r.randrange(len(text) + 1):][:r.randrange(len(text) + 1)] for text in some]  # inside characters
    some += [r.randbytes(r.randrange(12)) for _ in range(100)] + [b"\x80" * i for i in range(10)]
    some += [b"a b \n \n\xff", b"\xff a", b" \xec\x8b\xa4\xed", b"", b"x" * 300, b"ab" * 99 + b"\xe6"]
    for data in some:
        assert mine._encode_bytes(data) == theirs._encode_bytes(data), data
        if data:  # where tiktoken stops the process
            assert mine._encode_single_piece(data) == theirs._encode_single_piece(data), data
    assert mine._encode_single_piece("helloqqqq") == theirs._encode_single_piece("helloqqqq")


def test_unstable(both):
    mine, theirs = both
    pytest.importorskip("regex")
    special = sorted(mine.special_tokens_set)[0]
    some = ["hello fanta", "", " ", "a\n\n", "x  ", "tod", f"a{special}", f"a{special} b", "日本", "it'", "12",
            "\t\n \u00a0", "b\x1f", *texts(8, 6, longest=10)]
    for text in some:
        for how in ({"allowed_special": "all"}, {"disallowed_special": ()}, {"allowed_special": {special}}):
            have, want = mine.encode_with_unstable(text, **how), theirs.encode_with_unstable(text, **how)
            assert have[0] == want[0] and sorted(have[1]) == sorted(want[1]), (text, how)
    with pytest.raises(ValueError, match="special token"):
        mine.encode_with_unstable(special)


def test_encoding_of_my_own(tmp_path):
    """tiktoken.Encoding(name, pat_str=..., mergeable_ranks=...), also from a dataset and a pickle."""
    built_in = leat.Tokenizer("r50k_base")
    ranks = {token: rank for token, rank in built_in._mergeable_ranks.items() if rank < 5000}
    special = {"<|é\n\"end|>": 7000, "<|pickle|>": 6000}
    for pattern in (built_in._pat_str, leat.Tokenizer("o200k_base")._pat_str, r"[a-z]+|[^a-z]"):
        how = dict(pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
        mine, theirs = leat.Tokenizer("of my own", **how), tiktoken.Encoding("of my own", **how)
        with leat.Packer(tmp_path / "packed", mine, end=7000, force=True) as packer:
            packer.add("one text")
        stored = leat.Tokenizer.from_stored(*leat.open(tmp_path / "packed").stored_tokenizer)
        for each in (mine, leat.Tokenizer(name="of my own", **how), pickle.loads(pickle.dumps(mine)), stored):
            assert each.name == theirs.name and each.n_vocab == theirs.n_vocab and each.end_token is None
            assert each._pat_str == pattern and each._special_tokens == special and each._mergeable_ranks == ranks
            assert each.fingerprint == mine.fingerprint
            for text in [*texts(100, 7), *special]:
                assert each.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
    for name in leat.list_encoding_names():
        one = leat.get_encoding(name)
        again = leat.Tokenizer(name, pat_str=one._pat_str, mergeable_ranks=one._mergeable_ranks,
                               special_tokens=one._special_tokens, explicit_n_vocab=None)
        assert again.fingerprint == one.fingerprint and again.end_token == one.end_token
    for wrong in (dict(spec="gpt2", special_tokens={}), dict(spec="a", name="b", **how), dict(**how), {},
                  dict(name="a", pat_str="x"), dict(name="a", pattern="gpt2", **how), dict(name="gpt2")):
        with pytest.raises(TypeError):
            leat.Tokenizer(**wrong)
    with pytest.raises(ValueError, match="explicit_n_vocab is 5001"):
        leat.Tokenizer("a", explicit_n_vocab=5001, **how)
    for wrong, sentence in (({"special_tokens": {"<|x|>": 77}}, "the id 77 is that of a special token and a rank"),
                            ({"pat_str": "(a"}, "unclosed group"), ({"pat_str": "a\0"}, "NUL"),
                            ({"special_tokens": {"": 7000}}, "a special token is empty"),
                            ({"mergeable_ranks": {}}, "no tokens")):
        with pytest.raises(leat.Error, match=sentence):
            leat.Tokenizer("a", **{**how, **wrong})


def outcome(call, *given, **named):
    """What a call returns, with its type, or the type of what it raises."""
    try:
        found = call(*given, **named)
    except (KeyError, ValueError, UnicodeError) as error:
        return type(error)
    return (type(found), found.tolist()) if isinstance(found, np.ndarray) else (type(found), found)


def test_as_tiktoken(both):
    """Each public name of an Encoding is there, and gives equal results of equal types, or the same error."""
    from tiktoken import Encoding
    mine, theirs = leat.Tokenizer(both[0].name, like="tokenizers").as_tiktoken(), both[1]
    assert not [name for name in dir(Encoding) if not name.startswith("_") and not hasattr(mine, name)]
    r = random.Random(SEED)
    names = sorted(theirs.special_tokens_set)
    names = r.sample(names, min(len(names), 6))
    some = texts(40, 5, longest=12)
    some += [text[:5] + r.choice(names) + text[5:] for text in some] + ["a\ud800b", "\ud83d\ude42"]
    for name, given, named in [
            *((name, (text,), {}) for text in some for name in ("encode", "encode_ordinary")),
            *((name, (text,), dict(allowed_special=allowed, disallowed_special=disallowed))
              for text in some[:80] for allowed in (set(), "all", set(names[:1]))
              for disallowed in ((), "all", names[-1:]) for name in ("encode", "encode_to_numpy")),
            *((name, (some[:40],), dict(num_threads=2)) for name in ("encode_batch", "encode_ordinary_batch")),
            ("encode_batch", (some,), {}), ("encode_batch", (some,), dict(disallowed_special=())),
            ("encode_batch", (some,), dict(allowed_special="all")),
            ("encode_batch", (some,), dict(allowed_special=set(names[:2]), disallowed_special=())),
            *(("encode_single_token", (text,), {}) for text in ("hello", b"\xe6", names[0], "no such token"))]:
        assert outcome(getattr(mine, name), *given, **named) == outcome(getattr(theirs, name), *given, **named), \
            (name, given, named)
    lists = theirs.encode_batch(some, disallowed_special=()) + [[], [theirs.eot_token], theirs.encode("é日")[:1]]
    wrong = [*lists[:2], [5, theirs.max_token_value + 7]]
    for name in "decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets":
        for ids in [*lists, wrong[-1]]:
            assert outcome(getattr(mine, name), ids) == outcome(getattr(theirs, name), ids), (name, ids)
    for ids in lists:
        for errors in "strict", "ignore", "replace":
            assert outcome(mine.decode, ids, errors) == outcome(theirs.decode, ids, errors)
    for name in "decode_batch", "decode_bytes_batch":
        for batch in lists, wrong:
            assert outcome(getattr(mine, name), batch, num_threads=2) == outcome(getattr(theirs, name), batch)
    for token in (0, 255, theirs.eot_token, theirs.max_token_value + 1):
        assert outcome(mine.decode_single_token_bytes, token) == outcome(theirs.decode_single_token_bytes, token)
        assert mine.is_special_token(token) == theirs.is_special_token(token)
    for name in "name", "n_vocab", "max_token_value", "eot_token", "special_tokens_set":
        assert getattr(mine, name) == getattr(theirs, name)
    assert pickle.loads(pickle.dumps(mine)).encode("hello") == theirs.encode("hello")
    with pytest.raises(ValueError):  # whatever it was made of
        mine.encode("a<|endoftext|>")
