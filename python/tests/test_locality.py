"""leat order --locality-report: each figure, calculated again from the windows and documents that leat order prints."""
import json
import math
from collections import Counter

import pytest
from conftest import command

LENGTH, PARTS = 20, 64


@pytest.mark.parametrize("how", [(), ("--stretch", "4000", "--mix", "8"), ("--order", "sequential")])
def test_the_report(counting, folder, how):
    plan = "leat", "order", "--source", counting, "--source", f"{folder}:0.3", "--seq-len", LENGTH, *how
    blocks = [(300000 - 1) // LENGTH, sum((tokens - 1) // LENGTH for tokens in (5000, 12345, 700))]
    report = json.loads(command(*plan, "--locality-report", "--json"))["batches"]
    assert [batch["rows"] for batch in report] == [256, 1024]
    for batch in report:
        rows = batch["rows"]
        there = sum(blocks) // rows
        count = min(there, 64)
        looked = [[json.loads(line) for line in command(*plan, "--from", there // count * b * rows, "--count", rows,
                                                        "--json").splitlines()] for b in range(count)]
        shown = sum(len({(row["source"], row["window"] * 1000 // blocks[row["source"]]) for row in one})
                    for one in looked)
        assert batch["parts"] == pytest.approx(shown / count)
        chi, freedom, joint = 0, 0, Counter()
        for b, one in enumerate(looked):
            for source in 0, 1:
                parts = Counter(row["window"] * PARTS // blocks[source] for row in one if row["source"] == source)
                expected = parts.total() / PARTS
                chi += sum((parts[i] - expected)**2 / expected for i in range(PARTS)) if expected else 0
                freedom += (PARTS - 1) * (expected > 0)
            joint.update((b, row["window"] * PARTS // blocks[row["source"]]) for row in one)
        assert batch["chi_square"] == pytest.approx(chi / freedom)
        of_part = Counter()
        for (_, part), n in joint.items():
            of_part[part] += n
        bits = sum(n / rows / count * math.log2(n * count / of_part[part]) for (_, part), n in joint.items())
        assert batch["bits"] == pytest.approx(bits)
        documents = [Counter((row["source"], row["document"]) for row in one) for one in looked]
        sharing = sum(n for one in documents for n in one.values() if n > 1)
        assert batch["sharing"] == pytest.approx(sharing / rows / count)
        assert (batch == {"rows": rows, **batch["shuffled"], "shuffled": batch["shuffled"]}) == (not how)
