"""Drives a headless Chromium through its DevTools pipe, to look at pages as a user does.

Messages are JSON that ends in a zero byte. Source: Chrome DevTools Protocol, `--remote-debugging-pipe`.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe"
)


def program() -> str:
    """Returns the path of the browser; skips the test where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("needs Chromium: `apt-get install --no-install-recommends chromium` on Debian")
    return found


def _pipe() -> tuple[int, int]:
    """Returns a pipe whose descriptors are none of those that the browser uses."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


class Browser:
    """A browser with one tab."""

    def __init__(self, width: int = 1400, height: int = 900) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self._out = _pipe()
        self._in, answers = _pipe()
        flags = [*_FLAGS.split(), f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}"]
        # The browser reads commands from descriptor 3 and answers on descriptor 4.
        line = f'exec 3<&{commands} 4>&{answers}; exec "$0" "$@"'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", line, program(), *flags, "about:blank"],
            pass_fds=(commands, answers),
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._number = 0
        self._buffer = b""
        self.events: list[dict[str, Any]] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        tab = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exception_type: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        os.close(self._out)
        self._process.terminate()
        self._process.wait()
        os.close(self._in)
        self._profile.cleanup()

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Calls a method of the protocol and returns its result."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if not method.startswith("Target.") and hasattr(self, "_session"):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._in, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    def open(self, path: Path, fragment: str = "") -> None:
        """Opens a file and waits until it is loaded and drawn."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        loader = self.call("Page.navigate", url=path.resolve().as_uri() + fragment)["loaderId"]
        done = {"loaderId": loader, "name": "load"}
        while not any(done.items() <= dict(e.get("params", {})).items() for e in self.events):
            self.events.append(self._next())
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def evaluate(self, script: str) -> object:
        """Returns the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, text: str = "") -> None:
        """Presses a key."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def click(self, x: float, y: float) -> None:
        """Clicks at a place of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def prefer(self, scheme: str) -> None:
        """Sets whether the user prefers light or dark colours."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self) -> bytes:
        """Returns an image of the window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def complaints(self) -> list[str]:
        """Returns the errors that the page has reported, and its requests of other than its own file."""
        found = [
            str(e["params"]) for e in self.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")
        ]
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return found + [url for url in asked if not url.startswith("file:")]
