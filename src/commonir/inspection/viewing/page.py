"""A page around a figure that needs nothing but a browser: zoom, moving about, search, tooltips.

The page loads nothing and its policy forbids it to: its one script is known by its hash. Everything that comes from a
file is in the figure, which has escaped it. Source: HTML Living Standard; Content Security Policy Level 3.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from commonir.inspection.viewing.drawing import Drawing
from commonir.inspection.viewing.svg import words

_MARK = re.compile(r"\{\{([A-Z_]+)\}\}")


def page(drawing: Drawing) -> str:
    """Returns the HTML page of a drawing."""
    folder = files("commonir.inspection.viewing")
    script = folder.joinpath("page.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    parts = {
        "SCRIPT_HASH": f"sha256-{digest}",
        "TITLE": words(drawing.name),
        "PICTURE": drawing.element(),
        "SCRIPT": script,
    }
    # Every second piece is the name of a mark: what is put in is not looked at again.
    pieces = _MARK.split(folder.joinpath("page.html").read_text(encoding="utf-8"))
    return "".join([parts[piece] if n % 2 else piece for n, piece in enumerate(pieces)])
