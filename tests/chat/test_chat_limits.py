#!/usr/bin/env python3
"""test_chat_limits.py: what rendering a conversation may take. The command keeps to --memory with any number of
threads, its renderers included, and what needs more is rejected with that reason, the same with any number of threads.
One that takes longer than --chat-seconds ends the run, which names it, or is rejected with --skip-slow-chats; templates
made to run for ever end at once when the run is to stop, and end with a command that is killed. (Formerly each thread
took up to 256 MiB more than --memory allows, and a stopped run first rendered all conversations that were read.)"""
import json
import os
import signal
import subprocess
import time

from chat_reference import LEAT, SMALL, folder, leat, packed, rejects, vocabulary, write

with open(LEAT, "rb") as program:  # a sanitizer takes memory of its own
    code_of_leat = program.read()
sanitized = b"__asan_init" in code_of_leat or b"__tsan_init" in code_of_leat

TOO_BIG = ("rendering and encoding it needs more memory than is allowed for one conversation (a quarter of the bound, "
           "at most 512 MiB)")


def conversation(text):
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "Γ"}]


def start(*words, program=LEAT):
    return subprocess.Popen([program, "pack", "-t", vocabulary, "--max-rejects", "100%", "--force", "-o", "out",
                             *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def run(*words):
    """The exit code, and what the process took; its renderers are not in it."""
    child = start(*words)
    _, status, usage = os.wait4(child.pid, 0)
    child.stderr.close()
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage


def renderers_of(child, count=1):
    """Its renderers, when there are so many: of all its threads, each starts its own."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = [pid for task in os.listdir(f"/proc/{child.pid}/task") for pid in tasks_children(child.pid, task)]
        if len(found) >= count:
            return found
        time.sleep(0.02)
    raise AssertionError("no renderers")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def tasks_children(pid, task):
    try:
        with open(f"/proc/{pid}/task/{task}/children") as f:
            return [int(child) for child in f.read().split()]
    except FileNotFoundError:
        return []


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def all_end(pids, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(map(is_running, pids)):
        time.sleep(0.05)
    return not any(map(is_running, pids))


# ---- Memory ----------------------------------------------------------------------------------------------------------

DOUBLES = ("{% set ns = namespace(s=messages[0].content) %}{% for i in range(40) %}"
           "{% set ns.s = ns.s + ns.s %}{% endfor %}")
write("doubles.jinja", DOUBLES + "{{ ns.s | length }}")
write("repeats.jinja", "{{ (messages[0].content * 4000000000) | length }}")
write("lists.jinja", "{% set ns = namespace(l=[1]) %}{% for i in range(40) %}{% set ns.l = ns.l + ns.l %}{% endfor %}")
write("constant.jinja", "{{ ('a' * 3000000000) | length }}")  # formerly computed before there were limits
write("many.jsonl", "".join(json.dumps({"messages": conversation("x" * 30000)}) + "\n" for _ in range(4)))
for template in "doubles", "repeats", "lists", "constant":
    code, usage = run("--chat", template + ".jinja", "--memory", "320MiB", "--threads", "4", "many.jsonl")
    assert code == 0 and rejects() == [TOO_BIG] * 4, (template, code, rejects()[:2])
    assert sanitized or usage.ru_maxrss < 320 * 1024, usage.ru_maxrss  # KiB
write("dense.jinja", "{{ 1 }}" * 20000)
said = leat("-o", "no", "--chat", "dense.jinja", "--memory", "320MiB", "many.jsonl", code=1)
assert "cannot be used: to read it takes more than 64 MiB" in said, said

# and what a renderer may have is bounded
write("hold.jinja", "{% set a = 'x' * 20000000 %}{% for i in range(99999) %}{% for k in range(9999) %}{% endfor %}"
                    "{% endfor %}{{ a | length }}")
child = start("--chat", "hold.jinja", "--memory", "1GiB", "--threads", "1", "many.jsonl")
limit, end = "unlimited", time.monotonic() + 60
while limit == "unlimited" and time.monotonic() < end:
    with open(f"/proc/{renderers_of(child)[0]}/limits") as f:
        limit = next(line.split()[3] for line in f if line.startswith("Max data size"))
assert limit != "unlimited" and int(limit) < 512 << 20, limit
child.terminate()
child.communicate()

write("long.jinja", "{% for m in messages %}{{ m.content + '\\n' }}{% endfor %}")
long = [{"messages": conversation("é " * n)} for n in (5, 300 * 1024, 10, 1200 * 1024, 20, 1900 * 1024, 3)]
write("long.jsonl", "".join(json.dumps(c, ensure_ascii=False) + "\n" for c in long))
kept = {}
for threads in "1", "3":
    for memory in "288MiB", "1GiB":
        code, usage = run("--chat", "long.jinja", "--memory", memory, "--threads", threads, "long.jsonl")
        had = packed(), rejects()
        assert code == 0 and len(had[0]) + len(had[1]) == len(long), (code, had[1])
        most = (288 if memory == "288MiB" else 1024) * 1024
        assert sanitized or usage.ru_maxrss < most, (memory, threads, usage.ru_maxrss)
        kept.setdefault(memory, had)
        assert had == kept[memory], (memory, threads)
assert kept["288MiB"][1][0] == TOO_BIG and TOO_BIG not in kept["1GiB"][1], [k[1] for k in kept.values()]
write("nine.jinja", "{{ 'x' * (8 * 1024 * 1024 - 2) }}{% for m in messages %}{{ m.content }}{% endfor %}")
write("c.jsonl", "".join(json.dumps({"messages": conversation("") * n}) + "\n" for n in (1, 2)))
code, _ = run("--chat", "nine.jinja", "c.jsonl")
assert os.path.getsize(os.path.join(folder, "out.tokens")) == 2 * (8 << 20), rejects()
assert rejects() == ["the rendered conversation is longer than 8 MiB"], rejects()

# what threads free goes back to the system: 16 of them once took 600 MiB
with open(os.path.join(folder, "large.jsonl"), "w") as f:  # what this process holds, too, is in ru_maxrss
    for _ in range(16):
        json.dump({"messages": conversation("hello " * 666666)}, f)
        f.write("\n")
code, usage = run("--chat", "long.jinja", "--memory", "400MiB", "--threads", "16", "large.jsonl")
assert code == 0 and len(packed()) + len(rejects()) == 16, code
assert sanitized or usage.ru_maxrss < 400 * 1024, usage.ru_maxrss
os.remove(os.path.join(folder, "large.jsonl"))
code = leat("-o", "no", "--chat", "long.jinja", "--memory", "64MiB", "long.jsonl", code=2)
assert "processes that render them" in code, code

# ---- Time ------------------------------------------------------------------------------------------------------------

LOOP = "{% for i in range(99999) %}{% for k in range(99999) %}{% endfor %}{% endfor %}"
FORMS = ("in Python", LOOP), ("in one call", "{% set n = messages | length + 7 %}{{ n ** (n ** n) }}")
for program, (form, slow) in zip((LEAT, SMALL), FORMS):
    write("slow.jinja", "{% if messages[0].content == 'slow' %}" + slow + "{% endif %}"
                        "{{ messages[0].content }}{{ messages[1].content }}")
    lines = [json.dumps({"messages": conversation("slow" if n == 7 else f"quick {n}")}) + "\n" for n in range(20)]
    write("some.jsonl", "".join(lines))
    at = sum(map(len, lines[:7]))
    said = leat("-o", "out", "--chat", "slow.jinja", "--chat-seconds", "1", "some.jsonl", program=program, code=1)
    assert (f"some.jsonl: rendering the conversation at byte {at} takes longer than 1 s" in said and
            "--chat-seconds N, or --skip-slow-chats" in said), (form, said)
    leat("-o", "out", "--chat", "slow.jinja", "--chat-seconds", "1", "--skip-slow-chats", "some.jsonl",
         program=program)
    assert len(packed()) == 19 and rejects() == ["rendering it takes longer than 1 s"], (form, rejects())

# a renderer that ends: the run ends, and names the conversation
write("wait.jinja", "{% if messages[0].content == 'slow' %}" + LOOP + "{% endif %}")
child = start("--chat", "wait.jinja", "--threads", "1", "--chat-seconds", "600", "some.jsonl")
ended = []
for _ in range(2):  # in a batch; then alone
    while not (running := [pid for pid in renderers_of(child) if pid not in ended]) or cpu_seconds(running[0]) < 2:
        time.sleep(0.1)  # until it renders: its start takes less
    os.kill(running[0], signal.SIGKILL)
    ended += running
said = child.communicate(timeout=60)[1]
assert child.returncode == 1 and f"ended, or gave no answer, at the one at byte {at}" in said, (child.returncode, said)

# templates made to run for ever end on SIGTERM, at once, with all renderers; and with a command that is killed
for form, slow in FORMS:
    write("slow.jinja", "{% if messages[0].content != 'a' %}" + slow + "{% endif %}")  # not the trial
    write("many.jsonl", (json.dumps({"messages": conversation("x" * 100)}) + "\n") * 20000)
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGKILL:
        if number == signal.SIGKILL and form != "in Python":  # that ends a minute after its time: CPU time's limit
            continue
        child = start("--chat", "slow.jinja", "--threads", "2", "--chat-seconds", "60", "many.jsonl")
        running = renderers_of(child, 2)
        time.sleep(0.5)
        began = time.monotonic()
        child.send_signal(number)
        child.communicate(timeout=30)
        took = time.monotonic() - began
        assert child.returncode in (5, -number, 128 + number) and took < 5, (form, number, child.returncode, took)
        assert all_end(running, 10), (form, number)
