"""PyPI's distribution `leat` is another project with a package of the same name: leat says so when both are installed,
whichever came last. (The file names are those of its version 0.1.1.)"""
import os
import shutil
import subprocess
import sys

import pytest

import leat

SAID = "pip uninstall leat libleat; pip install libleat"


@pytest.fixture
def both(tmp_path):
    shutil.copytree(os.path.dirname(leat.__file__), tmp_path / "leat")
    (tmp_path / "leat-0.1.1.dist-info").mkdir()
    return tmp_path


def run(path, code):
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(path)}, text=True,
                          capture_output=True, check=False)


def test_installed_last(both):
    done = run(both, "import leat; print(leat.__version__)")
    assert done.returncode == 0 and done.stdout.strip() == leat.__version__ and SAID in done.stderr
    (both / "leat-0.1.1.dist-info").rmdir()
    (both / f"libleat-{leat.__version__}.dist-info").mkdir()
    assert run(both, "import leat").stderr == ""


def test_installed_first(both):
    (both / "leat" / "__init__.py").write_text("class Consumer: pass\n")
    done = run(both, "from leat.command import bench; bench()")
    assert done.returncode == 1 and SAID in done.stderr and "Traceback" not in done.stderr
