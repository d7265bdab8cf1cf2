"""Colours, lines and letters of drawings, for light and dark backgrounds, and the families of operations.

Colours of arrows and ranks can be distinguished without colour vision: what goes wrong is dashed and says so. They are
of the palette of Okabe and Ito. The family of an operation follows from the module in which it is defined.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.tuples import NamedTuple

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
SMALL = 10.5
"""The size of small letters."""


class Style(NamedTuple):
    """How shapes of one kind look: two colours each for light and dark, the width and the dashes of lines, letters."""

    fill: tuple[str, str] | None = None
    stroke: tuple[str, str] | None = None
    width: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0
    size: float = 0.0
    is_bold: bool = False


_INK, _FAINT, _ALERT = ("#1b1f24", "#e6edf3"), ("#57606a", "#9da7b3"), ("#a63c00", "#ff9e64")
_PAPER, _EDGE, _BLUE = ("#ffffff", "#0d1117"), ("#8c959f", "#6e7681"), ("#0072b2", "#56b4e9")
_RED, _PINK = ("#c04a00", "#ff8a4c"), ("#a3467f", "#cc79a7")
_ON_COLOR = ("#ffffff", "#ffffff")

_COLORS: Mapping[str, tuple[str, str]] = {
    "layer": ("#2b6cb0", "#2f6fb3"),
    "activation": ("#9b2c2c", "#a03a3a"),
    "normalization": ("#276749", "#2f7a55"),
    "pooling": ("#0f766e", "#14807a"),
    "attention": ("#6b46c1", "#7a55d0"),
    "elementwise": ("#4a5568", "#56637a"),
    "reduction": ("#7b5a1e", "#8a6a2a"),
    "shape": ("#8a4b12", "#9a5a1e"),
    "data": ("#86406b", "#96507b"),
    "quantization": ("#b83280", "#b83e84"),
    "control": ("#2d3748", "#4d5a70"),
    "communication": ("#00627a", "#1a7a94"),
    "other": ("#5f6b7a", "#65748a"),
}

_SCALE = (
    ("#ffffb2", "#3a1570"),
    ("#fed976", "#5f1c7c"),
    ("#feb24c", "#8c2369"),
    ("#fd8d3c", "#bc3754"),
    ("#f4602c", "#e35933"),
    ("#d9251d", "#f98e09"),
    ("#9d0026", "#f9d84b"),
)
"""From low to high: the luminance falls on a light background and rises on a dark one, which needs no colour vision."""
_BLACK, _WHITE = "#1b1f24", "#ffffff"
_ON_SCALE = (*[(_BLACK, _WHITE)] * 4, (_BLACK, _BLACK), (_WHITE, _BLACK), (_WHITE, _BLACK))
SCALE = tuple([f"scale-{n}" for n in range(len(_SCALE))])
"""The styles of the steps of a scale, from low to high. The letters on each have the style `on-` and its name."""
NO_FIGURE = "scale-none"

STYLES: Mapping[str, Style] = {
    "page": Style(_PAPER),
    "title": Style(_INK, size=17, is_bold=True),
    "note": Style(_FAINT, size=12),
    "alert": Style(_ALERT, size=13, is_bold=True),
    "end": Style(_ALERT, size=11.5, is_bold=True),
    "head": Style(_INK, size=14, is_bold=True),
    "name": Style(_INK, size=12, is_bold=True),
    "sub": Style(_FAINT, size=SMALL),
    "onname": Style(_ON_COLOR, size=12, is_bold=True),
    "lane": Style(None, _EDGE, 1.5),
    "idle": Style(None, _EDGE, 1.5, (2, 4)),
    "away": Style(None, _EDGE, 1, (6, 5)),
    "bar": Style(("#f6f8fa", "#161b22"), ("#d0d7de", "#30363d")),
    "computes": Style(("#f6f8fa", "#1c2128"), _EDGE),
    "sends": Style(("#e1effa", "#0b2a40"), _BLUE),
    "receives": Style(("#dff3ec", "#0a2e24"), ("#007a5a", "#2fc79a")),
    "exchanges": Style(("#fdf0d8", "#35270a"), ("#b87a00", "#e69f00")),
    "meets": Style(("#f7e8f1", "#341c2b"), _PINK),
    "stuck": Style(("#ffe9dc", "#3d1d0a"), _RED, 2, (6, 3)),
    "meeting": Style(None, _PINK, 5, opacity=0.35),
    "message": Style(None, _BLUE, 1.6),
    "lost": Style(None, _RED, 1.6, (6, 3)),
    "await": Style(None, _RED, 1.6, (2, 3)),
    "tip": Style(_BLUE),
    "point": Style(_RED),
    "ring": Style(_PAPER, _RED, 1.8),
    "gap": Style(("#eaeef2", "#21262d")),
    "card": Style(("#ffffff", "#161b22"), ("#b4bcc6", "#444c56")),
    "port": Style(("#e8edf3", "#21262d"), _EDGE),
    "fold": Style(("#f3f6fa", "#12171e"), ("#9fb3c8", "#3d5066"), 1.2),
    "nest": Style(("#f3f6fa", "#12171e"), ("#c3cfdb", "#30405a")),
    "differs": Style(None, _RED, 2.5, (6, 3)),
    "value": Style(None, ("#7d8b9a", "#6f7f90"), 1.3),
    "valuetip": Style(("#7d8b9a", "#6f7f90")),
    "onpath": Style(None, _INK, 2),
    NO_FIGURE: Style(("#e3e7ec", "#2a3038")),
    f"on-{NO_FIGURE}": Style(_FAINT, size=12, is_bold=True),
    **{f"is-{family}": Style(color) for family, color in _COLORS.items()},
    **{name: Style(color) for name, color in zip(SCALE, _SCALE, strict=True)},
    **{f"on-{name}": Style(ink, size=12, is_bold=True) for name, ink in zip(SCALE, _ON_SCALE, strict=True)},
}


FAMILIES = tuple(_COLORS)

_MODULES: Mapping[str, str] = {
    "layer": (
        "convolution convolutions contraction linear matmul windows quantized_products recurrent fused regions lookup"
    ),
    "activation": "activation losses",
    "normalization": "normalization",
    "pooling": "pooling vision",
    "attention": "attention",
    "elementwise": (
        "elementwise arithmetic math floats integers comparison complex complex_numbers bits cast conversion "
        "conversions index named chlo"
    ),
    "reduction": "reduction transforms signal matrices",
    "shape": "shape shapes shaping layout relayout reshaping rearrangement slicing sizes views shape_checks",
    "data": (
        "indexing elements sequence sequences lists maps tuples strings generation random constants sparse sampling "
        "resize upsample image images detection structure"
    ),
    "quantization": "quantization quantized compression blocks",
    "control": "control cf functions func parallel assuming pipeline program ml_program control_flow loops",
    "communication": "communication",
}
_FAMILY_OF = {module: family for family, modules in _MODULES.items() for module in modules.split()}


def family_of(definition: type[object]) -> str:
    """Returns the family of the operations of a definition, by the module in which it stands."""
    return _FAMILY_OF.get(definition.__module__.rpartition(".")[2], "other")
