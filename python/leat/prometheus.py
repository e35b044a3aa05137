"""prometheus.py: leat.stats_prometheus(), a loader's statistics in the text format of Prometheus."""
from __future__ import annotations

# what only grows while a loader lives; all other numbers are gauges
COUNTERS = {"batches", "rows", "tokens", "bytes", "read_bytes", "reads", "hits", "pages_verified", "rows_damaged",
            "warmed_bytes", "retries", "copied_bytes", "remote_requests", "remote_retries", "remote_bytes",
            "evicted_bytes", "cache_failed", "sent_bytes", "dealt"}
TIMES = {"order", "gather", "storage", "documents", "outputs", "copy", "slot", "crew", "consumer"}
WORDS = "engine", "device"


def stats_prometheus(loader) -> str:
    """Returns loader.stats() in Prometheus' text format (version 0.0.4), for the server of a training program to give
    when it is asked: each number is leat_loader_NAME, with the label `rank`; counters end in _total, times in _seconds;
    `next` is a summary; those of sources are leat_source_NAME, with the label `source`."""
    stats, rank = loader.stats(), f'rank="{loader.rank}"'
    lines: list[str] = []
    for name, value in stats.items():
        if name in TIMES:
            add(lines, f"leat_loader_{name}_seconds_total", "counter", [(rank, value)])
        elif name in COUNTERS:
            add(lines, f"leat_loader_{name}_total", "counter", [(rank, value)])
        elif name == "first_batch":
            add(lines, "leat_loader_first_batch_seconds", "gauge", [(rank, value)])
        elif isinstance(value, (int, float)):
            add(lines, f"leat_loader_{name}", "gauge", [(rank, value)])
    add_waits(lines, stats["next"], rank)
    words = ",".join(f'{name}="{escaped(stats[name])}"' for name in WORDS)
    add(lines, "leat_loader_info", "gauge", [(f"{rank},{words}", 1)])
    for name in "rows", "tokens", "loss_tokens", "share":
        counts = name != "share"
        add(lines, f"leat_source_{name}{'_total' * counts}", "counter" if counts else "gauge",
            [(f'{rank},source="{escaped(source["name"])}",number="{number}"', source[name])
             for number, source in enumerate(stats["sources"])])
    return "\n".join([*lines, ""])


def add(lines, name, kind, samples):
    lines.append(f"# TYPE {name} {kind}")
    lines.extend(f"{name}{{{labels}}} {value}" for labels, value in samples)


def add_waits(lines, times, rank):
    """Adds how long taking a batch took, as a summary."""
    name = "leat_loader_next_seconds"
    lines.append(f"# TYPE {name} summary")
    for quantile, key in ("0.5", "p50"), ("0.99", "p99"), ("0.999", "p999"), ("1", "max"):
        lines.append(f'{name}{{{rank},quantile="{quantile}"}} {times[key]}')
    lines += [f"{name}_sum{{{rank}}} {times['mean'] * times['count']}", f"{name}_count{{{rank}}} {times['count']}"]


def escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')
