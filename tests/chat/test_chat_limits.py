#!/usr/bin/env python3
"""test_chat_limits.py: what rendering a conversation may take. It keeps to --memory with any number of threads, and
what needs more is rejected with that reason, the same with any number of threads; it stops when the run is to stop;
objects of very many members and searches in long strings take no quadratic time. (Formerly each thread took up to 256
MiB more than --memory allows, a stopped run first rendered all conversations that were read, and such objects took
minutes.)"""
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
MIB = 1 << 20


def conversation(text):
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "Γ"}]


def run(*words, stop_after=None):
    """The exit code, and what the process took."""
    child = subprocess.Popen([LEAT, "pack", "-t", vocabulary, "--max-rejects", "100%", "--force", "-o", "out", *words],
                             cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if stop_after:
        time.sleep(stop_after)
        child.send_signal(signal.SIGTERM)
    _, status, usage = os.wait4(child.pid, 0)
    child.stderr.close()
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage


# ---- Memory ----

DOUBLES = ("{% set ns = namespace(s=messages[0].content) %}{% for i in range(40) %}"
           "{% set ns.s = ns.s + ns.s %}{% endfor %}")
write("doubles.jinja", DOUBLES + "{{ ns.s | length }}")
write("many.jsonl", "".join(json.dumps({"messages": conversation("x" * 30000)}) + "\n" for _ in range(12)))
code, usage = run("--chat", "doubles.jinja", "--memory", "256MiB", "--threads", "4", "many.jsonl")
assert code == 0 and rejects() == [TOO_BIG] * 12, (code, rejects()[:2])
assert sanitized or usage.ru_maxrss < 256 * 1024, usage.ru_maxrss  # KiB

write("repeats.jinja", "{{ (messages[0].content * 4000000000) | length }}")
code, usage = run("--chat", "repeats.jinja", "--memory", "256MiB", "--threads", "4", "many.jsonl")
assert code == 0 and rejects() == [TOO_BIG] * 12, (code, rejects()[:2])

# dicts, beside texts of several lengths, so that for some of them the first allocation that fails is of a dict
write("dicts.jinja", "{% for i in range(100000) %}{% set s = messages[0].content + 'x' %}" +
      "{% if dict().a %}{% endif %}" * 20 + "{% endfor %}")
write("texts.jsonl", "".join(json.dumps({"messages": conversation("x" * 4 * n)}) + "\n" for n in range(12)))
code, usage = run("--chat", "dicts.jinja", "--memory", "192MiB", "texts.jsonl")
assert code == 0 and rejects() == [TOO_BIG] * 12, (code, rejects())

write("long.jinja", "{% for m in messages %}{{ m.content + '\\n' }}{% endfor %}")
long = [{"messages": conversation("é " * n)} for n in (5, 300 * 1024, 10, 700 * 1024, 20, 1900 * 1024, 3)]
write("long.jsonl", "".join(json.dumps(c, ensure_ascii=False) + "\n" for c in long))
kept = {}
for threads in "1", "3":
    for memory in "192MiB", "1GiB":
        code, usage = run("--chat", "long.jinja", "--memory", memory, "--threads", threads, "long.jsonl")
        had = packed(), rejects()
        assert code == 0 and len(had[0]) + len(had[1]) == len(long), (code, had[1])
        most = (192 if memory == "192MiB" else 1024) * 1024
        assert sanitized or usage.ru_maxrss < most, (memory, threads, usage.ru_maxrss)
        kept.setdefault(memory, had)
        assert had == kept[memory], (memory, threads)
assert kept["192MiB"][1][0] == TOO_BIG and TOO_BIG not in kept["1GiB"][1], [k[1] for k in kept.values()]

# what threads free goes back to the system: 16 of them once took 600 MiB, with one long string or many short ones
write("count.jinja", "{{ tools | length }}")
for template, record in (("long.jinja", {"messages": conversation("hello " * 666666)}),
                         ("count.jinja", {"messages": conversation(""), "tools": [{"a": "x" * 30}] * 87000})):
    with open(os.path.join(folder, "large.jsonl"), "w") as f:  # what this process holds, too, is in ru_maxrss
        for _ in range(32):
            json.dump(record, f)
            f.write("\n")
    code, usage = run("--chat", template, "--memory", "300MiB", "--threads", "16", "large.jsonl")
    assert code == 0 and len(packed()) + len(rejects()) == 32, code
    assert sanitized or usage.ru_maxrss < 300 * 1024, (template, usage.ru_maxrss)
    os.remove(os.path.join(folder, "large.jsonl"))

# ---- Time ----

members = {f"k{i}": i for i in range(200000)}
write("members.jinja",
      "{{ messages[0].o | length }}|{{ messages[0].o.k199999 }}|{{ messages[0].o.keys() | unique | list | length }}")
write("c.jsonl", json.dumps({"messages": [{"role": "user", "o": members}]}) + "\n")
leat("-o", "out", "--chat", "members.jinja", "c.jsonl")
assert bytes(packed()[0][0]) == b"200000|199999|200000", rejects()

write("search.jinja", "{% set part = 'a' * 100000 + 'b' %}{% set t = messages[0].content %}{{ part in t }}|"
      "{{ t.find(part) }}|"
      "{{ t | replace(part, 'c') | length }}|{{ t.split(part) | length }}")
write("c.jsonl", json.dumps({"messages": conversation("a" * 1000000)}) + "\n")
leat("-o", "out", "--chat", "search.jinja", "c.jsonl")
assert bytes(packed()[0][0]) == b"False|-1|1000000|1", rejects()

# work with long strings counts: a template that does much of it ends, and does not run for days
WORK = ("{{ t.rstrip(b) }}", "{% if 'x'.strip(b) %}{% endif %}", "{% if b in d %}{% endif %}",
        "{% if d[b] %}{% endif %}", "{% if d.get(b) %}{% endif %}", "{% if {b: 1, b: 2} %}{% endif %}",
        "{% if dict(d, k=1) == e %}{% endif %}", "{% if [b, b] | unique | first %}{% endif %}",
        "{% if t.rfind(t[1000:]) %}{% endif %}", "{% if t.startswith('b') %}{% endif %}")
write("work.jinja", "{% set m = messages[0] %}{% set t = 'a' * 400000 %}{% set b = 'b' * 400000 + 'a' %}"
      "{% set d = {b: 1} %}{% set e = {b: 1, 'k': 1} %}"
      "{% for i in range(100000) %}{% for k in range(100000) %}" +
      "".join(f"{{% {'el' if i else ''}if m.n == {i} %}}{w}" for i, w in enumerate(WORK)) +
      "{% endif %}{% endfor %}{% endfor %}")
write("work.jsonl", "".join(json.dumps({"messages": [{"role": "user", "content": "", "n": n}]}) + "\n"
                            for n in range(len(WORK))))
leat("-o", "out", "--chat", "work.jinja", "work.jsonl", program=SMALL)  # which allows a tenth of the steps
assert len(rejects()) == len(WORK), rejects()
assert all("too many steps" in r or r == TOO_BIG for r in rejects()), rejects()

# a template that takes long, for many conversations: the first one is stopped
write("slow.jinja", "{% for i in range(90000) %}{% for k in range(200) %}{{ k if false }}{% endfor %}{% endfor %}")
write("many.jsonl", (json.dumps({"messages": conversation("x")}) + "\n") * 1000)
code, usage = run("--chat", "slow.jinja", "--threads", "1", "many.jsonl", stop_after=0.5)
assert code in (5, -signal.SIGTERM), code  # the last one: before it could be caught
assert usage.ru_utime < 60, usage.ru_utime  # and not of all 1000
