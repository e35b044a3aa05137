#!/usr/bin/env python3
"""order_numpy.py: what a stored permutation takes, as loaders make it with numpy: the time to make it, its bytes, and
the time of a look-up in it. `leat-bench order` beside it stores nothing.

usage: bench/order_numpy.py [SIZE]      default 10^8; 10^9 needs 8 GB
"""
import sys
import time

import numpy


def main():
    size = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**8
    begun = time.perf_counter()
    order = numpy.random.default_rng(1).permutation(size)
    made = time.perf_counter() - begun
    looks = 10**6
    at = numpy.random.default_rng(2).integers(0, size, looks)
    begun = time.perf_counter()
    order[at].sum()
    look = (time.perf_counter() - begun) / looks
    print(f"numpy {numpy.__version__}, permutation of {size}: {made:.1f} s to make, {order.nbytes / 1e9:.2f} GB, "
          f"{look * 1e9:.0f} ns a random look-up (a million at once)")


main()
