# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, driven by its DevTools protocol through two pipes: plain Python, no package. Used by tests/serve/page.py and
tools/check_page.py."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """The program, or the end: a test of the page without a browser is a failure."""
    named = os.environ.get("CHROMIUM")
    found = named or next((path for name in NAMES if (path := shutil.which(name))), None)
    if not found:
        sys.exit("there is no Chromium: run tools/bootstrap, install it, or set CHROMIUM to its path")
    return found


class Browser:
    """A browser with one page, as a context. `problems` are errors of the console, of scripts, and of what was not loaded."""

    def __init__(self, *options, limit=150):
        self.options, self.limit = options, limit
        self.number, self.buffer, self.session = 0, b"", None
        self.problems, self.handlers, self.answers = [], {}, {}

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        from_us, self.to = os.pipe()
        self.come, from_it = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        command = ["sh", "-c", f'exec "$@" 3<&{from_us} 4>&{from_it}', "sh", find(), "--headless=new", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
                   "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", *self.options, "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(from_us, from_it), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, HOME=self.folder.name))
        os.close(from_us)
        os.close(from_it)
        self.saved = os.path.join(self.folder.name, "saved")
        self.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.saved)
        target = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM", "Network"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.send("Browser.close")
        except (EOFError, BrokenPipeError, TimeoutError):
            pass
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.come)
        self.folder.cleanup()

    def read(self, end):
        while b"\0" not in self.buffer:
            if not select.select([self.come], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.come, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        """Events that came in between."""
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{given['entry']['text']} {given['entry'].get('url', '')}")
        elif method in self.handlers:
            self.handlers[method](given)

    def send(self, method, **given):
        self.number += 1
        number, end = self.number, time.monotonic() + self.limit
        message = {"id": number, "method": method, "params": given}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while number not in self.answers:  # what handles an event may send and read in between
            message = self.read(end)
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.note(message)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    # --- a page ---------------------------------------------------------------------------------

    def evaluate(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, limit=None):
        """Until the expression is true; its value. None: that did not happen."""
        end = time.monotonic() + (limit or self.limit)
        while time.monotonic() < end:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.05)
        return None

    def open(self, address, width=1280, height=900, dark=False, still=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}])
        self.send("Page.navigate", url=address)
        if not self.wait("document.readyState === 'complete' && location.href !== 'about:blank'"):
            raise TimeoutError(f"{address} was not loaded")

    def choose(self, selector, path):
        """A file, as by the dialog of an <input type=file>."""
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def drop(self, selector, path):
        """A file, as from another window."""
        x, y = self.middle(selector)
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def save(self, selector):
        """Presses a link that downloads; the file's bytes."""
        name = self.evaluate(f"document.querySelector('{selector}').download")
        path, end = os.path.join(self.saved, name), time.monotonic() + self.limit
        if os.path.exists(path):  # of an earlier press
            os.remove(path)
        self.evaluate(f"document.querySelector('{selector}').click()")
        while not os.path.exists(path):
            if time.monotonic() > end:
                raise TimeoutError(f"{name} was not downloaded")
            self.evaluate("0")
            time.sleep(0.05)
        with open(path, "rb") as file:
            return file.read()

    def middle(self, selector):
        return self.evaluate(f"(() => {{ const b = document.querySelector('{selector}').getBoundingClientRect();"
                             "return [b.x + b.width / 2, b.y + b.height / 2]; })()")

    def press(self, key, code=None, number=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def screenshot(self, path, whole=False):
        clip = {}
        if whole:
            width, height = self.evaluate("[innerWidth, document.documentElement.scrollHeight]")
            clip = {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}, "captureBeyondViewport": True}
        data = self.send("Page.captureScreenshot", format="png", **clip)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
