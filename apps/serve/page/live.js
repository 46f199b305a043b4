// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The server's numbers from /metrics, every two seconds while the page is seen.
import { ask } from "./server.js";
import { at, bytes, duration, whole } from "./format.js";

const EVERY = 2000, KEPT = 60;
const past = { queue: [], cpu: [], memory: [] };
let before = null; // the processor's seconds, and when
let timer = 0;

// [{name, labels, value}] of the text format of Prometheus.
export function parse(text) {
  const out = [];
  for (const line of text.split("\n")) {
    const found = line.match(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/);
    if (!found) continue;
    const labels = Object.fromEntries([...(found[2] ?? "").matchAll(/(\w+)="([^"]*)"/g)].map(([, k, v]) => [k, v]));
    out.push({ name: found[1], labels, value: Number(found[3]) });
  }
  return out;
}

function line(name, value, least) {
  const list = past[name];
  list.push(value);
  if (list.length > KEPT) list.shift();
  const most = Math.max(least, ...list);
  const points = list.map((v, i) => `${(120 * (KEPT - list.length + i)) / (KEPT - 1)},${23 - (22 * v) / most}`);
  at(`line-${name}`).firstElementChild.setAttribute("points", list.length > 2 ? points.join(" ") : "");
}

function cells(texts) {
  const row = document.createElement("tr");
  for (const text of texts) row.append(Object.assign(document.createElement("td"), { textContent: text }));
  return row;
}

function table(samples) {
  const of = (name, labels) => samples.find((s) => s.name === name && s.labels.model === labels.model && s.labels.op === labels.op)?.value ?? 0;
  const rows = [];
  for (const { labels, value: done } of samples.filter((s) => s.name === "zenith_items_total")) {
    const queue = of("zenith_queue_depth", labels);
    if (!done && !queue) continue;
    const spent = of("zenith_infer_duration_seconds_sum", labels);
    rows.push(cells([labels.model, labels.op, whole(queue), whole(done),
      done ? duration(of("zenith_queue_wait_seconds_sum", labels) / done) : "–", done ? duration(spent / done) : "–",
      spent ? (of("zenith_pixels_total", labels) / 1e6 / spent).toFixed(2) : "–"]));
  }
  at("live-table").replaceChildren(...rows);
  at("live-table-box").hidden = rows.length === 0;
}

function processor(seconds) {
  const now = performance.now() / 1000, last = before;
  before = { seconds, now };
  if (!last) return;
  const cores = Math.max(0, (seconds - last.seconds) / (now - last.now));
  at("live-cpu").textContent = `${cores.toFixed(cores < 9.95 ? 1 : 0)} ${cores.toFixed(1) === "1.0" ? "core" : "cores"}`;
  line("cpu", cores, 1);
}

export function state(is, text) {
  at("state").dataset.is = is;
  if (at("state-text").textContent !== text) at("state-text").textContent = text;
}

function show(samples) {
  const sum = (name) => samples.filter((s) => s.name === name).reduce((all, s) => all + s.value, 0);
  const queue = sum("zenith_queue_depth"), memory = sum("process_resident_memory_bytes");
  at("live-queue").textContent = whole(queue);
  at("live-memory").textContent = bytes(memory);
  at("live-done").textContent = whole(sum("zenith_items_total"));
  at("live-refused").textContent = whole(sum("zenith_requests_rejected_total"));
  line("queue", queue, 4);
  line("memory", memory, 1);
  processor(sum("process_cpu_seconds_total"));
  table(samples);
  const up = Date.now() / 1000 - sum("process_start_time_seconds");
  at("live-about").textContent = `It has run for ${up < 90 ? `${whole(up)} seconds` : up < 5400 ? `${whole(up / 60)} minutes` : up < 172800 ? `${whole(up / 3600)} hours` : `${whole(up / 86400)} days`}.`;
  at("live-facts").hidden = false;
  state(queue ? "busy" : "ready", queue ? `${whole(queue)} in the queue` : "Ready");
}

async function look() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    show(parse(await (await ask("metrics")).text()));
  } catch (error) {
    if (error.type === "unauthorized") state("gone", "A key is needed");
    else if (error.type !== "rate_limited") state("gone", "No answer"); // a key's limit: what is shown is old, and true
  }
  clearTimeout(timer);
  timer = setTimeout(look, EVERY);
}

export function start() {
  document.addEventListener("visibilitychange", () => { before = null; look(); });
  document.addEventListener("zenith-key", look);
  look();
}
