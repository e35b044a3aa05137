"""check_run_kills.py LEAT TMP SEED LIMIT: runs in parts whose processes are killed (SIGKILL; one of ten: SIGINT) at
random moments, while up to three pack at a time, sometimes the same part, and started again until all parts are done;
then merged, in one of several ways, by a process that is killed as often. There are the bytes of one undisturbed run,
rejects included. A part that is started once more, undisturbed, is done, and nothing is left beside its dataset.
LIMIT: so many kills, or 60s: until 60 seconds are over.
LEAT is the command that is built with small pieces, which makes a checkpoint every 64 KiB of text.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from corpora import large_inputs, memory_choices

leat, tmp, seed, limit = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
r = random.Random(seed)
PACK = ["-t", "bytes", "--max-rejects", "100%", "--allow-binary"]
# What the plan says, and what the merge: an undisturbed run says both.
FORMS = [([], []), ([], ["--dedup", "--shuffle", "5"]),
         ([], ["--shuffle", "7", "--split", "a=0.2,b=0.1"]), (["--split", "a=0.2,b=0.1"], [])]
BUSY = "another process is writing"
totals = dict.fromkeys(("runs", "processes", "kills", "refused", "merges"), 0)
failures = 0


def fail(*what):
    global failures
    failures += 1
    print(*what, flush=True)


def start(words, **variables):
    totals["processes"] += 1
    return subprocess.Popen([leat, *words], cwd=tmp, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, env={**os.environ, **variables})


def whole(words, variables={}):
    """Runs it undisturbed; its seconds."""
    began = time.monotonic()
    p = start(words, **variables)
    said = p.communicate()[1].decode()
    if p.returncode:
        fail(words, said)
    return time.monotonic() - began


class Disturbed:
    """A process that is killed at a random moment, unless it ends before."""

    def __init__(self, words, seconds, tries, **variables):
        self.words, self.process, self.sent = words, start(words, **variables), None
        self.until = time.monotonic() + r.random() ** 2 * seconds * (1 + tries / 10)

    def ended(self):
        if self.sent is None and self.process.poll() is None and time.monotonic() >= self.until:
            self.sent = signal.SIGKILL if r.random() < 0.9 else signal.SIGINT
            self.process.send_signal(self.sent)
            self.process.wait()
        return self.process.poll() is not None

    def done(self):
        """Whether it came to its end; what no kill explains is a failure."""
        said, code = self.process.communicate()[1].decode(), self.process.returncode
        if code == 0:
            return True
        if code == 1 and BUSY in said:
            totals["refused"] += 1
        elif self.sent and code in (-self.sent, 5, 130):
            totals["kills"] += 1
        else:
            fail(self.words, "exit code", code, "after", self.sent, said)
        return False


def until_done(words, seconds, again=()):
    """Starts it until it comes to its end, after the first time with more words."""
    tries = 0
    while failures < 10:
        p = Disturbed([*words, *(again if tries else ())], seconds, tries)
        while not p.ended():
            time.sleep(0.001)
        if p.done():
            return
        tries += 1


def pack_parts(parts, words_of, seconds):
    """Several at a time, sometimes one part twice, until each has come to its end."""
    todo, alive, tries, crew = set(range(1, parts + 1)), [], 0, r.choice([1, 2, 3])
    while (todo or alive) and failures < 10:
        if todo and len(alive) < crew:
            part = r.choice(sorted(todo))
            words, variables = words_of(part)
            more = ["--threads", str(r.randrange(1, 4)), "--memory", r.choice(memories)]
            alive.append((part, Disturbed([*words, *more], seconds, tries / parts, **variables)))
            tries += 1
        for one in [one for one in alive if one[1].ended()]:
            alive.remove(one)
            if one[1].done():
                todo.discard(one[0])
        time.sleep(0.001)


def content(names, suffixes=(".tokens", ".leat")):
    out = []
    for name in names:
        for suffix in suffixes:
            path = os.path.join(tmp, name + suffix)
            out.append(open(path, "rb").read() if os.path.exists(path) else b"")
    return out


def run(inputs, form):
    """A run from its plan to the joined dataset."""
    number, words = r.randrange(len(inputs)), FORMS[form]
    name, parts, in_folder = "r%d" % totals["runs"], r.choice([1, 2, 3, 5, 8]), words[0] or r.random() < 0.8
    splits = "--split" in words[0] + words[1]
    wanted = "whole%d.%d" % (number, form)
    if wanted not in took:
        took[wanted] = whole(["pack", "-o", wanted, *PACK, *words[0], *words[1], *inputs[number]])
    seconds = 1.3 * took[wanted]
    if in_folder:
        plan = ["pack", "--run", name, "--parts", str(parts), *PACK, *words[0], *inputs[number]]
        until_done(plan, seconds / 10)

        def words_of(part):
            if r.random() < 0.3:
                return ["pack", "--run", name, "--part", "auto"], {"SLURM_ARRAY_TASK_ID": str(part)}
            return ["pack", "--run", name, "--part", str(part)], {}
        made = [f"{name}/part-{part}" for part in range(1, parts + 1)]
        of = [name]
    else:
        os.mkdir(os.path.join(tmp, name))

        def words_of(part):
            return ["pack", "-o", f"{name}/part-{part}", "--resume", "--part", f"{part}/{parts}", *PACK,
                    *inputs[number]], {}
        of = made = [f"{name}/part-{part}" for part in range(1, parts + 1)]
    pack_parts(parts, words_of, seconds / parts)
    for part in range(1, parts + 1): # one that was killed when it had found its part done may have left its lock
        whole(*words_of(part))
    if in_folder:
        left = subprocess.run([leat, "status", name, "--left"], cwd=tmp, capture_output=True, text=True).stdout.strip()
        if left:
            fail(name, "left of a run that is done:", left)
    rejects = b"".join(content(made, [".rejects.jsonl"]))
    out, merge = f"{name}.out", [*words[1], "--memory", r.choice(["16Mi", *memories])]
    again = ["--force"]
    until_done(["merge", "-o", out, *merge, *of], seconds, again)
    names = [""]
    if splits:
        names += [".a", ".b"]
    if words[0]: # each split is a folder of its own
        for split in "a", "b":
            until_done(["merge", "-o", f"{out}.{split}", f"{name}/{split}"], seconds, again)
    totals["merges"] += 1
    got, want = content([out + n for n in names]), content([wanted + n for n in names])
    if got != want:
        fail(name, parts, words, inputs[number], "other bytes:", [(len(a), len(b), a == b) for a, b in zip(got, want)])
    if rejects != content([wanted], [".rejects.jsonl"])[0]:
        fail(name, parts, words, inputs[number], "other rejects")
    left = [n for folder, _, files in os.walk(os.path.join(tmp, name)) for n in files
            if not n.endswith((".tokens", ".leat", ".rejects.jsonl", "leat-run", "leat-run.inputs"))]
    left += [n for n in os.listdir(tmp) if n.startswith(name + ".") and not n.endswith((".tokens", ".leat"))]
    if left:
        fail(name, parts, words, "left behind:", left)
    if failures:
        return
    shutil.rmtree(os.path.join(tmp, name))
    for n in os.listdir(tmp):
        if n.startswith(name + "."):
            os.unlink(os.path.join(tmp, n))


def summary(began):
    return "%.0f s: %d runs, %d processes, %d killed, %d refused beside another; %d merged datasets compared" % (
        time.monotonic() - began, *totals.values())


took = {}
os.makedirs(tmp, exist_ok=True)
print("LEAT_TEST_SEED=%d, %s" % (seed, limit), flush=True)
inputs = large_inputs(r, tmp)
memories = memory_choices(leat, tmp, inputs[0])
began = said = time.monotonic()
while not failures:
    if totals["kills"] >= int(limit) if limit.isdigit() else time.monotonic() - began >= float(limit[:-1]):
        break
    run(inputs, totals["runs"] % len(FORMS))
    totals["runs"] += 1
    if time.monotonic() - said > 600:
        said = time.monotonic()
        print(summary(began), flush=True)
print(summary(began))
sys.exit(failures > 0)
