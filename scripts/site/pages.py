#!/usr/bin/env python3
"""pages.py BUILD OUT: the pages of the site, for Sphinx, in the folder OUT: the documents, where they lie in the tree,
so that links between them hold; the public headers, in the sections that they have; what the commands' --help says; the
Python package's signatures and docstrings; and a menu. Run by `make site`.

A header of one subject, a command and a name of the Python package have a page each. Their functions, structs and
options stand in the site's index, where the search looks first. A link to what lies in the tree and is no page (a
folder, a script) becomes words. Exits with 1 if a link leads nowhere; whether a place in a page is there, Sphinx
says."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from python_pages import python_pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
MENU = {
    "Start": ["docs/building", "docs/how-it-works", "docs/tutorial-researcher", "docs/tutorial-pretraining",
              "docs/tutorial-operator"],
    "Use": ["python/README", "docs/packing", "docs/chat", "docs/tokenizers", "docs/other-tools", "docs/clusters",
            "docs/engines", "docs/object-storage", "docs/loader", "docs/is-it-the-loader", "docs/parallel-training",
            "docs/large-runs"],
    # a page for each that is there
    "Trainers": sorted(str(page.relative_to(ROOT).with_suffix("")) for page in ROOT.glob("docs/trainers/*.md")),
    # those of commands, and of the headers that these list, stand below them
    "Reference": ["leat", "leat-bench", "leat-python", "leat-h", "leat_pack-h", "FORMAT", "docs/ORDER",
                  "docs/limits-and-guarantees", "docs/ENCODING"],
    "Project": ["CONTRIBUTING", "CHANGELOG", "bench/RESULTS", "docs/comparison", "SECURITY"]}
PAGES = ["index", *(page for pages in MENU.values() for page in pages)]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```|``[^\n]*?``|`[^`]*`)", re.M | re.S)


def linked(source, missing):
    """What a link in this document becomes."""
    def become(match):
        path = match[3].partition("#")[0]
        if re.match("[a-z]+:", match[3]) or not path:
            return match[0]
        where = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if not (ROOT / where).exists():
            missing.append(f"{source}: there is no {match[3]}")
        renamed = re.sub(r"^include/(leat\w*)\.h$", r"\1-h.md", where) if where != "README.md" else "index.md"
        if renamed != where:
            return f"[{match[2]}]({os.path.relpath(renamed, os.path.dirname(source) or '.')}{match[3][len(path):]})"
        return match[0] if where.removesuffix(".md") in PAGES or match[1] else match[2]
    return become


def document(source, missing):
    """Links in code are none."""
    parts = CODE.split((ROOT / source).read_text(encoding="utf-8"))
    kept = []  # a link's words may have code, which stands in for a moment
    text = "".join(part if n % 2 == 0 else kept.append(part) or f"\0{len(kept) - 1}\0" for n, part in enumerate(parts))
    return re.sub("\0(\\d+)\0", lambda m: kept[int(m[1])], LINK.sub(linked(source, missing), text))


def fenced(text, language=""):
    return f"```{language}\n{text.strip(chr(10))}\n```\n"


def index(names):
    """Puts names into the index of the site, for this place in the page."""
    return fenced("", "{index} " + ", ".join(f"! {name}" for name in names)) + "\n" if names else ""


def toctree(pages, *options):
    return fenced("\n".join([*options, "", *pages]), "{toctree}")


def declared(text):
    """The names that this part of a header declares: functions, structs, enums, their values, macros."""
    names = re.findall(r"^LEAT_API .*?\b(leat_\w+)\(|^(?:struct|enum) (leat_\w+) \{|^(?:#define |    )(LEAT_\w+)", text,
                       re.M)
    return list(dict.fromkeys("".join(name) for name in names))


def read(path):
    return (ROOT / "include" / path).read_text(encoding="utf-8")


def headers(name):
    """The pages of a header, and of those that it lists. /* ---- Title ---- */ begins a section."""
    subjects = re.findall(r"^ \*   leat/(\w+)\.h ", read(f"{name}.h"), re.M)
    pages = {f"{name}-h": f"# {name}.h\n\n" + index(declared(read(f"{name}.h"))) + fenced(read(f"{name}.h"), "c") +
             toctree([f"{name}-h/{subject}" for subject in subjects], ":maxdepth: 2")}
    for subject in subjects:
        parts = re.split(r"^/\* -+ (.+?) -+ \*/\n", read(f"leat/{subject}.h"), flags=re.M)
        pages[f"{name}-h/{subject}"] = f"# leat/{subject}.h\n\n" + "\n".join(
            f"{title and f'## {title}'}\n\n{index(declared(text))}{fenced(text, 'c')}"
            for title, text in zip(["", *parts[1::2]], parts[::2]))
    return pages


def commands(build, program):
    """The pages of a program, and of its commands: what they say for --help all."""
    def said(*words):
        return subprocess.run([build / program, *words], stdout=subprocess.PIPE, check=True,
                              env={**os.environ, "COLUMNS": "90"}).stdout.decode()

    names = re.findall(r"^  ([a-z]+)  ", said("--help").split("commands:\n")[1].split("\n\n")[0], re.M)
    names = [name for name in names if name != "bench"]  # it is leat-bench
    pages = {program: f"# {program}: commands\n\n" + fenced(said("--help")) +
             toctree([f"{program}/{name}" for name in names], ":maxdepth: 1")}
    for name in names:
        text = said(name, "--help", "all")
        pages[f"{program}/{name}"] = (f"# {program} {name}\n\n" +
                                      index(re.findall(r"^  (?:-\w, |    )(--[a-z0-9-]+)", text, re.M)) + fenced(text))
    return pages


def python(name):
    pages = python_pages(ROOT / "python")
    texts = {f"{name}/{page}": f"# {page}\n\n" + index(names) + fenced(text, "text")
             for page, (names, text) in pages.items()}
    about = "# Python: names\n\nWhat `import leat` gives. [Its README](python/README.md) shows how to use it.\n\n"
    return {name: about + toctree(texts, ":maxdepth: 1"), **texts}


def menu():
    return "\n".join(toctree(pages, f":caption: {title}", ":hidden:", ":maxdepth: 1") for title, pages in MENU.items())


def main(build, out):
    missing = []
    shutil.rmtree(out, ignore_errors=True)
    for page in PAGES:
        if page in ("leat", "leat-bench"):
            texts = commands(build, page)
        elif page == "leat-python":
            texts = python(page)
        elif page.endswith("-h"):
            texts = headers(page.removesuffix("-h"))
        elif page == "index":
            texts = {page: document("README.md", missing) + menu()}
        else:
            texts = {page: document(f"{page}.md", missing)}
        for name, text in texts.items():
            path = out / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for picture in ROOT.glob("docs/*.svg"):
        shutil.copy(picture, out / "docs")
    print(*missing, sep="\n", end="\n" * bool(missing), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: pages.py BUILD OUT")
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])))
