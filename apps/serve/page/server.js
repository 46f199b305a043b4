// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions to the server. Addresses are relative, so that the page works below any path of a proxy. A key, where the server
// wants one, stays in this tab.

const STORED = "zenith-key";

// Why something was not done: what happened, and what to do about it.
export class Refusal extends Error {
  constructor(what, advice, type = "", seconds = 0) {
    super(what);
    this.advice = advice;
    this.type = type;
    this.seconds = seconds;
  }
}

const ADVICE = {
  queue_full: "Other work is under way. Try again in a moment.",
  rate_limited: "This key has a limit. Try again in a moment.",
  cancelled: "The server gave the work up. Try again.",
  too_large: "Choose a smaller longest side, then try again.",
  unauthorized: "Type a key above, then try again.",
  draining: "The server is ending. Try again when it runs again.",
  out_of_memory: "Choose a smaller longest side, or another type, then try again.",
  model_not_found: "Reload this page: the server serves other models now.",
  not_found: "Reload this page: the server is another version now.",
  deadline_exceeded: "Choose a smaller longest side, or a faster model.",
  unprocessable: "Choose other settings, then try again.",
  invalid_request: "Choose another photograph or other settings.",
  internal: "The server’s log says more. Another photograph may work.",
};

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

export function key() {
  return sessionStorage.getItem(STORED) ?? "";
}

export function setKey(value) {
  sessionStorage.setItem(STORED, value);
  document.dispatchEvent(new Event("zenith-key"));
}

// From the server's error object.
export function refusal(error, seconds = 0) {
  return new Refusal(sentence(error.message || "the server failed"), ADVICE[error.type] ?? "Try again, or look at the server’s log.", error.type, seconds);
}

async function refused(answer) {
  let error = { message: `the server answered ${answer.status}` };
  try {
    error = (await answer.json()).error ?? error;
  } catch {
    // A proxy's answer is no JSON: its code says enough.
  }
  if (answer.status === 401) document.dispatchEvent(new Event("zenith-unauthorized"));
  return refusal(error, Number(answer.headers.get("Retry-After")) || 0);
}

// The answer, if it is one of success; else a Refusal is thrown. Of what the user stops, an AbortError.
export async function ask(path, options = {}) {
  const headers = new Headers(options.headers);
  if (key()) headers.set("Authorization", `Bearer ${key()}`);
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer.", "See whether it still runs (zenith serve), then try again.", "gone");
  }
  if (!answer.ok) throw await refused(answer);
  return answer;
}

// Milliseconds that the server itself waited and computed, from its header: {wait, run}, in seconds.
export function timing(answer) {
  const times = {};
  for (const [, name, value] of (answer.headers.get("Server-Timing") ?? "").matchAll(/(\w+);dur=([\d.]+)/g))
    times[name] = Number(value) / 1000;
  return times;
}

// What the page shows of any error.
export function explain(error) {
  if (error instanceof Refusal) return error;
  return new Refusal(sentence(error.message || String(error)), "Reload this page, then try again.");
}
