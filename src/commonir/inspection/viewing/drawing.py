"""The drawing of a program: its size, its parts, its captions and its colours.

Colours can be distinguished without colour vision: what sends points away, what receives points inward, what goes wrong
is dashed and says so. They are of the palette of Okabe and Ito, for light and dark backgrounds.
"""

from __future__ import annotations

from commonir.base.tuples import NamedTuple
from commonir.inspection.viewing.svg import element, words

SMALL = 10.5
"""The size of small letters."""
_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"

_STYLE = (
    """
.page{fill:#ffffff}
text{font-family:FONT;fill:#1b1f24}
.title{font-size:17px;font-weight:600}
.note{font-size:12px;fill:#57606a}
.alert{font-size:13px;font-weight:600;fill:#a63c00}
.end{font-size:11.5px;font-weight:600;fill:#a63c00}
.head{font-size:14px;font-weight:600}
.name{font-size:12px;font-weight:600}
.sub{font-size:SMALLpx;fill:#57606a}
.lane{stroke:#8c959f;stroke-width:1.5}
.idle{stroke:#8c959f;stroke-width:1.5;stroke-dasharray:2 4}
.away{stroke:#8c959f;stroke-width:1;stroke-dasharray:6 5}
.bar{fill:#f6f8fa;stroke:#d0d7de}
.computes{fill:#f6f8fa;stroke:#8c959f}
.sends{fill:#e1effa;stroke:#0072b2}
.receives{fill:#dff3ec;stroke:#007a5a}
.exchanges{fill:#fdf0d8;stroke:#b87a00}
.meets{fill:#f7e8f1;stroke:#a3467f}
.holds{fill:#ffffff;stroke:#a3467f;stroke-width:1.5}
.stuck{fill:#ffe9dc;stroke:#c04a00;stroke-width:2;stroke-dasharray:6 3}
.meeting{stroke:#a3467f;stroke-width:5;opacity:.35}
.message{fill:none;stroke:#0072b2;stroke-width:1.6}
.lost{fill:none;stroke:#c04a00;stroke-width:1.6;stroke-dasharray:6 3}
.await{fill:none;stroke:#c04a00;stroke-width:1.6;stroke-dasharray:2 3}
.tip{fill:#0072b2}
.point{fill:#c04a00}
.ring{fill:#ffffff;stroke:#c04a00;stroke-width:1.8}
.gap{fill:#eaeef2}
@media (prefers-color-scheme:dark){
.page{fill:#0d1117}
text{fill:#e6edf3}
.note,.sub{fill:#9da7b3}
.alert,.end{fill:#ff9e64}
.lane,.idle,.away{stroke:#6e7681}
.bar{fill:#161b22;stroke:#30363d}
.computes{fill:#1c2128;stroke:#6e7681}
.sends{fill:#0b2a40;stroke:#56b4e9}
.receives{fill:#0a2e24;stroke:#2fc79a}
.exchanges{fill:#35270a;stroke:#e69f00}
.meets{fill:#341c2b;stroke:#cc79a7}
.holds{fill:#0d1117;stroke:#cc79a7}
.stuck{fill:#3d1d0a;stroke:#ff8a4c}
.meeting{stroke:#cc79a7}
.message{stroke:#56b4e9}
.lost,.await{stroke:#ff8a4c}
.tip{fill:#56b4e9}
.point{fill:#ff8a4c}
.ring{fill:#0d1117;stroke:#ff8a4c}
.gap{fill:#21262d}
}
""".replace("FONT", _FONT)
    .replace("SMALL", str(SMALL))
    .strip()
)


class Drawing(NamedTuple):
    """A drawing: its size, its elements, the heads of lanes, and its description.

    `findings` describes errors that it shows, `left_out` what is not drawn.
    """

    width: float
    height: float
    body: str
    heads: str
    heads_top: float
    name: str
    summary: str
    findings: tuple[str, ...]
    left_out: tuple[str, ...]

    def svg(self) -> str:
        """Returns the drawing as a self-contained SVG file without scripts."""
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + self.element() + "\n"

    def element(self) -> str:
        """Returns the drawing as an SVG element."""
        return element(
            "svg",
            element("title", words(self.name)),
            element("desc", words(self.summary)),
            element("style", _STYLE),
            element("rect", class_="page", x=0, y=0, width=self.width, height=self.height),
            element("g", self.body, id="figure"),
            element("g", self.heads, id="heads", data_top=self.heads_top),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            width=self.width,
            height=self.height,
            role="img",
            font_family=_FONT,
        )
