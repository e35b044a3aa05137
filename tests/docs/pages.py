#!/usr/bin/env python3
"""pages.py [--write | --stay] PAGE...: runs the commands of pages, one page after another in one folder, and compares
what they print with what the page shows.

The folder has `examples` alone, as a clone has it. A block ```sh is run by `sh -e`, with the build's programs in PATH,
in the folder where the block before it ended; each page begins where the first one did, with --stay where the one
before it ended. Where the next block is ```text, it is what the command prints (stdout and stderr together), with
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
    (r"^\w[\w ]* +\d+ %  .*/s  .*\n", ""),
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


def run(text, folder, clone):
    """What a block prints, its exit code, and the folder where it ends."""
    where = {**os.environ, "PATH": f"{BUILD}:{BUILD}/examples:{os.environ['PATH']}", "LC_ALL": "C",
             "LEAT_PAGE_ENDS": f"{clone}/.ends"}
    where = {name: value for name, value in where.items() if name not in VARIABLES}
    done = subprocess.run(["sh", "-e", "-c", f"trap 'pwd >\"$LEAT_PAGE_ENDS\"' EXIT\n{text}"], cwd=folder, env=where,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    code = f"(exit code {done.returncode})\n" if done.returncode else ""
    ends = pathlib.Path(clone, ".ends").read_text(encoding="utf-8").removesuffix("\n")
    return done.stdout.decode("utf-8", "replace") + code, done.returncode, ends


def check(path, clone, folder, write):
    """Returns whether a page holds that begins in a folder, and the folder where it ends."""
    page = path.read_text(encoding="utf-8")
    changes, bad = [], 0
    blocks = list(BLOCK.finditer(page))
    for block, output in zip(blocks, blocks[1:] + [None]):
        if output is not None and output["kind"] != "text":
            output = None
        if block["kind"] != "sh" or (block["note"] or "").startswith("skip, "):
            continue
        where = f"{path}:{page.count(chr(10), 0, block.start()) + 1}"
        printed, code, folder = run(block["text"], folder, clone)
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
    return not bad and (write or not changes), folder


def main(*words):
    option = words[0] if words[:1] in (("--write",), ("--stay",)) else ""
    pages = [pathlib.Path(name) for name in words[bool(option):]]
    failed = not pages
    with tempfile.TemporaryDirectory(prefix="leat-page-", dir=os.environ.get("LEAT_TEST_TMP")) as clone:
        os.symlink(ROOT / "examples", f"{clone}/examples")
        folder = clone
        for page in pages:
            holds, folder = check(page, clone, folder if option == "--stay" else clone, option == "--write")
            failed |= not holds
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
