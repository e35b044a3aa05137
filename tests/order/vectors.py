"""vectors.py: compares the frozen vectors of docs/ORDER.md with the twins."""
import re
from fractions import Fraction

import deal_twin
import documents_twin
import fim_twin
import megatron_twin
import order_twin as twin

BLOCK = re.compile(r"^```vectors\n(.*?)^```$", re.M | re.S)


def permute(n, seed, source, epoch):
    p = twin.Permutation(n, seed, source, epoch)
    return " ".join(str(p.forward(i)) for i in [*range(min(n, 5)), n - 1])


def blend(weights, first, count):
    b = twin.Blend(weights)
    return " ".join("%d.%d" % b.draw(k) for k in range(first, first + count))


def deal(costs, world):
    return " ".join(map(str, deal_twin.deal(costs, world)))


def cut(rate, spm, seed, source, document, sample, tokens):
    found = fim_twin.Fim(rate, spm, (1, 2, 3), int(seed)).cut(int(tokens), int(source), int(document), int(sample))
    return "same" if found is None else f"{('PSM', 'SPM')[found[0]]} {found[1]} {found[2]}"


def plan(data, text):
    """A twin.Plan of `NAME=TOKENS ...` and `LINE; LINE; ...`, the few forms of lines that the vectors use."""
    sizes = dict(word.split("=") for word in data.split())
    keys = [line.strip().split(" ", 1) for line in text.split(";")]
    one = dict(keys)
    length = int(one["seq-len"])
    base = int(one.get("base-len", length))
    sources, weights, limits = [], [], []
    every = int(one["epochs"]) if "epochs" in one else None
    for value in (v for k, v in keys if k == "source"):
        name, weight, own = (value.split(":") + [None])[:3]
        sources.append(twin.Source([(0, int(t)) for t in sizes[name].split("+")], base))
        weights.append(Fraction(weight))
        limits.append(min((e for e in (own and int(own), every) if e), default=None))
    phases = [(0, length, weights)]
    for value in (v for k, v in keys if k == "at"):
        begin, given, *lengths = value.split(":")
        length = int(lengths[0][4:]) if lengths else length
        phases.append((int(begin), length, [Fraction(w) for w in given.split(",")]))
    skips = [tuple(map(int, v.split(":"))) for k, v in keys if k == "skip"]
    stretches = (int(one["stretch"]), int(one.get("mix", 64)), int(one.get("lanes", 1))) if "stretch" in one else None
    return twin.Plan(sources, phases, limits, base, int(one.get("seed", 0)), one.get("order") == "sequential", skips,
                     stretches=stretches)


def lengths(text):
    """Of each dataset of `LENGTH,LENGTHxCOUNT,...+...`, its documents' lengths."""
    out = []
    for dataset in text.split("+"):
        out.append([])
        for word in filter(None, dataset.split(",")):
            length, count = (word.split("x") + ["1"])[:2]
            out[-1] += [int(length)] * int(count)
    return out


def documents(data, text):
    """A documents_twin.DocumentPlan of `NAME=LENGTHS ...` and `LINE; LINE; ...`."""
    given = dict(word.split("=") for word in data.split())
    keys = [line.strip().split(" ", 1) for line in text.split(";")]
    one = dict(keys)
    fractions, used = None, 0
    if "split" in one:
        parts = [part.split("=") for part in one["split"].split(",")]
        fractions = [Fraction(fraction) for _, fraction in parts]
        used = [name for name, _ in parts].index(one["use"])
    every = []
    for i, value in enumerate(v for k, v in keys if k == "source"):
        every += documents_twin.documents_of(i, lengths(given[value.split(":")[0]]), fractions, used)
    skips = [tuple(map(int, v.split(":"))) for k, v in keys if k == "skip"]
    plain = (every, int(one["seq-len"]), int(one.get("epochs", 0)), int(one.get("seed", 0)),
             one["order"] == "documents-sequential", skips)
    if "max-tokens" in one:
        return documents_twin.TokensPlan([int(one.get(k, 0)) for k in ("max-tokens", "max-rows", "pool")], *plain)
    return documents_twin.DocumentPlan(*plain)


def fit(data, text):
    """A documents_twin.FitPlan of `NAME=LENGTHS ...` and `LINE; LINE; ...`."""
    given = dict(word.split("=") for word in data.split())
    keys = [line.strip().split(" ", 1) for line in text.split(";")]
    one = dict(keys)
    every = int(one["epochs"]) if "epochs" in one else None
    documents, weights, limits = [], [], []
    for value in (v for k, v in keys if k == "source"):
        name, weight, own = (value.split(":") + [None])[:3]
        documents.append(documents_twin.documents_of(0, lengths(given[name])))
        weights.append(Fraction(weight))
        limits.append(min((e for e in (own and int(own), every) if e), default=None))
    phases = [(0, int(one["seq-len"]), weights)]
    for value in (v for k, v in keys if k == "at"):
        begin, changed, *length = value.split(":")
        phases.append((int(begin), int(length[0][4:]) if length else phases[-1][1],
                       [Fraction(w) for w in changed.split(",")]))
    skips = [tuple(map(int, v.split(":"))) for k, v in keys if k == "skip"]
    options = {key: int(one[key]) for key in documents_twin.FIT_OPTIONS if key in one}
    own = {}
    for number, rules in (v.split(":") for k, v in keys if k == "fit"):
        own[int(number)] = {key: int(value) for key, value in (rule.split("=") for rule in rules.split(","))}
    return documents_twin.FitPlan(documents, phases, limits, int(one.get("seed", 0)), skips, options=options, own=own)


def megatron(data, text):
    """A megatron_twin.MegatronPlan of `NAME=LENGTHS ...` and `LINE; LINE; ...`."""
    given = dict(word.split("=") for word in data.split())
    keys = [line.strip().split(" ", 1) for line in text.split(";")]
    one = dict(keys)
    sources, weights = [], []
    for value in (v for k, v in keys if k == "source"):
        name, *weight = value.split(":")
        sources.append(sum(lengths(given[name]), []))
        weights += weight
    return megatron_twin.MegatronPlan(sources, weights or None, int(one["seq-len"]), int(one.get("seed", 1234)),
                                      int(one["samples"]) if "samples" in one else None, one.get("split"),
                                      one.get("use"), one.get("mid-level-dataset-surplus", "0.005"))


def answer(line, current):
    """What stands behind the colon of a line; `current`: the plan that came last."""
    words = line.split()
    if words[0] == "permute":
        return permute(*map(int, words[1:5]))
    if words[0] == "blend":
        return blend([int(w) for w in words[1].split(",")], int(words[2]), len(line.split(":")[1].split()))
    if words[0] == "deal":
        return deal([int(w) for w in words[1].split(",")], int(words[2]))
    if words[0] == "cut":
        return cut(*words[1:8])
    return " ".join(map(str, current.show(int(words[1]))))


def wrong(page):
    """The lines of the page that the twin does not agree with, and how many there are in all."""
    out, count, current = [], 0, None
    for line in "".join(BLOCK.findall(page)).splitlines():
        count += 1
        if line.startswith("plan "):
            current = plan(*line[5:].split("|"))
        elif line.startswith("documents "):
            current = documents(*line[10:].split("|"))
        elif line.startswith("fit "):
            current = fit(*line[4:].split("|"))
        elif line.startswith("megatron "):
            current = megatron(*line[9:].split("|"))
        elif line.startswith("ends "):
            if current.end != int(line[5:]):
                out.append(line)
        elif line.split(":")[1].strip() != answer(line, current):
            out.append(line)
    return out, count
