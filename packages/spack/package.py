# Untried: no Spack has run it. For Spack 1.0 or later: copy it to packages/libleat/ of a repository of Spack's, and add
# version("1.0.0", sha256="...") of the release's sdist.
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Libleat(MakefilePackage):
    """LLM training tokens from text to the GPU: libraries and commands."""

    url = "https://pypi.org/packages/source/l/libleat/libleat-1.0.0.tar.gz"
    license("MIT")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    for library in ("brotli", "bzip2", "curl", "isa-l", "liburing", "libyaml", "lz4", "pcre2", "xxhash", "xz", "zstd"):
        depends_on(library)

    def build(self, spec, prefix):
        make("all", "DEPS=0", f"PREFIX={prefix}")

    def install(self, spec, prefix):
        make("install", "DEPS=0", f"PREFIX={prefix}")
