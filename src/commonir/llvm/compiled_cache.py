"""The cache of compiled code in the folder of the user: where it is, how large it may become, and object code in it.

It is in the folder `compiled` of the cache folder (see `base.cache_folder`), and has at most as many megabytes as
`COMMONIR_CACHE_MB` says, where 0 switches it off.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from commonir.base.cache_folder import cache_folder
from commonir.base.file_cache import FileCache
from commonir.llvm.target import Target

VARIABLE = "COMMONIR_CACHE_MB"
"""The environment variable that has the most megabytes of the cache."""

DEFAULT_MEGABYTES = 4096
"""A few large networks: packed weights have about the size of the model."""


def compiled_folder() -> Path | None:
    """Returns the folder of the cache, which may not exist; None if the user has no home."""
    around = cache_folder()
    return None if around is None else around / "compiled"


def most_bytes() -> int:
    """Returns the most bytes of the cache; those by default if the variable is not a number."""
    text = os.environ.get(VARIABLE, "")
    return (int(text) if text.isdecimal() else DEFAULT_MEGABYTES) << 20


def compiled_cache() -> FileCache | None:
    """Returns the cache; None where it is switched off or has no folder."""
    folder, limit = compiled_folder(), most_bytes()
    return None if folder is None or limit == 0 else FileCache(folder, limit)


def cached_object_code(text: str, target: Target, generator: str, generate: Callable[[], bytes]) -> bytes:
    """Returns the object code of a module from the cache, or what `generate` returns, which is stored there.

    `generator` names the version and the options of the code generator.
    """
    cache = compiled_cache()
    if cache is None:
        return generate()
    parts = (generator, target.triple, target.cpu, target.features, text)
    key = "object-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()
    entry = cache.read(key)
    if entry is not None:
        return bytes(entry.sections["object"])
    result = generate()
    cache.write(key, {}, {"object": lambda file: file.write(result)})
    return result
