#!/usr/bin/env python3
"""test_site.py: `make site`: all links lead somewhere, in pages and in the search's index, markup is closed and only
the site's own, nothing is fetched from elsewhere, every command and function has its place; Markdown becomes the HTML
that is meant, and text no markup; each document gets the structure that CommonMark has (where the package
markdown-it-py is). The pictures of the README are what the build makes."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
root = pathlib.Path.cwd()
sys.path.insert(0, str(root / "scripts"))
import markdown  # noqa: E402

try:
    import markdown_it
except ImportError:
    markdown_it = None

build = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
if not (build / "leat-bench").exists():
    print(f"skipped: no leat-bench under {build}")
    sys.exit(77)
temporary = tempfile.TemporaryDirectory(prefix="leat-site-", dir=os.environ.get("LEAT_TEST_TMP"))
folder = pathlib.Path(temporary.name)
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print(what, file=sys.stderr)


# ---- Markdown

for text, want in {
    "# A `b` *c*": '<h1 id="a-b-c">A <code>b</code> <em>c</em></h1>',
    "a **b** `<i>&` <script>": "<p>a <strong>b</strong> <code>&lt;i&gt;&amp;</code> &lt;script&gt;</p>",
    "[`x`](y.md#z) [q](none)": '<p><a href="/y.md#z"><code>x</code></a> <span class="file">q</span></p>',
    "![w\"](p.svg)": '<p><img src="/p.svg" alt="w&quot;"></p>',
    "a\n2. b\n    - c\n1. d": "<p>a\n2. b\n    - c</p>\n<ol>\n<li>d</li>\n</ol>",
    "- a\n  b\n- c\n  - d\n": "<ul>\n<li>a\nb</li>\n<li>c\n<ul>\n<li>d</li>\n</ul></li>\n</ul>",
    "1. a\n2. b": "<ol>\n<li>a</li>\n<li>b</li>\n</ol>",
    "```c\n<x> `y`\n\n# z\n```": '<pre tabindex="0"><code>&lt;x&gt; `y`\n\n# z</code></pre>',
    "a\n\n    <x>\n\n      y\n\nb": '<p>a</p>\n<pre tabindex="0"><code>&lt;x&gt;\n\n  y</code></pre>\n<p>b</p>',
    "| a | b |\n|---|--:|\n| `c` | d \\| e |": '<div class="wide" tabindex="0"><table>\n<tr><th>a</th><th>b</th></tr>\n'
                                              "<tr><td><code>c</code></td><td>d | e</td></tr>\n</table></div>",
    "a\n<!-- b\nc -->\nd": "<p>a\nd</p>",
    "2 * 3 * 4 and a_b_c": "<p>2 * 3 * 4 and a_b_c</p>",
}.items():
    got = markdown.Page(text, lambda link: None if link == "none" else "/" + link).body
    check(got == want, f"{text!r} becomes {got!r}, not {want!r}")



class Structure(html.parser.HTMLParser):
    """What tags and words a text has, in a row; without attributes, and tags that only group."""

    def __init__(self, text):
        super().__init__()
        self.row, self.words = [], ""
        self.feed(text)
        self.put("end")

    def put(self, tag):
        if tag.strip("/") not in ("div", "thead", "tbody", "span"):
            self.row += [" ".join(self.words.split())] * bool(self.words.strip()) + [tag] * (tag != "p")
            self.words = ""

    def handle_starttag(self, tag, attrs):
        self.put(tag)

    def handle_startendtag(self, tag, attrs):
        self.put(tag)

    def handle_endtag(self, tag):
        self.put("/" + tag if tag != "p" else tag)

    def handle_data(self, data):
        self.words += data


if markdown_it:
    for document in [*root.glob("*.md"), *root.glob("docs/*.md"), root / "python/README.md", root / "bench/RESULTS.md"]:
        text = re.sub(r"<!--.*?-->\n?", "", document.read_text(encoding="utf-8"), flags=re.S)
        want = Structure(markdown_it.MarkdownIt("commonmark").enable("table").render(text)).row
        got = Structure(markdown.Page(text, lambda link: link).body).row
        differ = [pair for pair in zip(got, want) if pair[0] != pair[1]]
        check(got == want, f"{document} has another structure than CommonMark: {differ[:1]}")

# ---- The site

made = subprocess.run([root / "scripts/site.py", build, folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
check(made.returncode == 0 and not made.stdout, f"site.py: {made.stdout.decode()}")


class Html(html.parser.HTMLParser):
    EMPTY = {"meta", "link", "input", "img"}
    OWN = EMPTY | {"html", "head", "title", "body", "header", "nav", "main", "div", "details", "summary", "b", "a",
                   "h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "pre", "code", "table", "tr", "th", "td", "strong",
                   "em", "span", "label", "script", "blockquote"}

    def __init__(self, name):
        super().__init__()
        self.open, self.ids, self.to, self.used = [], [], [], []
        self.feed((folder / name).read_text(encoding="utf-8"))
        self.close()
        check(not self.open, f"{name} leaves {self.open} open")

    def handle_starttag(self, tag, attrs):
        check(tag in self.OWN and not any(name.startswith("on") for name, _ in attrs), f"the site has {tag} {attrs}")
        if tag not in self.EMPTY:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if tag == "a" and name == "href":
                self.to.append(value)
            elif name in ("src", "href"):
                self.used.append(value)

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, f"a page closes {tag}")


pages = {path.name: Html(path.name) for path in sorted(folder.glob("*.html"))}
check(len(pages) == 6 + len(list((root / "docs").glob("*.md"))) + 4, f"other pages than documents: {list(pages)}")
for name, page in pages.items():
    check(len(page.ids) == len(set(page.ids)), f"{name} has an id twice")
    check(all((folder / file).exists() and "/" not in file for file in page.used), f"{name} needs {page.used}")
    for link in page.to:
        file, _, anchor = link.partition("#")
        if re.match("https?:", link):
            continue
        check((file or name) in pages and (not anchor or anchor in pages[file or name].ids), f"{name}: {link}")
for header in "leat", "leat_pack":
    text = (root / f"include/{header}.h").read_text(encoding="utf-8")
    functions = set(re.findall(r"^LEAT_API [^;(]*?\b(leat_\w+)\(", text, re.M))
    check(len(functions) > 20 and functions <= set(pages[f"{header}-h.html"].ids), f"{header}.h: names are missing")
    shown = re.sub("<[^>]*>", "", re.sub(r"<(details|nav|header|title|script)\b.*?</\1>", "",
                                         (folder / f"{header}-h.html").read_text(encoding="utf-8"), flags=re.S))
    lines = [line for line in html.unescape(shown).split("\n") if line.strip()]
    want = [line for line in text.split("\n") if line.strip() and not re.match(r"/\* -+ .* -+ \*/$", line)]
    check(len([line for line in want if line not in lines]) == 0, f"{header}.h: lines are missing")
for program in "leat", "leat-bench":
    words = subprocess.run([build / program, "--completion", "bash"], stdout=subprocess.PIPE, check=True).stdout
    shown = set(pages[f"{program}.html"].ids) - {"search", "found", program}
    check(all(name.encode() in words for name in shown), f"{program}: other commands than {shown}")
check({"pack", "show", "merge"} <= set(pages["leat.html"].ids), "leat has no commands")
rows = json.loads((folder / "index.js").read_text(encoding="utf-8").split(" = ", 1)[1].rstrip(";\n"))
check(all(row[0] in pages and (not row[1] or row[1] in pages[row[0]].ids) for row in rows), "the index leads nowhere")
check(any(row[1] == "leat_loader_open" for row in rows) and any("duplicates" in row[4] for row in rows), "the index")

# ---- Pictures

subprocess.run([root / "scripts/pictures.py", build, folder], check=True)
for name in "show.svg", "loading.svg":
    check((root / "docs" / name).read_text(encoding="utf-8") == (folder / name).read_text(encoding="utf-8"),
          f"docs/{name} is not what is made: make pictures")
sys.exit(1 if failures else 0)
