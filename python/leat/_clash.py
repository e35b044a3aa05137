"""_clash.py: this distribution is `libleat`; PyPI's `leat` is another project, whose package has the same name.
Whichever is installed last has the files, and to remove either removes those of both."""
import os
import warnings

REMEDY = "another distribution with a package `leat` is installed here: pip uninstall leat libleat; pip install libleat"


def others():
    """The distributions `leat` beside this package."""
    return [name for name in os.listdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
            if name.startswith("leat-") and name.endswith(("-info", ".egg"))]


if others():
    warnings.warn(REMEDY, stacklevel=2)
