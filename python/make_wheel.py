"""make_wheel.py BUILD OUT: the wheel of what `make python-extension` has made in BUILD, named by what it needs.

Its programs and libraries may need nothing but the C library (and those that leat brings along in leat/lib); of that
they may need symbols up to a version, which becomes the platform of the wheel's name: manylinux_2_34_x86_64 is glibc
2.34.
"""
import glob
import os
import platform
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


def can_build_here():
    """Whether this Python has a setuptools that makes wheels, so that pip need not fetch one."""
    code = ("import importlib.util, setuptools; "
            "exit(int(setuptools.__version__.split('.')[0]) < 71 and importlib.util.find_spec('wheel') is None)")
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def main(build, out):
    made = os.path.join(build, "python", "leat")
    paths = sorted(binaries(made))
    wrong = list(strangers(paths))
    if wrong or not paths:
        told = [f"{path} needs {name}, which a wheel must not" for path, name in wrong]
        sys.exit("\n".join(told) or f"{made} is empty")
    tag = "manylinux_%d_%d_%s" % (*glibc_of(paths), platform.machine())
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    environment = dict(os.environ, LEAT_PYTHON_BUILD=build, LEAT_WHEEL_PLATFORM=tag)
    isolation = ["--no-build-isolation"] if can_build_here() else []
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", *isolation,
                    "-w", out, "."], env=environment, check=True)
    for name in os.listdir(out):
        print(f"{os.path.join(out, name)}: {os.path.getsize(os.path.join(out, name)) / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
