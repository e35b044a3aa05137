"""Texts for tests: seeded (LEAT_TEST_SEED, printed), of all scripts and oddities that tokenizers trip over."""
import os
import random

SEED = int(os.environ.get("LEAT_TEST_SEED", "1"))
print(f"LEAT_TEST_SEED={SEED}")

PIECES = (
    "the", " quick", "brown ", "fox's", "DON'T", "12345", " 3.14", "\n", "\r\n", "\n\n  ", "\t", "   ", "  \n ", "é",
    "ſ", "'ſ", "naïve", "日本語", "中文字", "한국어", "עברית", "العربية", "हिन्दी", "ไทย", "🙂", "👩‍👩‍👧", "🇩🇪", "a\u0301",
    "\u200b", "\u00a0", "\x00", "\x7f", "...", "!?", "_x_", "f(x){return y;}", "//", "/*", "ǅ", "Ⅳ", "²", "½", "<|",
    "|>", "endoftext",
    "<|fim_prefix|", "ZZZZZZZZZZZZ", "aaaaaaaaaaaaaaaaaaaaaaaa", "\U0010ffff", "\ufffd",
)


def character(r):
    return chr(r.choice((r.randrange(32, 127), r.randrange(0xA0, 0xD800), r.randrange(0xE000, 0x110000))))


def texts(count, seed=0, longest=40):
    """That many random texts; the first one is empty."""
    r = random.Random(SEED * 1000003 + seed)
    made = [""]
    while len(made) < count:
        made.append("".join(r.choice(PIECES) if r.random() < 0.9 else character(r)
                            for _ in range(r.randrange(1, longest))))
    return made
