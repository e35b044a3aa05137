#!/usr/bin/env python3
"""mutants.py BUILD REACHED N SEED [AGAIN]: changes N random lines of code, one at a time, and runs the tests.

Of src/ and tokenize_tools/, without generated tables, lines are drawn at random, and each is changed in one small way:
a comparison, a sign, a condition turned round, && for ||, a constant one higher, a statement left out. What is not
compiled, or compiled to the same bytes, is drawn again. The tests that reach the line (REACHED, of coverage.py) are
run, those named like the file first, then the quick ones, until one fails or runs ten times as long as it should.

A change that no test sees is a survivor: another way to write the same, or a test that is missing. They are printed,
and written to BUILD/survivors.json. With AGAIN, such a file, its changes are tried instead of random ones.
REACHED may be "ptx": the PTX of the kernels is changed instead, and the tests of CUDA run: their stand-in for the
driver runs PTX itself.
All happens in BUILD/tree, a copy of the working tree; tests that fail there without a change are left out."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FOLDERS = ("src", "tokenize_tools")
PTX = "src/device/cuda_kernels.ptx"
MEMORY = 8 << 30  # what one test may take; a change can make a loop allocate without end
MADE = ["test-tools"]
COMPARED = ["libleat.a", "libleat_pack.a", "leat", "tiny/leat"]
PARALLEL = 2


# ---- The changes -----------------------------------------------------------------------------------------------------

def without_comments(text):
    """The text with blanks for all that comments and literals hold, so that columns stay."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)


SWAPS = [(r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="), (r"(?<= )<(?= )", "<="), (r"(?<= )>(?= )", ">="),
         (r"(?<= )<=(?= )", "<"), (r"(?<= )>=(?= )", ">"), (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
         (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"(?<= )\+=(?= )", "-="), (r"(?<= )-=(?= )", "+="),
         (r"(?<= )&(?= )", "|"), (r"(?<= )\|(?= )", "&"), (r"(?<= )<<(?= )", ">>"), (r"(?<= )>>(?= )", "<<"),
         (r"\btrue\b", "false"), (r"\bfalse\b", "true")]
NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)(?=[uUlL]*\b)(?![.])")
CONDITION = re.compile(r"^(\s*(?:} )?(?:else )?(?:if|while) )(\(.*\))( \{| break;| continue;| return.*;|)$")
STATEMENT = re.compile(r"^\s+(?!(?:struct|enum|const|static|case|default|else|do|for|if|while)\b)[^{}]*;$")


def changes_of(line, code):
    """All ways to change a line; code is the line without comments and literals."""
    found = []
    for pattern, instead in SWAPS:
        for place in re.finditer(pattern, code):
            found.append(line[:place.start()] + instead + line[place.end():])
    for place in NUMBER.finditer(code):
        number = int(place[1], 16 if place[1].startswith("0x") else 10) + 1
        text = f"{number:#x}" if place[1].startswith("0x") else str(number)
        found.append(line[:place.start(1)] + text + line[place.end(1):])
    condition = CONDITION.match(code.rstrip())
    if condition and balanced(condition[2]):
        a, b = condition.span(2)
        found.append(f"{line[:a]}(!{line[a:b]}){line[b:]}")
    if STATEMENT.match(code) and balanced(code):
        found.append(line[:len(line) - len(line.lstrip())] + ";")
    return found


# Of the PTX: one instruction for another, that of the other sign, a guard turned round.
PTX_SWAPS = [(r"^\tadd\.", "\tsub."), (r"^\tsub\.", "\tadd."), (r"^\tand\.", "\tor."), (r"^\tor\.", "\tand."),
             (r"^\txor\.", "\tor."), (r"^\tshl\.b", "\tshr.u"), (r"^\tshr\.[us]", "\tshl.b"),
             (r"(?<=^\tsetp\.)eq", "ne"), (r"(?<=^\tsetp\.)ne", "eq"), (r"(?<=^\tsetp\.)lt", "le"),
             (r"(?<=^\tsetp\.)le", "lt"), (r"(?<=^\tsetp\.)gt", "ge"), (r"(?<=^\tsetp\.)ge", "gt"),
             (r"(?<=^\tsetp\.[lg][te]\.)s", "u"), (r"(?<=^\tsetp\.[lg][te]\.)u", "s"), (r"(?<=^\tshr\.)u", "s"),
             (r"(?<=^\tcvt\.)u64\.u32", "s64.s32"), (r"(?<=^\tcvt\.)s64\.s32", "u64.u32"),
             (r"@%", "@!%"), (r"@!%", "@%")]
PTX_NUMBER = re.compile(r"(?<![\w%.$])(-?\d+)(?=[;,\]])")
PTX_TURNED = re.compile(r"^(\t(?:sub|selp|setp\.[lg]|shl|shr|div)\S*\s+%\w+, )([^,]+)(, )([^,;]+)(.*)$")


def ptx_changes_of(line):
    """The same of an instruction of PTX; others have none."""
    if not re.match(r"\t(@|[a-z])", line):
        return []
    found = [line[:place.start()] + instead + line[place.end():]
             for pattern, instead in PTX_SWAPS for place in re.finditer(pattern, line)]
    found += [line[:place.start()] + str(int(place[1]) + 1) + line[place.end():] for place in PTX_NUMBER.finditer(line)]
    turned = PTX_TURNED.match(line)
    if turned and turned[2] != turned[4]:
        found.append("".join(turned.group(1, 4, 3, 2, 5)))
    return found + ["\t"]


def balanced(text):
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return depth == 0


class Source:
    def __init__(self, tree, path):
        self.path, self.file = path, tree / path
        self.text = self.file.read_text()
        self.lines = self.text.split("\n")
        self.code = without_comments(self.text).split("\n")

    def numbers(self):
        if self.path == PTX:
            return [number for number, line in enumerate(self.lines, 1) if ptx_changes_of(line)]
        return [number for number, code in enumerate(self.code, 1)
                if re.search(r"\w", code) and not re.match(r"\s*#\s*(include|if|el|endif|undef|pragma)", code)]

    def changes(self, number):
        line = self.lines[number - 1]
        return ptx_changes_of(line) if self.path == PTX else changes_of(line, self.code[number - 1])

    def put(self, number, text):
        lines = list(self.lines)
        lines[number - 1] = text
        self.file.write_text("\n".join(lines))

    def restore(self):
        self.file.write_text(self.text)


# ---- The tree in which they are tried --------------------------------------------------------------------------------

def copy_tree(tree):
    """As `git clone`, with what is not committed; files that are the same keep their times, for make."""
    if not tree.exists():
        subprocess.run(["git", "clone", "-q", "-s", ".", str(tree)], check=True)
    def listed(folder, *what):
        command = ["git", "-C", folder, "ls-files", "-z", *what]
        names = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        found = (name for name in os.fsdecode(names).split("\0") if name)
        return {name for name in found if os.path.lexists(os.path.join(folder, name))}
    wanted = listed(".", "-co", "--exclude-standard")
    for name in listed(tree, "-co", "--exclude-standard") - wanted:
        (tree / name).unlink()
    for name in wanted:
        old, new = pathlib.Path(name), tree / name
        if not new.exists() or old.read_bytes() != new.read_bytes():
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(old, new)


class Tree:
    def __init__(self, folder):
        self.folder = folder

    def make(self, targets):
        """True if all could be made. A make that does not end is one that cannot."""
        command = ["make", f"-j{PARALLEL}", "--no-print-directory", "CFLAGS=-O1", "CUDA=0", *targets]
        try:
            return subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=900).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def hash(self):
        whole = hashlib.sha256()
        for name in COMPARED:
            whole.update((self.folder / "build" / name).read_bytes())
        return whole.digest()

    def run(self, test, seconds):
        """How a test ended ("", or what went wrong), and after how many seconds."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="leat-mutant-", ignore_cleanup_errors=True) as scratch:
            environment = {**os.environ, "LEAT_TEST_TMP": scratch, "LEAT_BUILD": "build"}
            by = ["tests/transcript.sh"] if test.endswith(".t") else []
            process = subprocess.Popen([*by, test], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)))
            try:
                code = process.wait(seconds)
                result = "" if code in (0, 77) else f"exit {code}"
            except subprocess.TimeoutExpired:
                result = "too long"
            try:
                os.killpg(process.pid, signal.SIGKILL)  # what it may have left running
            except ProcessLookupError:
                pass
            process.wait()
        return result, time.monotonic() - start

    def run_all(self, tests, seconds):
        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            return list(pool.map(lambda test: (test, *self.run(test, seconds(test))), tests))


# ---- Which tests -----------------------------------------------------------------------------------------------------

def ptx_tests(tree):
    """Those of CUDA, and those of the loader on a device."""
    return [f"build/tests/{to}/{source.stem}" for of, to in (("cuda", "cuda"), ("loader", "device"))
            for source in sorted((tree / "tests" / of).glob("test_*.c"))]


class Reached:
    """The tests of coverage.py by the line that they reach, with the seconds that each takes here."""

    def __init__(self, path, build, tree):
        if path.name == "ptx":
            self.names, self.files = ptx_tests(tree.folder), {}
        else:
            data = json.loads(path.read_text())
            self.names = [re.sub(f"^{re.escape(build)}/", "build/", name) for name, _ in data["tests"]]
            self.files = data["files"]
        if not tree.make(MADE + [name for name in self.names if name.startswith("build/")]):
            sys.exit("the unchanged tree cannot be built")
        unchanged = tree.run_all(self.names, lambda test: 900)
        self.seconds = {test: seconds for test, failed, seconds in unchanged if not failed}
        for test, failed, _ in unchanged:
            if failed:
                print(f"left out, since it fails without a change: {test} ({failed})")
        print(f"{len(self.seconds)} tests, {sum(self.seconds.values()):.0f} s one after the other", flush=True)

    def tests(self, path, number):
        lines = self.files.get(path, {})
        indexes = lines.get(str(number))
        if indexes is None:  # a line that holds no code of its own, or one that no test reaches: who reaches its file
            indexes = {index for line in lines.values() for index in line} or range(len(self.names))
        words = [word for word in re.split(r"[/_.]", path)[1:] if len(word) > 3] + ["test_ptx"] * (path == PTX)
        names = {self.names[index] for index in indexes} & self.seconds.keys()
        return sorted(names, key=lambda name: (-sum(word in name for word in words), self.seconds[name]))

    def limit(self, test):
        return 10 * self.seconds[test] + 30


def killer(tree, reached, path, number):
    """The test that sees the change which is made, or None."""
    tests = reached.tests(path, number)
    made, size = set(), 2
    while tests:
        now, tests, size = tests[:size], tests[size:], size * 2
        scripts = not all(test.startswith("build/") for test in now)
        wanted = [test for test in now if test.startswith("build/")] + (MADE if scripts else [])
        if not tree.make([target for target in wanted if target not in made]):
            return "the build of " + " ".join(now)
        made.update(wanted)
        for test, failed, _ in tree.run_all(now, reached.limit):
            if failed:
                return f"{test} ({failed})"
    return None


# ---- All of it -------------------------------------------------------------------------------------------------------

def drawn(sources, chance):
    """Random changes, without end."""
    places = [(source, number) for source in sources for number in source.numbers()]
    while True:
        source, number = chance.choice(places)
        changes = source.changes(number)
        if changes:
            yield source, number, chance.choice(changes)


def stored(sources, path):
    """The changes of a survivors.json, where its lines are now."""
    by_path = {source.path: source for source in sources}
    for change in json.loads(pathlib.Path(path).read_text()):
        source = by_path.get(change["path"])  # None: the file is gone, too
        numbers = [n for n, line in enumerate(source.lines if source else (), 1) if line == change["line"]]
        if numbers:
            yield source, min(numbers, key=lambda number: abs(number - change["number"])), change["to"]
        else:
            print(f"is gone: {change['path']}: {change['line'].strip()}")


def main():
    build, reached_path, count, seed = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *map(int, sys.argv[3:5])
    again = sys.argv[5] if len(sys.argv) > 5 else ""
    build.mkdir(parents=True, exist_ok=True)
    copy_tree(build / "tree")
    tree = Tree(build / "tree")
    reached = Reached(reached_path, str(reached_path.parent), tree)
    compiled = set()
    for path in (tree.folder / "build/obj").rglob("*.d"):
        compiled.update(path.read_text().replace("\\\n", " ").split())
    paths = sorted(path for path in compiled if path.startswith(FOLDERS) and re.search(r"(?<!_tables)\.[ch]$", path))
    if reached_path.name == "ptx":
        paths = [PTX]
    sources = [Source(tree.folder, path) for path in paths]
    base, tried, seen, same, survivors = tree.hash(), 0, set(), 0, []
    print(f"seed {seed}, {sum(len(source.numbers()) for source in sources)} lines of {len(sources)} files", flush=True)
    for source, number, text in stored(sources, again) if again else drawn(sources, random.Random(seed)):
        if (source.path, number) in seen and not again:
            continue
        if tried == count:
            break
        start = time.monotonic()
        source.put(number, text)
        by = None
        compiles = tree.make(MADE)
        if compiles and tree.hash() == base:
            same += 1
            compiles = False
        if compiles:
            seen.add((source.path, number))
            tried += 1
            by = killer(tree, reached, source.path, number)
            line = source.lines[number - 1]
            print(f"{tried:4} {time.monotonic() - start:5.0f} s  {source.path}:{number}: {line.strip()}  ->  "
                  f"{text.strip()}\n             {'SURVIVES' if by is None else 'seen by ' + by}", flush=True)
            if by is None:
                survivors.append({"path": source.path, "number": number, "line": line, "to": text})
                (build / "survivors.json").write_text(json.dumps(survivors, indent=1))
        source.restore()
    (build / "survivors.json").write_text(json.dumps(survivors, indent=1))
    tree.make(MADE)
    print(f"{tried} changes, {tried - len(survivors)} seen by a test, {len(survivors)} not: {build}/survivors.json; "
          f"{same} more were compiled to the same bytes")


if __name__ == "__main__":
    main()
