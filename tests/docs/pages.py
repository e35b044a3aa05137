#!/usr/bin/env python3
"""pages.py [--write] PAGE...: runs the commands of tutorials and compares what they print with what the page shows.

A block ```sh is run by `sh -e` in a folder that is empty at the page's begin but for `examples`, with the build's
programs in PATH. Where the next block is ```text, it is what the command prints (stdout and stderr together), with
"(exit code N)" as a last line if that is not 0; a block without one after it must end well, and what it prints is not
looked at. Other blocks, and those behind a line <!-- test: skip, WHY -->, are not run.

What may differ from run to run is left out of the comparison (VARIES): times, rates, memory, and the lines of progress
that a command prints on a slow machine.
--write puts what is printed now into the page, and leaves blocks that differ in nothing else as they are."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", ROOT / "build")).resolve()
BLOCK = re.compile(r"^(?:<!-- test: (?P<note>.*?) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)

VARIABLES = "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "SOURCE_DATE_EPOCH"  # which a reader does not have

NUMBER = r"\d[\d.,]*"
VARIES = [(re.compile(pattern, re.M), instead) for pattern, instead in (
    (r"^\w+ +\d+ %  .*/s  .*\n", ""),
    (rf"\b{NUMBER} (?:[kMGT]i?)?B/s\b", "RATE"),
    (rf"\b{NUMBER} (?:[kMGT] ?)?tokens/s\b", "RATE"),
    (rf"\b{NUMBER} ?(?:ns|us|ms|s|min|h)\b", "TIME"),
    (rf"\bmemory at most {NUMBER} \w+", "memory at most SIZE"),
    (rf"\binterrupted after {NUMBER} tokens in {NUMBER} documents", "interrupted after SOME"),
)]


def steady(text):
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return text


def run(text, folder):
    where = {**os.environ, "PATH": f"{BUILD}:{BUILD}/examples:{os.environ['PATH']}", "LC_ALL": "C",}
    where = {name: value for name, value in where.items() if name not in VARIABLES}
    done = subprocess.run(["sh", "-e", "-c", text], cwd=folder, env=where, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    code = f"(exit code {done.returncode})\n" if done.returncode else ""
    return done.stdout.decode("utf-8", "replace") + code, done.returncode


def check(path, write):
    page = path.read_text(encoding="utf-8")
    changes, bad = [], 0
    with tempfile.TemporaryDirectory(prefix="leat-page-", dir=os.environ.get("LEAT_TEST_TMP")) as folder:
        os.symlink(ROOT / "examples", f"{folder}/examples")
        blocks = list(BLOCK.finditer(page))
        for block, output in zip(blocks, blocks[1:] + [None]):
            if output is not None and output["kind"] != "text":
                output = None
            if block["kind"] != "sh" or (block["note"] or "").startswith("skip, "):
                continue
            where = f"{path}:{page.count(chr(10), 0, block.start()) + 1}"
            printed, code = run(block["text"], folder)
            if output is None:
                if code:
                    bad += 1
                    print(f"{where}: this failed:\n{block['text']}{printed}", file=sys.stderr)
            elif steady(printed) != steady(output["text"]):
                changes.append((output.span("text"), printed))
                if not write:
                    print(f"{where}: printed\n{printed}and not\n{output['text']}", file=sys.stderr)
    if write and changes:
        for (begin, end), printed in reversed(changes):
            page = page[:begin] + printed + page[end:]
        path.write_text(page, encoding="utf-8")
        print(f"{path}: {len(changes)} blocks of output written anew")
    return not bad and (write or not changes)


if __name__ == "__main__":
    write = sys.argv[1:2] == ["--write"]
    pages = [pathlib.Path(name) for name in sys.argv[1 + write:]]
    results = [check(page, write) for page in pages]
    sys.exit(0 if pages and all(results) else 1)
