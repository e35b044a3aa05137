#!/usr/bin/env python3
"""pictures.py BUILD FOLDER: the pictures of the documents, as SVG that light and dark pages can show: show.svg, what
`leat show` prints on a terminal, and loading.svg, a chart of the first table of `make bench-loaders` in
bench/RESULTS.md. `make pictures` puts them into docs/; tests/docs/test_links.py compares them with what is made
from the build."""
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[1]
TEXTS = [{"id": "walden", "text": "I went to the woods because I wished to live deliberately.\n"},
         {"id": "greetings/12", "text": "\u041f\u0440\u0438\u0432\u0435\u0442, \u4e16\u754c\uff01 \U0001f642\n"},
         {"id": "greetings/13", "text": "na\u00efve caf\u00e9, Za\u017c\u00f3\u0142\u0107!\n\tdef f(x):\n"},
         {"id": "tail", "text": "to front only the essential facts of life, and see if I could not learn\n"}]
COMMAND = "leat show --source corpus --seq-len 21 --order sequential --step 0 --batch 2 --mask-first"
CELL, LINE, EDGE = 8.43, 20, 14  # sizes of a terminal, in pixels
# bars of the chart: (label of the table's row, label in the chart)
BARS = [("leat", "leat.Loader"), ("numpy.memmap", "numpy.memmap"),
        ("DataLoader, batched, 0 workers", "PyTorch DataLoader, batched, no workers"),
        ("DataLoader, plain, 0 workers", "PyTorch DataLoader, a row an item, no workers"),
        ("DataLoader, batched, 2 workers", "PyTorch DataLoader, batched, 2 workers")]


def colour(number):
    """Returns one of a terminal's 256 colours, from the cube or the greys."""
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#" + "".join(f"{levels[n]:02x}" for n in (number // 36, number // 6 % 6, number % 6))


def spans(line):
    """Yields (text, codes) for each part of a line with styles."""
    codes = ""
    for part in re.split("(\x1b\\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            codes = part[2:-1]
        elif part:
            yield part, codes


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def terminal(lines, title):
    """Returns the picture of a terminal, which is dark on any page."""
    rows = []
    for number, line in enumerate(lines):
        x, y = 0, number * LINE + 12
        for text, codes in spans(line):
            fore, back = re.search(r"38;5;(\d+)", codes), re.search(r"48;5;(\d+)", codes)
            left, wide = EDGE + x * CELL, width(text) * CELL
            if back:
                rows.append(f'<rect x="{left:.1f}" y="{y}" width="{wide:.1f}" height="{LINE - 1}" '
                            f'fill="{colour(int(back[1]))}"/>')
            bold = ' font-weight="700"' if re.match("1(;|$)", codes) else ""
            words = text.strip(" ")  # A browser would drop blanks at the ends of a text, and stretch the rest.
            if words:
                left += (len(text) - len(text.lstrip(" "))) * CELL
                rows.append(f'<text x="{left:.1f}" y="{y + 14}" textLength="{width(words) * CELL:.1f}" '
                            f'lengthAdjust="spacingAndGlyphs" fill="{colour(int(fore[1])) if fore else "#e6edf3"}"'
                            f'{bold}>{html.escape(words)}</text>')
            x += width(text)
    most = max(width(re.sub("\x1b\\[[0-9;]*m", "", line)) for line in lines)
    size = f"{most * CELL + 2 * EDGE:.0f}", len(lines) * LINE + 26
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" role="img" '
            f'font-family="ui-monospace,\'DejaVu Sans Mono\',Menlo,Consolas,monospace" font-size="14" '
            f'xml:space="preserve">\n<title>{html.escape(title)}</title>\n'
            f'<rect width="{size[0]}" height="{size[1]}" rx="8" fill="#14181f"/>\n' + "\n".join(rows) + "\n</svg>\n")


def show(build):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/texts.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(text) + "\n" for text in TEXTS)
        paths = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}"}
        subprocess.run("leat pack -o corpus -t gpt2 texts.jsonl >corpus.log", shell=True, cwd=folder, env=paths,
                       check=True)
        said = subprocess.run(COMMAND + " --color", shell=True, cwd=folder, env=paths, check=True,
                              stdout=subprocess.PIPE).stdout.decode()
    return terminal([f"$ {COMMAND}", "", *said.rstrip("\n").split("\n")], COMMAND)


def loading():
    results = (ROOT / "bench/RESULTS.md").read_text(encoding="utf-8")
    results = results.split("\n### Twelve other loaders")[1].split("\n```")[1]
    rows = {label: float(rate) for label, rate in re.findall(r"^(\S.*?) {2,}(\d+\.\d) ", results, re.M)}
    most = rows[BARS[0][0]]
    out, y = [], 60
    for number, (label, name) in enumerate(BARS):
        long = max(2.0, 400 * rows[label] / most)  # a phone shows the whole width in readable letters
        own = number < 1
        out.append(f'<text x="10" y="{y}">{html.escape(name)}</text>')
        out.append(f'<rect class="{"own" if own else "other"}" x="10" y="{y + 6}" width="{long:.0f}" height="16"/>')
        out.append(f'<text class="n" x="{17 + long:.0f}" y="{y + 19}">{rows[label]:,.0f}</text>')
        y += 44
    notes = "Inputs and labels as int64 from files in memory, 32 rows of 2048 tokens,", "2 cores (bench/RESULTS.md)"
    for number, note in enumerate(notes):
        out.append(f'<text class="soft" x="10" y="{y - 6 + 16 * number}">{html.escape(note)}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 {y + 20}" width="620" role="img" '
            'font-family="system-ui,sans-serif" font-size="13.5">\n<title>Loading, million tokens per second</title>\n'
            "<style>text{fill:#1b1f24}.own{fill:#0b5cad}.other{fill:#8a939e}.n{font-weight:600}.soft{fill:#57606a;"
            "font-size:12px}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.own{fill:#58a6ff}.other{fill:#6e7681}"
            ".soft{fill:#9aa4af}}</style>\n"
            '<text x="10" y="26" font-size="17" font-weight="600">Loading, million tokens per second</text>\n'
            + "\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: pictures.py BUILD FOLDER")
    for name, made in (("show.svg", show(pathlib.Path(sys.argv[1]).resolve())), ("loading.svg", loading())):
        pathlib.Path(sys.argv[2], name).write_text(made, encoding="utf-8")
