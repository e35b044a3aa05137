#!/usr/bin/env python3
"""test_site.py: `make site`: links between the documents lead to pages, and to headings that they have; the pages that
Sphinx gets hold every command, every name of the Python package, and every line of the public headers; what it makes of
them (where make site has installed it) leads nowhere else, and fetches nothing. The pictures of the README are what the
build makes."""
import html.parser
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path.cwd()
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


def code_left_out(text):
    return re.sub(r"^```.*?^```|^~~~.*?^~~~", "", text, flags=re.M | re.S)


def anchors(text):
    """Of headings, as GitHub names them."""
    seen = {}
    for title in re.findall(r"^#{1,6} +(.*?) *$", code_left_out(text), re.M):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        yield f"{slug}-{seen[slug]}" if seen[slug] else slug


# ---- The pages that are gathered

made = subprocess.run([root / "scripts/site/pages.py", build, folder / "pages"], stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT, check=False)
check(made.returncode == 0 and not made.stdout, f"pages.py: {made.stdout.decode()}")
pages = {str(path.relative_to(folder / "pages")): path.read_text(encoding="utf-8")
         for path in (folder / "pages").rglob("*.md")}
check({f"docs/{path.name}" for path in root.glob("docs/*.md")} <= set(pages), f"pages are missing: {sorted(pages)}")
links = 0
for name, text in pages.items():
    for to in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", code_left_out(text))):
        path, _, anchor = to.partition("#")
        if re.match("[a-z]+:", to) or path.endswith(".svg"):
            continue
        links += 1
        where = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        check(where in pages and (not anchor or anchor in anchors(pages[where])), f"{name}: {to} leads nowhere")
check(links > 50, f"only {links} links are found")
for header in (root / "include").rglob("*.h"):
    want = [line for line in header.read_text(encoding="utf-8").split("\n")
            if line and not re.match(r"/\* -+ .* -+ \*/$", line)]
    shown = [text.split("\n") for name, text in pages.items() if f"# {header.relative_to(root / 'include')}\n" in text]
    check(len(shown) == 1 and set(want) <= set(shown[0]), f"{header.name}: lines are missing")
for program in "leat", "leat-bench":
    words = subprocess.run([build / program, "--completion", "bash"], stdout=subprocess.PIPE, check=True).stdout
    shown = [pathlib.Path(name).stem for name in pages if name.startswith(f"{program}/")]
    check(len(shown) > 5 and all(name.encode() in words for name in shown), f"{program}: other commands than {shown}")
    for name in shown:
        text = pages[f"{program}/{name}.md"]
        check(re.search(r"^```\{index\} .*! --help", text, re.M), f"{program} {name}: the index has no options")
stub = (root / "python/leat/__init__.pyi").read_text(encoding="utf-8")
for name in set(re.findall(r" as (\w+)", stub)) - {"__version__"}:
    text = pages.get(f"leat-python/leat.{name}.md", "")
    check(f"! leat.{name}" in text and text.count("\n\n") > 3, f"leat.{name} has no page, or an empty one: {text}")

# ---- What Sphinx makes of them


class Html(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.to, self.used = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        if tag == "a":
            self.to.append(attrs.get("href", "#"))
        elif tag != "link" or attrs.get("rel") == "stylesheet":
            self.used += [attrs[name] for name in ("src", "href") if name in attrs]


python = build / "site-venv/bin/python"
if python.exists():
    made = subprocess.run([python, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", root / "scripts/site", "-b",
                           "html", folder / "pages", folder / "site"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    check(made.returncode == 0 and not made.stdout, f"sphinx: {made.stdout.decode()}")
    site = {path: Html(path) for path in (folder / "site").rglob("*.html")}
    check(len(site) >= len(pages), f"{len(site)} pages of {len(pages)}")
    for path, page in site.items():
        for file in page.used:
            check(not re.match("[a-z]+:|//", file), f"{path.name} fetches {file}")
        for link in page.to:
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not re.match("[a-z]+:", link) and path.name not in ("search.html", "genindex.html"):
                check(target in site and (not anchor or anchor in site[target].ids), f"{path.name}: {link}")
else:
    print("Sphinx is not tried: make site installs it")

# ---- Pictures

subprocess.run([root / "scripts/pictures.py", build, folder], check=True)
for name in "show.svg", "loading.svg":
    check((root / "docs" / name).read_text(encoding="utf-8") == (folder / name).read_text(encoding="utf-8"),
          f"docs/{name} is not what is made: make pictures")
sys.exit(1 if failures else 0)
