#!/usr/bin/env python3
"""test_show.py: leat show: rows are what loaders give (labels, loss and positions computed here in another way, for
windows, rows of whole documents, documents and Megatron's order; the ranks' rows are the step's); text, page and JSON
show the same tokens; tokenizers stand side by side; no id, path or text gets out as markup or as what a terminal obeys.
show.t has what is refused."""
import fcntl
import html.parser
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios
import unicodedata

from own import build, check, command, finish

END = 50256


def leat(*words, **expected):
    return command("leat", *words, **expected)


def rows(*words):
    return [json.loads(line) for line in leat("show", *words, "--json").splitlines()]


EVIL = "<script>alert('&')</script>\" \x1b]0;x\x07\x1b[31m\x9b31m\u202eb\u2066c\u2028d\r"
TEXTS = ["Hello, world! \U0001f642 \u65e5\u672c\u8a9e\n\tdef f(x):\n\t\treturn x\n", EVIL + " \u05e9\u05dc\u05d5\u05dd",
         "", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"]
with open("<b>.jsonl", "w", encoding="utf-8") as file:
    file.writelines(json.dumps({"id": f"{n}{EVIL}", "text": text}) + "\n" for n, text in enumerate(TEXTS))
leat("pack", "-o", "d", "-t", "gpt2", "<b>.jsonl")
documents = [[int(n) for n in line.split()] for line in leat("cat", "d", "--document", ":", "--ids").splitlines()]
all_ids = [n for document in documents for n in document]
source = ["--source", "d", "--order", "sequential", "--seq-len", "16"]

# ---- A file of changes, such as a mixture's log: the samples from there on are those of the changed plan
pathlib.Path("run.changes").write_text("leat changes 1\nat 3:0,1\n", encoding="ascii")
two = ["--source", "d", "--source", "d", "--seq-len", "16", "--seed", "3"]
pathlib.Path("changed.plan").write_text(leat("order", *two, "--change", "run.changes", "--print-plan"),
                                        encoding="ascii")
for asked in ["--sample", "2"], ["--step", "1", "--batch", "2"], ["--step", "2", "--batch", "3"]:
    changed = rows(*two, "--change", "run.changes", *asked)
    check(changed == rows("--plan", "changed.plan", *asked), f"{asked} is not the changed plan's")
    check((changed == rows(*two, *asked)) == (asked == ["--sample", "2"]), f"{asked} of the plan that changes")

# ---- Windows: ids, labels, loss, positions and documents of places, from the documents themselves

places = [(number, at) for number, document in enumerate(documents) for at in range(len(document))]
for masked in [], ["--mask-first"], ["--mask-row-first"]:
    for row in rows(*source, "--step", "0", "--batch", "3", *masked):
        first = 16 * row["n"]
        window = range(first, first + 16)
        check(row["ids"] == all_ids[first:first + 16], f"sample {row['n']} has other ids")
        begins = [places[i + 1][1] == 0 for i in window]
        loss = [0 if begins[i] and "--mask-first" in masked or i == 0 and "--mask-row-first" in masked else 1
                for i in range(16)]
        check(row["loss_mask"] == loss, f"sample {row['n']} {masked}: loss {row['loss_mask']}")
        labels = [all_ids[i + 1] if loss[i - first] else -100 for i in window]
        check(row["labels"] == labels, f"sample {row['n']} {masked}: labels {row['labels']}")
        start = {places[first][0]: places[first][1]}
        positions = [places[i][1] - start.get(places[i][0], 0) for i in window]
        check(row["position_ids"] == positions, f"sample {row['n']}: positions {row['position_ids']}")
        shown = [(x["document"], x["first"] + i) for x in row["documents"] for i in range(x["tokens"])]
        check(shown == [places[i] for i in window], f"sample {row['n']}: documents {row['documents']}")
        check([x["id"] for x in row["documents"]] == [f"{x['document']}{EVIL}" for x in row["documents"]],
              f"sample {row['n']}: ids of documents")

# ---- A step is its ranks' rows, a sample and a row are parts of it; a schedule of batches counts as in leat trace

shuffled = ["--source", "d", "--seq-len", "8", "--seed", "5"]
step = rows(*shuffled, "--step", "1", "--batch", "4")
ranks = [row for rank in "01" for row in rows(*shuffled, "--step", "1", "--batch", "4", "--rank", rank, "--world", "2")]
check([row["n"] for row in step] == [4, 5, 6, 7] and [r["ids"] for r in ranks] == [r["ids"] for r in step],
      "the ranks' rows are not the step's")
check(rows(*shuffled, "--sample", "6")[0]["ids"] == step[2]["ids"], "--sample 6 is not row 2 of step 1")
check(rows(*shuffled, "--step", "1", "--batch", "4", "--row", "1:3") == step[1:3], "--row 1:3")
check(rows(*shuffled, "--step", "1", "--batch", "4,2@1")[0]["n"] == 4, "a schedule is counted wrongly")

# ---- Rows of whole documents: the last label of each piece stands after an arrow, padding is counted

fit = ["--source", "d", "--seq-len", "96", "--order", "fit"]
for row in rows(*fit, "--step", "0", "--batch", "1"):
    filled = row["length"] - row["padding"]
    check(sum(x["tokens"] for x in row["documents"]) == filled and sum(row["loss_mask"]) == filled,
          f"fit: {row['documents']} in {filled} places")
    for x in row["documents"]:
        document = documents[x["document"]]
        check(row["labels"][x["at"]:x["at"] + x["tokens"]] == document[1:], f"fit: labels of {x}")
    text = leat("show", *fit, "--step", "0", "--batch", "1")
    check(text.count("\u2502\u2192\u27e6<|endoftext|>\u27e7") == len(row["documents"]), f"fit: last labels: {text}")
    check((f"padding: places {filled}:{row['length']}" in text) == (row["padding"] > 0), "fit: padding is not shown")
gaps = 0
for row in rows(*fit, "--align", "8", "--step", "0", "--batch", "3"):
    ends = [x["at"] for x in row["documents"]][1:] + [row["length"] - row["padding"]]
    check(len(row["tokens"]) == row["length"] - row["padding"], "align: tokens of places")
    for x, end in zip(row["documents"], ends):
        document = documents[x["document"]]
        gap = x["tokens"] + 1 - len(document)
        gaps += gap
        check(x["at"] % 8 == 0 and x["at"] + x["tokens"] == end and gap < 8, f"align: {x}")
        check(row["labels"][x["at"]:end] == document[1:] + gap * [-100], f"align: labels of {x}")
        trace = leat("trace", *fit, "--align", "8", "--samples", f"{row['n']}:{row['n'] + 1}")
        line = f" {x['document']} 0:{len(document) - 1} "
        check(line in " ".join(trace.split()), f"align: trace says {trace} of {x}")
check(gaps > 0, "align: no gap")
said = re.findall(r"the last (\d+) padding", leat("show", *fit, "--align", "8", "--step", "0", "--batch", "3"))
check(sum(map(int, said)) == gaps, f"align: {said}, not {gaps} places of padding")
whole = ["--source", "d", "--seq-len", "96", "--order", "documents-sequential", "--step", "0", "--batch"]
for row in rows(*whole, "2"):
    check(row["padding"] == max(map(len, documents[:2])) - len(documents[row["documents"][0]["document"]]),
          "documents: padding")
row = rows(*whole, "4")[3]  # the longest first; a document of an end token only is a row of padding
check((row["n"], row["documents"], row["tokens"], row["padding"]) == (2, [], [], row["length"]),
      f"documents: the row of the empty one is {row}")
text = leat("show", *whole, "4")
check(f"\n\nsample 2: position 2, row 3, epoch 0\n\u2514\u2500 padding: places 0:{row['length']}\n" in text,
      f"documents: {text}")
# A row's heading stands above it, and what each text is below that: "sample 0" below its row read as row 1's heading.
text = leat("show", *source, "--step", "0", "--batch", "3")
check([line[:9] for line in text.splitlines() if line.startswith("sample ")] == ["sample 0:", "sample 1:", "sample 2:"]
      and text.startswith("sample 0:") and len(re.findall("\n\nsample ", text)) == 2, f"headings: {text}")
# the legend came first, before the text
text = leat("show", "d", "--document", "3").splitlines()
check(text[0] == "d" and text[1].startswith("\u2502one\u2502 two") and
      text[2].startswith("\u2514\u2500 document 3") and not text[3] and "begins a token" in text[4] and len(text) == 5,
      f"the order of lines: {text}")
page = leat("show", "d", "--document", "3", "--html", "-")
order = [page.index(part) for part in ("<h2>", ">one<", "document 3,", 'id="key"')]
check(order == sorted(order), f"the order of the page: {page}")

# ---- Labels without loss

pathlib.Path("again.jsonl").write_text(json.dumps({"text": "abc" * 40}) + "\n" + json.dumps({"text": "once"}) + "\n")
leat("pack", "-o", "again", "-t", "bytes", "--begin", "7", "again.jsonl")
again = ["--source", "again", "--seq-len", "124", "--order", "sequential", "--sample", "0"]
for masked, without in ([], 0), (["--mask-begin"], 1):
    (row,) = rows(*again, *masked)
    check(sum(row["loss_mask"]) == 124 - without, f"{masked}: loss {row['loss_mask']}")
    check(masked != ["--mask-begin"] or row["loss_mask"][121] == 0, "a begin token has a loss")

# ---- Documents and tokens of a dataset with a mask: what a row of the same tokens shows

with open("masked.jsonl", "w", encoding="utf-8") as file:
    file.writelines(json.dumps({"text": text, "m": [[n, len(text) // 2]]}) + "\n"
                    for n, text in enumerate(["one two three four five six", "seven eight nine ten", "eleven twelve"]))
leat("pack", "-o", "masked", "-t", "gpt2", "--mask-field", "m", "masked.jsonl")
tokens = json.loads(leat("info", "masked", "--json"))["tokens"]
row = rows("--source", "masked", "--order", "sequential", "--seq-len", str(tokens - 1), "--sample", "0")[0]
shown = rows("masked", "--tokens", f"0:{tokens}")[0]
check(0 < sum(row["loss_mask"]) < tokens - 1, f"the mask is {row['loss_mask']}")
check(shown["loss_mask"] == [*row["loss_mask"], 0], f"--tokens shows {shown['loss_mask']}, a row {row['loss_mask']}")
check(all(isinstance(n, int) for n in row["labels"]), f"labels are {row['labels']}")
at = 0
for number in range(3):
    of = rows("masked", "--document", str(number))[0]
    check(of["loss_mask"] == shown["loss_mask"][at:at + of["length"]], f"--document {number}: {of['loss_mask']}")
    check(leat("show", "masked", "--document", str(number)).count("\u250a") == 1 + of["loss_mask"].count(0), "marks")
    at += of["length"]
# Documents without tokens are no part of what is shown, and nothing where they are asked for.
leat("pack", "-o", "bare", "-t", "gpt2", "--end", "none", "<b>.jsonl")
row = rows("bare", "--tokens", ":")[0]
check([x["document"] for x in row["documents"]] == [0, 1, 3], f"empty documents: {row['documents']}")
check(row["ids"] == [n for n in all_ids if n != END], f"without end tokens: {row['ids']}")
row = rows("bare", "--document", "2")[0]
check((row["length"], row["ids"], row["documents"]) == (0, [], []), f"an empty document: {row}")

# ---- Megatron's order, of the files of Megatron: rows of pieces of documents, one after another

leat("export", "--to", "megatron", "-o", "m", "d")
of_megatron = ["--source", "m", "--seq-len", "16", "--order", "megatron", "--seed", "3", "--samples", "20"]
label_alone = 0  # rows whose last piece has nothing but the last label
for row in rows(*of_megatron, "--step", "0", "--batch", "20"):
    order = json.loads(leat("order", *of_megatron, "--from", str(row["n"]), "--count", "1", "--json"))
    check(sum(x["tokens"] for x in row["documents"]) == 16, f"megatron: {row['documents']}")
    ids = [n for x in row["documents"] for n in documents[x["document"]][x["first"]:x["first"] + x["tokens"]]]
    check(row["ids"] == ids, f"megatron: sample {row['n']} has {row['ids']}, its documents {ids}")
    check([x["document"] for x in row["documents"]] == [x["document"] for x in order["pieces"]][:len(row["documents"])],
          f"megatron: {row['documents']}, but leat order has {order['pieces']}")
    label_alone += len(row["documents"]) < len(order["pieces"])
check(label_alone > 0, "megatron: no row ends with the first token of a document")

# ---- Text: tokens between marks give the text back; escapes in place of what a terminal obeys

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
for number in 0, 1, 3:
    out = leat("show", "d", "--document", str(number))
    check(not OBEYED.search(out), f"document {number} is shown as {out!r}")
    check(out.count("\u2502") == 1 + len(documents[number]), f"document {number}: not a mark for each token: {out}")
    check("\u27e6<|endoftext|>\u27e7" in out, "the end token has no name")
check(re.search("two\u2502 three", leat("show", "d", "--tokens", "65:85")), "--tokens")
words = ["show", "d", "--document", "1"]
coloured = leat(*words, "--color")
plain = re.sub("\x1b\\[[0-9;]*m", "", coloured)
check(coloured != plain and not OBEYED.search(plain) and "\u2502" not in plain, f"--color shows {coloured!r}")


def on_terminal(*words, columns=0, **environment):
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    with subprocess.Popen([build / "leat", *words], stdin=subprocess.DEVNULL, stdout=child, stderr=child,
                          env={**os.environ, **environment}):
        os.close(child)
        got = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            got += part
    os.close(parent)
    return got.decode().replace("\r\n", "\n")


os.environ.pop("NO_COLOR", None)
os.environ["TERM"] = "xterm"
check(on_terminal(*words) == coloured, "a terminal does not get colours")
check("\x1b" not in on_terminal(*words, NO_COLOR="1") + on_terminal(*words, "--no-color") +
      on_terminal(*words, TERM="dumb"), "colours, not wanted")


# ---- Pages: markup is only that of leat, tokens are those of JSON, nothing is fetched

class Page(html.parser.HTMLParser):
    """Collects tags, and the tokens with their titles, of a page."""
    OWN = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "span", "section", "div", "details",
           "summary", "table", "tr", "th", "td"}

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.titles = set(), [], []
        self.feed(text)
        self.close()
        check(not self.open, f"a page leaves {self.open} open")
        check(self.tags <= self.OWN, f"a page has {self.tags - self.OWN}")
        check("://" not in text and "url(" not in text, "a page fetches something")

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag != "meta":
            self.open.append(tag)
        self.titles += [value for name, value in attrs if name == "title"]
        check(all(name in ("class", "title", "lang", "charset", "name", "content", "http-equiv", "id")
                  for name, _ in attrs), f"a page has attributes {attrs}")

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, f"a page closes {tag}")


os.mkdir("<i>")
for words in [[*source, "--step", "0", "--batch", "3"], ["d", "--document", "1"], [*fit, "--sample", "0"]]:
    said = leat("show", *words, "--html", "<i>/page.html")
    check(re.fullmatch(r"<i>/page.html: \d rows?, [\d.]+ KiB\.\n", said), f"the page of {words} is announced: {said!r}")
    text = pathlib.Path("<i>/page.html").read_text(encoding="utf-8")
    ids = [re.search(r"id (\d+)", title)[1] for title in Page(text).titles]
    want = [n for row in rows(*words) for n in row["ids"][:row["length"] - row["padding"]]]
    check(ids == [str(n) for n in want], f"the page of {words} has other tokens")
    check(not OBEYED.search(text), f"the page of {words} has control characters")
    check("&lt;script&gt;" in text and "<script" not in text, f"the page of {words} does not escape ids")
check(leat("show", *words, "--html", "-") == text, "a page on standard output is another one")
# Pages say of what they are: steps named neither data nor plan, and documents the dataset twice.
for words, title in ((["d", "--document", "1"], "Document 1 of d"), (["d", "--tokens", "2:5"], "Tokens 2:5 of d"),
                     ([*source, "--step", "1", "--batch", "3", "--seed", "7"],
                      "Step 1 of d: 16 tokens per row, seed 7, batch 3"),
                     ([*source, "--source", "d", "--sample", "1"],
                      "Sample 1 of d and 1 more: 16 tokens per row, seed 0")):
    text = leat("show", *words, "--html", "-")
    check(f"<title>{title}</title>" in text and f"<h1>{title}</h1>" in text, f"the title of {words}: {text[:2000]}")
# A label that is a newline stands in one box: a break in it once tore the box in two. The legend says what escapes are:
# it said that CR was no character.
pathlib.Path("break.jsonl").write_text(json.dumps({"text": "abcd\nefg\r"}) + "\n", encoding="utf-8")
leat("pack", "-o", "break", "-t", "bytes", "break.jsonl")
words = ["--source", "break", "--order", "sequential", "--seq-len", "4", "--sample", "0"]
text = leat("show", *words, "--html", "-")
check("\u2192 \u21b5</span>" in text, f"the label's newline: {text}")
check("a control character or a byte that is no character" in text, f"the page's legend: {text}")
check("\\x0d a control character or a byte that is no character" in leat("show", *words), "the text's legend")

# ---- Texts by tokenizers

LINE = "na\u00efve caf\u00e9 " + EVIL
compared = rows("-t", "gpt2", "-t", "bytes", "/dev/null") and [
    json.loads(line) for line in leat("show", "-t", "gpt2", "-t", "bytes", "--json", stdin=LINE).splitlines()]
check(compared[1]["ids"] == list(LINE.encode()) and compared[1]["bytes"] == len(LINE.encode()), "bytes of a text")
check(" ".join(map(str, compared[0]["ids"])) == leat("encode", "-t", "gpt2", stdin=LINE).strip(), "gpt2 of a text")
line = json.dumps({"text": LINE})
pathlib.Path("x.jsonl").write_text(line, encoding="utf-8")
check(rows("-t", "bytes", "x.jsonl")[0]["ids"] == list(line.encode()), "JSON lines are not shown as they are")
out = leat("show", "-t", "gpt2", "-t", "bytes", stdin=LINE)
check(f"bytes: {len(LINE.encode())} tokens, 1.00 tokens per byte" in out and not OBEYED.search(out), f"shown: {out}")
Page(leat("show", "-t", "gpt2", "-t", "bytes", "--html", "-", stdin=LINE))


# Side by side: each column has its own tokens in their order, the text's lines begin at the same height, columns at the
# same place (also after wide characters and marks), and what is too long is wrapped.

def width(text):
    """Places on a terminal, by Python's tables."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(line):
    """A line's two columns: of 49 places, and two blanks between them."""
    first = next((at for at in range(len(line)) if width(line[:at]) >= 51 and width(line[at]) > 0), len(line))
    return line[:first].strip(" "), line[first:]


WIDE = "\u65e5\u672c\u8a9e,e\u0301\U0001f642" + "long" * 30 + "\n\nthird\tline\x1b[31m\u202e"
sides = leat("show", "-t", "o200k_base", "-t", "bytes", stdin=WIDE)
check(not OBEYED.search(sides), f"side by side: {sides!r}")
lines = sides.rsplit("\n\n", 1)[0].split("\n") + [""]
check("o200k_base: " in lines[0] and "bytes: " in lines[1] and " tokens per byte" in lines[1], f"no figures: {lines}")
columns = [cut(line) for line in lines[3:-1]]
check(columns[0] == ("o200k_base", "bytes"), f"names of columns: {columns[0]}")
check(all(width(line) <= 100 for line in lines), f"a line is too long: {lines}")
texts = ["".join(column) for column in zip(*columns[1:])]
whole = WIDE.replace("\t", "\u21e5").replace("\x1b", "\\x1b").replace("\u202e", "\\u202e").replace("\n", "\u21b5")
whole = whole.replace("\u0301", "\u25cc\u0301")  # a token of its own
check(texts[0].replace("\u2502", "") == whole, f"the first column has {texts[0]}")
shown = {"\n": "\u21b5", "\t": "\u21e5", "\x1b": "\\x1b", "\u202e": "\\u202e", "\u0301": "\u25cc\u0301"}
check(texts[1] == "".join("\u2502" + shown.get(c, c) + "\u2502\u21e0" * (len(c.encode()) - 1) for c in WIDE),
      f"the second column has {texts[1]}")
above = [columns.index(row) for row in columns if row[1].endswith("\u2502\u21b5")]
check(len(above) == 2 and all("third" not in "".join(row) for row in columns[:above[1] + 1]) and
      all(text.replace("\u2502", "").startswith("third") for text in columns[above[1] + 1]),
      f"lines do not begin at the same height: {columns}")
coloured = leat("show", "-t", "gpt2", "-t", "bytes", "-t", "o200k_base", "--color", stdin=WIDE)
check(not OBEYED.search(re.sub("\x1b\\[[0-9;]*m", "", coloured)), f"side by side, in colours: {coloured!r}")
check(leat("show", *["-t", "bytes"] * 6, stdin="a").count("per token\n\u2502a\n") == 6, "columns are too narrow")

# As wide as the terminal; a name that is longer than its column is cut; names of special tokens have their marks.
unknown = {"id": 0, "content": "[UNK]", "special": True, "single_word": False, "lstrip": False, "rstrip": False,
           "normalized": False}
words = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
LONG = "w" * 90 + ".json"
for name, first, added in (LONG, "[UNK]", [unknown]), ("lacks.json", "[CLS]", []):
    pathlib.Path(name).write_text(json.dumps(
        {"model": {**words, "vocab": {first: 0, "a": 1, "##b": 2}}, "pre_tokenizer": {"type": "Whitespace"},
         "added_tokens": added}), encoding="utf-8")
pathlib.Path("ab.txt").write_text("ab \u00e9 a\n", encoding="utf-8")
for columns, each in (60, 29), (90, 44), (0, 49):
    out = on_terminal("show", "-t", LONG, "-t", "bytes", "--no-color", "ab.txt", columns=columns).splitlines()
    check(not out[-2] and "begins a token" in out[-1], f"no legend on {columns} places: {out[-2:]}")
    check(out[-4] == "w" * each + "  bytes", f"names of columns on {columns} places: {out[-4]!r}")
    want = "|a|##b|\u27e6[UNK]\u27e7|a".ljust(each + 2) + "|a|b| |\u00e9|\u21e0"
    check(out[-3].replace("\u2502", "|").startswith(want), f"columns on {columns} places: {out[-3]!r}, not {want!r}")
check(not any(line.startswith("ww") and "  bytes" in line for line in on_terminal(
    "show", "-t", LONG, "-t", "bytes", "ab.txt", columns=36).splitlines()), "columns of less than 18 places")
# What one of them cannot encode is said with its name; there is no page of the others.
leat("show", "-t", "bytes", "-t", "lacks.json", "ab.txt", "--html", "none.html", code=1,
     says="leat: lacks.json: the text has a word that is not in the vocabulary")
check(not os.path.exists("none.html"), "a page of some tokenizers")

# ---- Tokens that are only a mark: each has a place, on a base of its own; nothing to be seen is an escape

BARE = "zero\u200bwidth \u0e17\u0e35\u0e48 a\u200db\U000e0041"  # with Thai marks, a joiner, a tag
pathlib.Path("bare.json").write_text(json.dumps(
    {"model": {"type": "BPE", "vocab": {c: n for n, c in enumerate(sorted(set(BARE)))}, "merges": []}}),
    encoding="utf-8")
for words in ["--no-color"], ["--color"], ["--html", "-"], ["-t", "bytes", "--no-color"]:
    out = re.sub("\x1b\\[[0-9;]*m|<[^>]*>", "", leat("show", "-t", "bare.json", *words, stdin=BARE))
    check("\\u200b" in out and "\\U000e0041" in out, f"what cannot be seen, {words}: {out!r}")
    for mark in "\u0e35\u0e48\u200d":
        check("\u25cc" + mark in out, f"{mark!r} stands on nothing, {words}: {out!r}")
    check("\u25ccb" not in out and "\u25cc\u0e17" not in out, f"a letter stands on something: {out!r}")

# ---- Tokens of another tool, without documents and tokenizer

pathlib.Path("raw.bin").write_bytes(bytes(range(1, 64)) + b"\0")
raw = rows("--source", "raw:raw.bin?dtype=u16", "--seq-len", "8", "--sample", "0", "--order", "sequential")[0]
check(raw["ids"][0] == 0x201 and raw["documents"][0]["document"] is None and "position_ids" not in raw, f"raw: {raw}")
shown = leat("show", "raw:raw.bin?dtype=u16", "--tokens", "0:2")  # one endless line of names of special tokens
check("\n513 1027\n" in shown and "\u27e6" not in shown and
      "the dataset stores no tokenizer, so ids are shown" in shown and "--tokenizer names one" in shown,
      f"ids without a tokenizer: {shown}")
shown = leat("show", "--source", "raw:raw.bin?dtype=u16", "--seq-len", "4", "--sample", "0", "--order", "sequential")
check("row 0, epoch 0\n513 1027 1541 2055\u21922569\n" in shown, f"the label after the last id: {shown}")
pathlib.Path("many.bin").write_bytes(b"\1\2" * (2**15 + 1))
for count, there in (2**15, True), (2**15 + 1, False):
    text = leat("show", "raw:many.bin?dtype=u16", "--tokens", f"0:{count}", "--html", "-")
    check((f"<summary>{count:,} places as a table" in text, "has no table of these places" in text) ==
          (there, not there), f"the table of {count} places")
pathlib.Path("ids.bin").write_bytes(b"\x11\x27" * 500)
lines = leat("show", "raw:ids.bin?dtype=u16", "--tokens", "0:500").splitlines()
check(sum(line.count("10001") for line in lines) == 500 and max(map(len, lines)) < 120, "ids are not wrapped")
finish()
