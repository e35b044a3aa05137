"""deal_twin.py: rows dealt to ranks by what attention costs, and by lanes, written from docs/ORDER.md alone, "Dealing
rows to ranks, version 1" and "Dealing rows by lanes, version 1"."""
from itertools import combinations


def deal(costs, world):
    """The rank of each row."""
    each = len(costs) // world
    rows, sums = [[] for _ in range(world)], [0] * world
    for row in sorted(range(len(costs)), key=lambda row: (-costs[row], row)):
        rank = min((r for r in range(world) if len(rows[r]) < each), key=lambda r: (sums[r], r))
        rows[rank].append(row)
        sums[rank] += costs[row]
    for _ in range(16 * world):
        high, low = max(range(world), key=lambda r: (sums[r], -r)), min(range(world), key=lambda r: (sums[r], r))
        if sums[high] - sums[low] <= sums[high] // 50 or not improve(costs, rows, sums, high, low):
            break
    ranks = [0] * len(costs)
    for rank, mine in enumerate(rows):
        for row in mine:
            ranks[row] = rank
    return ranks


def deal_lanes(own, lanes, batch, world):
    """The rank of each row; `own`: the lane of each row that the plan has."""
    if len(own) < batch:
        return [row % world for row in range(batch)]
    ranks = [[] for _ in range(world)]
    left = [row for row, lane in enumerate(own)
            if len(ranks[lane * world // lanes]) == batch // world or ranks[lane * world // lanes].append(row)]
    for row in left:
        next(rows for rows in ranks if len(rows) < batch // world).append(row)
    return [next(rank for rank, rows in enumerate(ranks) if row in rows) for row in range(batch)]


def improve(costs, rows, sums, high, low):
    rising = sorted(range(len(sums)), key=lambda r: (sums[r], r))
    falling = sorted(range(len(sums)), key=lambda r: (-sums[r], r))
    pairs = [(high, r) for r in rising if r != high] + [(r, low) for r in falling if r not in (high, low)]
    for count in (1, 2) if len(rows[0]) <= 16 else (1,):
        for p, q in pairs:
            apart = sums[p] - sums[q]
            found = []
            for a in combinations(sorted(rows[p]), count):
                for b in combinations(sorted(rows[q]), count):
                    moved = sum(costs[row] for row in a) - sum(costs[row] for row in b)
                    if 0 < moved < apart:
                        found.append((abs(2 * moved - apart), a, b, moved))
            if found:
                _, a, b, moved = min(found)
                rows[p] = [row for row in rows[p] if row not in a] + list(b)
                rows[q] = [row for row in rows[q] if row not in b] + list(a)
                sums[p] -= moved
                sums[q] += moved
                return True
    return False


def costs_of(plan, position, batch):
    """Of the rows of a global batch of a documents_twin.FitPlan."""
    costs = []
    for n in (plan.number(position + row) for row in range(batch)):
        cost = 0
        if n < plan.end:
            stretch = [s for begin, s in plan.stretches if begin <= n][-1]
            source, epoch, row, _, _ = stretch.sample(n)
            fit = stretch.sources[source]
            places = [fit.places(count) for _, _, count in fit.row(row, epoch, n)]
            cost = sum(p * p for p in places) + (fit.length - sum(places))**2
        costs.append(cost)
    return costs
