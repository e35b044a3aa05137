#!/usr/bin/env python3
"""test_links.py: links between the documents lead to files that are there, and to headings that these have. The
pictures of the README are what the build makes."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path.cwd()
build = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
if not (build / "leat").exists():
    print(f"skipped: no leat under {build}")
    sys.exit(77)
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print(what, file=sys.stderr)


def code_left_out(text):
    return re.sub(r"^```.*?^```|^~~~.*?^~~~", "", text, flags=re.M | re.S)


def anchors(path):
    """Yields the anchors of a document's headings, as GitHub names them."""
    seen = {}
    for title in re.findall(r"^#{1,6} +(.*?) *$", code_left_out(path.read_text(encoding="utf-8")), re.M):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        yield f"{slug}-{seen[slug]}" if seen[slug] else slug


links = 0
for page in [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("[beps]*/*.md")]:
    for to in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", code_left_out(page.read_text(encoding="utf-8")))):
        path, _, anchor = to.partition("#")
        if re.match("[a-z]+:", to):
            continue
        links += 1
        target = page.parent / path if path else page
        check(target.exists() and (not anchor or anchor in anchors(target)), f"{page}: {to} leads nowhere")
check(links > 50, f"only {links} links are found")

with tempfile.TemporaryDirectory(prefix="leat-links-", dir=os.environ.get("LEAT_TEST_TMP")) as folder:
    subprocess.run([root / "scripts/pictures.py", build, folder], check=True)
    for name in "show.svg", "loading.svg":
        made = (pathlib.Path(folder) / name).read_text(encoding="utf-8")
        have = (root / "docs" / name).read_text(encoding="utf-8")
        check(have == made, f"docs/{name} is not what is made: make pictures")
sys.exit(1 if failures else 0)
