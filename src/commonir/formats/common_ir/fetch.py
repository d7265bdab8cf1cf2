"""Fetching a library from the network, which happens only when the caller allows it and the import names a digest.

Only https, also after redirections; at most `MAX_BYTES`, within `TIMEOUT_SECONDS`; the content counts for nothing until
its SHA-256 digest is the one that was named. What was fetched is kept under its digest in the folder `libraries` of
`$COMMONIR_CACHE`, or of `commonir` in the cache folder of the user, and is checked again when it is used.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from commonir.base.cache_folder import cache_folder
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED, NETWORK_REFUSED, UNRESOLVED_IMPORT, WRONG_DIGEST
from commonir.base.files import atomic_file
from commonir.base.text import escape

MAX_BYTES = 64 * 2**20
TIMEOUT_SECONDS = 30.0
_CHUNK_BYTES = 2**16

OpenUrl = Callable[[str, float], BinaryIO]
"""Opens an address within a number of seconds. Raises: OSError."""


def libraries_folder() -> Path | None:
    """Returns the folder that fetched libraries are kept in; None if the user has no home."""
    around = cache_folder()
    return None if around is None else around / "libraries"


def fetch(url: str, digest: str, *, allowed: bool, open_url: OpenUrl | None = None) -> bytes:
    """The content behind an address, from the cache or, where that is allowed, from the network.

    Raises: NETWORK_REFUSED, WRONG_DIGEST, LIMIT_EXCEEDED, UNRESOLVED_IMPORT.
    """
    if not digest:
        message = f"the import of '{escape(url)}' names no digest, so that anything could be fetched"
        help = "let the import end in `#sha256=` and the digest of the library"
        raise DiagnosticError(Diagnostic(NETWORK_REFUSED, message, help=help))
    digest = digest.lower()
    folder = libraries_folder()
    cached = None if folder is None else folder / f"{digest}.cir"
    with suppress(OSError):
        content = b"" if cached is None else cached.read_bytes()
        if hashlib.sha256(content).hexdigest() == digest:
            return content
    if not allowed:
        message = f"the library '{escape(url)}' lies on the network, which is not used"
        raise DiagnosticError(Diagnostic(NETWORK_REFUSED, message, help="allow it with `--allow-fetch`"))
    content = _downloaded(url, open_url_securely if open_url is None else open_url)
    require_digest(content, digest, url)
    # A cache that cannot be written costs time, nothing else.
    if cached is not None:
        with suppress(OSError, DiagnosticError):
            cached.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(cached) as stream:
                stream.write(content)
    return content


def require_digest(content: bytes | memoryview, digest: str, name: str) -> None:
    """Checks the SHA-256 digest of a library; none is asked for when it is empty. Raises: WRONG_DIGEST."""
    result = hashlib.sha256(content).hexdigest()
    if digest and result != digest.lower():
        message = f"the library '{escape(name)}' is not the one that is imported"
        notes = (f"expected: sha256 {escape(digest)}", f"found: sha256 {result}")
        raise DiagnosticError(Diagnostic(WRONG_DIGEST, message, notes=notes))


def _downloaded(url: str, open_url: OpenUrl) -> bytes:
    """Raises: NETWORK_REFUSED, LIMIT_EXCEEDED, UNRESOLVED_IMPORT."""
    if urlsplit(url).scheme != "https":
        message = f"the library '{escape(url)}' is not fetched: only https is used"
        raise DiagnosticError(Diagnostic(NETWORK_REFUSED, message))
    deadline = time.monotonic() + TIMEOUT_SECONDS
    content = bytearray()
    try:
        with open_url(url, TIMEOUT_SECONDS) as stream:
            while part := stream.read(_CHUNK_BYTES):
                content += part
                if len(content) > MAX_BYTES:
                    message = f"the library '{escape(url)}' has more than {MAX_BYTES:,} bytes"
                    raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message))
                if time.monotonic() > deadline:
                    raise TimeoutError("it takes too long")
    except (OSError, ValueError) as error:
        message = f"the library '{escape(url)}' cannot be fetched: {escape(str(error))}"
        raise DiagnosticError(Diagnostic(UNRESOLVED_IMPORT, message)) from error
    return bytes(content)


def open_url_securely(url: str, timeout_seconds: float) -> BinaryIO:
    """Opens an address over the network, following redirections to https alone. Raises: OSError."""
    # Only a fetch that was asked for pays for this import.
    from urllib.request import HTTPRedirectHandler, Request, build_opener  # noqa: PLC0415

    class SecureRedirects(HTTPRedirectHandler):
        """Follows redirections to https only."""

        def redirect_request(self, req, fp, code, msg, headers, newurl):  # pyright: ignore[reportMissingParameterType]  as the base has it
            if urlsplit(newurl).scheme != "https":
                raise OSError(f"it leads to '{newurl}', which is not https")
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    request = Request(url)  # noqa: S310  it is https
    return build_opener(SecureRedirects).open(request, timeout=timeout_seconds)
