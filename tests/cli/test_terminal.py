#!/usr/bin/env python3
"""test_terminal.py: no command prints what a terminal obeys, whatever the names of files, the ids and the metadata of a
dataset hold: on stdout, on stderr, in progress bars, and of texts that go to a terminal. Texts that go to a pipe are
exact, and JSON is valid and has the names that there are.

What went wrong: `leat verify FOLDER` printed the name of the damaged part as it is, `leat info` the dataset's, pack and
merge the output's; C1 controls (U+009B), marks of direction (U+202E, U+2066) and U+2028 passed everywhere."""
import json
import os
import pty
import re
import select
import subprocess

from own import build, check, finish

os.environ["TERM"] = "xterm"  # where bars are drawn

EVIL = "e\x1b]0;x\x07\x1b[31m\x7f\x9b31m\u202eb\u2066c\u2028d\u061ce\u200b\ufeff\U000e0041\r\n"
NAME = EVIL.encode() + b"\x9b\xff"  # and bytes that are not UTF-8
SHOWN = ("e\\x1b]0;x\\x07\\x1b[31m\\x7f\\u009b31m\\u202eb\\u2066c"
         "\\u2028d\\u061ce\\u200b\\ufeff\\U000e0041\\x0d\\x0a\\x9b\\xff")
END = b"\0the end\0"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e"
                    "\u2066-\u2069\u200b\ufeff\U000e0000-\U000e007f]")


def leat(*words, code=0, lines=None):
    """What a command prints: stdout, and what is to be safe of both outputs. `lines` is the number of stdout's."""
    done = subprocess.run([build / "leat", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    check(done.returncode == code, f"leat {words} ended with {done.returncode}: {done.stderr!r}")
    for output in done.stdout, done.stderr:
        try:
            bad = OBEYED.search(output.decode())
        except UnicodeDecodeError as error:
            bad = error
        check(not bad, f"leat {words} printed {bad} in {output!r}")
    if lines is not None:
        check(done.stdout.count(b"\n") == lines, f"leat {words} printed {done.stdout!r}, expected {lines} lines")
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def on_terminal(*words):
    """What a command sends to a terminal, without the terminal's own carriage returns."""
    parent, child = pty.openpty()
    with subprocess.Popen([build / "leat", *words], stdin=subprocess.DEVNULL, stdout=child, stderr=child) as run:
        got = b""
        while run.poll() is None:
            if select.select([parent], [], [], 0.05)[0]:
                got += os.read(parent, 65536)
    os.write(child, END)  # a terminal that the last program has closed may lose what was not read yet
    while not got.endswith(END):
        got += os.read(parent, 65536)
    got = got[:-len(END)]
    os.close(parent)
    os.close(child)
    check(run.returncode == 0, f"leat {words} ended with {run.returncode}: {got!r}")
    return got.replace(b"\r\n", b"\n").decode()


# ---- Names, in all that speaks of them

os.mkdir(b"in")
with open(b"in/" + NAME, "wb") as file:
    file.write(json.dumps({"id": EVIL, "text": "a text" * 2000}).encode() + b"\n" + b"{\n")
named = ["--format", "jsonl", "-t", "bytes", "--max-rejects", "1"]
out, said = leat("pack", "-o", NAME, "in", *named)
check(SHOWN in out, f"leat pack printed {out!r}")
leat("pack", "-o", NAME, "in", *named, code=1)  # exists
leat("pack", "-o", NAME, "in", *named, "--force", "--split", "val=0.5", "--dedup")
os.mkdir(b"set")
for part in b"1", b"2":
    leat("pack", "-o", b"set/" + part + NAME, "in", *named)
check(SHOWN in leat("info", b"set")[0] and SHOWN in leat("info", b"set/1" + NAME)[0], "leat info does not show names")
leat("verify", b"set", lines=1)
check(SHOWN in leat("verify", b"set/1" + NAME, lines=1)[0], "leat verify does not show the name")
leat("merge", "-o", b"merged" + NAME, b"set", lines=1)
leat("find", b"set", "--document", "1", lines=7)
leat("trace", "--source", b"set", "--seq-len", "2", "--samples", "0:2", lines=3)
leat("order", "--source", b"set/1" + NAME, "--seq-len", "2", "--print-plan", code=2)
leat("encode", "-t", NAME + b".json", code=1)
leat("pack", "-o", "x", "-t", "bytes", b"in/" + NAME + b"/no", code=1)
leat("info", NAME + b"no", code=1)
leat(NAME, code=2)
leat("info", b"--" + NAME, code=2)

# ---- JSON

for words in (["info", b"set/1" + NAME], ["find", b"set", "--document", "1"], ["verify", b"set/1" + NAME]):
    got = json.loads(leat(*words, "--json")[0])
    if words[0] == "find":
        check(got["id"] == EVIL and got["part"].startswith("set/2" + EVIL), f"leat find --json gave {got}")
    else:
        check(got["name"].startswith("set/1" + EVIL), f"leat {words[0]} --json gave {got}")

# ---- A damaged page, in a part of that name
with open(b"set/2" + NAME + b".tokens", "r+b") as file:
    file.seek(10000)
    file.write(b"\x01")
out, said = leat("verify", b"set", code=3)
check("2" + SHOWN in out + said, f"leat verify printed {out!r} {said!r}")

# ---- Texts: exact to a pipe, safe on a terminal, also where a block of tokens ends inside of a character

TEXT = "plain \u20ac\ttab\nline " + EVIL + "\U0001f600"
shown = SHOWN[:-len("\\x9b\\xff")].replace("\\x0a", "\n")
for tokenizer in "bytes", "gpt2":
    texts = [("x" * n + TEXT) for n in (0, 16383 - 7, 16384 - 7, 16382)]
    with open("texts.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
    leat("pack", "-o", "texts", "texts.jsonl", "-t", tokenizer, "--force")
    for n, text in enumerate(texts):
        words = ["cat", "texts", "--document", str(n)]
        piped = subprocess.run([build / "leat", *words], stdout=subprocess.PIPE, check=True).stdout
        check(piped == text.encode(), f"leat cat to a pipe: document {n} is not exact")
        want = text.replace(TEXT, "plain \u20ac\ttab\nline " + shown + "\U0001f600\n")
        got = on_terminal(*words)
        check(got == want, f"leat cat to a terminal: {tokenizer}, document {n}: {got[-150:]!r}, not {want[-150:]!r}")

finish()
