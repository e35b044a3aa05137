"""programs.py: what random tests of packing share: the commands of the build, with buffers of the usual size and with
small ones, and a source of random numbers whose seed is printed. A test ends here as skipped without the commands."""
import os
import random
import sys

build = os.path.abspath(os.environ.get("LEAT_BUILD", "build"))
LEAT, SMALL = os.path.join(build, "leat"), os.path.join(build, "tiny", "leat")
if not os.path.exists(SMALL):
    print("skipped: no", SMALL)
    sys.exit(77)
seed = int(os.environ.get("LEAT_TEST_SEED", "1"))
print(f"LEAT_TEST_SEED={seed}")
rng = random.Random(seed)
