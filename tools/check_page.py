#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a running `zenith serve` as people see it: axe-core's rules on each of its states, light and dark, on a desk and on a
phone, and pictures of them to look at. Fails on a fault that axe-core calls serious or critical. Needs Chromium and axe-core; the
tests of CTest do without the latter.

    tools/fetch npm axe /tmp/axe
    zenith serve taesd --port 8188 &
    tools/check_page.py --axe /tmp/axe/node_modules/axe-core/axe.min.js --picture photo.jpg --pictures OUT
"""
import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/serve"))
from browser import Browser  # noqa: E402
from page import DONE, made_up  # noqa: E402

FAULTS = []


def judge(browser, axe, state):
    browser.evaluate(axe)
    found = browser.evaluate("axe.run({resultTypes: ['violations']}).then((r) => r.violations.map((v) =>"
                             "({id: v.id, impact: v.impact, help: v.help, where: v.nodes.map((n) => n.target.join(' '))})))")
    for fault in found:
        line = f"{state}: {fault['impact']}: {fault['help']} ({fault['id']}) at {', '.join(fault['where'])}"
        print(line)
        if fault["impact"] in ("serious", "critical"):
            FAULTS.append(line)
    print(f"{state}: {len(found)} faults", flush=True)


def show_words(browser):
    """The form of words, which this server may not have: its models are made up."""
    models = {"data": [{"id": "painter", "generate": True}, {"id": "taesd", "encode": True, "decode": True, "factor": 8}]}
    made_up(browser, [("/v1/models", 200, "application/json", json.dumps(models))])


def states(browser, arguments, axe, width, dark):
    name = f"{width}-{'dark' if dark else 'light'}"

    def look(state):
        if arguments.pictures:
            browser.screenshot(arguments.pictures / f"{name}-{state}.png", whole=True)
        judge(browser, axe, f"{name}-{state}")

    def set_way(way):
        browser.evaluate(f"document.querySelector('#ways input[value={way}]').click()")

    browser.open(arguments.address, width=width, height=900, dark=dark)
    if not browser.wait("document.querySelector('#model').length > 0 && !document.querySelector('#live-facts').hidden"):
        sys.exit("the page does not list models")
    look("empty")
    browser.choose("#file", arguments.picture)
    if not browser.wait(DONE):
        sys.exit("the photograph was not reconstructed")
    time.sleep(5)  # live numbers, and lines of them
    look("slider")
    for way in ("beside", "error"):
        set_way(way)
        look(way)
    browser.choose("#file", __file__)
    if not browser.wait("document.querySelector('#failure').checkVisibility()"):
        sys.exit("a file that is no picture was taken")
    look("failure")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="http://127.0.0.1:8188/")
    parser.add_argument("--axe", type=pathlib.Path, required=True, help="axe.min.js of the npm package axe-core")
    parser.add_argument("--picture", type=pathlib.Path, required=True, help="a photograph to reconstruct")
    parser.add_argument("--pictures", type=pathlib.Path, help="a folder for pictures of the page")
    arguments = parser.parse_args()
    arguments.picture = arguments.picture.resolve()
    axe = arguments.axe.read_text() + "\n;0"
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    with Browser(limit=120) as browser:
        for width in (1280, 360):
            for dark in (False, True):
                states(browser, arguments, axe, width, dark)
        show_words(browser)
        browser.open(arguments.address)
        browser.wait("document.querySelector('#words').checkVisibility()")
        if arguments.pictures:
            browser.screenshot(arguments.pictures / "words.png", whole=True)
        judge(browser, axe, "words")
        FAULTS.extend(f"the console says: {problem}" for problem in browser.problems)
    print("\n".join(FAULTS))
    print(f"{len(FAULTS)} serious faults")
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
