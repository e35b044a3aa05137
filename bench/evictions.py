#!/usr/bin/env python3
"""evictions.py: what share of the requests of later epochs a cache answers that has room for a share of a dataset, in
a shuffled order: if what was used longest ago goes first, as the cache does it, and if what is needed last does, which
no rule can surpass. By simulation, beside the formula for the first."""
import heapq
import math
import random


def simulate(rows, room, rule, epochs=4, seed=1):
    chance = random.Random(seed)
    order = [row for _ in range(epochs) for row in chance.sample(range(rows), rows)]
    following, seen = [0] * len(order), {}
    for i in reversed(range(len(order))):
        following[i] = seen.get(order[i], len(order))
        seen[order[i]] = i
    goes, heap, hits = {}, [], 0
    for i, row in enumerate(order):
        hits += i >= rows and row in goes
        goes[row] = i if rule == "oldest" else -following[i]
        heapq.heappush(heap, (goes[row], row))
        while len(goes) > room * rows:
            first, row = heapq.heappop(heap)
            if goes.get(row) == first:
                del goes[row]
    return hits / (len(order) - rows)


print("room    longest ago (formula)    needed last")
for room in (0.25, 0.5, 0.75, 0.9):
    formula = room + (1 - room) * math.log(1 - room)
    print(f"{room:4.0%} {simulate(20000, room, 'oldest'):14.0%} {formula:10.0%} {simulate(20000, room, 'last'):14.0%}")
