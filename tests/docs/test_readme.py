#!/usr/bin/env python3
"""test_readme.py: README.md is short, says before its picture what leat is for and beside what, and what must be there,
and what it shows runs: its session from top to bottom, and the program in C, which takes the batches of three epochs.
Each claim has a line of the session, and these lines find what they are for; a comparison that holds says so (once it
printed nothing). What needs a network is the last block. python/tests/test_docs.py runs the block of Python."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", ROOT / "build")).resolve()
WORDS = 900
if not (BUILD / "leat-bench").exists() or not (BUILD / "libleat.so").exists():
    print(f"skipped: no leat-bench and libleat.so under {BUILD}")
    sys.exit(77)
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print(f"README.md: {what}", file=sys.stderr)


page = re.sub(r"^<!--.*?-->\n", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M)
check(len(page.split()) <= WORDS, f"{len(page.split())} words, more than {WORDS}")
check(page.count("![") == 1, "other than one picture")
for word in ("LLM", "np.memmap", "DataLoader", "litdata", "preprocess_data", "(docs/comparison.md)", "git and make"):
    check(word in page.partition("![")[0], f"no {word} before the picture")
blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S)
commands = [text for kind, text in blocks if kind == "sh"]
session, program = commands[0], next(text for kind, text in blocks if kind == "c")
check(len(commands) == 2 and "hf://" not in session and blocks[-1] == ("sh", commands[1]) and page.endswith("```\n"),
      "something follows what needs a network")
check("leat pack -o fineweb hf://datasets/HuggingFaceFW/fineweb/sample/10BT/\n" in commands[1], "no texts of the Hub")
check(all(re.match(r"[^$#\s]", line) for line in session.splitlines()), "not only commands")
claims = re.findall(r"^(\d+)\. \*\*", page, re.M)
shown = set(re.findall(r"# (\d+)", session))
check(all("echo same" in line for line in session.splitlines() if "cmp " in line), "a comparison prints nothing")
check(claims and set(claims) == shown, f"claims {claims}, and lines of the session for {sorted(shown)}")
if failures:
    sys.exit(1)

with tempfile.TemporaryDirectory(prefix="leat-readme-", dir=os.environ.get("LEAT_TEST_TMP")) as folder:
    os.symlink(ROOT / "examples", f"{folder}/examples")
    environment = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "LC_ALL": "C"}

    def run(text):
        done = subprocess.run(["sh", "-e", "-c", text], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(done.returncode == 0, f"{text}: exit code {done.returncode}: {done.stdout.decode()}")
        return done.stdout.decode()

    for row in re.findall(r"^\| (?:pack|look) \| `(.*?)` \|$", page, re.M):
        run(row)
    for file in pathlib.Path(folder).glob("corpus.*"):
        file.unlink()
    said = {}
    for line in session.splitlines():  # each by itself, as it is typed
        number = re.search(r" +# (\d+)", line)
        said.setdefault(number and number[1], []).append(run(line))
    check("page 12 of damaged.tokens" in said["1"][0] and "document 6" in said["1"][0], f"1: {said['1']}")
    steps, samples, same = said["2"]
    check({line.split()[0] for line in steps.splitlines()[1:]} == {str(n) for n in range(24, 32)}, f"2: {steps}")
    check(len(samples.splitlines()) > 9 and same == "same\n", f"2: {samples}")
    check(re.search(r"^ +32,768 .* 0\.0 % ", said["3"][0], re.M), f"3: {said['3']}")
    check(said["5"] == ["same\n"], f"5: {said['5']}")
    changed = [line.split()[1] for line in said["4"][0].splitlines()[1:]]
    check({"0", "1"} == set(changed), f"4: sources {changed}")

    (pathlib.Path(folder) / "loop.c").write_text(program, encoding="utf-8")
    library = (BUILD / "libleat.so").read_bytes()
    sanitizers = " ".join(f"-fsanitize={name}" for name, sign in (("address", b"__asan_"), ("undefined", b"__ubsan_"))
                          if sign in library)
    run(f"${{CC:-cc}} -std=c11 -Wall -Wextra -Werror {sanitizers} -I '{ROOT}/include' loop.c -L '{BUILD}' -lleat "
        f"'-Wl,-rpath,{BUILD}' -o loop")
    rows = sum(int(line.split()[0]) for line in run("./loop").splitlines())
    check(rows == 3 * ((171241 - 1) // 256), f"the program in C takes {rows} rows")
sys.exit(1 if failures else 0)
