"""How the documentation is built: `make docs`.

Sphinx, because it reads numpydoc docstrings by itself and is maintained; Material for MkDocs ends in May 2027.
"""

from __future__ import annotations

import re
from typing import Any

import binfm

project = "binfm"
author = "The binfm developers"
release = version = binfm.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["build", "Thumbs.db"]
default_role = "literal"
nitpicky = False

html_theme = "furo"  # light and dark, and everything it needs is in the site
html_title = f"binfm {release}"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False

napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # the text after a parameter's name is prose, not types to link
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
python_maximum_signature_line_length = 88
myst_heading_anchors = 3

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)\s]+)\)")


def _name_files_outside(app: Any, docname: str, source: list[str]) -> None:
    """Replace links that lead out of this folder by paths: the site has no such pages."""
    source[0] = _OUTSIDE.sub(r"\1 (`\2`)", source[0])


def _skip_borrowed(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Skip the methods that scikit-learn generates for metadata routing: their docstrings link into its own pages."""
    return True if name.endswith("_request") else None


def setup(app: Any) -> None:
    """Register the two hooks with Sphinx."""
    app.connect("source-read", _name_files_outside)
    app.connect("autodoc-skip-member", _skip_borrowed)
