#!/usr/bin/env python3
"""coverage.py BUILD RUNS: which lines and branches of src/ and tokenize_tools/ the tests reach.

BUILD was built with --coverage; RUNS holds a folder for each test, as runner.sh leaves them. Prints a line for each
file, the worst first; BUILD/uncovered.txt has the lines that no test reaches, and those with a branch that none takes;
BUILD/reached.json has the tests that reach each line, for mutants.py.

A line counts once, in however many objects it is: the kernels of all CPU levels come from one text. So does a branch,
by its place in its line, where the objects have equally many there; else the object counts in which most are taken."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDERS = ("src/", "tokenize_tools/")
TABLE = re.compile(r"_tables\.h$")  # generated


def counts_of(run, build):
    """Of one test: its name, milliseconds, and of each file's lines (reached, {branches: taken or not})."""
    name, _, milliseconds = (run / "test").read_text().split()
    data = sorted(run.glob(f"{build}/**/*.gcda"))
    for path in data:
        notes = path.with_suffix(".gcno")
        if not notes.exists():
            os.symlink(pathlib.Path.cwd() / notes.relative_to(run), notes)
    files = collections.defaultdict(dict)
    if data:
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", *map(str, data)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise RuntimeError(f"gcov, of {name}: " + done.stderr.decode(errors="replace")[-300:])
        for text in done.stdout.splitlines():
            for file in json.loads(text)["files"]:
                if file["file"].startswith(FOLDERS) and not TABLE.search(file["file"]):
                    add(files[file["file"]], file["lines"])
    return name, int(milliseconds), files


def add(known, lines):
    for line in lines:
        taken = [branch["count"] > 0 for branch in line["branches"] if not branch["throw"]]
        note(known, line["line_number"], line["count"] > 0, {len(taken): taken})


def note(known, number, reached, branches):
    before = known.get(number, (False, {}))
    join(before[1], branches)
    known[number] = before[0] or reached, before[1]


def join(branches, others):
    for number, taken in others.items():
        branches[number] = [a or b for a, b in zip(branches.get(number, taken), taken)]


def best(branches):
    return max(branches.values(), key=lambda taken: (sum(taken), -len(taken)))


def percent(part, whole):
    return f"{100 * part / whole:6.1f} %" if whole else "       -"


def report(files, out):
    rows, missed = [], []
    for path, lines in sorted(files.items()):
        source = pathlib.Path(path).read_text().splitlines()
        reached = sum(line[0] for line in lines.values())
        taken = sum(sum(best(line[1])) for line in lines.values())
        branches = sum(len(best(line[1])) for line in lines.values())
        rows.append((len(lines) - reached, branches - taken, len(lines), branches, path))
        for number, (reached, branches) in sorted(lines.items()):
            taken = best(branches)
            if not reached:
                missed.append(f"line    {path}:{number}: {source[number - 1].strip()}")
            elif not all(taken):
                missed.append(f"branch  {path}:{number}: {sum(taken)} of {len(taken)}: {source[number - 1].strip()}")
    out.write_text("".join(line + "\n" for line in sorted(missed, key=lambda line: not line.startswith("line"))))
    print(f"{'lines':>15} {'branches':>17}")
    rows.append(tuple(sum(row[i] for row in rows) for i in range(4)) + ("all",))
    for line, branch, lines, branches, path in sorted(rows, reverse=True):
        print(f"{line:6}{percent(lines - line, lines)} {branch:8}{percent(branches - branch, branches)}  {path}")
    print(f"how many are not reached, and the share that is; which, {out}")


def main():
    build, runs = map(pathlib.Path, sys.argv[1:])
    every, tests, reaching = collections.defaultdict(dict), {}, collections.defaultdict(dict)
    folders = sorted(path.parent for path in runs.glob("*/test"))
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for name, milliseconds, files in pool.map(counts_of, folders, [build] * len(folders)):
            index = len(tests)
            tests[name] = milliseconds
            for path, lines in files.items():
                for number, (reached, branches) in lines.items():
                    note(every[path], number, reached, branches)
                    if reached:
                        reaching[path].setdefault(number, []).append(index)
    if not tests:
        sys.exit(f"{runs} holds no test's counts: run `make coverage`")
    (build / "reached.json").write_text(json.dumps({"tests": list(tests.items()), "files": reaching}))
    report(every, build / "uncovered.txt")


if __name__ == "__main__":
    main()
