"""setup.py: the extension of the Python package, which the Makefile makes: it alone knows the flags and libraries.

Everything that is made on the way lies under build/. LEAT_PYTHON_BUILD names another folder; the variables of the
Makefile (CC, CFLAGS, ...) count from the environment, as make takes them. For `make wheel`, LEAT_WHEEL_PACKAGE has all
that is made already, and LEAT_WHEEL_PLATFORM names the systems that it is for.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from urllib.parse import quote

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

ROOT = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("LEAT_PYTHON_BUILD", "build/python-package")
PACKAGE = os.environ.get("LEAT_WHEEL_PACKAGE")
PLATFORM = os.environ.get("LEAT_WHEEL_PLATFORM")


def version():
    with open(os.path.join(ROOT, "include", "leat.h"), encoding="utf-8") as header:
        return re.search(r'#define LEAT_VERSION "(.*)"', header.read()).group(1)


def readme():
    """python/README.md, for readers who have it without the pages that it links to."""
    with open(os.path.join(ROOT, "python", "README.md"), encoding="utf-8") as page:
        return re.sub(r"\[([^]]*)\]\(\.\./([^)]*)\)", lambda m: m[2] if m[1] == m[2] else f"{m[1]} ({m[2]})",
                      page.read())


class BuildByMake(build_ext):
    def build_extension(self, ext):
        package = PACKAGE or self.make()
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(os.path.join(package, "_leat.abi3.so"), target)
        for folder in ("bin", "lib"):  # the commands, and libraries of the system that are brought along
            shutil.copytree(os.path.join(package, folder), os.path.join(os.path.dirname(target), folder),
                            ignore=shutil.ignore_patterns("ready"), dirs_exist_ok=True)
        if not PACKAGE:
            self.strip(os.path.dirname(target))

    @staticmethod
    def strip(folder):
        """What debuggers need is two thirds of the files, and of what pip copies; build/ keeps it."""
        if not shutil.which("strip"):
            return
        made = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
                if ".so" in name or at.endswith("bin")]
        subprocess.run(["strip", *made], check=True)

    @staticmethod
    def make():
        # a make that called pip must not lend this one its job server
        environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        made = subprocess.run(["make", "--no-print-directory", f"-j{os.cpu_count() or 1}", "python-extension",
                               f"BUILD={BUILD}", f"PYTHON={sys.executable}"], cwd=ROOT, env=environment, check=False)
        if made.returncode != 0:  # a traceback would stand where pip shows the last lines
            sys.exit("leat cannot be built, for the reason above; scripts/deps.sh python installs what the build needs")
        return os.path.join(ROOT, BUILD, "python", "leat")


def bill_of_materials(name, version, packages):
    """What is in a distribution besides its own: lines of a name, version and source in Debian."""
    components = []
    for package, number, source in packages:
        package, _, machine = package.partition(":")
        address = f"pkg:deb/debian/{package}@{quote(number, safe=':')}" + (f"?arch={machine}" if machine else "")
        components.append({"type": "library", "bom-ref": address, "name": source, "version": number, "purl": address})
    own = {"type": "library", "bom-ref": f"pkg:pypi/{name}@{version}", "name": name, "version": version,
           "purl": f"pkg:pypi/{name}@{version}"}
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": own},
            "components": components,
            "dependencies": [{"ref": own["bom-ref"], "dependsOn": [c["bom-ref"] for c in components]}]}


class WheelWithBill(bdist_wheel):
    """Which packages of the system are in it is said in CycloneDX, where PEP 770 has that, if they are known."""

    def write_wheelfile(self, wheelfile_base, *more, **named):
        super().write_wheelfile(wheelfile_base, *more, **named)
        with open(os.path.join(PACKAGE or os.path.join(ROOT, BUILD, "python", "leat"), "lib", "ready"),
                  encoding="utf-8") as lines:
            packages = [line.split() for line in lines]
        if packages:
            name = self.distribution.get_name()
            os.makedirs(os.path.join(wheelfile_base, "sboms"))
            with open(os.path.join(wheelfile_base, "sboms", f"{name}.cdx.json"), "w", encoding="utf-8") as file:
                json.dump(bill_of_materials(name, self.distribution.get_version(), packages), file, indent=1)


class SourcesOfCommit(sdist):
    """All that git holds, as of the last commit, and what PyPI wants besides: the same commit gives the same bytes."""

    def make_distribution(self):
        name = self.distribution.get_fullname()
        info = os.path.join(self.get_finalized_command("egg_info").egg_info, "PKG-INFO")
        path = os.path.join(self.dist_dir, name + ".tar.gz")
        os.makedirs(self.dist_dir, exist_ok=True)
        subprocess.run(["git", "archive", f"--prefix={name}/", f"--add-file={info}", "-o", path, "HEAD"], cwd=ROOT,
                       check=True)
        self.archive_files = [path]


# said before a hundred lines of what is copied
if not (PACKAGE or shutil.which("make") or {"egg_info", "dist_info", "sdist"} & set(sys.argv)):
    sys.exit("leat cannot be built without make; scripts/deps.sh python installs what the build needs")
os.makedirs(os.path.join(ROOT, BUILD), exist_ok=True)
setup(
    version=version(),
    long_description=readme(),
    long_description_content_type="text/markdown",
    # the sources are the Makefile's to know
    ext_modules=[Extension("leat._leat", sources=[], py_limited_api=True)],
    cmdclass={"bdist_wheel": WheelWithBill, "build_ext": BuildByMake, "sdist": SourcesOfCommit},
    options={
        "bdist_wheel": {"py_limited_api": "cp310", **({"plat_name": PLATFORM} if PLATFORM else {})},
        "build": {"build_base": os.path.join(BUILD, "setuptools")},
        "egg_info": {"egg_base": BUILD},
    },
)
