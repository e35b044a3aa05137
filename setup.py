"""setup.py: the extension of the Python package, which the Makefile makes: it alone knows the flags and libraries.

Everything that is made on the way lies under build/. LEAT_PYTHON_BUILD names another folder; the variables of the
Makefile (CC, CFLAGS, ...) count from the environment, as make takes them.
"""
import os
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("LEAT_PYTHON_BUILD", "build/python-package")
PLATFORM = os.environ.get("LEAT_WHEEL_PLATFORM")  # of the wheel's name; python/make_wheel.py knows it


def version():
    with open(os.path.join(ROOT, "include", "leat.h"), encoding="utf-8") as header:
        return re.search(r'#define LEAT_VERSION "(.*)"', header.read()).group(1)


class BuildByMake(build_ext):
    def build_extension(self, ext):
        # a make that called pip must not lend this one its job server
        environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        made = subprocess.run(["make", "--no-print-directory", f"-j{os.cpu_count() or 1}", "python-extension",
                               f"BUILD={BUILD}", f"PYTHON={sys.executable}"], cwd=ROOT, env=environment, check=False)
        if made.returncode != 0:  # a traceback would stand where pip shows the last lines
            sys.exit("leat cannot be built, for the reason above; scripts/deps.sh python installs what the build needs")
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        package = os.path.join(ROOT, BUILD, "python", "leat")
        shutil.copyfile(os.path.join(package, "_leat.abi3.so"), target)
        for folder in ("bin", "lib"):  # the commands, and libraries of the system that are brought along
            shutil.copytree(os.path.join(package, folder), os.path.join(os.path.dirname(target), folder),
                            ignore=shutil.ignore_patterns("ready"), dirs_exist_ok=True)
        if PLATFORM:
            self.strip(os.path.dirname(target))

    @staticmethod
    def strip(folder):
        """A wheel goes without what debuggers need: it is more than the rest."""
        for name in ("_leat.abi3.so", "bin/leat", "bin/leat-bench"):
            subprocess.run(["strip", "--strip-unneeded", os.path.join(folder, name)], check=True)


os.makedirs(os.path.join(ROOT, BUILD), exist_ok=True)
setup(
    version=version(),
    # the sources are the Makefile's to know
    ext_modules=[Extension("leat._leat", sources=[], py_limited_api=True)],
    cmdclass={"build_ext": BuildByMake},
    options={
        "bdist_wheel": {"py_limited_api": "cp310", **({"plat_name": PLATFORM} if PLATFORM else {})},
        "build": {"build_base": os.path.join(BUILD, "setuptools")},
        "egg_info": {"egg_base": BUILD},
    },
)
