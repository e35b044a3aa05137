#!/usr/bin/env python3
"""test_report.py: leat-bench report: the page has the numbers of the results, of every kind that leat-bench prints and
of a training run, says why a run waited, and lets no text out as markup; hostile numbers end; what is refused. The
results are made here, in the shape that the commands have, and by the quick commands themselves."""
import html.parser
import json
import math
import os
import pathlib
import re
import subprocess

from own import build, check, command, finish



def bench(*words, **expected):
    return command("leat-bench", *words, **expected)


class Page(html.parser.HTMLParser):
    """What a page shows: its text, the texts in charts, the cells of tables; that tags are closed, and are its own."""
    EMPTY = {"meta", "rect", "line", "path", "polyline", "circle"}
    OWN = EMPTY | {"html", "head", "title", "style", "body", "h1", "h2", "h3", "h4", "p", "section", "div", "details",
                   "summary", "table", "tr", "th", "td", "svg", "text", "figure", "defs", "pattern", "strong"}

    def __init__(self, page):
        super().__init__()
        self.open, self.texts, self.cells, self.points, self.heights = [], [], [], [], []
        self.feed(page)
        self.close()
        check(not self.open, f"the page leaves {self.open} open")
        check("://" not in page, "the page fetches something")
        none = re.search(r".{,40}[^a-z](nan|inf)[^a-z].{,20}", page)
        check(not none, f"the page has numbers that are none: {none}")

    def handle_starttag(self, tag, attrs):
        check(tag in self.OWN and not any(name.startswith("on") for name, _ in attrs), f"the page has {tag} {attrs}")
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.points += [value for name, value in attrs if name == "points"]
        if tag == "rect" and "pattern" not in self.open:
            self.heights.append(dict(attrs)["height"])
        for name, value in attrs:
            if tag in ("rect", "line", "text") and name in ("x", "y", "x1", "x2", "y1", "y2", "width", "height"):
                check(-1 <= float(value) <= 5000, f"the page has {name}={value} in {tag}")

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            check(self.open and self.open.pop() == tag, f"the page closes {tag}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "text":
            self.texts.append(data)
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


def report(*names):
    text = bench("report", "-o", "-", *names)
    page = Page(text)
    page.text = text
    return page


EVIL = "<script>alert('&')</script>\x1b[31m"
machine = {"cpu": EVIL, "cores": 12, "memory": 64e9, "kernel": "Linux", "compiler": "gcc", "date": "2026-01-02"}
median = {"median": 1.25e9, "least": 1e9, "most": 1.5e9}
rate = {"name": EVIL, "bytes_per_s": median, "seconds_per_item": None, "cpus": 1.0, "note": EVIL, "not_measured": None}
each = {"name": "a step", "bytes_per_s": None, "seconds_per_item": {"median": 2.5e-6, "least": 1e-6, "most": 3e-6},
        "cpus": 0.5, "note": None, "not_measured": None}
missing = {**each, "name": "none", "seconds_per_item": None, "not_measured": "it cannot be <b>measured</b>"}
waits = {"order": 0.125, "storage": 6.5, "gather": 2.0, "documents": 0.0, "outputs": 0.5, "slot": 9.0, "copy": 0.25}
calls = {"mean": 7, "p50": 3, "p99": 77, "p999": 88, "max": 99, "counts": [30, 0, 10]}
load = {"waits_s": {**waits, "consumer": 5.0}, "next_us": calls, "waiting_share": 0.25, "steps": 40, "seconds": 2.0,
        "tokens_per_s": 4.5e6, "bare": {"tokens_per_s": 9.5e6}, "engine": "uring", "first_batch_ms": 4.0,
        "memory_mib": 5.5, "synthetic": {"loss": 0.125}}
run = {"serial_seconds": {"all": 0.5}, "cores_of_use": 17.0, "cpu_seconds": {"read": 1, "scan": 2, "encode": 8.5},
       "bound": "encode", "mb_per_s": 33.5, "threads": 4, "text_bytes": 12345678, "tokens": 3456789, "seconds": 2.5,
       "peak_memory": 7654321}
pack = {**run, "runs": [{**run, "threads": n, "mb_per_s": 10.0 * n} for n in (1, 2, 4)]}
results = {
    "limits": {"machine": machine, "page_cache": [rate, rate], "disk": [each, missing], "memory": []},
    "load": load, "pack": pack,
    "encode": {"tokenizer": EVIL, "checksum": "12", "mb_per_s": 88.5, "threads": 2, "bytes": 1234567, "tokens": 7},
    "peers": {"work": "loading", "machine": machine, "peers": [
        {"name": "leat", "mtok_per_s": 1234.5, "cpu_ms_per_mtok": 0.97, "start_s": 0.3, "resume_s": 0.2,
         "memory_mib": 29.0},
        {"name": EVIL, "mtok_per_s": 61.5, "cpu_ms_per_mtok": 17.25, "no_resume": EVIL},
        {"name": "gone", "not_measured": "<b>no</b> package"}]},
    "packers": {"work": "packing", "peers": [{"name": "leat", "mb_per_s": 97.5, "cpu_s_per_100_mb": 1.125}]},
}
for name, result in results.items():
    pathlib.Path(f"{name}<b>.json").write_text(json.dumps(result) + "\n", encoding="utf-8")
lines = [{"batches": n * 100, "tokens": n * 1000, "waiting_share": n / 100, "waiting_share_all": 0.0425, **waits,
          "consumer": 2.0 * n, "rows_damaged": 0} for n in range(1, 200)]
pathlib.Path("run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

page = report(*(f"{name}<b>.json" for name in results), "run.jsonl")
check("<script" not in page.text and "<b>" not in page.text and "\x1b" not in page.text, "markup or escapes get out")
check("&lt;script&gt;" in page.text, "texts are not shown")
for shown in ("1.25 GB/s", "2.5 µs", "4.50 M tokens/s", "9.50 M tokens/s", "33.5 MB/s", "88.5 MB/s",
              "8.5 s", "61.5", "97.5"):
    check(shown in page.texts, f"no chart shows {shown}: {page.texts}")
# 20 s for 40 steps of 50 ms: each second is 2.5 ms of a step
for shown in ("the program: waiting for the batch, 12.5 ms", "the program: its own work, 37.5 ms",
              "the loader's thread: copying rows, 5 ms", "the loader's thread: reading from storage, 16.2 ms",
              "the loader's thread: order, documents, outputs, 1.56 ms",
              "the loader's thread: copying to the device, 625 µs",
              "the loader's thread: waiting for a free slot, 22.5 ms"):
    check(shown in page.texts, f"no time line shows {shown}: {page.texts}")
# each colour of a legend means one thing; the program's own work once had that of copying
fills = set(re.findall(r'height="11" (fill=[^>]*)/><text[^>]*>([^<]*), [\d.]+ .s<', page.text))
plain = [fill for fill, _ in fills if "dasharray" not in fill]
check(len(plain) == 5 and len(set(plain)) == 5, f"colours of legends: {fills}")
columns = [height for height in page.heights if height not in ("12", "22.0", "11")]  # of bars, lanes and legends
check(columns == ["186.0", "62.0"], f"30 and 10 calls, none between: {columns}")
for shown in ("11.8 MiB", "3,456,789", "77 µs", "88 µs", "12", "59.6 GiB", "2026-01-02", "19,900", "6 min 38 s",
              "17.25", "1.125",
              "cannot run: <b>no</b> package"):
    check(shown in page.cells, f"no table shows {shown}: {page.cells}")
check("25.0 % of the time was spent waiting for batches; most of the loader&#39;s work was reading from storage" in
      page.text.replace("'", "&#39;"), "the cause of waiting in a measurement")
check("4.2 % of the time" in page.text, "the cause of waiting in a run")
check("the same steps take 11.1 % less" in page.text, "the share against batches that are there")
check("More than some 17 cores would wait" in page.text and "goes into encoding" in page.text, "the bottleneck")
# sentences come first, and name what was measured, not files
verdict = page.text[page.text.index("<h1>"):page.text.index("<h2>")]
for said in ("Training on a plan</strong>: 4.2 % of the time",
             "Loading a plan</strong>: 4.5 million tokens per second, where a bare loop over the same bytes reaches 9",
             "Packing 11.8 MiB of text</strong>: 33.5 MB/s with 4 threads. Most of the time",
             "encodes 88.5 MB/s of text with 2 threads",
             "loading</strong>: leat 1234, the best of the others 61.5 million tokens per second: 20.1",
             "12 cores</strong>: page cache up to 1.25 GB/s, disk 2.5 µs to 2.5 µs"):
    check(said in verdict, f"the page does not begin with {said!r}: {verdict}")
check("json" not in verdict and page.text.index("<h2>Machines") > page.text.rindex("<svg"), "names of files come first")
pathlib.Path("asked.json").write_text(json.dumps({**load, "answer": "It is <b>not</b> the loader."}), encoding="utf-8")
both = report("load<b>.json", "asked.json").text
check("Loading a plan (asked)</strong>: It is &lt;b&gt;not&lt;/b&gt; the loader.</p>" in both and
      "Loading a plan (load&lt;b&gt;)" in both, f"two of the same name: {both}")
check(any(len(points.split()) == 199 for points in page.points), "not all lines of the run are in its chart")
check(any(len(points.split()) == 3 for points in page.points), "not all threads are in a chart")
# a run that was resumed: its second loader counts from 0, the chart goes on
pathlib.Path("twice.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[:10] + lines[:5]),
                                       encoding="utf-8")
points = [[float(p.split(",")[0]) for p in x.split()] for x in report("twice.jsonl").points]
check(any(len(x) == 15 and x == sorted(set(x)) and abs(x[10] - x[9] - (x[1] - x[0])) < 0.2 for x in points),
      f"a resumed run: {points}")
# what a run had of each source: the sum over its loaders, beside the plan; and between lines, with the plan dashed
def of_source(name, share, rows):
    return {"name": name, "share": share, "rows": rows, "tokens": 10 * rows, "loss_tokens": 9 * rows}


def sources_line(batches, share, *rows):
    given = [of_source(name, of, count) for name, of, count in zip(("a", "<b>", "c"), (share, 1 - share, 0), rows)]
    return {**lines[0], "batches": batches, "sources": given, "other_sources": {"sources": 2, **of_source("", 0, 40)}}


def written(name, *made):
    pathlib.Path(name).write_text("".join(json.dumps(line) + "\n" for line in made), encoding="utf-8")
    return report(name)


page = written("sources.jsonl", sources_line(10, 0.25, 30, 90, 40), sources_line(20, 0.5, 80, 140, 140),
               sources_line(5, 0.75, 60, 20, 80))
at = page.cells.index("c")
# of 4,000 tokens of the first loader, and 2,000 of the second; c has no weight in the plan, and an empty cell
check(page.cells[at:at + 16] == ["c", "36.67", "2,200", "1,980", "220", "<b>", "26.67", "25", "1,600", "1,440", "160",
                                 "a", "23.33", "75", "1,400", "1,260"], f"a table: {page.cells}")
check('stroke-dasharray="5 4"' in page.text and "<b>" not in page.text, "no chart of a source beside the plan")
heights = [[float(p.split(",")[1]) for p in points.split()] for points in page.points if len(points.split()) == 3]
check(len(heights) == 6 + 1, f"two lines for each of three sources, and one for waiting: {heights}")
# a's shares of the plan, 25, 50 and 75 percent, all above its own: one as far above the other as the next
planned, own = heights[5:]
check(0 < planned[0] - planned[1] and abs(planned[0] - 2 * planned[1] + planned[2]) < 0.3 and
      all(above < below for above, below in zip(planned, own)), f"a plan above what was drawn: {heights}")
check("Tokens by source" not in written("one.jsonl", {**lines[0], "sources": [of_source("a", 1, 3)]}).text,
      "a table of a single source")
# a torn line is left out, wherever it is
for at in (0, 2, 4):
    texts = [json.dumps({**line, "rank": 3}) for line in lines[:4]]
    texts.insert(at, texts[0][:40])
    pathlib.Path("torn.jsonl").write_text("\n".join(texts), encoding="utf-8")
    text = bench("report", "-o", "-", "torn.jsonl", says=f"torn.jsonl: line {at + 1} is not JSON and is left out")
    check(any(len(x.split()) == 4 for x in Page(text).points), f"a run with a torn line: {text}")
lines[-1]["waiting_share_all"] = 0.002
pathlib.Path("good.jsonl").write_text(json.dumps(lines[-1]), encoding="utf-8")
check("The loader keeps up: 0.20 %" in report("good.jsonl").text, "a run that did not wait")

# what the commands print is taken
pathlib.Path("machine.json").write_text(bench("limits", "--size", "16MiB", "--runs", "1", "--json", "."),
                                        encoding="utf-8")
subprocess.run([build / "leat-bench-dev", "counting", "-o", "c", "--tokens", "10000"], check=True,
               stdout=subprocess.DEVNULL)
pathlib.Path("real.json").write_text(bench("load", "--source", "c", "--seq-len", "32", "--batch", "4", "--steps", "9",
                                           "--json"), encoding="utf-8")
page = report("machine.json", "real.json")
real = json.loads(pathlib.Path("real.json").read_text(encoding="utf-8"))
check(any(math.isclose(float(t.split()[0]) * {"k": 1e3, "M": 1e6, "G": 1e9}[t.split()[1]], real["tokens_per_s"],
                       rel_tol=0.01)
          for t in page.texts if re.fullmatch(r"[\d.]+ [kMG] tokens/s", t)), f"the rate of a real run: {page.texts}")

# ---- Numbers that nobody measured end, and stay within the page

def changed(result, value):
    """The result with another value for each number, in the text of JSON."""
    if isinstance(result, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {changed(x, value)}" for key, x in result.items()) + "}"
    if isinstance(result, list):
        return "[" + ", ".join(changed(x, value) for x in result) + "]"
    return value if isinstance(result, (int, float)) else json.dumps(result)


for value in "1e308", "-1e308", "5e-324", "0", "-0.0", "-7", '"x"', "null", "[]", "{}":
    text = "".join(changed(x, value) + "\n" for x in [*results.values(), *lines[10:12],
                                                           *(sources_line(n, 0.5, n, 2 * n, 1) for n in (1, 2, 3))])
    pathlib.Path("odd.json").write_text(text, encoding="utf-8")
    report("odd.json")

# ---- Text that is no text: half a character, what cannot be seen, bytes that are not UTF-8; depth, numbers, constants

encoded = json.dumps(results["encode"])
for text, shown in (r"a\ud800\u202e\u200b", r"a\ud800\u202e\u200b"), ("a\udcff\udc80", r"a\xff\x80"):
    text = encoded.replace('"tokenizer": ', f'"tokenizer": "{text}", "x": ')
    pathlib.Path("odd.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    check(shown in report("odd.json").cells, f"no table shows {shown}")
for text in ("[" * 200000, '{"a": ' + "9" * 9999 + "x}"):
    pathlib.Path("odd.json").write_text(text, encoding="utf-8")
    bench("report", "-o", "-", "odd.json", code=1, says="odd.json is not valid JSON")
for number in "9" * 4000, "NaN", "-Infinity":
    pathlib.Path("odd.json").write_text(encoded.replace("88.5", number), encoding="utf-8")
    report("odd.json")

# ---- Python: no file of the current folder is run, and one is named where there is none

for name in "json", "html", "re", "tempfile":
    pathlib.Path(f"{name}.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
report("real.json")
bench("report", "-o", "x.html", "real.json", code=1, says="cannot start python3", LEAT_PYTHON="", PATH="/nowhere")

# ---- Refused

said = bench("report", "-o", "said.html", "real.json")
check(re.fullmatch(r"said.html: \d+ results?, [\d.]+ KiB\.\n", said), f"the page is announced: {said!r}")
bench("report", "-o", "x.html", code=2)
bench("report", "real.json", code=2, says="--output")
bench("report", "-o", "x.html", "none.json", code=1, says="none.json")
bench("report", "-o", "s3://b/x.html", "real.json", code=1, says="s3://b/x.html is a URL: write to a local name first")
pathlib.Path("other.json").write_text('\n{"a": 1}\n', encoding="utf-8")
bench("report", "-o", "x.html", "other.json", code=2, says="other.json: line 2 is not a result of leat-bench limits,")
# README and --help said that all results are drawn
bench("report", "-o", "x.html", "other.json", code=2, says="of a loader's stats_file; other results are not drawn")
pathlib.Path("empty.json").write_text("\n", encoding="utf-8")
bench("report", "-o", "x.html", "real.json", "empty.json", code=2, says="empty.json is empty: measure again")
pathlib.Path("cut.json").write_text('{"a": ', encoding="utf-8")
pathlib.Path("ranks.jsonl").write_text("".join(json.dumps({**lines[0], "rank": rank}) + "\n" for rank in (3, 3, 1)),
                                       encoding="utf-8")
bench("report", "-o", "x.html", "ranks.jsonl", code=2, says="ranks.jsonl: line 1 is from rank 3, line 3 from rank 1")
bench("report", "-o", "x.html", "cut.json", code=1, says="cut.json")
pathlib.Path("cut.json").write_text('{"a": \n{"b": \n', encoding="utf-8")
bench("report", "-o", "x.html", "cut.json", code=1, says="cut.json is not valid JSON")
bench("report", "-o", "/nowhere/x", "real.json", code=1, says="cannot write /nowhere/x")
# another file stays, and a page is replaced without following a link that lies there
pathlib.Path("notes.txt").write_text("mine", encoding="utf-8")
bench("report", "-o", "notes.txt", "real.json", code=1, says="notes.txt already exists, and is not a page")
os.symlink("notes.txt", "said.html.partial")
bench("report", "-o", "said.html", "real.json")
check(pathlib.Path("notes.txt").read_text(encoding="utf-8") == "mine", "a link was followed")
check(not os.path.exists("x.html"), "a page of nothing is left")
finish()
