"""leat.get_encoding() and its kin: tiktoken's names lead to tiktoken's vocabularies, and no name to another one."""
import base64
import hashlib
import pickle
import random

import pytest

import leat
from made_texts import SEED

# what tiktoken says its files hash to (tiktoken_ext/openai_public.py)
FILES = {"r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
         "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
         "p50k_edit": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
         "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
         "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
         "o200k_harmony": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"}


@pytest.mark.parametrize("name", FILES)
def test_ranks(name):
    """The built-ins are the published files, byte for byte: p50k_base too, which leat makes of r50k_base."""
    encoding = leat.get_encoding(name)
    lines = (b"%s %d\n" % (base64.b64encode(encoding.decode_single_token_bytes(i)), i) for i in range(encoding.n_vocab)
             if encoding.id_to_token(i) is not None and not encoding.is_special_token(i))
    assert hashlib.sha256(b"".join(lines)).hexdigest() == FILES[name]


def test_names():
    tiktoken = pytest.importorskip("tiktoken")
    assert leat.list_encoding_names() == tiktoken.list_encoding_names()
    for name in leat.list_encoding_names():
        encoding = leat.get_encoding(name)
        assert encoding.name == name and encoding is leat.get_encoding(name)
        again = pickle.loads(pickle.dumps(encoding))
        assert again.name == name and again.fingerprint == encoding.fingerprint
    assert leat.Tokenizer("r50k_base").fingerprint == leat.Tokenizer("gpt2").fingerprint
    # so that older versions read datasets made with it
    assert leat.Tokenizer("r50k_base").stored() == leat.Tokenizer("gpt2").stored()


def test_special_tokens():
    public = pytest.importorskip("tiktoken_ext.openai_public")
    patch = pytest.MonkeyPatch()
    patch.setattr(public, "load_tiktoken_bpe", lambda *a, **k: {})
    patch.setattr(public, "data_gym_to_mergeable_bpe_ranks", lambda *a, **k: {})
    for name in leat.list_encoding_names():
        assert leat.get_encoding(name).special_tokens == public.ENCODING_CONSTRUCTORS[name]()["special_tokens"]
    patch.undo()


def test_models():
    model = pytest.importorskip("tiktoken.model")
    r = random.Random(SEED)
    names = [*model.MODEL_TO_ENCODING, *model.MODEL_PREFIX_TO_ENCODING, "gpt-4", "gpt4", "llama3", "", "o200k_base"]
    names += [prefix + "x" for prefix in model.MODEL_PREFIX_TO_ENCODING]
    names += [name[:r.randrange(len(name))] for name in model.MODEL_TO_ENCODING]
    for name in names:
        try:
            want = model.encoding_name_for_model(name)
        except KeyError:
            with pytest.raises(KeyError, match="download its tokenizer.json"):
                leat.encoding_for_model(name)
            continue
        assert leat.encoding_name_for_model(name) == want, name
        assert leat.encoding_for_model(name) is leat.get_encoding(want)


def test_unknown():
    """None of them leads to another vocabulary: "gpt-4o" and "gpt4" led to gpt2."""
    for name in ("gpt-4o", "gpt-3.5-turbo"):
        with pytest.raises(ValueError, match=f"encoding_for_model\\('{name}'\\)"):
            leat.get_encoding(name)
    for name in ("gpt4", "p50k", "gpt2 ", "llama3", "bytes"):
        with pytest.raises(ValueError, match="unknown encoding .* download its tokenizer.json"):
            leat.get_encoding(name)
    with pytest.raises(ValueError, match="must be a str"):
        leat.get_encoding(None)
    for name, sentence in (("gpt-4o", "that model's is the built-in o200k_base"),
                           ("gpt4", "that model's is the built-in cl100k_base"),
                           ("llama3", "that of meta-llama/Meta-Llama-3-8B: give that name")):
        with pytest.raises(leat.Error, match=sentence):
            leat.Tokenizer(name)
