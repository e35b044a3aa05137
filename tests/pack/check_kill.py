"""check_kill.py LEAT TMP [SEED [KILLS]]: leat pack, killed (SIGKILL) or interrupted (SIGINT) at random moments and
resumed, over and over, ends with the bytes of an undisturbed run, rejects included, and leaves nothing beside them.
LEAT is the command that is built with small pieces, which makes a checkpoint every 64 KiB of text.
"""
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

from corpora import large_inputs, memory_choices

leat, tmp = os.path.abspath(sys.argv[1]), sys.argv[2]
seed, kills = (int(sys.argv[i]) if len(sys.argv) > i else d for i, d in ((3, 1), (4, 200)))
failures = 0
kept = [0, 0] # runs that ended without and with a checkpoint


def fail(*what):
    global failures
    failures += 1
    print(*what)


def content(name, suffixes=(".tokens", ".leat", ".rejects.jsonl")):
    out = []
    for suffix in suffixes:
        path = os.path.join(tmp, name + suffix)
        out.append(open(path, "rb").read() if os.path.exists(path) else None)
    return out


def start(args):
    return subprocess.Popen([leat, "pack", *args], cwd=tmp, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def counts(out):
    """What the summary counts; a run that was stopped and went on counts the same."""
    r = json.loads(out)
    return [r[k] for k in ("documents", "text_bytes", "rejected", "replaced", "replaced_in", "rejected_inputs",
                           "not_json")]


def cycle(r, number, words, whole, counted, seconds):
    """One run from its begin to its end, through some kills. Returns how many."""
    name, count = "k%d" % number, 0
    args = ["-t", "bytes", "-o", name, "--max-rejects", "100%", "--allow-binary", "--json", *words]
    while True:
        extra = ["--threads", str(r.randrange(1, 4)), "--memory", r.choice(memories)]
        resumed = ["--resume"] if count or r.random() < 0.5 else []
        p = start([*resumed, *extra, *args])
        sign = signal.SIGKILL if r.random() < 0.9 else signal.SIGINT
        time.sleep(r.random() ** 2 * seconds * (1 + count / 10))  # it comes to its end, however busy the machine is
        p.send_signal(sign)
        out, said = p.communicate()
        said = said.decode()
        if p.returncode == 0:
            break
        count += 1
        kept[os.path.exists(os.path.join(tmp, name + ".partial.checkpoint"))] += 1
        if content(name, (".leat",)) != [None] and content(name)[:2] != whole[:2]:
            fail(name, "a dataset that is not whole after", sign)
        if sign == signal.SIGINT and p.returncode not in (130, -signal.SIGINT):
            fail(name, "exit code", p.returncode, "after an interrupt:", said)
        if sign == signal.SIGINT and p.returncode == 130 and not re.search(
                "--resume continues from there|interrupted before this run packed anything", said):
            fail(name, "an interrupt that does not say how to go on:", said)
        if sign == signal.SIGKILL and p.returncode != -signal.SIGKILL:
            fail(name, "exit code", p.returncode, "before it was killed:", said)
            break
    # one that had come to its end counts no text any more
    if p.returncode == 0 and json.loads(out)["text_bytes"] and counts(out) != counted:
        fail(name, words, "other counts after", count, "kills:", counts(out), counted)
    if content(name) != whole:
        fail(name, words, "other bytes after", count, "kills:",
             [(len(a or b""), len(b or b""), a == b) for a, b in zip(content(name), whole)])
    left = [n for n in os.listdir(tmp) if n.startswith(name + ".") and n[len(name):] not in
            (".tokens", ".leat", ".rejects.jsonl")]
    if left:
        fail(name, "left behind", left)
    for n in os.listdir(tmp):
        if n.startswith(name + "."):
            os.unlink(os.path.join(tmp, n))
    return count


def main():
    os.makedirs(tmp, exist_ok=True)
    r = random.Random(seed)
    print("LEAT_TEST_SEED=%d, %d kills" % (seed, kills))
    inputs, wholes = large_inputs(r, tmp), []
    global memories
    memories = memory_choices(leat, tmp, inputs[0])
    for i, words in enumerate(inputs):
        began = time.monotonic()
        p = start(["-t", "bytes", "-o", "whole%d" % i, "--max-rejects", "100%", "--allow-binary", "--json", *words])
        out, said = p.communicate()
        if p.returncode:
            if b"this build cannot read" in said:
                continue
            return fail(words, said.decode())
        named = [one["input"] for one in json.loads(out)["rejected_inputs"]]
        if ("wrong.jsonl" in words) != ("wrong.jsonl" in named) or "late.jsonl" in named:
            fail(words, "inputs without a document:", named)
        wholes.append((words, content("whole%d" % i), counts(out), 1.3 * (time.monotonic() - began)))
    done = number = 0
    while done < kills and failures < 10:
        done += cycle(r, number, *wholes[number % len(wholes)])
        number += 1
    print("%d runs, %d kills, %d of them with a checkpoint" % (number, done, kept[1]))


main()
sys.exit(failures > 0)
