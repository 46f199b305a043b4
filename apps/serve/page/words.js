// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Words to pictures, by POST /v1/images/generations as OpenAI's clients do it, with previews as events. The section is there
// only where the server serves such a model.
import { ask, refusal } from "./server.js";
import { at, duration } from "./format.js";
import { showFailure, showPicture } from "./section.js";

let stop = null;

// The events of a stream as objects. An event ends with an empty line; its data may come in any pieces.
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    text = (text + (value ?? "")).replaceAll("\r\n", "\n");
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const data = text.slice(0, end).split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
      text = text.slice(end + 2);
      if (data && data !== "[DONE]") yield JSON.parse(data);
    }
    if (done) return;
  }
}

function toBlob(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const type = bytes[0] === 0xff ? "image/jpeg" : bytes[0] === 0x52 ? "image/webp" : "image/png";
  return new Blob([bytes], { type });
}

function show(base64, prompt) {
  const blob = toBlob(base64);
  showPicture("words-picture", blob);
  at("words-picture").alt = prompt;
  at("words-empty").hidden = true;
  return blob;
}

function finish({ b64_json: base64, seed }, prompt, began) {
  const blob = show(base64, prompt), ending = blob.type.split("/")[1];
  Object.assign(at("words-save"), { href: at("words-picture").src, download: `zenith.${ending}` });
  at("words-time").textContent = `It took ${duration((performance.now() - began) / 1000)}${seed === undefined ? "" : `, from seed ${seed}`}.`;
  at("words-downloads").hidden = false;
}

function busy(is) {
  for (const id of ["words-busy", "words-stop"]) at(id).hidden = !is;
  at("words-run").disabled = is;
}

async function make() {
  const prompt = at("prompt").value.trim(), began = performance.now();
  const question = { model: at("words-model").value, prompt, n: 1, stream: true, partial_images: 3, response_format: "b64_json" };
  if (at("words-size").value !== "auto") question.size = at("words-size").value;
  if (at("seed").value !== "") question.seed = Number(at("seed").value);
  stop = new AbortController();
  at("words-busy-text").textContent = "Waiting for the server";
  const answer = await ask("v1/images/generations", { method: "POST", body: JSON.stringify(question), signal: stop.signal,
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" } });
  if (!(answer.headers.get("Content-Type") ?? "").startsWith("text/event-stream")) {
    finish((await answer.json()).data[0], prompt, began);
    return;
  }
  for await (const event of events(answer.body)) {
    if (event.error) throw refusal(event.error);
    if (event.type === "image_generation.partial_image") {
      show(event.b64_json, prompt);
      at("words-busy-text").textContent = `Preview ${(event.partial_image_index ?? 0) + 1}`;
    }
    if (event.type === "image_generation.completed") {
      finish(event, prompt, began);
      return;
    }
  }
  throw new Error("The server ended before the picture was there");
}

async function run(submit) {
  submit.preventDefault();
  for (const id of ["words-failure", "words-downloads"]) at(id).hidden = true;
  busy(true);
  try {
    await make();
  } catch (error) {
    if (error.name !== "AbortError") showFailure("words", error);
  }
  busy(false);
}

export const isGenerator = (model) => model.generate === true;

// A model that was made for one size has that one alone.
function offerSizes(model) {
  const list = at("words-size");
  list.options[0].textContent = model.side ? `${model.side}x${model.side}` : "Usual";
  for (const option of [...list.options].slice(1)) option.hidden = option.disabled = Boolean(model.side);
  if (model.side) list.value = "auto";
}

export function start(models) {
  const makers = models.filter(isGenerator);
  at("words").hidden = makers.length === 0;
  at("words-model").replaceChildren(...makers.map((model) => new Option(model.id, model.id)));
  at("words-model").onchange = () => offerSizes(makers.find((model) => model.id === at("words-model").value));
  if (makers.length > 0) offerSizes(makers[0]);
  at("words-form").onsubmit = run;
  at("words-stop").onclick = () => stop?.abort();
}
