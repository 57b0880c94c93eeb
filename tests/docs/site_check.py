#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Look at the site in Chromium: `make test-site [PICTURES=FOLDER]`.

    site_check.py SITE [FOLDER]

Pages fit a telephone and a desktop, light and dark, their pictures are there,
nothing is loaded from elsewhere, and the search finds a function. FOLDER gets a
picture of each.
"""

import functools
import http.server
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "serve"))
from browser import Browser  # noqa: E402

PAGES = ("index.html", "tutorials/cron.html", "tutorials/first-lock.html",
         "howto/index.html", "howto/event-loops.html", "reference/stores.html",
         "reference/functions.html", "explanation/stores.html",
         "explanation/leases.html", "explanation/fencing.html")
WINDOWS = (("desktop", 1280, 900), ("phone", 390, 844))
WIDER = "return document.documentElement.scrollWidth - window.innerWidth"
MISSING = """return [...document.images].filter(i => !i.naturalWidth)
    .map(i => i.src)"""
FROM = """return performance.getEntriesByType('resource').map(e => e.name)
    .filter(name => !name.startsWith(location.origin))"""
DARK = "return document.body.dataset.mdColorScheme == 'slate'"
FOUND = """return [...document.querySelectorAll('.md-search-result__item a')]
    .map(a => a.getAttribute('href'))"""


def serve(site):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler,
                                directory=site)
    handler.func.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def awaited(browser, script):
    until = time.monotonic() + 30
    while not (value := browser.run(script)) and time.monotonic() < until:
        time.sleep(0.1)
    return value


def check_page(browser, where, name, pictures):
    faults = [f"{what}: {found}" for what, found in
              (("no picture", browser.run(MISSING)),
               ("from elsewhere", browser.run(FROM))) if found]
    if (wider := browser.run(WIDER)) > 0:
        faults.append(f"{wider} pixels too wide")
    if pictures:
        browser.picture(Path(pictures) / f"{where}-{name}.png")
    return [f"{name}, {where}: {fault}" for fault in faults]


def main():
    base = serve(sys.argv[1])
    pictures = sys.argv[2] if len(sys.argv) > 2 else None
    faults = []
    with Browser() as browser:
        for kind, width, height in WINDOWS:
            for scheme in ("light", "dark"):
                browser.look(width, height, scheme)
                for page in PAGES:
                    browser.open(f"{base}/{page}")
                    if browser.run(DARK) != (scheme == "dark"):
                        faults.append(f"{page} is not {scheme}")
                    faults += check_page(browser, f"{kind}-{scheme}",
                                         page.replace("/", "-")[:-5], pictures)
        browser.look(1280, 900, "light")
        browser.open(f"{base}/index.html?q=hf_client_wait")
        found = awaited(browser, FOUND)
        if not any("functions" in link for link in found):
            faults.append(f"the search finds {found}")
        faults += check_page(browser, "desktop", "search", pictures)
    print("\n".join(faults) or f"{len(PAGES)} pages are well")
    sys.exit(bool(faults))


main()
