"""How does a real Chromium see a page? A few commands of its debugging protocol, for pictures, prints and axe."""

from __future__ import annotations

import asyncio
import atexit
import base64
import functools
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)


_LOADED = (
    """new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))"""
)


def program() -> str | None:
    """Path of Chromium, None where it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Tab:
    """One open page. `requests` and `errors` grow while it is used."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self.requests: list[str] = []
        self.errors: list[str] = []

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one command; raises RuntimeError with Chromium's words."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        while True:
            message = await self._socket.receive_json()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return dict(message["result"])
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case "Runtime.exceptionThrown" | "Log.entryAdded":
                self.errors.append(json.dumps(message["params"])[:500])

    async def open(self, url: str, *, width: int = 1280, dark: bool = False) -> None:
        """Load `url` in a window of that width, in the light or the dark scheme."""
        for domain in ("Page", "Network", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = "dark" if dark else "light"
        await self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        await self.call("Page.navigate", url=url)
        await self.evaluate(_LOADED)

    async def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited where it is a promise."""
        answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    async def picture(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the whole page or of the window."""
        answer = await self.call("Page.captureScreenshot", captureBeyondViewport=whole, **await self._clip(whole))
        await asyncio.to_thread(path.write_bytes, base64.b64decode(answer["data"]))

    async def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = (await self.call("Page.getLayoutMetrics"))["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    async def print(self, path: Path) -> None:
        """A PDF as a printer would have it."""
        answer = await self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        await asyncio.to_thread(path.write_bytes, base64.b64decode(answer["data"]))

    async def axe(self, source: str) -> list[dict[str, Any]]:
        """Violations that axe-core (its source text) finds on the open page."""
        await self.call("Runtime.evaluate", expression=source)
        found = await self.evaluate("axe.run({resultTypes: ['violations']}).then(r => JSON.stringify(r.violations))")
        return list(json.loads(found))


@asynccontextmanager
async def chromium() -> AsyncIterator[Tab]:
    """A tab with cookies, cache and storage of its own, forgotten afterwards, in the Chromium of this process."""
    browser = _browser()
    host = browser.split("ws://", 1)[1].split("/", 1)[0]
    async with aiohttp.ClientSession() as session, session.ws_connect(browser) as socket:
        control = Tab(socket)
        context = (await control.call("Target.createBrowserContext"))["browserContextId"]
        target = await control.call("Target.createTarget", url="about:blank", browserContextId=context)
        page = f"ws://{host}/devtools/page/{target['targetId']}"
        try:
            async with session.ws_connect(page, max_msg_size=0) as opened:
                yield Tab(opened)
        finally:
            await control.call("Target.disposeBrowserContext", browserContextId=context)


@functools.cache
def _browser() -> str:
    """The address of a Chromium that was started for all tests of this process and ends with it."""
    found = program()
    if found is None:
        raise RuntimeError("chromium is not installed")
    folder = tempfile.mkdtemp(prefix="almanac-chromium-")
    browser = subprocess.Popen(
        [found, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": folder},  # so that nothing of it is left elsewhere
    )
    atexit.register(_end, browser, folder)
    assert browser.stderr is not None
    for line in browser.stderr:
        if b"ws://" in line:
            # What it says later is read too: a full pipe would hold it up.
            threading.Thread(target=browser.stderr.read, daemon=True).start()
            return "ws://" + line.decode().split("ws://", 1)[1].strip()
    raise RuntimeError("chromium ended before it listened")


def _end(browser: subprocess.Popen[bytes], folder: str) -> None:
    browser.terminate()  # it ends its own processes
    browser.wait()
    shutil.rmtree(folder, ignore_errors=True)
