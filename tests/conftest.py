"""Settings that hold for all tests."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no fault of the code; examples that failed are reprinted in full.
settings.register_profile("commonir", deadline=None, print_blob=True)
settings.load_profile("commonir")
