"""test_prometheus.py: the statistics in Prometheus' text format, read by the parser of its client library, are those of
stats(); and each number of stats() is among them."""
import types

import leat
import pytest
from leat.prometheus import COUNTERS, TIMES, WORDS

parser = pytest.importorskip("prometheus_client.parser")


def names_in(text):
    return [family.name for family in parser.text_string_to_metric_families(text)]


def test_stats(tmp_path):
    names = [str(tmp_path / name) for name in ("web", 'a "name"\\')]
    for name in names:
        with leat.Packer(name, "gpt2") as packer:
            packer.extend([list(range(300))] * 4)
    plan = leat.Plan(dict.fromkeys(names, 1), 64, epochs=2)
    with leat.Loader(plan, 2, rank=1, world=2, framework="numpy") as loader:
        for _ in zip(range(3), loader):
            pass
        stats = loader.stats()
        now = leat.stats_prometheus(loader)
    text = leat.stats_prometheus(types.SimpleNamespace(rank=1, stats=lambda: stats))  # the loader's thread goes on
    assert names_in(now) == names_in(text)
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    samples = {(s.name, s.labels.get("number"), s.labels.get("quantile")): s for f in families.values()
               for s in f.samples}
    assert all(s.labels["rank"] == "1" for s in samples.values())
    assert COUNTERS | TIMES | set(WORDS) <= stats.keys()  # each is one that the loader has
    known = set()
    for name, value in stats.items():
        if isinstance(value, (int, float)):
            found = [k for k in (f"leat_loader_{name}", f"leat_loader_{name}_total", f"leat_loader_{name}_seconds",
                                 f"leat_loader_{name}_seconds_total") if (k, None, None) in samples]
            assert len(found) == 1 and samples[found[0], None, None].value == value, name
            known.add(found[0])
    assert stats["batches"] == 3 and {"leat_loader_batches_total", "leat_loader_gather_seconds_total"} <= known
    assert families["leat_loader_batches"].type == "counter" and families["leat_loader_slots"].type == "gauge"
    waits = stats["next"]
    assert families["leat_loader_next_seconds"].type == "summary"
    assert samples["leat_loader_next_seconds_count", None, None].value == waits["count"]
    assert samples["leat_loader_next_seconds", None, "0.99"].value == waits["p99"]
    info = samples["leat_loader_info", None, None]
    assert (info.labels["engine"], info.labels["device"], info.value) == (stats["engine"], stats["device"], 1)
    for number, source in enumerate(stats["sources"]):
        for name in "rows_total", "tokens_total", "loss_tokens_total", "share":
            sample = samples[f"leat_source_{name}", str(number), None]
            assert sample.value == source[name.removesuffix("_total")]
            assert sample.labels["source"] == source["name"]
