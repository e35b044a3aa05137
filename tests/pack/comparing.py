"""comparing.py: what leat pack wrote against what reference.py says: Wrong is raised where they differ."""
import json
import os

from dataset import NONE, Dataset, xxh3


class Wrong(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Wrong(*what)


def difference(a, b):
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return "item %d of %d and %d: %.600r\n... instead of %.600r" % (i, len(a), len(b), x, y)
    return "%d items instead of %d; the next: %.300r" % (len(a), len(b), (list(a)[len(b):] or list(b)[len(a):])[:1])


def same(what, got, wanted):
    check(got == wanted, "%s: %s" % (what, difference(got, wanted)))


def read_rejects(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def check_rejects(got, wanted):
    same("places of rejects", [(r["input"], r["offset"], r["line"]) for r in got], [w[:3] for w in wanted])
    same("records of rejects", [r["record"] for r in got], [w[4] for w in wanted])
    for r, w in zip(got, wanted):
        check(w[3] in r["reason"], "reason %r without %r, of %r" % (r["reason"], w[3], r["record"]))


def compare(name, packed, rejects):
    d = Dataset(name)
    got, wanted = d.documents(), packed.documents
    if not d.sections.get("lines"): # nothing has lines or ids
        wanted = [w[:3] + (None, b"", w[5]) for w in wanted]
    if not xxh3:
        got, wanted = [g[:5] for g in got], [w[:5] for w in wanted]
    same("origins", [g[1:] for g in got], [w[1:] for w in wanted])
    same("documents", [g[0] for g in got], [w[0] for w in wanted])
    cut = 5 if not xxh3 else 6
    same("inputs", [i[:cut] for i in d.inputs()], [i[:cut] for i in packed.inputs])
    check((d.end_token, d.begin_token) == tuple(NONE if t is None else t for t in
                                                (packed.options.end, packed.options.begin)), "end and begin tokens")
    check_rejects(rejects, packed.rejects)
    return d


def contents(name):
    out = []
    for suffix in (".tokens", ".leat", ".rejects.jsonl"):
        path = name + suffix
        with open(path if os.path.exists(path) else os.devnull, "rb") as f:
            out.append(f.read())
    return out
