#!/usr/bin/env python3
"""test_info_page.py: leat info --html: its figures are those of the dataset, counted here in another way (sources,
lengths, scripts, repeated texts, reasons of rejects, tokens that occur and do not), and no name gets out as markup."""
import collections
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

build = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
if not (build / "leat").exists():
    print(f"skipped: no leat under {build}")
    sys.exit(77)
temporary = tempfile.TemporaryDirectory(prefix="leat-info-", dir=os.environ.get("LEAT_TEST_TMP"))
os.chdir(temporary.name)
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print(what, file=sys.stderr)


def leat(*words, code=0):
    done = subprocess.run([build / "leat", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    check(done.returncode == code, f"leat {words} ended with {done.returncode}: {done.stderr.decode()!r}")
    return done.stdout.decode()


def cells(page, title):
    """The rows of the first table after a title, as texts."""
    table = page[page.index(title):]
    table = table[table.index("<table>"):table.index("</table>")]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall("<t[dh][^>]*>(.*?)</t[dh]>", row)]
            for row in re.findall("<tr>(.*?)</tr>", table)]


LATIN, CYRILLIC = "naïve café, 12 times", "Привет, мир!"
texts = [LATIN] * 3 + [CYRILLIC] * 2 + ["日本", "short"]
EVIL = "<script>x<b>.jsonl"
for name, part in (EVIL, texts[:4]), ("plain.jsonl", texts[4:]):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in part)
        file.write('{"x": 1}\n{"x": 2}\n{bad\n')
leat("pack", "-o", "d", "-t", "gpt2", EVIL, "plain.jsonl", "--max-rejects", "10")
said = leat("info", "d", "--html", "page.html")
check(said.startswith("page.html: a page on d, ") and said.endswith(" KiB.\n"), f"the page is announced: {said!r}")
page = pathlib.Path("page.html").read_text(encoding="utf-8")
info = json.loads(leat("info", "d", "--json"))
ids = [int(n) for n in leat("cat", "d", "--document", ":", "--ids").split()]

check("<script" not in page and "<b>" not in page and "://" not in page, "markup of a name is in the page")
want = [["name", "tokens", "documents", "rejects"]] + [
    [x["path"], str(x["tokens"]), str(x["documents"]), str(x["rejects"])]
    for x in sorted(info["inputs"], key=lambda x: -x["tokens"])]
check(cells(page, "Tokens by input") == want, f"inputs: {cells(page, 'Tokens by input')}, not {want}")
want = [["from", "to", "documents", "share"]] + [
    [str(x["least"]), str(x["most"]), str(x["documents"]), f"{100 * x['documents'] / 7:.1f} %"]
    for x in info["document_lengths"]["buckets"]]
check(cells(page, "Lengths of documents") == want, f"lengths: {cells(page, 'Lengths of documents')}, not {want}")

latin = sum(c.isalpha() for text in texts for c in text if c < "\u0250")
cyrillic = sum(c.isalpha() for c in CYRILLIC) * 2
scripts = {"Latin": latin, "Cyrillic": cyrillic, "Han": 2}
every = sum(scripts.values())
got = {name: share for name, share in cells(page, "Scripts")[1:]}
check(got == {name: f"{100 * n / every:.2f}" for name, n in scripts.items()}, f"scripts: {got}, not {scripts}")
check("3 of 7 documents" in page, "repeated texts")
check(cells(page, "Rejects")[1:] == [['the record has no "text"', "4"], ["not valid JSON", "2"]],
      f"rejects: {cells(page, 'Rejects')}")

count = collections.Counter(ids)
size = sum(len(text.encode()) for text in texts)
check(f"{(len(ids) - len(texts)) / size:.3f} tokens per byte" in page, "tokens per byte")
check(f"{len(count)} of 50,257 tokens" in page, "tokens that occur")
want = [[str(n), str(times)] for n, times in sorted(count.items(), key=lambda x: (-x[1], x[0]))[:40]]
got = [[row[0], row[2]] for row in cells(page, "Most frequent")[1:]]
check(got == want, f"frequent tokens: {got}, not {want}")
unused = page[page.index("Never used: "):]
check(unused.startswith(f"Never used: {50257 - len(count):,} tokens"), "tokens that do not occur")
first = re.findall(r"(\d+)\u00a0", unused)
check(first == [str(n) for n in range(50257) if n not in count][:12], "which tokens do not occur")
order = [page.index(part) for part in ("No input was cut off", "<h2>Rejects", "<h2>Duplicates", "<th>tokens</th>",
                                       "<h2>Tokens by input", "<h2>Lengths", "<h2>Scripts", "Never used", "<h2>Most")]
check(order == sorted(order), f"what is wrong does not come first, then what is used most last: {order}")
check(page.count('class="bad"') == 2, "rejects and duplicates are not marked, or more than these")

# several datasets; tokens of other tools, of which little is known; what is refused
os.mkdir("set")
for part in "12":
    leat("pack", "-o", f"set/{part}", "-t", "gpt2", "plain.jsonl", "--max-rejects", "10")
page = leat("info", "set", "--html", "-")
check([row[0] for row in cells(page, "Tokens by dataset")[1:]] == ["set/1", "set/2"], "datasets of a folder")
pathlib.Path("wrong.jsonl").write_text('{"text": "a"}\n{}\n{}\n', encoding="utf-8")
leat("pack", "-o", "set/3", "-t", "gpt2", "wrong.jsonl", "--max-rejects", "10")
pathlib.Path("set/3.rejects.jsonl").write_text("no JSON\n", encoding="utf-8")
page = leat("info", "set", "--html", "-")
check([row[3] for row in cells(page, "Tokens by dataset")[1:]] == ["3", "3", "2"], "rejects of each dataset")
check("The reason for 2 records is not known" in page, "reasons in a damaged file")
with open("many.bin", "wb") as f:
    f.truncate(2 << 25)
page = leat("info", "raw:many.bin?dtype=u16", "--html", "-")
check("occur in the sample" in page and "Not in the sample: " in page and "Never used" not in page, "a sample")
leat("show", "raw:many.bin?dtype=u16", "--tokens", "0:", "-t", "bytes", code=1)
os.remove("many.bin")
pathlib.Path("raw.bin").write_bytes(bytes(range(64)) * 3)
page = leat("info", "raw:raw.bin?dtype=u32", "--html", "-")
check("not recorded" in page and "Most frequent" not in page, "raw tokens of 4 bytes")
page = leat("info", "raw:raw.bin?dtype=u16", "--html", "-")
check("cut off" not in page and 'class="bad"' not in page, "damage of inputs that nobody saw")
check("32 of 65,536 tokens" in page and "Scripts" not in page, "raw tokens of 2 bytes")
leat("info", "d", "--html", "x", "--json", code=2)
leat("info", "none", "--html", "none.html", code=1)
check(not os.path.exists("none.html"), "a page of nothing is left")
sys.exit(1 if failures else 0)
