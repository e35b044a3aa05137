"""chat_reference.py: what the tests of `leat pack --chat` share: Jinja, set up as transformers sets it up; a vocabulary
with a token per byte, and special tokens; leat, and what it packed. A test ends here as skipped without jinja2."""
import datetime
import functools
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import types

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "pack"))
from dataset import Dataset  # noqa: E402
from programs import LEAT, SMALL, rng  # noqa: E402, F401

try:
    import jinja2
    import jinja2.ext
    import jinja2.sandbox
except ImportError:
    print("skipped: Python's jinja2 is not installed")
    sys.exit(77)

PYTHON = os.environ["PYTHONPATH"] = os.path.abspath(os.path.join(here, "..", "..", "python"))  # for `leat pack --chat`
os.environ["LEAT_PYTHON"] = sys.executable
sys.path.insert(0, PYTHON)
sys.modules["leat"] = types.ModuleType("leat")  # leat itself would load the library
sys.modules["leat"].__path__ = [os.path.join(PYTHON, "leat")]
from leat import render as leat_render  # noqa: E402
folder = tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP"))
SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|start_header_id|>", "<|end_header_id|>",
           "<|eot_id|>", "<start_of_turn>", "<end_of_turn>", "<|user|>", "<|assistant|>", "<|system|>", "<|end|>",
           "[INST]", "[/INST]"]


# ---- Jinja as transformers has it --------------------------------------------------------------------------------

class Tracker(jinja2.ext.Extension):
    """{% generation %}: its output stands between two characters that occur nowhere else."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_mark"), [], [], body).set_lineno(line)

    def _mark(self, caller):
        return "\ue000" + caller() + "\ue001"


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def to_json(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                           extensions=[Tracker, jinja2.ext.loopcontrols])
environment.filters["tojson"] = to_json
environment.globals["raise_exception"] = raise_exception
environment.globals["strftime_now"] = datetime.datetime(2026, 1, 31).strftime
compiled = functools.lru_cache(maxsize=1)(environment.from_string)  # most of the time of these tests, else


def render(template, messages, tools=None):
    """The text, and for each character whether {% generation %} wrote it; None: an exception."""
    try:
        marked = compiled(template).render(
            messages=messages, tools=tools, documents=None, add_generation_prompt=False, bos_token="<s>",
            eos_token="</s>")
    except (jinja2.exceptions.TemplateError, TypeError, ValueError, KeyError, AttributeError, ArithmeticError,
            RecursionError):
        return None
    text, learned, depth = "", [], 0
    for c in marked:
        if c in "\ue000\ue001":
            depth += 1 if c == "\ue000" else -1
        else:
            text += c
            learned.append(depth > 0)
    return text, learned


def tokens_of(text, learned, answers=False):
    """Ids and mask of a text, with its special tokens; `learned` by character. With answers, the token of the template
    that ends a turn is learned too, and white space before it."""
    ids, mask, at, answered = [], [], 0, None
    while at < len(text):
        special = next((s for s in SPECIAL if text.startswith(s, at)), None)
        piece = special or text[at]
        new = [256 + SPECIAL.index(special)] if special else list(piece.encode())
        known = any(learned[at:at + len(piece)])
        if answers and known:
            answered = len(mask) + len(new)
        elif answers and answered is not None and special:
            mask[answered:] = [255] * (len(mask) - answered)
            known, answered = True, None
        elif answered is not None and not (piece.isspace() and piece in " \t\r\n"):
            answered = None
        ids += new
        mask += [255 if known else 0] * len(new)
        at += len(piece)
    return ids, mask


class Rendered:
    """What a renderer of leat makes of a template and conversations, in this process."""

    def __init__(self, template, date="2026-01-31", learning=""):
        self.renderer = leat_render.Renderer([b"1000000000", b"8000000", date.encode(), learning.encode(),
                                              template.encode(), b"", b"bos_token", b"<s>", b"eos_token", b"</s>"])
        self.renderer.learning.strict = False

    def __call__(self, conversation):
        """The text, and for each byte whether it is learned; or the reason why there is none. `conversation`: a value,
        or JSON."""
        text = conversation if isinstance(conversation, str) else json.dumps(conversation)
        kind, *rest = leat_render.read_frame(io.BytesIO(self.renderer.answer(text.encode(), b"")))
        if int(kind) != leat_render.TEXT:
            return rest[0].decode()
        stretches = list(struct.iter_unpack("<IIIIdd", rest[2]))
        return rest[0].decode(), [any(begin <= byte < end and weight > 0 for begin, end, _, _, weight, _ in stretches)
                                  for byte in range(len(rest[0]))]


# ---- The vocabulary ----------------------------------------------------------------------------------------------

def byte_letters():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + n) for n, b in enumerate(others)}


def make_tokenizer(path, config):
    os.makedirs(path)
    letters = byte_letters()
    added = [{"id": 256 + n, "content": s, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for n, s in enumerate(SPECIAL)]
    spec = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
            "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "vocab": {letters[b]: b for b in range(256)}, "merges": []}}
    with open(os.path.join(path, "tokenizer.json"), "w") as f:
        json.dump(spec, f)
    with open(os.path.join(path, "tokenizer_config.json"), "w") as f:
        json.dump(config, f)


TOKENS = {"bos_token": "<s>", "eos_token": {"content": "</s>"}}
vocabulary = os.path.join(folder, "vocabulary")
make_tokenizer(vocabulary, TOKENS)


def leat(*words, code=0, program=LEAT, tokenizer=vocabulary):
    done = subprocess.run([program, "pack", "-t", tokenizer, "--end", "none", "--max-rejects", "100%", "--force",
                           *words], capture_output=True, text=True, cwd=folder)
    assert code is None or done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def packed(name="out"):
    """[(ids, mask)]"""
    d = Dataset(os.path.join(folder, name))
    return [(list(d.tokens[a:b]), list(d.sections["mask"][a:b])) for a, b in zip(d.starts, d.starts[1:])]


def rejects(name="out"):
    try:
        with open(os.path.join(folder, name + ".rejects.jsonl")) as f:
            return [json.loads(line)["reason"] for line in f]
    except FileNotFoundError:
        return []


def write(name, text):
    with open(os.path.join(folder, name), "w") as f:
        f.write(text)
