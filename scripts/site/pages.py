#!/usr/bin/env python3
"""pages.py BUILD OUT: the pages of the site, for Sphinx, in the folder OUT: the documents, where they lie in the tree,
so that links between them hold; the public headers, in the sections that they have; what the commands' --help says; and
a menu. Run by `make site`.

A link to what lies in the tree and is no page (a folder, a script) becomes words. Exits with 1 if a link leads
nowhere; whether a place in a page is there, Sphinx says."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MENU = {
    "Start": ["docs/building", "docs/how-it-works", "docs/tutorial-researcher", "docs/tutorial-pretraining",
              "docs/tutorial-operator"],
    "Use": ["python/README", "docs/packing", "docs/chat", "docs/tokenizers", "docs/other-tools", "docs/clusters",
            "docs/engines", "docs/object-storage", "docs/loader", "docs/is-it-the-loader", "docs/parallel-training",
            "docs/large-runs"],
    # a page for each that is there
    "Trainers": sorted(str(page.relative_to(ROOT).with_suffix("")) for page in ROOT.glob("docs/trainers/*.md")),
    "Reference": ["leat", "leat-bench", "leat-h", "leat_pack-h", "FORMAT", "docs/ORDER", "docs/limits-and-guarantees",
                  "docs/ENCODING"],
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


def header(name):
    """The header, and those that it lists, one after another. /* ---- Title ---- */ begins a section."""
    def read(path):
        return (ROOT / "include" / path).read_text(encoding="utf-8")

    pages = [f"# {name}.h\n\n" + fenced(read(f"{name}.h"), "c")]
    for subject in re.findall(r"^ \*   (leat/\w+\.h) ", read(f"{name}.h"), re.M):
        parts = re.split(r"^/\* -+ (.+?) -+ \*/\n", read(subject), flags=re.M)
        pages.append(f"## {subject}\n\n" + fenced(parts[0], "c"))
        pages += [f"### {parts[n]}\n\n" + fenced(parts[n + 1], "c") for n in range(1, len(parts), 2)]
    return "\n".join(pages)


def commands(build, program):
    def said(*words):
        return subprocess.run([build / program, *words, "--help"], stdout=subprocess.PIPE, check=True,
                              env={**os.environ, "COLUMNS": "100"}).stdout.decode()

    names = re.findall(r"^  ([a-z]+)  ", said().split("commands:\n")[1].split("\n\n")[0], re.M)
    return "\n".join([f"# {program}: commands\n\n" + fenced(said()),
                      *(f"## {program} {name}\n\n" + fenced(said(name)) for name in names)])


def menu():
    return "\n".join(fenced("\n".join([f":caption: {title}", ":hidden:", ":maxdepth: 1", "", *pages]), "{toctree}")
                     for title, pages in MENU.items())


def main(build, out):
    missing = []
    shutil.rmtree(out, ignore_errors=True)
    for page in PAGES:
        path = out / f"{page}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        source = "README.md" if page == "index" else f"{page}.md"
        text = (commands(build, page) if page in ("leat", "leat-bench") else
                header(page.removesuffix("-h")) if page.endswith("-h") else document(source, missing))
        path.write_text(text + (menu() if page == "index" else ""), encoding="utf-8")
    for picture in ROOT.glob("docs/*.svg"):
        shutil.copy(picture, out / "docs")
    print(*missing, sep="\n", end="\n" * bool(missing), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: pages.py BUILD OUT")
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])))
