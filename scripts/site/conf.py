"""conf.py: how Sphinx makes the site of the pages that pages.py has gathered: see `make site`."""
import pathlib

project = "leat"
html_title = "leat"
extensions = ["myst_parser"]
myst_heading_anchors = 4  # as GitHub names them
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(pathlib.Path(__file__).with_name("scorer.js"))
highlight_language = "none"
# blocks of the documents whose language Pygments does not know, and tables that hold such words
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
