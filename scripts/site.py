#!/usr/bin/env python3
"""site.py BUILD OUT: the documents as a small static site in the folder OUT, which needs no server: the Markdown pages,
the public headers with an index of their names, the commands' help, and a search whose index is a file of its own.
Pages are read without a script; only the search is one. Run by `make site`. Exits with 1 if a link between pages, or to
a place in one, leads nowhere.

What lies in the source tree and is no page (a folder, a script) is named, not linked."""
import html
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from markdown import Page  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
# sections of the menu: page, what it is called there
MENU = [
    ("Start", [("README.md", "leat"), ("docs/how-it-works.md", "How it works"),
               ("docs/tutorial-researcher.md", "Tutorial: researcher"),
               ("docs/tutorial-pretraining.md", "Tutorial: pre-training"),
               ("docs/tutorial-operator.md", "Tutorial: operator")]),
    ("Use", [("python/README.md", "Python"), ("docs/packing.md", "Packing"), ("docs/tokenizers.md", "Tokenizers"),
             ("docs/other-tools.md", "Files of other tools"), ("docs/clusters.md", "Clusters"),
             ("docs/object-storage.md", "Object storage"), ("docs/loader.md", "The loader"),
             ("docs/is-it-the-loader.md", "Is it the loader?"),
             ("docs/from-nanogpt.md", "From nanoGPT"), ("docs/from-megatron.md", "From Megatron"),
             ("docs/from-other-loaders.md", "From other loaders")]),
    ("Reference", [("leat", "leat: commands"), ("leat-bench", "leat-bench: commands"), ("include/leat.h", "leat.h"),
                   ("include/leat_pack.h", "leat_pack.h"), ("FORMAT.md", "Format"), ("docs/ORDER.md", "Order"),
                   ("docs/limits-and-guarantees.md", "Limits, guarantees"), ("docs/ENCODING.md", "Encoding")]),
    ("Project", [("CONTRIBUTING.md", "Contributing"), ("CHANGELOG.md", "Changes"), ("bench/RESULTS.md", "Results")]),
]
SOURCES = [source for _, entries in MENU for source, _ in entries]

STYLE = """
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--box:#f6f8fa;--accent:#0b5cad}
@media screen and (prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;--soft:#9aa4af;--line:#30363d;
--box:#161b22;--accent:#58a6ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:80rem;padding:0 1rem 3rem;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere;display:grid;grid-template-columns:14rem minmax(0,1fr);
gap:0 2.5rem}
header{grid-column:1/-1;padding:.8rem 0;border-bottom:1px solid var(--line);display:flex;flex-wrap:wrap;gap:.5rem 1rem;
align-items:center}header a{font-weight:700;color:var(--ink);text-decoration:none;font-size:1.1rem}
header label{margin-left:auto;color:var(--soft)}
input{font:inherit;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:.4rem;
padding:.25rem .6rem;width:16rem;max-width:100%}
nav{font-size:.92rem;padding-top:1rem}nav summary{font-weight:600;cursor:pointer}
nav b{display:block;margin:.8rem 0 .2rem}
nav a{display:block;padding:.1rem 0;text-decoration:none}nav a[aria-current]{font-weight:700;color:var(--ink)}
main{padding-top:.5rem}a{color:var(--accent)}
h1{font-size:1.7rem;line-height:1.25}h2{font-size:1.25rem;margin-top:2rem}h3{font-size:1.05rem;margin-top:1.5rem}
code,pre{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.88em}
code{background:var(--box);border-radius:.25em;padding:.1em .25em}
pre{background:var(--box);border:1px solid var(--line);border-radius:.4rem;padding:.7rem;overflow-x:auto;
font-size:.8em;line-height:1.45;overflow-wrap:normal}pre code{background:none;padding:0;font-size:1em}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.92rem}
th,td{border-bottom:1px solid var(--line);padding:.25rem .7rem .25rem 0;text-align:left;vertical-align:top}
td{min-width:4rem}img{max-width:100%;height:auto}.file{border-bottom:1px dotted var(--soft)}
blockquote{margin:0;padding-left:1rem;border-left:3px solid var(--line)}
.names{columns:15rem;font-size:.88rem;padding-left:1rem}#found{padding-left:1.2rem}#found small{color:var(--soft)}
:target{outline:2px solid var(--accent);outline-offset:3px}
@media(max-width:52rem){body{display:flex;flex-direction:column}body>*{min-width:0}header label{margin-left:0}
nav{order:1;margin-top:2rem;border-top:1px solid var(--line)}}
@media print{body{display:block;max-width:none;font-size:11px;padding:0}nav,header label{display:none}
pre{white-space:pre-wrap;overflow-wrap:anywhere}.wide{overflow:visible}h2,h3{break-after:avoid}tr{break-inside:avoid}}
"""

# The index has a row per heading: page, anchor, title of the page, heading, its text in small letters.
SEARCH = """
const box = document.getElementById("search"), found = document.getElementById("found");
const main = document.querySelector("main");
box.parentElement.hidden = false;
function show() {
  const words = box.value.toLowerCase().split(/\\s+/).filter((w) => w.length > 1);
  found.replaceChildren();
  main.hidden = words.length > 0;
  found.hidden = words.length === 0;
  if (!words.length) return;
  const hits = [];
  for (const [page, anchor, title, heading, text] of SITE_INDEX) {
    const top = (title + " " + heading).toLowerCase();
    if (!words.every((w) => top.includes(w) || text.includes(w))) continue;
    hits.push([words.reduce((n, w) => n + (top.includes(w) ? 10 : 0) + Math.min(5, text.split(w).length - 1), 0),
               page + (anchor ? "#" + anchor : ""), title, heading]);
  }
  hits.sort((a, b) => b[0] - a[0]);
  for (const [, to, title, heading] of hits.slice(0, 40)) {
    const [item, link, where] = ["li", "a", "small"].map((tag) => document.createElement(tag));
    link.href = to;
    link.textContent = heading || title;
    link.onclick = () => { box.value = ""; show(); };
    where.textContent = " " + title;
    item.append(link, where);
    found.append(item);
  }
  if (!hits.length) found.textContent = "Nothing has all of these words.";
}
box.addEventListener("input", show);
show();
"""


def file_of(source):
    """The page's file: all lie in one folder."""
    name = {"README.md": "index", "python/README.md": "python"}.get(source)
    return (name or source.removesuffix(".md").replace("include/", "").replace("/", "-").replace(".", "-")) + ".html"


class Site:
    def __init__(self, build, out):
        self.build, self.out = build, out
        self.anchors = {}  # of each page's file
        self.links = []    # (source, file, anchor)
        self.pictures = set()
        self.index = []

    def resolve(self, source):
        """Where links in this document go; None: to a file that is no page."""
        def target(link):
            if re.match(r"[a-z]+:", link):
                return link
            path, _, anchor = link.partition("#")
            where = os.path.normpath(os.path.join(os.path.dirname(source), path)) if path else source
            if where in SOURCES:
                self.links.append((source, file_of(where), anchor))
                return file_of(where) * bool(path) + (f"#{anchor}" if anchor else "") or file_of(where)
            if not (ROOT / where).exists():
                sys.exit(f"{source}: there is no {link}")
            if where.endswith(".svg"):
                self.pictures.add(where)
                return os.path.basename(where)
            return None
        return target

    def write(self, source, title, body, anchors):
        name = file_of(source)
        self.anchors[name] = anchors
        menu = "".join(
            f"<b>{section}</b>" + "".join(
                f"<a href=\"{file_of(page)}\"{' aria-current=' + chr(34) + 'page' + chr(34) if page == source else ''}>"
                f"{html.escape(words)}</a>" for page, words in entries) for section, entries in MENU)
        (self.out / name).write_text(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
            f"<title>{html.escape(title)}</title><link rel=\"stylesheet\" href=\"site.css\"></head>\n<body>"
            "<header><a href=\"index.html\">leat</a><label hidden>Search <input id=\"search\" type=\"search\"></label>"
            f"</header>\n<nav aria-label=\"Pages\"><details open><summary>Pages</summary>{menu}</details></nav>\n"
            f"<div><main>\n{body}\n</main><ol id=\"found\" hidden></ol></div>\n"
            "<script src=\"index.js\"></script><script src=\"search.js\"></script></body></html>\n", encoding="utf-8")

    def remember(self, source, title, body):
        """Rows of the search's index: the text below each heading."""
        parts = re.split(r"<(h[1-6]|section)[^>]* id=\"([^\"]*)\"[^>]*>", body)
        pieces = [("", parts[0])] + [(parts[i + 1], parts[i + 2]) for i in range(1, len(parts) - 2, 3)]
        for anchor, piece in pieces:
            heading = re.match(r"(.*?)</h[1-6]>", piece, re.S)
            text = html.unescape(re.sub(r"<[^>]*>", " ", piece))
            if text.strip():
                self.index.append([file_of(source), html.unescape(anchor), title,
                                   html.unescape(re.sub("<[^>]*>", "", heading[1])).strip() if heading else "",
                                   " ".join(text.lower().split())])

    # ---- Kinds of pages

    def markdown(self, source):
        page = Page((ROOT / source).read_text(encoding="utf-8"), self.resolve(source))
        self.write(source, page.title, page.body, page.anchors)
        self.remember(source, page.title, page.body)

    def header(self, source):
        """The header as it stands, in the sections that it has, with a list of its names."""
        text = (ROOT / source).read_text(encoding="utf-8")
        name, names, anchors, out = os.path.basename(source), [], set(), []
        defined = re.compile(r"^(?:LEAT_API [^;{]*?\b(leat_\w+)\(|(?:struct|enum) (leat_\w+) \{|#define (LEAT_\w+))",
                             re.M)
        # "/* ---- Title ---- */" begins a section
        parts = re.split(r"^/\* -+ (.+?) -+ \*/\n", text, flags=re.M)
        for number in range(0, len(parts), 2):
            title = parts[number - 1] if number else name
            anchor = re.sub(r"\W+", "-", title.lower()).strip("-")
            anchors.add(anchor)

            def mark(match):
                word, code = next(filter(None, match.groups())), html.escape(match[0], quote=False)
                if word in anchors:
                    return code
                anchors.add(word)
                names.append(word)
                return f'<a id="{word}"></a>{code}'

            code, pieces, at = parts[number], [], 0
            for match in defined.finditer(code):
                pieces += [html.escape(code[at:match.start()], quote=False), mark(match)]
                at = match.end()
            pieces.append(html.escape(code[at:], quote=False))
            code = "".join(pieces)
            level = 2 if number else 1
            out.append(f"<h{level} id=\"{anchor}\">{html.escape(title)}</h{level}>"
                       + ("\0" if not number else "") + f"<pre tabindex=\"0\"><code>{code}</code></pre>")
        listed = "".join(f"<li><a href=\"#{word}\"><code>{word}</code></a></li>"
                         for word in sorted(names, key=str.lower) if word.startswith("leat_"))
        body = "\n".join(out).replace("\0", f"<details><summary>All names</summary><ul class=\"names\">{listed}</ul>"
                                            "</details>")
        self.write(source, name, body, anchors)
        self.remember(source, name, re.sub(r"<details>.*?</details>", "", body, flags=re.S))
        self.index += [[file_of(source), word, name, word, word.lower()] for word in names]

    def commands(self, program):
        """What --help says, of the program and each of its commands."""
        def said(*words):
            done = subprocess.run([self.build / program, *words, "--help"], stdout=subprocess.PIPE, check=True,
                                  env={**os.environ, "COLUMNS": "100"})
            return done.stdout.decode()

        whole = said()
        names = re.findall(r"^  ([a-z]+)  ", whole.split("commands:\n")[1].split("\n\n")[0], re.M)
        body = [f"<h1 id=\"{program}\">{program}</h1><pre tabindex=\"0\"><code>{html.escape(whole)}</code></pre>"]
        for name in names:
            body.append(f"<h2 id=\"{name}\">{program} {name}</h2>"
                        f"<pre tabindex=\"0\"><code>{html.escape(said(name))}</code></pre>")
        self.write(program, f"{program}: commands", "\n".join(body), {program, *names})
        self.remember(program, f"{program}: commands", "\n".join(body))

    def make(self):
        self.out.mkdir(parents=True, exist_ok=True)
        for source in SOURCES:
            if source.endswith(".md"):
                self.markdown(source)
            elif source.endswith(".h"):
                self.header(source)
            else:
                self.commands(source)
        for picture in self.pictures:
            (self.out / os.path.basename(picture)).write_bytes((ROOT / picture).read_bytes())
        rows = json.dumps(self.index, ensure_ascii=False).replace("</", "<\\/")
        (self.out / "index.js").write_text(f"const SITE_INDEX = {rows};\n", encoding="utf-8")
        (self.out / "search.js").write_text(SEARCH.lstrip(), encoding="utf-8")
        (self.out / "site.css").write_text(STYLE.lstrip(), encoding="utf-8")
        missing = [f"{source}: {name} has no #{anchor}" for source, name, anchor in self.links
                   if anchor and anchor not in self.anchors[name]]
        print(*missing, sep="\n", end="\n" * bool(missing), file=sys.stderr)
        return 1 if missing else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: site.py BUILD OUT")
    sys.exit(Site(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])).make())
