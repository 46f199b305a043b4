// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The page: models and settings, the photograph's way through the server, and what is shown of it.
import { ask, explain, Refusal, setKey, key, timing } from "./server.js";
import { about, at, bytes, duration, whole } from "./format.js";
import * as latents from "./latent.js";
import * as live from "./live.js";
import * as photo from "./photo.js";
import * as faces from "./faces.js";
import * as words from "./words.js";

const SIDES = [256, 512, 768, 1024, 1536, 2048], USUAL_SIDE = 768;
let models = [], limits = {}, file = null, bitmap = null, stop = null, downloads = [];

// --- settings ------------------------------------------------------------------------------------

const model = () => models.find((each) => each.id === at("model").value);
const type = () => model()?.types?.find((each) => each.type === at("type").value);

function fillModel() {
  const types = model()?.types ?? [], chosen = at("type").value;
  at("type").replaceChildren(...types.map((each, i) => new Option(each.type + (i === 0 && types.length > 1 ? " (usual)" : ""), each.type)));
  if (types.some((each) => each.type === chosen)) at("type").value = chosen;
  at("model-about").textContent = model()?.description ?? "";
  fillEstimate();
}

// Sizes that the photograph has, as it is or smaller.
function fillSizes() {
  const chosen = Number(at("size").value || USUAL_SIDE), longest = bitmap ? Math.max(bitmap.width, bitmap.height) : Infinity;
  const list = SIDES.filter((side) => side < longest).map((side) => new Option(`${side} px`, side));
  if (bitmap) list.push(new Option(`${longest} px (all)`, 0));
  at("size").replaceChildren(...list);
  const values = list.map((option) => Number(option.value));
  at("size").value = values.includes(chosen) ? chosen : bitmap && longest <= USUAL_SIDE ? 0 : USUAL_SIDE;
  fillEstimate();
}

function chosenSides() {
  const longest = Number(at("size").value), factor = model()?.factor ?? 8;
  return bitmap ? photo.sides(bitmap, longest, factor) : { width: longest, height: longest, scale: 1 };
}

// Bytes at a number of pixels, from those at two sides.
function memory(part, pixels) {
  const [low, high] = (type()?.memory ?? []).filter((row) => row[part]);
  if (!low || !high) return low?.[part] ?? 0;
  const slope = (high[part] - low[part]) / (high.side ** 2 - low.side ** 2);
  return Math.max(low[part] / 2, low[part] + slope * (pixels - low.side ** 2));
}

// By the last photograph of this model and type; else by what the server knows of its usual type, which comes first.
const measured = new Map();
const setting = () => `${at("model").value} ${at("type").value}`;
function seconds(part, pixels) {
  const usual = type() === model()?.types?.[0] ? model()?.seconds_per_megapixel : undefined;
  return (((measured.get(setting()) ?? usual)?.[part] ?? 0) * pixels) / 1e6;
}

function fillEstimate() {
  if (!model()) return;
  const { width, height } = chosenSides(), pixels = width * height;
  const time = seconds("encode", pixels) + seconds("decode", pixels);
  const room = Math.max(memory("encode", pixels), memory("decode", pixels));
  const parts = [];
  if (time) parts.push(`about ${about(time)}`);
  if (room) parts.push(`${bytes(room)} of memory`);
  at("estimate").textContent = `${width} × ${height}: ${parts.join(", ") || "not measured yet"}`;
  const over = limits.pixels && pixels > limits.pixels;
  if (over) at("estimate").textContent = `${width} × ${height} is above the server’s limit of ${whole(limits.pixels)} pixels: choose a smaller side.`;
  at("run").disabled = !bitmap || over || stop !== null;
}

async function loadModels() {
  const answer = await (await ask("v1/models")).json();
  limits = answer.limits ?? {};
  models = answer.data.filter((each) => each.encode && each.decode);
  const chosen = at("model").value;
  at("model").replaceChildren(...models.map((each) => new Option(each.id, each.id)));
  if (models.some((each) => each.id === chosen)) at("model").value = chosen;
  for (const id of ["model", "type", "size"]) at(id).disabled = models.length === 0;
  words.start(answer.data);
  faces.start(answer.data);
  at("photo").hidden = models.length === 0 && answer.data.some((each) => words.isGenerator(each) || faces.isFaces(each));
  if (at("photo").hidden) return;
  if (models.length === 0) throw new Refusal("This server has no model that both encodes and decodes.", "Start it with one, such as: zenith serve taesd", "no_model");
  fillModel();
  fillSizes();
}

// --- one photograph ------------------------------------------------------------------------------

function fail(error) {
  const known = explain(error);
  at("failure-what").textContent = known.message;
  at("failure-advice").textContent = known.seconds ? `${known.advice.replace(/ Try again.*/, "")} Try again in ${known.seconds} ${known.seconds === 1 ? "second" : "seconds"}.` : known.advice;
  at("again").hidden = !["queue_full", "rate_limited", "cancelled", "gone", "draining", "out_of_memory", "internal", "unauthorized"].includes(known.type);
  at("failure").hidden = false;
  at("failure").scrollIntoView({ block: "nearest" });
}

// A bar over the pictures: how long this step has run, against what it is estimated to take.
function progress(text, expected) {
  const began = performance.now(), bar = at("busy-bar");
  at("busy-text").textContent = text;
  bar.removeAttribute("value");
  return setInterval(() => {
    const now = (performance.now() - began) / 1000;
    if (expected) bar.value = 1 - Math.exp((-2 * now) / expected);
    if (now > 1) at("busy-text").textContent = `${text}, ${Math.floor(now)} s${expected > now ? ` of about ${Math.ceil(expected)}` : ""}`;
  }, 100);
}

async function step(text, part, path, body) {
  const timer = progress(text, seconds(part, at("original").width * at("original").height));
  try {
    const began = performance.now();
    const answer = await ask(path, { method: "POST", body, signal: stop.signal });
    const blob = await answer.blob(), whole = (performance.now() - began) / 1000;
    return { blob, took: timing(answer).run ?? whole, waited: timing(answer).wait ?? 0, whole };
  } finally {
    clearInterval(timer);
  }
}

function parameters(more) {
  const list = new URLSearchParams({ model: model().id, ...more });
  if (type() && type() !== model().types[0]) list.set("compute", type().type);
  return list;
}

function measure(a, b) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./measure.js", import.meta.url));
    const end = () => worker.terminate();
    stop.signal.addEventListener("abort", () => { end(); reject(new DOMException("stopped", "AbortError")); });
    worker.onmessage = ({ data }) => { end(); resolve(data); };
    worker.onerror = (event) => { end(); reject(new Error(event.message || "the pictures could not be compared")); };
    worker.postMessage({ a: a.data, b: b.data, width: a.width, height: a.height }, [a.data.buffer, b.data.buffer]);
  });
}

function offer(id, blob, ending) {
  const address = URL.createObjectURL(blob);
  downloads.push(address);
  Object.assign(at(id), { href: address, download: `${file.name.replace(/\.[^.]*$/, "")}-${model().id}.${ending}` });
}

function showFacts(encoded, decoded, latent) {
  const { width, height } = at("original");
  at("encode-time").textContent = duration(encoded.took);
  at("decode-time").textContent = duration(decoded.took);
  at("latent-size").textContent = `${latent.channels} × ${latent.height} × ${latent.width}`;
  const share = (width * height * 3) / latent.values.length;
  at("facts-about").textContent = `${model().id} in ${at("type").value}, ${width} × ${height} pixels. The latent has ${share.toFixed(share < 9.95 ? 1 : 0)} times fewer numbers. Both requests took ${duration(encoded.whole + decoded.whole)} with the way there and back${encoded.waited + decoded.waited > 0.05 ? `, ${duration(encoded.waited + decoded.waited)} of it in the queue` : ""}.`;
  latents.show(at("channels"), latent);
  at("facts").hidden = false;
}

function showMeasured({ psnr, ssim, map, ramp, level }) {
  const canvas = at("error-map"), { width, height } = at("original");
  Object.assign(canvas, { width, height });
  canvas.getContext("2d").putImageData(new ImageData(map, width, height), 0, 0);
  at("ramp").getContext("2d").putImageData(new ImageData(ramp, 128, 1), 0, 0);
  at("scale-most").textContent = `${level} and more`;
  at("psnr").textContent = Number.isFinite(psnr) ? psnr.toFixed(2) : "∞";
  at("ssim").textContent = Number.isNaN(ssim) ? "–" : ssim.toFixed(4);
}

async function work() {
  const original = at("original");
  photo.draw(original, bitmap, chosenSides());
  const encoded = await step("Encoding", "encode", `v1/encode?${parameters({ format: "safetensors" })}`, await photo.png(original));
  const decoded = await step("Decoding", "decode", `v1/decode?${parameters({ format: "png" })}`, encoded.blob);
  const megapixels = (original.width * original.height) / 1e6;
  measured.set(setting(), { encode: encoded.took / megapixels, decode: decoded.took / megapixels });
  const latent = latents.parse(await encoded.blob.arrayBuffer());
  await photo.drawAnswer(at("result"), decoded.blob);
  offer("save-latent", encoded.blob, "safetensors");
  offer("save-picture", decoded.blob, "png");
  at("pictures").classList.add("done");
  at("psnr").textContent = at("ssim").textContent = "…";
  showFacts(encoded, decoded, latent);
  at("busy-text").textContent = "Comparing";
  at("busy-bar").removeAttribute("value");
  showMeasured(await measure(photo.pixels(original), photo.pixels(at("result"))));
}

function busy(is) {
  const held = [at("run"), at("stop"), at("choose")].includes(document.activeElement);
  for (const id of ["busy", "stop"]) at(id).hidden = !is;
  for (const id of ["run", "choose"]) at(id).hidden = is;
  for (const id of ["model", "type", "size"]) at(id).disabled = is;
  fillEstimate();
  if (held) at(is ? "stop" : "run").focus(); // the focus stays where the button was
}

function clearResult() {
  downloads.splice(0).forEach((address) => URL.revokeObjectURL(address));
  at("pictures").classList.remove("done");
  for (const id of ["failure", "facts"]) at(id).hidden = true;
  setWay("slider");
}

async function run() {
  if (!bitmap || stop) return;
  stop = new AbortController();
  clearResult();
  busy(true);
  try {
    await work();
  } catch (error) {
    if (error.name !== "AbortError") fail(error);
  }
  stop = null;
  busy(false);
}

// Of files that are chosen while one is being opened, the last counts.
let last = null;
async function take(chosen) {
  if (!chosen || stop) return;
  last = chosen;
  at("failure").hidden = true;
  try {
    const opened = await photo.open(chosen);
    if (last !== chosen || stop) {
      opened.close();
      return;
    }
    bitmap?.close();
    bitmap = opened;
    file = chosen;
  } catch (error) {
    if (last === chosen) fail(error);
    return;
  }
  at("file-name").textContent = `${file.name}, ${bitmap.width} × ${bitmap.height}`;
  at("choose").hidden = false;
  at("drop").hidden = true;
  at("view").hidden = false;
  at("view").scrollIntoView({ block: "nearest" });
  fillSizes();
  if (models.length === 0) {
    photo.draw(at("original"), bitmap, chosenSides());
    return;
  }
  if (at("run").disabled) photo.draw(at("original"), bitmap, photo.sides(bitmap, USUAL_SIDE, 1));
  else await run();
}

// --- the pictures --------------------------------------------------------------------------------

// The thumb is 44 pixels wide and stays inside.
function slide() {
  const part = at("slider").value / 100;
  at("pictures").style.setProperty("--at", `calc(22px + (100% - 44px) * ${part})`);
}

function setWay(way) {
  document.querySelector(`#ways input[value="${way}"]`).checked = true;
  at("pictures").dataset.way = way;
  at("scale").hidden = way !== "error";
}

function listen() {
  at("settings").onsubmit = (event) => { event.preventDefault(); run(); };
  at("stop").onclick = () => stop?.abort();
  at("again").onclick = () => (models.length === 0 ? begin() : run());
  for (const id of ["choose", "drop"]) at(id).onclick = () => at("file").click();
  at("file").onchange = () => { take(at("file").files[0]); at("file").value = ""; };
  at("model").onchange = fillModel;
  for (const id of ["type", "size"]) at(id).onchange = fillEstimate;
  at("slider").oninput = slide;
  at("ways").onchange = (event) => setWay(event.target.value);
  slide();
}

// Files are taken anywhere on the page: one that misses the frame does not replace the page.
function listenDrops() {
  const mark = (is) => document.body.classList.toggle("dragged", is);
  addEventListener("dragover", (event) => { event.preventDefault(); mark(true); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) mark(false); });
  addEventListener("drop", (event) => { event.preventDefault(); mark(false); take(event.dataTransfer.files[0]); });
  addEventListener("paste", (event) => take(event.clipboardData.files[0]));
}

function listenKey() {
  document.addEventListener("zenith-unauthorized", () => {
    at("key-wrong").hidden = key() === "";
    if (!at("key").hidden) return;
    at("key").hidden = false;
    at("key-value").focus();
  });
  at("key").onsubmit = (event) => {
    event.preventDefault();
    at("key").hidden = true;
    setKey(at("key-value").value.trim());
    begin();
  };
}

async function begin() {
  at("failure").hidden = true;
  try {
    await loadModels();
    if (bitmap) await run();
  } catch (error) {
    if (error.type !== "unauthorized") fail(error);
  }
}

async function showMachine() {
  const { version, isa, threads, streams } = await (await ask("version")).json();
  at("machine").textContent = `Zenith ${version} on ${isa}, ${threads} ${threads === 1 ? "thread" : "threads"} for a picture${streams > 1 ? `, ${streams} pictures at once` : ""}.`;
}

listen();
listenDrops();
listenKey();
fillSizes();
begin();
live.start();
showMachine().catch(() => {});
