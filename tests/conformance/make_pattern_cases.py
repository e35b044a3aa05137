#!/usr/bin/env python3
"""make_pattern_cases.py PROGRAM > tests/tokenizer/patterns.txt: answers of the references, for test_patterns.c.

For each pattern of check_scanners.py and each dialect: where its matches lie in one text of odd characters, or
"refused". The places are those of PROGRAM (pretokens_dump), if tiktoken or tokenizers cut out the same texts;
a pattern that a reference does not take, or fails on, is left out."""
import struct
import subprocess
import sys

import check_scanners as known
from check_scanners import Regex, Refused, pre, tiktoken

TEXT = ("Don't STS\u017f\u212aI'd ab1\u00b2 a{2 aabbcc\u00e9\u00c9\u01c5 1234\r\n\n \t\u00a0x\u2028y"
        "\u4e00\u3042\u30ab\uac00\u0e01\u0301\u0416_-\\/[!\u2160\u20ac+\u200d"
        "\U0001f600\u0378\ue000\x07 abcab\x85end \n ")
MORE = [  # what the lists of check_scanners.py do not say
    r"[\h]+", r"[\H]", r"[[:^digit:]]+", r"\p{Lu}\p{^Lu}", r"[\x61-\x63]+", r"[a-c\d]+", r"(?:(?:a|b)*c)+", r"\w+\B",
    r"(?i-i:a)b", r"(?i:a(?-i:b))", r"[^\x{0}-\x{10ffff}]", r"\p{L}{1,2}+", r"(?>a|ab)c", r"(?<x>a)(?<y>b)", r"[&a]+",
    r"[a&&b]", r"\p{Other}+", r"\p{Separator}", r"\p{Zl}|\p{Zp}", r"[\w&&\P{Han}]+", r"x*+", r"a{,2}+",
    r"[[:a]]+", r"[x[:^ac]]",
]
MORE_ONIGURUMA = [r"[\b]|a", r"[\u0061-\u0063]+", r"(?:a{2})*?b", r"a+*b", r"a?{2}b", r"\x41", r"(?i)[k]+",
                  r"[[:graph:]&&[^a-z]]+", r"\'", r"(?m).+", r"(?-m:.)+", r"\pL|S|a\pL", r"a|\p", r"a|\x", r"[\x]+",
                  r"\c\a|\C-\t", r"[\c\cg\C-\M-\n]", r"\89|\98|I", r"[\8]", r"\o{141}|\o", r"[\o{141}-\o{143}]+",
                  r"(?i)[^[^a-f]]", r"(?i)[a-z&&[A-Z]]", r"(?i)[a-z&&[^K]]", r"(?i)[^a-z&&A-Z]", r"(?i)[^k-s\d]+",
                  r"\R+", r".*\R", r"\n*\R", r"(?=b)|a"]
MORE_RUST = [r"\p{GeneralCategory=Lu}+", r"\p{script=Han}", r"\p{sc=Han}", r"[[:punct:]]+", r"[[:^word:]]+",
             r"[[:cntrl:]]+", r"[[:alnum:]]+", r"[\w--\p{L}]+", r"(?u:\w)+", r"(?s).+", r"(?-s).+", r"(?i)[k]+",
             r"(?i:\u{17f})", r"[[:lower:]]+", r"[[:graph:]]+", r"[[:print:]]+", r"[a-z--[b-y]--z]+", r"\x4a|\u0061"]
REFUSED_BOTH = [r"(*a)", r"(?x:a)", r"^*", r"a{2,1}", r"a{65536}", r"\ud800", r"\x{d800}", r"[z-a]", r"[a-",
                r"(?#", r"(?<a", r"(?:", r"(?i", r"(?i)(", r"\p{L", r"(?i:\u{e9})",
                "(?i:\u00e9)", "(?i)[\u00e9-\u00eb]", "(" * 70 + "a" + ")" * 70, "[" * 70 + "a" + "]" * 70, r"\9",
                r"[[:foo:]]"]
REFUSED_ONIGURUMA = [r"(?s:a)", r"(?u:a)", r"\xe9", r"\b{start}", r"[\p", r"(?'a", r"a\c", r"a\Ca", r"[\C-\\",
                     r"\c\M", "\\c" * 70 + "a", r"[\777]", r"(?i)[\S]x", r"(?i)[[^a]]", r"\o{}",
                     r"\o{141 142}", r"\o{8}", r"\o{40000000141}", r"\o{141"]
REFUSED_RUST = [r"\xd", r"[]a]", r"[a-b-c]", r"\p", r"\q", r"(?-u:a)", r"\b{start}", r"a++*", r"a+{2}",
                r"[a~~b]", r"\>"]


def pretokens_of_tokenizers(pattern):
    return [p.encode() for p, _ in pre.Split(Regex(pattern), "removed", invert=True).pre_tokenize_str(TEXT)]


def pretokens_of_tiktoken(pattern):
    """With every stretch of the text as a token each pretoken is one."""
    text = TEXT.encode()
    ranks = {bytes([i]): i for i in range(256)}
    for begin in range(len(text)):
        for end in range(begin + 2, len(text) + 1):
            ranks.setdefault(text[begin:end], len(ranks))
    encoding = tiktoken.Encoding("stretches", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    ids = known.ordinary(encoding, [TEXT])[0]
    return None if ids is None else encoding.decode_tokens_bytes(ids)


def places_of(program, pattern, dialect):
    """The matches' begins and ends."""
    text = TEXT.encode()
    done = subprocess.run([program, "pattern", pattern, dialect, "Removed", "1"], stdout=subprocess.PIPE,
                          input=struct.pack("<I", len(text)) + text)
    if done.returncode == 3:
        raise Refused(done.stdout.decode(errors="replace").strip())
    numbers = struct.unpack(f"<{len(done.stdout) // 4}I", done.stdout)
    return list(zip(numbers[1::2], numbers[2::2]))


def picture(places):
    """A letter for each byte of the text: a match begins, goes on, or there is none."""
    letters = ["."] * len(TEXT.encode())
    for begin, end in places:
        letters[begin:end] = "b" + "m" * (end - begin - 1)
    return "".join(letters)


def main():
    program = sys.argv[1]
    print("# by tests/conformance/make_pattern_cases.py, from tiktoken 0.14 and tokenizers 0.23: for each pattern (in")
    print("# hexadecimal) a letter for each byte of the text: b where a match begins, m where it goes on")
    print("text", TEXT.encode().hex())
    for dialect, patterns, reference, refused in (
            ("oniguruma", known.BOTH + known.ONIGURUMA + MORE + MORE_ONIGURUMA, pretokens_of_tokenizers,
             known.REFUSED_ONIGURUMA + REFUSED_BOTH + REFUSED_ONIGURUMA),
            ("rust", known.BOTH + known.RUST + MORE + MORE_RUST, pretokens_of_tiktoken,
             known.REFUSED_RUST + REFUSED_BOTH + REFUSED_RUST)):
        for pattern in dict.fromkeys(patterns):
            try:
                wanted = reference(pattern)
                places = places_of(program, pattern, dialect)
                got = [TEXT.encode()[begin:end] for begin, end in places]
            except Refused as why:
                print(f"{dialect} {pattern!r}: {why}", file=sys.stderr)
                continue
            except Exception as why:
                print(f"{dialect} {pattern!r}: the reference: {str(why)[:90]}", file=sys.stderr)
                continue
            if wanted is None:
                continue
            if wanted != got:
                sys.exit(f"{dialect} {pattern!r}: {got} instead of {wanted}")
            print(dialect, pattern.encode().hex() or "-", picture(places))
        for pattern in dict.fromkeys(refused):
            try:
                places_of(program, pattern, dialect)
                print(f"{dialect} {pattern!r}: is taken", file=sys.stderr)
            except Refused:
                print(f"refused-{dialect}", pattern.encode().hex())


if __name__ == "__main__":
    main()
