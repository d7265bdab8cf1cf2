"""Adds generated pages to the documentation site; `mkdocs.yml` names this module as a hook.

The pages are built in memory and are not committed: one page per dialect with all of its operations, a list of
dialects, the Python API, and the README and the changelog. Source: the definitions, and the public names in `commonir`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import commonir
from commonir.inspection.worked_examples import worked_example
from commonir.ods import Dialects
from commonir.ods.documentation import operation_page

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
_HEADING = re.compile(r"^(#+ )", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_FILE_OF_A_BLOCK = re.compile(r"^```(mlir|tablegen|text) file=(\S+)$", re.MULTILINE)


def generated_pages() -> Iterator[tuple[str, str]]:
    """Yields the path and the Markdown text of each generated page."""
    yield "readme.md", _moved((ROOT / "README.md").read_text("utf-8"))
    yield "changelog.md", (ROOT / "CHANGELOG.md").read_text("utf-8")
    yield "reference/python.md", python_page()
    entries: list[str] = []
    dialects = Dialects()
    for name in dialects.names():
        dialect = dialects.get(name)
        if dialect is None or not dialect.operations:
            continue
        entries.append(f"| [`{name}`]({page_of(name)}) | {len(dialect.operations)} | {dialect.summary} |")
        pages = [_nested(operation_page(dialect, op, worked_example)) for op in sorted(dialect.operations)]
        yield f"reference/{page_of(name)}", "\n\n".join([f"# Dialect `{name}`", dialect.summary, *pages]) + "\n"
    table = ["# Operations", "", "| dialect | operations | summary |", "|-|-|-|", *entries]
    yield "reference/index.md", "\n".join(table) + "\n"


def page_of(dialect: str) -> str:
    """Returns the name of the page of a dialect; `index.md` is the page of the folder."""
    return f"{dialect}_dialect.md" if dialect == "index" else f"{dialect}.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages to the files of the site."""
    from mkdocs.structure.files import File  # noqa: PLC0415  installed only with the extra `docs`

    for path, text in generated_pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Returns a page with links to files of the repository replaced, and names of files as titles of blocks."""
    linked = markdown.replace("](../README.md)", "](readme.md)").replace("](../CHANGELOG.md)", "](changelog.md)")
    return _FILE_OF_A_BLOCK.sub(r'```\1 title="\2"', linked)


def _moved(readme: str) -> str:
    return (
        readme.replace("](docs/", "](")
        .replace("](CHANGELOG.md)", "](changelog.md)")
        .replace("[Apache-2.0](LICENSE)", "Apache-2.0")
    )


def _nested(page: str) -> str:
    """Returns a page whose headings are one level deeper; text between fences is unchanged."""
    fenced = [match.span() for match in _FENCED.finditer(page)]

    def deeper(match: re.Match[str]) -> str:
        inside = any(start <= match.start() < end for start, end in fenced)
        return match[0] if inside else f"#{match[0]}"

    return _HEADING.sub(deeper, page)


def python_page() -> str:
    """Returns the page of the Python API: a directive of mkdocstrings for each public name."""
    lines = ["# Python API", "", "`import commonir as cir`. Names are loaded on first use."]
    for name in sorted(dir(commonir)):
        member: object = getattr(commonir, name)
        module = getattr(member, "__module__", None)
        qualified = getattr(member, "__qualname__", None)
        if isinstance(module, str) and module in sys.modules and isinstance(qualified, str):
            lines += ["", f"::: {module}.{qualified}"]
    return "\n".join(lines) + "\n"
