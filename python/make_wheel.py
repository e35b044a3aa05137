"""make_wheel.py PACKAGE OUT: the wheel of what `make python-extension` has made in PACKAGE, named by what it needs.

Its programs and libraries may need nothing but the C library (and those that leat brings along in leat/lib); of that
they may need symbols up to a version, which becomes the platform of the wheel's name: manylinux_2_28_x86_64 is glibc
2.28. The same files give the same wheel, byte for byte: its times are those of the last commit (or SOURCE_DATE_EPOCH).
"""
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys

ALLOWED = re.compile(r"(libc|libm|libdl|librt|libpthread|ld-linux[-a-z0-9_]*|ld64|ld)\.so\.\d+$")


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], stdout=subprocess.PIPE, check=True, text=True).stdout


def binaries(folder):
    """All ELF files in it."""
    for path in glob.glob(os.path.join(folder, "**"), recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def strangers(paths):
    """What is needed and neither of the C library nor among the paths: (path, name)."""
    own = {os.path.basename(path) for path in paths}
    for path in paths:
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path)):
            if name not in own and not ALLOWED.match(name):
                yield path, name


def glibc_of(paths):
    """The newest version of glibc's symbols that is needed, as (2, 34)."""
    return max((tuple(map(int, version.split("."))) for path in paths
                for version in re.findall(r"Name: GLIBC_(\d+\.\d+)", readelf("-V", path))), default=(2, 5))


def machine_of(path):
    """As wheels' names have it."""
    with open(path, "rb") as file:
        head = file.read(20)
    return {0x3e: "x86_64", 0xb7: "aarch64"}[int.from_bytes(head[18:20], "little")]


def time_of_sources():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return os.environ["SOURCE_DATE_EPOCH"]
    git = shutil.which("git")
    told = git and subprocess.run([git, "log", "-1", "--format=%ct"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True, check=False).stdout.strip()
    return told or str(int(os.path.getmtime("CHANGELOG.md")))


def python_with_pip(folder):
    """This Python, or one of a virtual environment made in the folder: Debian's python3-venv comes without pip."""
    if importlib.util.find_spec("pip"):
        return sys.executable
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--system-site-packages", folder], check=True)
    return os.path.join(folder, "bin", "python")


def can_build(python):
    """Whether this Python has a setuptools as pyproject.toml wants it, so that pip need not fetch one."""
    code = "import setuptools; exit(int(setuptools.__version__.split('.')[0]) < 78)"
    return subprocess.run([python, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def main(package, out):
    paths = sorted(binaries(package))
    wrong = list(strangers(paths))
    if wrong or not paths:
        told = [f"{path} needs {name}, which a wheel must not" for path, name in wrong]
        sys.exit("\n".join(told) or f"{package} is empty")
    tag = "manylinux_%d_%d_%s" % (*glibc_of(paths), machine_of(paths[0]))
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    environment = dict(os.environ, LEAT_WHEEL_PACKAGE=os.path.abspath(package), LEAT_WHEEL_PLATFORM=tag,
                       LEAT_PYTHON_BUILD=os.path.dirname(package), SOURCE_DATE_EPOCH=time_of_sources())
    python = python_with_pip(os.path.join(os.path.dirname(package), "pip-venv"))
    isolation = ["--no-build-isolation"] if can_build(python) else []
    subprocess.run([python, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", *isolation,
                    "-w", out, "."], env=environment, check=True)
    for name in os.listdir(out):
        print(f"{os.path.join(out, name)}: {os.path.getsize(os.path.join(out, name)) / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
