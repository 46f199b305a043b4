#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zenith authors
# SPDX-License-Identifier: Apache-2.0
"""The page of `zenith serve` in headless Chromium: a photograph is dropped, the slider moved, PSNR and SSIM compared with those
that are computed here, files downloaded, errors read, and the form of words tried against made-up answers.

    page.py [--zenith PATH] [TEST..]
"""
import base64
import json
import math
import pathlib
import sys
import tempfile

import serve
from browser import Browser
from lib.pictures import psnr, ramp, png, read_png
from serve import check

DONE = ("document.querySelector('#busy').hidden && /\\d/.test(document.querySelector('#psnr').textContent)"
        " && !document.querySelector('#facts').hidden")


def text(browser, selector):
    return browser.evaluate(f"document.querySelector('{selector}').textContent.trim()")


def shown(browser, selector):
    return browser.evaluate(f"document.querySelector('{selector}').checkVisibility()")


def address(server):
    return f"http://127.0.0.1:{server.port}/"


def open_page(browser, server, **how):
    browser.open(address(server), **how)
    check(browser.wait("document.querySelector('#model').length > 0"), "the models are listed")


def fail_on_problems(browser, allowed=()):
    for problem in browser.problems:
        check(any(word in problem for word in allowed), f"the console says: {problem}")


def ssim(a, b, width, height):
    """Plainly, each window by itself (docs/EVALUATION.md)."""
    def luma(rgb):
        return [(0.299 * rgb[i] + 0.587 * rgb[i + 1] + 0.114 * rgb[i + 2]) / 255 for i in range(0, len(rgb), 3)]
    taps = [math.exp(-(i - 5) ** 2 / 4.5) for i in range(11)]
    window = [(dy, dx, taps[dy] * taps[dx] / sum(taps) ** 2) for dy in range(11) for dx in range(11)]
    p, q, total, count = luma(a), luma(b), 0, 0
    for y in range(height - 10):
        for x in range(width - 10):
            ma = mb = aa = bb = ab = 0
            for dy, dx, w in window:
                u, v = p[(y + dy) * width + x + dx], q[(y + dy) * width + x + dx]
                ma, mb, aa, bb, ab = ma + w * u, mb + w * v, aa + w * u * u, bb + w * v * v, ab + w * u * v
            total += ((2 * ma * mb + 1e-4) * (2 * (ab - ma * mb) + 9e-4)
                      / ((ma * ma + mb * mb + 1e-4) * (aa - ma * ma + bb - mb * mb + 9e-4)))
            count += 1
    return total / count


# --- tests ---------------------------------------------------------------------------------------

def headers():
    with serve.Server() as server:
        code, got, body = server.ask("GET", "/")
        check(code == 200 and got["Content-Type"] == "text/html; charset=utf-8" and b"<main>" in body, f"the page: {code}")
        policy = got["Content-Security-Policy"]
        check(policy.startswith("default-src 'none'") and "unsafe" not in policy and "*" not in policy, f"policy: {policy}")
        check(got["Cache-Control"] == "no-cache" and got["ETag"], "a browser asks whether it is the same")
        code, again, body = server.ask("GET", "/", headers={"If-None-Match": f'"other", {got["ETag"]}'})
        check(code == 304 and body == b"", f"the same page again: {code}")
        check(server.ask("GET", "/", headers={"If-None-Match": '"other"'})[0] == 200, "another tag")
        code, got, body = server.ask("GET", "/page/app.js")
        check(code == 200 and got["Content-Type"].startswith("text/javascript"), f"app.js: {code}")
        for path in ("/page/", "/page/none.js", "/page/../serve.c", "/page/%2e%2e/serve.c", "/index.html"):
            check(server.ask("GET", path)[0] == 404, f"{path} is found")
        check(server.ask("POST", "/", b"x")[0] == 405, "POST to the page")
        model = json.loads(server.ask("GET", "/v1/models")[2])["data"][1]
        check([row["side"] for row in model["types"][0]["memory"]] == [512, 1024], f"memory: {model}")
        check(model["seconds_per_megapixel"]["decode"] > 0, "seconds")
        types = {each["type"] for each in model["types"]}
        check({"f32", "int8"} <= types, f"types: {types}")
        answers = {t: server.ask("POST", f"/v1/reconstruct?model={model['id']}&compute={t}", ramp(64, 64)) for t in ("f32", "int8")}
        check(all(a[0] == 200 and "run;dur=" in a[1]["Server-Timing"] for a in answers.values()), "compute")
        check(answers["f32"][2] != answers["int8"][2], "f32 and int8 give the same picture")
        check(server.ask("POST", "/v1/reconstruct?model=taesd&compute=int8", ramp(64, 64))[0] == 422, "int8 without a calibration")
    with serve.Server("--dtype", "f32") as server:
        model = json.loads(server.ask("GET", "/v1/models")[2])["data"][1]
        check([each["type"] for each in model["types"]] == ["f32"], "the operator's type is the only one")
        check(server.ask("POST", "/v1/encode?model=zenith-f1-fast&compute=int8", ramp(64, 64))[0] == 422, "another type")


def photograph():
    with tempfile.TemporaryDirectory() as folder, serve.Server() as server, Browser() as browser:
        picture = pathlib.Path(folder) / "ramp.png"
        picture.write_bytes(ramp(64, 48))
        open_page(browser, server)
        check(not shown(browser, "#words") and not shown(browser, "#key") and not shown(browser, "#failure"), "sections that are not wanted")
        browser.evaluate("document.querySelector('#model').value = 'zenith-f1-fast';"
                         "document.querySelector('#model').dispatchEvent(new Event('change'))")
        browser.drop("#drop", picture)
        check(browser.wait(DONE), f"the photograph is reconstructed: {text(browser, '#failure')}")
        # What is measured is what the server made of the file's own pixels.
        made = server.ask("POST", "/v1/reconstruct?model=zenith-f1-fast", picture.read_bytes())[2]
        width, height, original = read_png(picture.read_bytes())
        result = read_png(made)[2]
        check(browser.save("#save-picture") == made, "the picture is not that of /v1/reconstruct")
        latent = server.ask("POST", "/v1/encode?model=zenith-f1-fast", picture.read_bytes())[2]
        got = browser.save("#save-latent")
        check(got[-16 * 6 * 8 * 4:] == latent[-16 * 6 * 8 * 4:], "the latent is not that of /v1/encode")
        check(text(browser, "#psnr") == f"{psnr(original, result):.2f}", f"PSNR {text(browser, '#psnr')}, not {psnr(original, result):.2f}")
        exact = ssim(original, result, width, height)
        check(abs(float(text(browser, "#ssim")) - exact) < 6e-5, f"SSIM {text(browser, '#ssim')}, not {exact:.4f}")
        check(browser.evaluate("document.querySelectorAll('#channels canvas').length") == 16, "channels of the latent")
        check(browser.evaluate("document.querySelector('#save-latent').download") == "ramp-zenith-f1-fast.safetensors", "its name")
        # The slider, by keys.
        browser.evaluate("document.querySelector('#slider').focus()")
        before = browser.evaluate("getComputedStyle(document.querySelector('.result')).clipPath")
        for _ in range(10):
            browser.press("ArrowRight", number=39)
        check(float(browser.evaluate("document.querySelector('#slider').value")) == 55, "the slider moves by keys")
        check(browser.evaluate("getComputedStyle(document.querySelector('.result')).clipPath") != before, "the slider moves the picture")
        x, y = browser.middle("#pictures")
        browser.send("Input.dispatchMouseEvent", type="mousePressed", x=x / 2 + 100, y=y, button="left", clickCount=1)
        browser.send("Input.dispatchMouseEvent", type="mouseReleased", x=x / 2 + 100, y=y, button="left", clickCount=1)
        check(float(browser.evaluate("document.querySelector('#slider').value")) < 50, "the slider moves by the mouse")
        # The other views, by keys.
        browser.evaluate("document.querySelector('#ways input').focus()")
        browser.press("ArrowRight", number=39)
        check(shown(browser, "#original") and shown(browser, "#result") and not shown(browser, "#slider"), "side by side")
        browser.press("ArrowRight", number=39)
        check(shown(browser, "#error-map") and shown(browser, "#scale") and not shown(browser, "#original"), "the error map")
        check(browser.evaluate("new Set(document.querySelector('#error-map').getContext('2d').getImageData(0, 0, 64, 48).data).size") > 8,
              "the error map is empty")
        # Another type, and the live numbers. (Of a ramp, the PSNR of int8 may be that of f32 in its two digits.)
        if browser.evaluate("[...document.querySelector('#type').options].some((o) => o.value === 'int8')"):
            browser.evaluate("document.querySelector('#type').value = 'int8'; document.querySelector('#type').dispatchEvent(new Event('change'));"
                             "document.querySelector('#run').click()")
            check(browser.wait(f"{DONE} && document.querySelector('#facts-about').textContent.includes('int8')"), "int8")
            made = server.ask("POST", "/v1/reconstruct?model=zenith-f1-fast&compute=int8", picture.read_bytes())[2]
            check(read_png(made)[2] != result, "int8 has the pixels of f32")
            check(browser.save("#save-picture") == made, "the picture is not that of int8")
        check(browser.wait("Number(document.querySelector('#live-done').textContent) >= 4", 10), "pictures done, live")
        check(browser.wait("document.querySelector('#state-text').textContent === 'Ready'", 10), f"state: {text(browser, '#state-text')}")
        fail_on_problems(browser)


def phone():
    with tempfile.TemporaryDirectory() as folder, serve.Server() as server, Browser() as browser:
        picture = pathlib.Path(folder) / "tall.png"
        picture.write_bytes(ramp(40, 72))
        for dark in (False, True):
            open_page(browser, server, width=360, height=740, dark=dark, still=dark)
            browser.choose("#file", picture)
            check(browser.wait(DONE), "the photograph is reconstructed")
            check(browser.evaluate("document.documentElement.scrollWidth") <= 360, "the page is wider than the phone")
        # By keys alone, from the start: the skip link, then each control in turn.
        open_page(browser, server, width=360, height=740)
        seen = []
        for _ in range(12):
            browser.press("Tab", number=9)
            seen.append(browser.evaluate("document.activeElement.id || document.activeElement.className"))
        check(seen[0] == "skip" and seen.index("model") < seen.index("type") < seen.index("size") < seen.index("drop"), f"order of keys: {seen}")
        fail_on_problems(browser)


def errors():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "keys").write_text("a-key-with-plain-letters\n")
        (folder / "text.png").write_text("no picture")
        (folder / "ramp.png").write_bytes(ramp(64, 48))
        (folder / "large.png").write_bytes(png(1024, 1024, (b"\0" + bytes(3072)) * 1024))
        with serve.Server("--keys", str(folder / "keys"), "--max-pixels", "64K") as server, Browser() as browser:
            browser.open(address(server))
            check(browser.wait("document.querySelector('#key').checkVisibility()"), "the key is asked for")
            for word, good in (("wrong", False), ("a-key-with-plain-letters", True)):
                browser.evaluate("document.querySelector('#key-value').select()")
                browser.send("Input.insertText", text=word)
                browser.press("Enter", number=13, text="\r")
                sign = "document.querySelector('#model').length > 0" if good else "document.querySelector('#key-wrong').checkVisibility()"
                check(browser.wait(sign), f"the key '{word}'")
            check(not shown(browser, "#key"), "the key is asked for again")
            browser.choose("#file", folder / "text.png")
            check(browser.wait("document.querySelector('#failure').checkVisibility()") and "text.png" in text(browser, "#failure-what"), "no picture")
            browser.choose("#file", folder / "large.png")
            check(browser.wait("document.querySelector('#file-name').textContent.includes('large.png')"), "a large picture")
            check("above the server’s limit" in text(browser, "#estimate"), "a picture above the limit")
            check(browser.evaluate("document.querySelector('#run').disabled"), "what is refused can be asked for")
            browser.choose("#file", folder / "ramp.png")
            check(browser.wait(DONE), f"after errors: {text(browser, '#failure')} {text(browser, '#busy-text')}")
            # The server ends while the page is open.
            server.process.terminate()
            server.process.wait(timeout=60)
            browser.evaluate("document.querySelector('#run').click()")
            check(browser.wait("document.querySelector('#failure').checkVisibility()") and
                  "does not answer" in text(browser, "#failure-what"), "a server that is gone")
            check(browser.wait("document.querySelector('#state').dataset.is === 'gone'", 10), "state of a server that is gone")
            fail_on_problems(browser, ("401", "ERR_CONNECTION", "Failed to load resource"))


def made_up(browser, answers):
    """Answers of a server that there is not: [(end of the address, code, type, text)]."""
    def paused(given):
        for ending, code, kind, body in answers:
            if given["request"]["url"].endswith(ending):
                asked.append(given["request"].get("postData", ""))
                browser.send("Fetch.fulfillRequest", requestId=given["requestId"], responseCode=code,
                             responseHeaders=[{"name": "Content-Type", "value": kind}], body=base64.b64encode(body.encode()).decode())
                return
        browser.send("Fetch.continueRequest", requestId=given["requestId"])
    asked = []
    browser.handlers["Fetch.requestPaused"] = paused
    browser.send("Fetch.enable", patterns=[{"urlPattern": f"*{ending}"} for ending, *_ in answers])
    return asked


def words():
    first, last = (base64.b64encode(ramp(*size)).decode() for size in ((16, 16), (24, 16)))
    models = json.dumps({"data": [{"id": "painter", "generate": True}, {"id": "small", "generate": True, "side": 128}, {"id": "taesd", "encode": True, "decode": True, "factor": 8}]})
    stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in (
        {"type": "image_generation.partial_image", "b64_json": first, "partial_image_index": 0},
        {"type": "image_generation.completed", "b64_json": last}))
    full = json.dumps({"error": {"type": "queue_full", "code": 429, "message": "the queue is full"}})
    with serve.Server() as server, Browser() as browser:
        made_up(browser, [("/v1/models", 200, "application/json", models)])
        open_page(browser, server)
        check(shown(browser, "#words") and text(browser, "#words-model") == "paintersmall", "the form of words")
        sizes = "[...document.querySelector('#words-size').options].filter((o) => !o.disabled).map((o) => o.textContent).join()"
        check(browser.evaluate(sizes) == "Usual,256x256,512x512,768x768,1024x1024", "sizes of any model")
        choose = "const list = document.querySelector('#words-model'); list.value = '%s'; list.dispatchEvent(new Event('change'))"
        browser.evaluate("{" + choose % "small" + "}")
        check(browser.evaluate(sizes) == "128x128", f"sizes of a model that has one: {browser.evaluate(sizes)}")
        browser.evaluate("{" + choose % "painter" + "}")
        asked = made_up(browser, [("/v1/images/generations", 200, "text/event-stream", stream)])
        browser.evaluate("document.querySelector('#prompt').value = 'a red bird'; document.querySelector('#seed').value = 7;"
                         "document.querySelector('#words-run').click()")
        check(browser.wait("document.querySelector('#words-picture').naturalWidth === 24 && document.querySelector('#words-save').href"), "the picture")
        question = json.loads(asked[0])
        check(question["prompt"] == "a red bird" and question["seed"] == 7 and question["stream"] is True and "size" not in question,
              f"the question: {question}")
        check(browser.save("#words-save") == ramp(24, 16), "the picture's bytes")
        made_up(browser, [("/v1/images/generations", 429, "application/json", full)])
        browser.evaluate("document.querySelector('#words-run').click()")
        check(browser.wait("document.querySelector('#words-failure').checkVisibility()"), "a full queue")
        check(text(browser, "#words-failure-what") == "The queue is full.", "its sentence")
        fail_on_problems(browser, ("429",))


def faces():
    """A drawn face, its code, and what sliders make of it, by the model that comes with the program."""
    model = serve.ROOT / "models/zenith-avatars64.safetensors"
    with tempfile.TemporaryDirectory() as folder, serve.Server(models=[f"avatars={model}"]) as server, Browser() as browser:
        browser.open(address(server), width=360, height=740)
        check(browser.wait("document.querySelector('#faces').checkVisibility()"), "the section is shown")
        check(not shown(browser, "#photo") and not shown(browser, "#words"), "sections that are not wanted")
        names = json.loads(server.ask("GET", "/v1/models")[2])["data"][0]["attributes"]
        check(browser.evaluate("document.querySelectorAll('#faces-sliders input:disabled').length") == len(names), "sliders before a picture")
        browser.evaluate("document.querySelector('#faces-draw').click()")
        done = "document.querySelector('#faces-busy').hidden && !document.querySelector('#faces-downloads').hidden"
        check(browser.wait(done, 60), f"a face is drawn: {text(browser, '#faces-failure')}")
        first = browser.save("#faces-save")
        check(browser.evaluate("document.querySelector('#faces-edited').naturalWidth") == 64, "its size")
        # By keys: the second slider to the right, as the server does it for the same code.
        browser.evaluate("document.querySelectorAll('#faces-sliders input')[1].focus(); document.querySelector('#faces-time').textContent = ''")
        for _ in range(8):
            browser.press("ArrowRight", number=39)
        check(browser.wait(f"{done} && document.querySelector('#faces-time').textContent", 60), "the slider changes the picture")
        check(text(browser, "#faces-sliders label:nth-child(2) output") == "0.8", "the slider's number")
        check(browser.save("#faces-save") != first, "the changed picture is the first one")
        browser.evaluate("document.querySelector('#faces-time').textContent = ''; document.querySelector('#faces-reset').click()")
        check(browser.wait(f"{done} && document.querySelector('#faces-time').textContent", 60) and browser.save("#faces-save") == first, "reset")
        # A picture of one's own, and a file that is none.
        (pathlib.Path(folder) / "ramp.png").write_bytes(ramp(64, 64))
        browser.evaluate("document.querySelector('#faces-time').textContent = ''")
        browser.choose("#faces-file", pathlib.Path(folder) / "ramp.png")
        check(browser.wait(f"{done} && document.querySelector('#faces-time').textContent", 60) and browser.save("#faces-save") != first, "one's own")
        (pathlib.Path(folder) / "text.png").write_text("no picture")
        browser.choose("#faces-file", pathlib.Path(folder) / "text.png")
        check(browser.wait("document.querySelector('#faces-failure').checkVisibility()"), "no picture")
        check(browser.evaluate("document.documentElement.scrollWidth") <= 360, "the page is wider than the phone")
        fail_on_problems(browser, ("422",))


TESTS = [headers, photograph, phone, errors, words, faces]


if __name__ == "__main__":
    sys.exit(serve.run_tests(__doc__, TESTS))
