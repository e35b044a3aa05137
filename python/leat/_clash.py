"""_clash.py: finds a conflict of packages. This distribution is `libleat`; PyPI's `leat` is another project whose
package has the same name. The one installed last overwrites the files, and removing one removes both."""
import os
import warnings

REMEDY = "another distribution with a package `leat` is installed here: pip uninstall leat libleat; pip install libleat"


def others():
    """Returns the installed distributions called `leat`, which share the folder of this package."""
    return [name for name in os.listdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
            if name.startswith("leat-") and name.endswith(("-info", ".egg"))]


if others():
    warnings.warn(REMEDY, stacklevel=2)
