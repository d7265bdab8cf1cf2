"""Settings that hold for all tests."""

from __future__ import annotations

import gc
import signal

from hypothesis import settings

# A busy machine is no fault of the code; examples that failed are reprinted in full.
settings.register_profile("commonir", deadline=None, print_blob=True)
settings.load_profile("commonir")

# What a shell starts in the background ignores the key that interrupts, and so would what tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leaves the tests themselves, which stay, out of every search for garbage."""
    gc.collect()
    gc.freeze()
