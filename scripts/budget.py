#!/usr/bin/env python3
"""budget.py [--set]: the lines of each room beside its budget, and what else a reader has to know.

scripts/budget.txt has a row per room: a folder or a file, and how many lines it may have. A file counts in the row with
the longest name that fits. Lines are those of code outside tests, without generated tables. Exits with 1 if a room has
more lines than its budget, or a file has no room. --set lowers the numbers to what the rooms have, and raises none:
whoever raises a number does it by hand, and says why in the commit."""
import pathlib
import re
import statistics
import subprocess
import sys

BUDGET = pathlib.Path(__file__).with_name("budget.txt")
CODE = re.compile(r"(\.(c|h|cu|py|pyi|sh|mk)|(^|/)Makefile)$")
TESTS = re.compile(r"(^|/)tests/")
GENERATED = re.compile(r"_tables\.h$")
OPTIONS = ("follow_links", "skip_slow_chats", "numa_node", "max_rejects", "invalid_utf8", "allow_truncated",
           "source_weights", "ignore_index", "mask_begin", "stats_file", "on_damage", "allow_empty", "mask_field")
SLACK = 25  # a budget is the next multiple of this


def committed():
    listed = subprocess.run(["git", "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout
    return [name for name in listed.decode().split("\0") if name and pathlib.Path(name).is_file()]


def rooms_of(names, lines, budget):
    """Returns the lines of each room, and the files without a room."""
    have, lost = dict.fromkeys(budget, 0), []
    for name in names:
        rooms = [room for room in budget if name == room or name.startswith(room + "/")]
        if rooms:
            have[max(rooms, key=len)] += lines[name]
        else:
            lost.append(name)
    return have, lost


def print_totals(names, text, lines):
    outside = [name for name in lines if not TESTS.search(name)]
    words = {name: len(text[name].split()) for name in names
             if name.endswith(".md") and not name.startswith("examples/corpus/")}
    reference = words.get("FORMAT.md", 0) + words.get("docs/ORDER.md", 0)
    transcripts = sum(pathlib.Path(name).read_bytes().count(b"\n") for name in names if name.endswith(".t"))
    others = [name for name in outside if not name.endswith("budget.py")]
    spread = [sum(re.search(rf"\b{option}\b", text[name]) is not None for name in others) for option in OPTIONS]
    print(f"\n{sum(lines[name] for name in outside):,} lines outside tests, in {len(outside):,} files\n"
          f"{sum(lines[name] for name in lines if TESTS.search(name)):,} lines of tests, and {transcripts:,} of "
          f"transcripts\n"
          f"{sum(words.values()):,} words of documents, {sum(words.values()) - reference:,} without FORMAT and ORDER\n"
          f"an option is named in {statistics.median(spread):g} files (median of {len(OPTIONS)}), at most "
          f"{max(spread)}:\n  " + ", ".join(f"{option} {count}" for option, count in zip(OPTIONS, spread)))


def main():
    names = committed()
    text = {name: pathlib.Path(name).read_text() for name in names if CODE.search(name) or name.endswith(".md")}
    lines = {name: text[name].count("\n") for name in names if CODE.search(name) and not GENERATED.search(name)}
    rows = BUDGET.read_text().splitlines()
    budget = {room: int(most) for room, most in (row.split() for row in rows if row and not row.startswith("#"))}
    have, lost = rooms_of([name for name in lines if not TESTS.search(name)], lines, budget)
    if "--set" in sys.argv:
        budget = {room: min(budget[room], -(-have[room] // SLACK) * SLACK) for room in budget}
        BUDGET.write_text("\n".join([row for row in rows if row.startswith("#")] +
                                    [f"{room:38}{budget[room]:6}" for room in budget]) + "\n")
    print(f"{'room':36}   lines  budget")
    for room in budget:
        print(f"{room:36}  {have[room]:6}  {budget[room]:6}{'  too many' if have[room] > budget[room] else ''}")
    print_totals(names, text, lines)
    for name in lost:
        print(f"{name}: no row of {BUDGET.name} has this file")
    return 1 if lost or any(have[room] > budget[room] for room in budget) else 0


sys.exit(main())
