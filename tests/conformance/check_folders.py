#!/usr/bin/env python3
"""check_folders.py PROGRAM [--only WORD] [--random N]: leat's ids for folders without a tokenizer.json (vocab.json with
merges.txt, what lies beside them) against AutoTokenizer of transformers, in many configurations; ids, offsets and types
that tokenizers gives with the tokenizer.json that leat stores, against AutoTokenizer's; that leat refuses what
AutoTokenizer refuses; and that folders of other classes are refused with a line that makes a tokenizer.json, of which
leat then gives AutoTokenizer's ids. PROGRAM is ids_dump.c, built. With --random also on N strings of ids_texts.py.
Ends with "N passed, N failed, N skipped". 77: transformers is not installed.
"""
import argparse
import io
import json
import os
import random
import re
import sys
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", RUST_BACKTRACE="0")
try:
    import sentencepiece
    import tokenizers
    import transformers
    from tokenizers.pre_tokenizers import ByteLevel

    import ids_comparison
    import ids_references
    import ids_texts
except ImportError as e:
    print(f"skipped: {e}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)

WORDS = ("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n##s\nhello  \nthe\n\ncafe\nKaf\u00e9\nh\n##ello\n!\n\"q\\\n<m>\n"
         "\u4f60\n##\u597d\n")
LETTERS = {letter: id for id, letter in enumerate(sorted(ByteLevel.alphabet()))}
PAIRS = {**LETTERS, **{word: len(LETTERS) + i for i, word in enumerate(["he", "ll", "llo", "hello", "\u0120hello"])}}
MERGES = "#version: 0.2\nh e\nl l\nll o\nhe llo\n\u0120 hello\n"
PARTS = ["hello", " hello", "the", "thes", "Kaf\u00e9", "caf\u00e9", "\u4f60\u597d", "\u4f60", "!", "\n", "  ", "\t",
         "I'm", "12", "[MASK]", "[SEP]", "<|endoftext|>", "<mask>", "<m>", "<t0>", "<t1>", "<t2>", "<e1>", "<e2>",
         "<w>", "x", "the2", "</s>", "<s>", "<z>", "\u00e9", "\"q\\", "\ufb01", "\u0130", "<q>", "<foo>"]


def named(name, **options):
    return {"tokenizer_class": name, **options}


def token(content, **flags):
    return {"__type": "AddedToken", "content": content, **flags}


def listed(content, **flags):
    return {"content": content, "lstrip": False, "rstrip": False, "single_word": False, "normalized": False,
            "special": True, **flags}


LEVEL = [named(name) for name in ("GPT2Tokenizer", "GPT2TokenizerFast", "Qwen2Tokenizer", "Qwen2TokenizerFast",
                                  "FooTokenizer")] + [
    named("GPT2Tokenizer", add_bos_token=True, add_prefix_space=True),
    named("GPT2Tokenizer", add_eos_token=True, eos_token="<z>"),
    named("GPT2Tokenizer", bos_token=token("<|endoftext|>", lstrip=False, normalized=True), unk_token="<|endoftext|>",
          pad_token="<p>", foo_token="<foo>", additional_special_tokens=["<e1>", token("<e2>", lstrip=True)]),
    named("GPT2Tokenizer", **{key: token("<|endoftext|>", normalized=True)
                              for key in ("bos_token", "eos_token", "unk_token")}),
    named("GPT2Tokenizer", unk_token=None, bos_token=None, eos_token=None),
    named("GPT2Tokenizer", extra_special_tokens=["<e1>", "hello"]),
    named("GPT2Tokenizer", add_prefix_space=None), named("GPT2Tokenizer", add_prefix_space="x"),
    named("Qwen2Tokenizer", additional_special_tokens=["<t0>", "<t1>"], eos_token="<t1>", bos_token=None,
          add_prefix_space=None, added_tokens_decoder={
              str(300 + i): listed(f"<t{i}>", special=i < 2, lstrip=i == 1) for i in range(3)}),
]


def folders():
    """(name, files)"""
    level = {"vocab.json": PAIRS, "merges.txt": MERGES}
    for i, config in enumerate(LEVEL):
        yield f"byte level {i}", {**level, "tokenizer_config.json": config}
    gpt2 = {**level, "tokenizer_config.json": named("GPT2Tokenizer")}
    yield "byte level, maps", {**gpt2, "added_tokens.json": {"<w>": 300, "<z>": 299, "<e1>": 298},
                               "special_tokens_map.json": {
                                   "bos_token": "<b>", "eos_token": {"content": "<z>", "lstrip": True},
                                   "additional_special_tokens": ["<e1>", "<e2>"], "foo_token": "<foo>"}}
    yield "byte level, extra in a map", {**gpt2, "special_tokens_map.json": {
        "eos_token": "<z>", "extra_special_tokens": ["<e1>", {"content": "<e2>", "rstrip": True}]}}
    for kind in "gpt2", "gpt_neo", "gptj", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe":
        yield f"type {kind}", {**level, "config.json": {"model_type": kind}}
    yield "no merges", {"vocab.json": PAIRS, "tokenizer_config.json": named("GPT2Tokenizer")}
    for name, merges in (("other line ends", MERGES.replace("\n", "\r\n")), ("an empty line", MERGES + "\n"),
                         ("a space", MERGES + "h e \n"), ("a byte-order mark", "\ufeff" + MERGES)):
        yield f"merges with {name}", {**gpt2, "merges.txt": merges}


def model(**options):
    r = random.Random(5)
    words = "hello the then other there here he she said that this caf\u00e9 water 12 123 word, . ! The Hello".split()
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(r.choices(words, k=8)) for _ in range(2000)]), model_writer=file,
        vocab_size=300, num_threads=1, hard_vocab_limit=False, minloglevel=2, **options)
    return file.getvalue()


def others():
    """(name, files) of classes whose files leat does not read."""
    words, level = {"vocab.txt": WORDS}, {"vocab.json": PAIRS, "merges.txt": MERGES}
    for name in "BertTokenizer", "DistilBertTokenizerFast", "ElectraTokenizer":
        yield name, {**words, "tokenizer_config.json": named(name, do_lower_case=name == "BertTokenizer")}
    yield "type bert", {**words, "config.json": {"model_type": "bert"}}
    for name in "RobertaTokenizer", "BartTokenizer":
        yield name, {**level, "tokenizer_config.json": named(name)}
    yield "type roberta", {**level, "config.json": {"model_type": "roberta"}}
    t5 = model(pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    yield "type t5", {"spiece.model": t5, "config.json": {"model_type": "t5"}}
    for name, file, bytes in (("T5TokenizerFast", "spiece.model", t5), ("PegasusTokenizer", "spiece.model", t5),
                              ("XLMRobertaTokenizer", "sentencepiece.bpe.model", model()),
                              ("LlamaTokenizer", "tokenizer.model", model(model_type="bpe", byte_fallback=True)),
                              ("GemmaTokenizer", "tokenizer.model", model(model_type="bpe", byte_fallback=True))):
        yield name, {file: bytes, "tokenizer_config.json": named(name)}


FEW = 60  # of the texts, with what the stored file makes of them


def laid_out(tokenizer, text, special):
    encoding = tokenizer.encode(text, add_special_tokens=special)
    return encoding.ids, encoding.offsets, encoding.type_ids


def compare_file(file, reference, texts):
    """What the file that leat stores makes of texts in tokenizers, with the tokens around them and with offsets."""
    mine = tokenizers.Tokenizer.from_str(file.decode())
    for special in True, False:
        for text in texts:
            a, b = ids_references.each(lambda t: laid_out(t, text, special), (mine, reference))
            if a != b:
                return f"the stored file, {text!r}: {a}, not {b}"
    return None


def compare(program, folder, texts):
    """What differs, or None."""
    try:
        reference = transformers.AutoTokenizer.from_pretrained(folder).backend_tokenizer
    except Exception:
        reference = None

    class Opened:
        spec, pattern = folder, None

    leat = ids_comparison.Leat(program, Opened)
    for special in (0, 1):
        if reference is not None:
            reference.encode_special_tokens = not special
        for at in range(0, len(texts), ids_comparison.CHUNK):
            some = texts[at:at + ids_comparison.CHUNK]
            ids = [None] * len(some) if reference is None else ids_references.each(
                lambda text: reference.encode(text, add_special_tokens=False).ids, some)
            try:
                mine = leat.encode(some, special)
            except ids_comparison.Refused as refusal:
                return None if reference is None else f"refused: {refusal}"
            if reference is None:
                return "AutoTokenizer refuses it, leat does not"
            for text, a, b in zip(some, mine, ids):
                if a != b:
                    return f"{text!r}: {a}, not {b}"
    file = leat.ask([(b"f", b"")], 0)[0]
    return compare_file(file, reference, texts[:FEW])


def make_file(program, folder):
    """Writes the folder's tokenizer.json by the line that leat refuses it with; what is wrong, or None."""
    class Opened:
        spec, pattern = folder, None

    try:
        ids_comparison.Leat(program, Opened).encode([""], 0)
    except ids_comparison.Refused as refusal:
        line = re.search(r"AutoTokenizer\..*", str(refusal))
        if not line:
            return f"refused without a line: {refusal}"
        exec(line[0], {"AutoTokenizer": transformers.AutoTokenizer})
        return None
    return "not refused"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", default="")
    parser.add_argument("--random", type=int, default=0)
    options = parser.parse_args()
    r = random.Random(1)
    texts = [""] + ["".join(r.choices(PARTS, k=r.randrange(1, 9))) for _ in range(400)]
    texts += ["".join(r.choices("ab ", [5, 5, 1], k=r.randrange(2, 30))) for _ in range(200)]
    texts += ids_texts.random_texts(options.random, 1, PARTS)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as parent:
        kept = list(folders())
        for i, (name, files) in enumerate(kept + list(others())):
            if options.only not in name:
                continue
            folder = tempfile.mkdtemp(dir=parent)
            for file, content in files.items():
                content = json.dumps(content) if isinstance(content, dict) else content
                with open(os.path.join(folder, file), "wb") as f:
                    f.write(content if isinstance(content, bytes) else content.encode())
            wrong = make_file(options.program, folder) if i >= len(kept) else None
            wrong = wrong or compare(options.program, folder, texts)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong is not None:
                print(f"FAILED {name}: {wrong}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
