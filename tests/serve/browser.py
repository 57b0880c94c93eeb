# SPDX-License-Identifier: Apache-2.0
"""browser.py - a headless Chromium, driven by WebDriver (W3C) as plain HTTP."""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import urllib.request

# Chromium's own requests would only disturb.
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-background-networking",
             "--disable-component-update", "--hide-scrollbars", "--no-first-run")


class Browser:
    """Use it in a `with` statement; `arguments` are Chromium's."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="holdfast-web.")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                break
        self.base = f"http://127.0.0.1:{found.group(1)}"
        options = {"args": [*ARGUMENTS, *self.arguments,
                            f"--user-data-dir={self.profile}"]}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += f"/session/{made['sessionId']}"
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data, {"Content-Type": "application/json"},
            method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What a script returns; `arguments` are its arguments[...]."""
        return self.call("POST", "/execute/sync",
                         {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute",
                         {"cmd": command, "params": parameters})

    def look(self, width, height, scheme):
        """A window of this size, in a light or dark scheme."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width,
                      height=height, deviceScaleFactor=1, mobile=width < 700)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])

    def press(self, *keys):
        """Keys for the focused element."""
        actions = [{"type": kind, "value": key} for key in keys
                   for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": actions}]})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def console(self):
        """What the page has logged since the last call, one line each."""
        return [f"{entry['level']}: {entry['message']}"
                for entry in self.call("POST", "/se/log", {"type": "browser"})]
