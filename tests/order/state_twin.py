"""state_twin.py: the text of a state in plain Python, of the plans of order_twin.py, documents_twin.py and
megatron_twin.py; likewise written from docs/ORDER.md alone."""
from documents_twin import FIT_OPTIONS, OF_SOURCES
from order_twin import MASK

ORDERS = ["shuffled", "sequential", "documents", "documents-sequential", "fit", "megatron"]
RULES = {4: ",fit=", 5: ",megatron="}  # of an order of its own


class Chain:
    """`hash128`: XXH3-128 of bytes, as a number."""

    def __init__(self, hash128):
        self.hash128, self.bytes = hash128, b"leat plan state\0"

    def step(self, *numbers):
        numbers = b"".join(n.to_bytes(8, "little") for n in numbers)
        self.bytes = self.hash128(self.bytes + numbers).to_bytes(16, "little")

    def low(self):
        return int.from_bytes(self.bytes[:8], "little")

    def high(self):
        return int.from_bytes(self.bytes[8:], "little")


def kept(hashes):
    """A line's count and hashes: at most 64 of them."""
    count = len(hashes)
    if count > 64:
        hashes = [hashes[i * count // 64 - 1] for i in range(1, 65)]
    return " ".join([str(count)] + [f"{h:016x}" for h in hashes])


def decimal(units):
    """A share of so many 10^-18 in the form of a plan's text."""
    whole, rest = divmod(units, 10**18)
    return f"{whole}.{rest:018}".rstrip("0").rstrip(".")


def joined(skips):
    out = []
    for first, end in sorted(skips):
        if out and out[-1][1] == first:
            out[-1] = out[-1][0], end
        else:
            out.append((first, end))
    return out


def state(plan, position, damaged, identities, hash128, bans):
    """The text of a state; `identities`: of each source, its datasets' 16 bytes."""
    end = plan.number(position - 1) + 1 if position else 0
    phases = [phase for i, phase in enumerate(plan.past) if i == 0 or phase[0] < end]
    weighted = [i + 1 for _, _, weights in phases for i, w in enumerate(weights) if w]
    sources, phase_hashes = [], []
    chain, skips = Chain(hash128), Chain(hash128)
    rule, fim = RULES.get(plan.order, ""), getattr(plan, "fim", None)
    past = max(weighted, default=len(plan.used))
    own = plan.order == 4 and (plan.options[7] or any(plan.has_rules[:past]))
    version = 2 if own else 1
    chain.step(1, 1, 1, plan.base, plan.seed, plan.order, *[version] * bool(rule))
    options = list(zip(FIT_OPTIONS, plan.options)) if plan.order == 4 else []
    groups = options[:4], options[4:6], options[6:7], options[7:]
    options = [group for group in groups if any(value for _, value in group)]
    for group in options:
        chain.step(*(value for _, value in group))
    by_tokens = getattr(plan, "by_tokens", ())
    if by_tokens:
        first = end // by_tokens[3] * by_tokens[3]  # of the pool that the past ends in
        chain.step(*by_tokens, min(plan.end - first, by_tokens[3]) if end > first else 0)
    stretches = getattr(plan, "locality", None)
    if stretches:
        chain.step(1, *stretches)
    if fim:
        chain.step(1, fim.rate, fim.spm, *fim.ids)
    for number in range(past):
        for identity, used in zip(identities[number], plan.used[number]):
            chain.step(int.from_bytes(identity[:8], "little"), int.from_bytes(identity[8:], "little"), *used)
        limit = plan.limits[number]
        chain.step(len(plan.used[number]), MASK if limit is None else limit)
        if plan.order == 5:
            chain.step(*plan.settings(number))
        if own:
            chain.step(*(plan.rules[number].get(key, 0) for key in OF_SOURCES))
        sources.append(chain.low())
    for begin, length, weights in phases:
        count = max((i + 1 for i, w in enumerate(weights) if w), default=0)
        chain.step(begin, length, count)
        for w in weights[:count]:
            chain.step(w)
        phase_hashes.append(chain.low())
    for skip in joined(plan.skips):
        if skip[0] < end:
            skips.step(*skip)
    chain.step(skips.low())
    rules = f"permutation=1,blend=1,split=1{rule and rule + str(version)}{',fim=1' if fim else ''}"
    banned = Chain(hash128)
    for ban in bans.past(end, len(sources)):
        banned.step(*ban)
    bans_line = ""
    if bans.past(end, len(sources)):
        chain.step(banned.low())
        bans_line = f"bans {banned.low():016x}\n"
    text = (f"leat state 1\nposition {position}\nskipped {end - position}\ndamaged {damaged}\n"
            f"rules {rules}\nbase-len {plan.base}\nseed {plan.seed}\n"
            f"order {ORDERS[plan.order]}\n" + "".join(f"{k} {v}\n" for group in options for k, v in group) +
            (f"by-tokens {' '.join(map(str, by_tokens))}\n" if by_tokens else "") +
            (f"stretches 1 {' '.join(map(str, stretches))}\n" if stretches else "") +
            (f"fim {','.join(map(str, (decimal(fim.rate), decimal(fim.spm), *fim.ids)))}\n" if fim else "") +
            f"sources {kept(sources)}\nphases {kept(phase_hashes)}\n"
            f"skips {skips.low():016x}\n{bans_line}fingerprint {chain.high():016x}{chain.low():016x}\n")
    return text + f"check {hash128(text.encode()) & MASK:016x}\n"
