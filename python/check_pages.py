"""check_pages.py DIST [PAGE...]: the Python of each page runs where only the wheel of DIST is, and what the page says
is to be installed: the names beside leat in its first `pip install` that has any, and what these need. They are links
to the packages of the Python that runs this, which has those of requirements-test.txt. The last line counts.

Trainers, engines and clusters have checks of their own (make check-trainers, check-engines, check-cluster)."""
import glob
import importlib.metadata
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from packaging.requirements import Requirement

ROOT = pathlib.Path(__file__).resolve().parents[1]
# How to add one: a test in python/tests/ that takes the page's blocks and imports nothing that the page does not.
PAGES = {
    "README.md": "test_docs.py::test_readme",
    "python/README.md": "test_docs.py::test_python_readme",
    "docs/tutorial-researcher.md": "test_docs.py::test_tutorial_researcher",
    "docs/tutorial-pretraining.md": "test_docs.py::test_tutorial_pretraining",
    "docs/parallel-training.md": "test_docs.py::test_parallel_training",
    "docs/large-runs.md": "test_large_runs.py",
    "docs/is-it-the-loader.md": "test_docs.py::test_is_it_the_loader",
    "docs/engines.md": "test_docs.py::test_engines",
    "docs/clusters.md": "test_run.py::test_document",
    "docs/packing.md": "test_docs.py::test_packing",
}


def asked(page):
    """What a page says is to be installed, besides leat."""
    for line in re.findall(r"\bpip install ([^`\n]*)", (ROOT / page).read_text(encoding="utf-8")):
        words = shlex.split(line, comments=True)
        if words[0] in (".", "libleat") and len(words) > 1:
            return tuple(words[1:])
    return ()


def closure(words):
    """The distributions that these requirements bring, by name."""
    found, todo = {}, [Requirement(word) for word in words]
    while todo:
        asks = todo.pop()
        name = re.sub(r"[-_.]+", "-", asks.name).lower()
        extras = {"", *asks.extras} - found.setdefault(name, set())
        found[name] |= extras
        needs = map(Requirement, importlib.metadata.requires(name) or ())
        todo += [need for need in needs if extras and
                 (not need.marker or any(need.marker.evaluate({"extra": extra}) for extra in extras))]
    return found


def make_environment(folder, wheel, words):
    """A virtual environment of the wheel and, by links, of these packages."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps",
                    *wheel], check=True)
    target, = folder.glob("lib/python*/site-packages")
    for name in closure(words):
        files = importlib.metadata.distribution(name).files
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            if not (target / top).exists():
                (target / top).symlink_to(pathlib.Path(files[0].locate()).parents[len(files[0].parts) - 1] / top)


def main(dist, *chosen):
    failed = 0
    for path in (ROOT / "README.md", ROOT / "python/README.md", *ROOT.glob("docs/*.md")):
        page = str(path.relative_to(ROOT))
        if "\n```python\n" in path.read_text(encoding="utf-8") and page not in PAGES:
            failed += 1
            print(f"FAIL {page} has no test here")
    with tempfile.TemporaryDirectory(prefix="leat-pages-") as work:
        made = {}
        for page in chosen or PAGES:
            words = asked(page)
            folder = made.get(words)
            if not folder:
                folder = made[words] = pathlib.Path(work, str(len(made)))
                make_environment(folder, glob.glob(os.path.join(dist, "*.whl")), [*words, "pytest"])
            run = subprocess.run(
                [folder / "bin/python", "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", ROOT, "-W",
                 "ignore", "--tb=short", f"--basetemp={work}/run", ROOT / "python/tests" / PAGES[page]], cwd=work,
                env={"HOME": work, "PATH": f"{folder}/bin:/usr/bin:/bin", "LEAT_BUILD": f"{folder}/bin",
                     "LEAT_TEST_PYTHON": sys.executable, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            summary = run.stdout.strip().splitlines()[-1]
            ran = run.returncode == 0 and "passed" in summary and "skipped" not in summary
            failed += not ran
            print(f"{'pass' if ran else 'FAIL'} {page} with leat {' '.join(words)}", flush=True)
            if not ran:
                print(run.stdout, flush=True)
    print(f"{max(len(chosen or PAGES) - failed, 0)} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
