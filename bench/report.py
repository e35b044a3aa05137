"""report.py: what `leat-bench report` runs, which has this file in it (report.c): results of measurements, and
statistics of training runs, as one page of HTML.

    STYLE OUTPUT FILE...: CSS that all pages of leat have, the page ("-": standard output), files of JSON

Each line of a file is an object, whose members show its kind. The page begins with what all come to, in sentences; then
each kind that came has its section, by its row of KINDS; machines and files come last. Whatever a file says is shown as
text (escape()) or as a finite number (number()), so it can neither become markup nor leave a chart. The page has no
script and fetches nothing.
"""
import html
import json
import math
import os
import re
import sys
import tempfile

SHOWN = 64    # bars of a chart, lines of a table: further ones are left out
DRAWN = 6     # sources whose share is drawn
LITTLE = 0.01  # a share of waiting too small to matter


class Failed(Exception):
    """A sentence, and the exit code."""


# ---- Members of results ----------------------------------------------------------------------------------------------

class Item:
    """One JSON object: a line of a file."""

    def __init__(self, file, line, data, kind):
        self.file, self.line, self.data, self.kind = file, line, data, kind
        self.alike = False  # another file has an item of this kind and name


def at(x, *keys):
    """A member of a member ..., or None."""
    for key in keys:
        x = x.get(key) if isinstance(x, dict) else None
    return x


def number(x, *keys):
    """A finite number, or NaN."""
    value = at(x, *keys)
    return value if isinstance(value, float) and math.isfinite(value) else math.nan


def positive(x, *keys):
    value = number(x, *keys)
    return value if value > 0 else 0.0


def words(x, *keys):
    value = at(x, *keys)
    return value if isinstance(value, str) else ""


def listed(x, *keys):
    value = at(x, *keys)
    return value if isinstance(value, list) else []


# ---- Text and numbers ------------------------------------------------------------------------------------------------

# what would end a line, send a terminal a command, hide or turn text around, or is no character
HIDDEN = re.compile("[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
                    "\ud800-\udfff\U000e0000-\U000e0fff]")


def hidden(match):
    code = ord(match[0])
    code -= 0xdc00 if 0xdc80 <= code <= 0xdcff else 0  # a byte that is not UTF-8
    return "\\x%02x" % code if code < 0x80 or match[0] >= "\udc80" and code < 0x100 else "\\u%04x" % code


def escape(text):
    return html.escape(HIDDEN.sub(hidden, text))


def scaled(value, names):
    step = 0
    while value >= 999.5 and step + 1 < len(names):
        value, step = value / 1000, step + 1
    return value, names[step]


def rate(per_second, what="B"):
    if not 0 <= per_second < 1e21:
        return "-"
    value, name = scaled(per_second, ("", "k", "M", "G", "T", "P"))
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return "%.*f %s%s%s/s" % (digits, value, name, " " if name and len(what) > 1 else "", what)


def duration(seconds):
    if not 0 <= seconds <= 1e12:
        return "-"
    for scale, unit in TIMES[:3]:
        if seconds * scale < 999.5:
            return "%.3g %s" % (seconds * scale, unit)
    if seconds < 59.95:
        return "%.1f s" % seconds
    whole = int(seconds + 0.5)
    if whole < 3600:
        return "%d min %02d s" % (whole // 60, whole % 60)
    if whole < 86400:
        return "%d h %02d min" % (whole // 3600, whole // 60 % 60)
    return "%d d %02d h" % (whole // 86400, whole // 3600 % 24)


def size(count):
    if not 0 <= count < 1e18:
        return ""
    if count < 1024:
        return counted(count, "byte")
    step, value = 0, count / 1024
    while value >= 1023.95:
        step, value = step + 1, value / 1024
    return "%.1f %siB" % (value, "KMGTPE"[step])


def count(value):
    return f"{int(value):,}" if 0 <= value < 1e18 else ""


def counted(value, noun):
    return f"{count(value)} {noun}{'' if int(value) == 1 else 's'}"


def plain(value):
    if not math.isfinite(value):
        return ""
    return "%.4g" % value if abs(value) < 1e4 else "%.15g" % round(value)


def short(value):
    """Three digits or so, with k M G T."""
    sign = "-" if value < 0 else ""
    value, unit = scaled(abs(value), ("", " k", " M", " G", " T", " P", " E"))
    return "%s%.3g%s" % (sign, value, unit)


CELLS = {"text": escape, "time": lambda v: duration(v) if v >= 0 else "", "rate": lambda v: rate(v) if v >= 0 else "",
         "size": size, "count": count, "number": plain}


def table(columns, rows, folded=False):
    """Columns of (title, one of CELLS)."""
    def cells(tag, row):
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" if kind == "text" else f'<{tag} class="n">{cell}</{tag}>'
                                for cell, (_, kind) in zip(row, columns)) + "</tr>\n"
    text = '<div class="wide"><table>\n' + cells("th", [title for title, _ in columns]) + "".join(
        cells("td", [CELLS[kind](value) for value, (_, kind) in zip(row, columns)]) for row in rows) + \
        "</table></div>\n"
    return f"<details><summary>as a table</summary>{text}</details>\n" if folded else text


def heading(text, level=3):
    return f"<h{level}>{escape(text)}</h{level}>\n"


def grid(*parts):
    return '<div class="grid">' + "".join(f"<div>\n{part}</div>" for part in parts) + "</div>\n"


# ---- Charts as SVG: their width is that of a phone, and grows with the page ------------------------------------------

WIDTH = 480
LEFT, RIGHT = 46.0, WIDTH - 22.0  # room for numbers beside the data
FILLS = ('fill="var(--accent)"', 'fill="url(#fill1)" stroke="var(--accent2)"',
         'fill="url(#fill2)" stroke="var(--accent3)"', 'fill="url(#fill3)" stroke="var(--accent4)"',
         'fill="var(--soft)"')
IDLE = 'fill="none" stroke="var(--soft)" stroke-dasharray="3 3"'
# striped, dotted and lined: also for paper without colours
PATTERNS = ('<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>'
            '<pattern id="fill1" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            '<rect width="3" height="6" fill="var(--accent2)"/></pattern>'
            '<pattern id="fill2" width="6" height="6" patternUnits="userSpaceOnUse">'
            '<circle cx="3" cy="3" r="1.8" fill="var(--accent3)"/></pattern>'
            '<pattern id="fill3" width="4" height="4" patternUnits="userSpaceOnUse">'
            '<rect width="4" height="1.5" fill="var(--accent4)"/></pattern></defs></svg>\n')


class Axis:
    """From 0, with round ticks, and room for all up to `most`."""

    def __init__(self, most, start, end):
        most = max(min(most, 1e30), 1e-12) if most > 0 else 1.0
        power = 10.0 ** math.floor(math.log10(most / 5))
        step = power * next((digit for digit in (1, 2, 5) if digit * power >= most / 5 * (1 - 1e-9)), 10)
        self.high = step * math.ceil(most / step - 1e-9)
        self.ticks = [k * step for k in range(round(self.high / step) + 1)]
        self.start, self.end = start, end

    def at(self, value):
        return self.start + min(max(value / self.high, 0), 1) * (self.end - self.start)


def line_of(x1, y1, x2, y2):
    return '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="var(--line)"/>\n' % (x1, y1, x2, y2)


def label(x, y, text, anchor=""):
    return '<text x="%.1f" y="%.1f"%s>%s</text>\n' % (x, y, anchor and f' text-anchor="{anchor}"', escape(text))


def rect(x, y, width, height, fill):
    return '<rect x="%.1f" y="%.1f" width="%.1f" height="%s" %s/>' % (x, y, width, height, fill)


def below(axis, bottom, top, unit):
    return "".join(line_of(axis.at(tick), top, axis.at(tick), bottom) +
                   label(axis.at(tick), bottom + 15, short(tick), "middle") for tick in axis.ticks) + \
        label((axis.start + axis.end) / 2, bottom + 32, unit, "middle")


def beside(axis, unit):
    return "".join(line_of(LEFT, axis.at(tick), RIGHT, axis.at(tick)) +
                   label(LEFT - 5, axis.at(tick) + 4, short(tick), "end") for tick in axis.ticks) + label(2, 12, unit)


def figure(title, height, *parts):
    return (f'<figure><svg role="img" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH * 5 // 4}">'
            f"<title>{escape(title)}</title>\n{''.join(parts)}</svg></figure>\n")


def bars(title, unit, rows):
    """Lying bars of (label, value, what is shown at its end, place of FILLS)."""
    rows = [row for row in rows if not math.isnan(row[1])][:SHOWN]
    if not rows:
        return ""
    bottom = 8 + 34.0 * len(rows)
    axis = Axis(max(row[1] for row in rows), 8, RIGHT - 10 - 7 * max(5, max(len(row[2]) for row in rows)))
    parts = [below(axis, bottom, 4, unit)]
    for i, (name, value, shown, fill) in enumerate(rows):
        y, end = 8 + 34 * i, axis.at(value)
        parts += [label(10, y + 12, name if len(name) <= 60 else "\u2026" + name[-60:]),
                  rect(8, y + 16, end - 8, 12, FILLS[fill]), label(end + 4, y + 26, shown)]
    return figure(title, bottom + 40, *parts)


def measured_bars(title, rows, rates, more=""):
    """Bars of (label, value[, place of FILLS]), all in one unit: bytes per second, or seconds."""
    scale, unit = unit_of(SPEEDS if rates else TIMES, [row[1] for row in rows])
    return bars(title, unit + more, [(name, value * scale, rate(value) if rates else duration(value), 0)
                                     for name, value in rows])


TIMES = (1e9, "ns"), (1e6, "\u00b5s"), (1e3, "ms"), (1, "s")
SPEEDS = (1e-3, "kB/s"), (1e-6, "MB/s"), (1e-9, "GB/s")


def unit_of(units, values):
    most = max((value for value in values if value > 0), default=0)
    return next((pair for pair in units if most * pair[0] < 1e3), units[-1])


def columns(title, of, unit, counts):
    """A histogram: column 0 counts what is below 1, column k what is from 2^(k - 1) on."""
    bottom, wide, every = 210, (RIGHT - LEFT) / len(counts), 1 + len(counts) * 36 // int(RIGHT - LEFT)
    axis = Axis(max(counts), bottom, 24)
    parts = [beside(axis, of)]
    for k, value in enumerate(counts):
        x, height = LEFT + wide * k, bottom - axis.at(value)
        if value > 0:  # few is not none
            parts.append(rect(x + 1, bottom - max(height, 1), wide - 2, "%.1f" % max(height, 1), FILLS[0]))
        if k % every == 0:
            first = 2.0 ** (k - 1) if k else 0
            parts.append(label(x, bottom + 15, "%g" % first if first < 1e4 else short(first)))
    return figure(title, bottom + 40, *parts, label((LEFT + RIGHT) / 2, bottom + 32, unit, "middle"))


def curve(title, x_unit, y_unit, points):
    """A line through points (x, y), or (x, y, y of a dashed line beside it)."""
    bottom = 230
    x = Axis(max(point[0] for point in points), LEFT, RIGHT)
    y = Axis(max(max(point[1:]) for point in points), bottom, 24)
    parts = [beside(y, y_unit), below(x, bottom, 24, x_unit)]
    for k in range(len(points[0]) - 1, 0, -1):
        parts.append('<polyline fill="none" stroke="var(--accent)" stroke-width="2"%s points="%s"/>\n' % (
            ' stroke-dasharray="5 4" opacity="0.7"' if k == 2 else "",
            " ".join("%.1f,%.1f" % (x.at(point[0]), y.at(point[k])) for point in points)))
    if len(points) <= 32:  # marks of more would hide the line
        parts += ['<circle cx="%.1f" cy="%.1f" r="3.5" fill="var(--page)" stroke="var(--accent)" stroke-width="1.5"/>\n'
                  % (x.at(point[0]), y.at(point[1])) for point in points]
    return figure(title, bottom + 40, *parts)


def lanes(title, unit, named):
    """Times one after the other, in lanes of (name, [(part, value, shown, fill)]) below each other."""
    bottom = 52.0 * len(named) + 8
    axis, y, parts = Axis(max(sum(part[1] for part in lane) for _, lane in named), 8, RIGHT), bottom + 52, []
    for i, (name, lane) in enumerate(named):
        begun = 0
        parts.append(label(8, 24 + 52 * i, name))
        for _, value, _, fill in lane:
            if value > 0:
                parts.append(rect(axis.at(begun), 30 + 52 * i, axis.at(begun + value) - axis.at(begun), "22.0", fill))
            begun += value
    for name, lane in named:
        for part, value, shown, fill in lane:
            if value > 0:
                parts.append(rect(8, y - 10, 24, 11, fill) + label(40, y, f"{name}: {part}, {shown}"))
                y += 18
    return figure(title, y - 12, below(axis, bottom, 8, unit), *parts)


# ---- Lists of measurements -------------------------------------------------------------------------------------------

def name_machine(x):
    cpu, cores = words(x, "machine", "cpu"), number(x, "machine", "cores")
    if not cpu:
        return "a machine"
    return f"{cpu[:200]}, {cores:.0f} cores" if 1 <= cores < 1e6 else cpu[:200]


def lists_of(x):
    """The lists of measurements: (name, rows, whether they have rates)."""
    for key, rows in x.items():
        if isinstance(rows, list) and rows and isinstance(rows[0], dict) and "seconds_per_item" in rows[0]:
            rates = not any(math.isnan(number(row, "bytes_per_s", "median")) and
                            not math.isnan(number(row, "seconds_per_item", "median")) for row in rows)
            yield key.replace("_", " "), rows, rates


def write_measurements(items):
    for x in items:
        parts = []
        for name, rows, rates in lists_of(x.data):
            figures = "bytes_per_s" if rates else "seconds_per_item"
            chart = measured_bars(name, [(words(row, "name"), number(row, figures, "median")) for row in rows], rates)
            kind = "rate" if rates else "time"
            parts += [heading(name, 4) + chart + table(
                [("what", "text"), ("median", kind), ("least", kind), ("most", kind), ("CPUs", "number"),
                 ("note", "text")],
                [[words(row, "name"), *(number(row, figures, which) for which in ("median", "least", "most")),
                  number(row, "cpus"), words(row, "note") + words(row, "not_measured")] for row in rows], True)] \
                if chart else []
        yield title(x) + grid(*parts)


def say_measurements(items):
    for x in items:
        said = []
        for name, rows, rates in lists_of(x.data):
            values = [number(row, "bytes_per_s" if rates else "seconds_per_item", "median") for row in rows]
            values = [value for value in values if value > 0]
            if values:
                said.append(f"{escape(name)} up to {rate(max(values))}" if rates else
                            f"{escape(name)} {duration(min(values))} to {duration(max(values))}")
        yield subject(x) + (", ".join(said) or "nothing was measured") + "."


# ---- Texts -----------------------------------------------------------------------------------------------------------

def name_tokenizer(x):
    return words(x, "tokenizer")[:200]


def speed(x):
    return 1e6 * number(x, "mb_per_s")


def with_threads(x):
    threads = number(x, "threads")
    return f" with {counted(threads, 'thread')}" if 1 <= threads < 1e6 else ""


def speeds(name, items):
    return measured_bars(name, [(label_of(x), speed(x.data)) for x in items], True)


def write_encoding(items):
    yield speeds("Encoding", items)
    yield table([("tokenizer", "text"), ("text", "rate"), ("threads", "number"), ("size", "size"), ("tokens", "count")],
                [[words(x.data, "tokenizer"), speed(x.data), *(number(x.data, key)
                                                               for key in ("threads", "bytes", "tokens"))]
                 for x in items])


def say_encoding(items):
    return (f"{subject(x)}encodes {rate(speed(x.data))} of text{with_threads(x.data)}." for x in items)


# ---- Packing ---------------------------------------------------------------------------------------------------------

STEPS = {"read": "reading", "scan": "scanning records", "encode": "encoding", "write": "writing"}


def name_packing(x):
    return f"Packing {size(number(x, 'text_bytes')) or 'some'} of text"


def say_packing(items):
    for x in items:
        bound, cores = words(x.data, "bound"), number(x.data, "cores_of_use")
        yield (f"{subject(x)}{rate(speed(x.data))}{with_threads(x.data)}. Most of the time goes into "
               f"{escape(STEPS.get(bound, bound))}" + (
                   f". More than some {cores:.3g} cores would wait for work that only one thread at a time can do"
                   if math.isfinite(cores) else "") + ".")


def write_packing(items):
    yield speeds("Packing", items)
    for x in items:
        steps = measured_bars("CPU time of each step", [(step, number(x.data, "cpu_seconds", step)) for step in STEPS],
                              False, " of CPU time, all threads")
        runs = [(number(run, "threads"), number(run, "mb_per_s")) for run in listed(x.data, "runs")[:SHOWN]]
        runs = [run for run in runs if not math.isnan(sum(run))]
        yield title(x) + grid(steps, curve("Throughput by threads", "threads", "MB of text per second", runs)
                              if len(runs) > 1 else "")
        row = [number(x.data, key) for key in ("text_bytes", "tokens", "seconds", "threads", "peak_memory")]
        yield table([("text", "size"), ("tokens", "count"), ("took", "time"), ("rate", "rate"), ("threads", "number"),
                     ("memory", "size")], [row[:3] + [speed(x.data)] + row[3:]])


# ---- Beside other tools ----------------------------------------------------------------------------------------------

FIGURES = {"mtok_per_s": "million tokens per second", "mb_per_s": "MB of text per second",
           "cpu_ms_per_mtok": "CPU, ms per million tokens", "cpu_s_per_100_mb": "CPU, s per 100 MB",
           "start_s": "start, s", "start_cpu_s": "start, CPU s", "resume_s": "resume, s", "memory_mib": "memory, MiB"}
RATES = ("mtok_per_s", "mb_per_s")
NOTES = {"not_measured": "cannot run: ", "no_resume": "no resume: "}


def is_own(row):
    return words(row, "name").startswith("leat")


def write_peers(items):
    yield "<p>The same work by each, in turns; the output of each was checked. Striped: other tools.</p>\n"
    for x in items:
        rows = listed(x.data, "peers")
        shown = [key for key in FIGURES if any(not math.isnan(number(row, key)) for row in rows)]
        yield title(x) + "".join(
            bars("Beside other tools", FIGURES[key],
                 [(words(row, "name"), number(row, key), short(number(row, key)), 0 if is_own(row) else 1)
                  for row in rows]) for key in RATES)
        yield table([("what", "text"), *((FIGURES[key], "number") for key in shown), ("note", "text")],
                    [[words(row, "name"), *(number(row, key) for key in shown),
                      "".join(before + words(row, key) for key, before in NOTES.items() if words(row, key))]
                     for row in rows])


def say_peers(items):
    """The best of leat's beside the best of the others, in a rate that both have."""
    for x in items:
        for key in RATES:
            own, other = (max((positive(row, key) for row in listed(x.data, "peers")
                               if is_own(row) == mine and positive(row, key) < 1e12), default=0)
                          for mine in (True, False))
            if own > 0 and other > 0:
                yield (f"{subject(x)}leat {own:.4g}, the best of the others {other:.4g} {FIGURES[key]}: "
                       f"{own / other:.3g} times.")


# ---- Loaders: measured ones, and those of training runs --------------------------------------------------------------

# what a loader's thread does, and what it means if that is most of its time while the consumer waits
STAGES = {"order": "computing which samples come", "gather": "copying rows", "storage": "reading from storage",
          "documents": "finding documents and reading masks", "outputs": "making labels and other outputs",
          "copy": "copying to the device"}


def named_sources(x):
    names = [words(source, "name")[-40:] for source in listed(x, "sources")]  # the end of a path says more
    return ", ".join(names)[:200] or "a plan"


def time_line(x, times, share, step):
    """A mean step of the program beside what the loader's thread does meanwhile. `step`: seconds; NaN: of a batch."""
    of = {key: positive(times, key) for key in (*STAGES, "slot", "consumer")}
    thread = [("copying rows", of["gather"], FILLS[0]), ("reading from storage", of["storage"], FILLS[1]),
              ("order, documents, outputs", of["order"] + of["documents"] + of["outputs"], FILLS[2]),
              ("copying to the device", of["copy"], FILLS[3]), ("waiting for a free slot", of["slot"], IDLE)]
    waited = of["consumer"]
    whole = waited / share if share > 0 and waited > 0 else sum(part[1] for part in thread)
    steps = number(x, "batches") if math.isnan(step) else whole / step if step else math.nan
    if not (whole > 0 and math.isfinite(whole) and steps > 0 and 0 < whole / steps < 1e12):
        return ""
    scale, unit = unit_of(TIMES, [whole / steps])
    program = [("waiting for the batch", waited, IDLE), ("its own work", max(0, whole - waited), FILLS[4])]
    return heading("Time line of a mean step", 4) + lanes("Time line of a mean step", unit, [
        (name, [(part, min(value / steps, 1e12) * scale, duration(value / steps), fill) for part, value, fill in lane])
        for name, lane in (("the program", program),
                           ("inside its calls" if number(x, "threads") == 0 else "the loader's thread", thread))])


def waiting(times, share):
    """A sentence on waiting and its cause."""
    if not 0 <= share <= 1:
        return "How long it waited for batches is not known."
    most = max(STAGES, key=lambda stage: positive(times, stage))
    if share < LITTLE:
        return f"The loader keeps up: {100 * share:.2f} % of the time was spent waiting for batches."
    cause = f"; most of the loader's work was {STAGES[most]}" if positive(times, most) else ""
    return f"{100 * share:.1f} % of the time was spent waiting for batches{cause}."


def synthetic(x):
    """How much less the same steps take with a batch that is in memory already, where that was measured."""
    loss = number(x, "synthetic", "loss")
    if not loss > -1:
        return ""
    less = loss / (1 + loss)
    return (f" With a batch that is already in memory, the same steps take {100 * abs(less):.1f} % "
            f"{'less' if less > 0 else 'more'}.")


def say_loading(items):
    for x in items:
        bare, per_s = number(x.data, "bare", "tokens_per_s"), number(x.data, "tokens_per_s")
        yield subject(x) + (escape(words(x.data, "answer")) or (
            ("how fast is not known" if math.isnan(per_s) else f"{per_s / 1e6:.3g} million tokens per second") +
            (f", where a bare loop over the same bytes reaches {bare / 1e6:.3g}" if bare > 0 else "") + "." +
            synthetic(x.data)))


def write_loading(items):
    rows, bare = [], False
    for x in items[:SHOWN // 2]:
        for name, fill, value in ((words(x.data, "engine"), 0, number(x.data, "tokens_per_s")),
                                  ("a bare loop", 1, number(x.data, "bare", "tokens_per_s"))):
            rows.append((label_of(x, name), value / 1e6, rate(value, "tokens"), fill))
            bare = bare or (fill and not math.isnan(value))
    yield "<p>Striped: a bare loop over the same bytes, the ceiling.</p>\n" if bare else ""
    yield bars("Loading", "million tokens per second", rows)
    for x in items:
        times, share = at(x.data, "waits_s"), number(x.data, "waiting_share")
        steps = number(x.data, "steps")
        counts = [value if isinstance(value, float) and 0 < value < 1e30 else 0.0
                  for value in listed(x.data, "next_us", "counts")[:32]]
        yield heading(label_of(x, words(x.data, "engine"))) + \
            f"<p>{html.escape(waiting(times, share), False)}{synthetic(x.data)}</p>\n" + grid(
                time_line(x.data, times, share, number(x.data, "seconds") / steps if steps else math.nan),
                heading("Calls for a batch", 4) + columns(
                    "Calls for a batch", "calls", "\u00b5s per call; each column reaches to twice its number", counts)
                if counts else "")
        yield table([("a call, mean", "time"), ("half within", "time"), ("99 % within", "time"),
                     ("99.9 % within", "time"), ("longest", "time"), ("first batch", "time"), ("memory", "size")],
                    [[*(number(x.data, "next_us", key) / 1e6 for key in ("mean", "p50", "p99", "p999", "max")),
                      number(x.data, "first_batch_ms") / 1e3, number(x.data, "memory_mib") * 1048576]])


def of_runs(items):
    """The lines of each run: of a file."""
    begun = 0
    for i, x in enumerate(items):
        if i + 1 == len(items) or items[i + 1].file != x.file:
            yield items[begun:i + 1]
            begun = i + 1


def say_runs(items):
    for run in of_runs(items):
        last = run[-1]
        yield subject(last) + html.escape(waiting(last.data, number(last.data, "waiting_share_all")), False)


def batches_of(run):
    """Of each line, the batches of the run, counted on where a loader was opened again; NaN: not known."""
    numbers, before, last = [], 0.0, 0.0
    for x in run:
        value = before + number(x.data, "batches")
        if value < last:
            before, value = last, last + number(x.data, "batches")
        last = value if math.isfinite(value) else last
        numbers.append(value)
    return numbers


def write_runs(items):
    for run in of_runs(items):
        last, numbers = run[-1], batches_of(run)
        points = [(batch, 100 * number(x.data, "waiting_share")) for batch, x in zip(numbers, run)]
        points = [point for point in points if math.isfinite(sum(point))]
        chart = ""
        if len(points) > 1:
            chart = heading("Waiting for batches", 4) + curve(
                "Waiting for batches", "batches", "percent of the last 100 batches' time", points)
        every = 1 + len(run) // SHOWN
        yield title(last) + grid(chart, time_line(last.data, last.data, number(last.data, "waiting_share_all"),
                                                  math.nan))
        yield table([("batches", "count"), ("tokens", "count"), ("waited", "time"), ("reading", "time"),
                     ("copying", "time"), ("damaged rows", "count")],
                    [[number(x.data, key) for key in ("batches", "tokens", "consumer", "storage", "gather",
                                                      "rows_damaged")]
                     for x in [run[i] for i in range(0, len(run) - 1, every)] + [last]], True)
        yield write_sources(run, numbers)


# Counts grow while a loader is open, and begin at 0 when it is opened again: what a run had is what the last lines of
# its loaders say, added up. A share over time is that of the tokens between two lines.

def tokens_of_all(x):
    return positive(x, "other_sources", "tokens") + sum(positive(source, "tokens") for source in listed(x, "sources"))


def write_sources(run, numbers):
    lines = [x.data for x in run]
    by_name = [{words(source, "name"): source for source in listed(x, "sources")} for x in lines]
    first = [i == 0 or positive(x, "batches") < positive(lines[i - 1], "batches") for i, x in enumerate(lines)]
    ends = [i for i in range(len(lines)) if i + 1 == len(lines) or first[i + 1]]
    whole = sum(tokens_of_all(lines[i]) for i in ends)
    rows = []
    for name, source in list(by_name[-1].items())[:SHOWN]:
        had = [sum(positive(by_name[i].get(name), key) for i in ends) for key in ("tokens", "loss_tokens", "rows")]
        rows.append((name, min(positive(source, "share"), 1), had))
    rows.sort(key=lambda row: -row[2][0])
    if len(rows) < 2:
        return ""
    text = heading("Tokens by source", 4) + table(
        [("source", "text"), ("percent of the tokens", "number"), ("of the plan, at the end", "number"),
         ("tokens", "count"), ("with loss", "count"), ("rows", "count")],
        [[name, 100 * had[0] / whole if whole > 0 else math.nan, 100 * share if share > 0 else math.nan, *had]
         for name, share, had in rows])
    charts = []
    for name, _, _ in rows[:DRAWN]:
        points = []
        for i, x in enumerate(lines):
            source, before = by_name[i].get(name), None if first[i] else by_name[i - 1].get(name)
            every = tokens_of_all(x) - (0 if first[i] else tokens_of_all(lines[i - 1]))
            mine = positive(source, "tokens") - positive(before, "tokens")
            if source is not None and (first[i] or before is not None) and every > 0 and 0 <= mine <= every \
                    and math.isfinite(numbers[i]):
                points.append((numbers[i], 100 * mine / every, 100 * min(positive(source, "share"), 1)))
        if len(points) > 1:
            charts.append(heading(name, 4) + curve(
                "Share of the tokens", "batches", "percent of the tokens since the line before; dashed: of the plan",
                points))
    return text + grid(*charts)


# ---- The kinds of results --------------------------------------------------------------------------------------------

# title; two members that only this kind has; what was measured, of an object; the section; sentences, one per item
KINDS = (
    ("Training runs", ("consumer", "batches"), lambda x: "Training on " + named_sources(x), write_runs, say_runs),
    ("Loading", ("waits_s", "next_us"), lambda x: "Loading " + named_sources(x), write_loading, say_loading),
    ("Packing", ("serial_seconds", "cores_of_use"), name_packing, write_packing, say_packing),
    ("Encoding", ("tokenizer", "checksum"), name_tokenizer, write_encoding, say_encoding),
    ("Beside other tools", ("peers", "work"), lambda x: words(x, "work")[:200], write_peers, say_peers),
    ("What the machine allows", ("page_cache", "disk"), name_machine, write_measurements, say_measurements),
)


def label_of(x, more=""):
    """What was measured, and, if another file has that, too, the file's name."""
    file = os.path.basename(x.file)
    return x.kind[2](x.data) + (f", {more[:200]}" if more else "") + (
        f" ({os.path.splitext(file)[0] or file})" if x.alike else "")


def title(x):
    return heading(label_of(x))


def subject(x):
    return f"<strong>{escape(label_of(x))}</strong>: "


# ---- Files -----------------------------------------------------------------------------------------------------------

def read_line(path, number_of, line):
    """An item; None if the line is not JSON."""
    try:
        data = json.loads(line.decode("utf-8", "surrogateescape"), parse_int=float, parse_constant=float)
    except (ValueError, RecursionError):
        return None
    for kind in KINDS:
        if isinstance(data, dict) and all(member in data for member in kind[1]):
            return Item(path, number_of, data, kind)
    raise Failed(f"{path}: line {number_of} is not a result of leat-bench limits, encode, pack or load with --json, of "
                 "make bench-peers, or of a loader's stats_file; other results are not drawn", 2)


def read_file(path):
    """The items of a file. A torn line is left out, with a message, but not the only one."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise Failed(f"cannot open {path}: {error.strerror}", 1) from None
    items, torn = [], None
    for k, line in enumerate(lines, 1):
        if not line.strip(b" \t\r"):
            continue
        item = read_line(path, k, line)
        if item is None and (items or (k < len(lines) and line.startswith(b'{"'))):
            say(f"{path}: line {k} is not JSON and is left out")
            torn = k
        elif item is None:
            torn = k
            break
        else:
            items.append(item)
            one, other = number(items[0].data, "rank"), number(item.data, "rank")
            if one < other or one > other:
                raise Failed(f"{path}: line {items[0].line} is from rank {one:.0f}, line {k} from rank {other:.0f}: "
                             "use a stats_file per rank, or copy the lines of each rank to a file", 2)
    if not items and torn:
        raise Failed(f"{path} is not valid JSON (line {torn})", 1)
    if not items:
        raise Failed(f"{path} is empty: measure again, or leave it out", 2)
    return items


# ---- The page --------------------------------------------------------------------------------------------------------

STYLE = ("#verdict{background:var(--box);border-left:.3rem solid var(--accent);padding:.5rem .8rem;font-size:1.05rem}"
         ".grid{display:flex;flex-wrap:wrap;gap:0 2rem}.grid>div{flex:1 1 26rem;min-width:0;max-width:38rem}"
         "h3{font-size:1rem;margin:1.2rem 0 .3rem}h4{margin:.8rem 0 0;font-size:.95rem}")
FIRST_LINE = "<!DOCTYPE html>\n"


def machines(items):
    """A row per machine: what it is, when it first measured, and the files of what it has measured."""
    found = {}
    for x in items:
        if "machine" in x.data:
            facts = tuple(words(x.data, "machine", key) for key in ("cpu", "kernel", "compiler"))
            facts += tuple(at(x.data, "machine", key) if isinstance(at(x.data, "machine", key), float) else math.nan
                           for key in ("cores", "memory"))
            dates, files = found.setdefault(repr(facts), (facts, [], {}))[1:]
            dates += [words(x.data, "machine", "date")] if words(x.data, "machine", "date") else []
            files[x.file] = True
    if not found:
        return ""
    return '<section><h2>Machines</h2>\n' + table(
        [("CPU", "text"), ("kernel", "text"), ("compiler", "text"), ("first measured", "text"), ("cores", "number"),
         ("memory", "size"), ("files", "text")],
        [[*facts[:3], min(dates, default="")[:10], *facts[3:], ", ".join(files)]
         for facts, dates, files in found.values()]) + "</section>\n"


def page(items, style):
    names = {}
    for x in items:
        names.setdefault((x.kind[0], x.kind[2](x.data)), set()).add(x.file)
    for x in items:
        x.alike = len(names[x.kind[0], x.kind[2](x.data)]) > 1
    kinds = [(kind, [x for x in items if x.kind is kind]) for kind in KINDS]
    kinds = [(kind, some) for kind, some in kinds if some]
    head = (f'{FIRST_LINE}<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            f"<title>Measurements of leat</title>\n<style>{style}{STYLE}</style>\n</head>\n<body>\n"
            f"<h1>Measurements of leat</h1>\n{PATTERNS}")
    verdict = "".join(f"<p>{said}</p>\n" for kind, some in kinds for said in kind[4](some))
    sections = "".join(f"<section><h2>{kind[0]}</h2>\n{''.join(kind[3](some))}</section>\n" for kind, some in kinds)
    return f'{head}<section id="verdict">\n{verdict}</section>\n{sections}{machines(items)}</body>\n</html>\n'


def write(path, text, what):
    """Replaces the page at `path`, at once, and says `what` it has; another file is refused."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return
        if os.path.exists(path):
            with open(path, "rb") as file:
                if file.readline(64) not in (b"", FIRST_LINE.encode()):
                    raise Failed(f"{path} already exists, and is not a page: choose another name", 1)
        umask = os.umask(0)
        os.umask(umask)
        fd, partial = tempfile.mkstemp(".partial", os.path.basename(path) + ".", os.path.dirname(path) or ".")
        try:
            with open(fd, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(partial, 0o666 & ~umask)
            os.rename(partial, path)
        except BaseException:
            os.unlink(partial)
            raise
    except OSError as error:
        raise Failed(f"cannot write {path}: {error.strerror}", 1) from None
    print(f"{HIDDEN.sub(hidden, path)}: {what}, {size(len(text.encode()))}.")


def say(sentence):
    print("leat-bench: " + HIDDEN.sub(hidden, sentence), file=sys.stderr)


def main(style, output, *files):
    if "://" in output:
        raise Failed(f"{output} is a URL: write to a local name first", 1)
    items = [item for file in files for item in read_file(file)]
    text = page(items, style)
    if output == "-":
        sys.stdout.write(text)
    else:
        write(output, text, counted(len(items), "result"))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    sys.stderr.reconfigure(errors="backslashreplace")
    try:
        main(*sys.argv[1:])
        sys.stdout.flush()
    except Failed as failed:
        say(failed.args[0])
        sys.exit(failed.args[1])
    except OSError as error:
        say(f"cannot write standard output: {error.strerror}")
        sys.exit(1)
