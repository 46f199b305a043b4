// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture and its attributes, by the diffusion autoencoders of the server. A picture is drawn by the model or chosen, and
// becomes a code; each slider moves the code along one attribute, and the picture of the moved code is shown beside the
// first. The section is there only where the server serves such a model.
import { ask } from "./server.js";
import { at, duration } from "./format.js";
import { showFailure, showPicture } from "./section.js";

// Enough for drawings of 64x64 pixels; zenith diffae takes more by itself.
const STEPS = 20, NOISE_STEPS = 50, PRIOR_STEPS = 50, PAUSE = 250;
let models = [], code = null, stop = null, timer = 0;

const model = () => models.find((each) => each.id === at("faces-model").value);
const sliders = () => [...at("faces-sliders").querySelectorAll("input")];
const address = (work, more) => `v1/diffae/${work}?${new URLSearchParams({ model: model().id, ...more })}`;

// One piece of work at a time: what is newer stops what is older.
async function doing(text, work) {
  stop?.abort();
  const mine = (stop = new AbortController()), began = performance.now();
  at("faces-failure").hidden = true;
  at("faces-busy").hidden = false;
  at("faces-busy-text").textContent = text;
  try {
    await work((path, body) => ask(path, { method: "POST", body, signal: mine.signal }));
    at("faces-time").textContent = `It took ${duration((performance.now() - began) / 1000)}.`;
  } catch (error) {
    if (error.name !== "AbortError") showFailure("faces", error);
  }
  if (stop === mine) at("faces-busy").hidden = true;
}

async function showEdited(post) {
  const moved = sliders().filter((slider) => Number(slider.value) !== 0);
  const change = { attribute: moved.map((slider) => slider.dataset.number).join(), strength: moved.map((slider) => slider.value).join() };
  const answer = await post(moved.length ? address("edit", { ...change, steps: STEPS }) : address("decode", { steps: STEPS }), code);
  showPicture("faces-edited", await answer.blob());
  at("faces-save").href = at("faces-edited").src;
  at("faces-downloads").hidden = false;
}

function moved() {
  clearTimeout(timer);
  for (const slider of sliders()) slider.nextElementSibling.textContent = Number(slider.value).toFixed(1);
  if (code) timer = setTimeout(() => doing("Decoding the moved code", showEdited), PAUSE);
}

function reset() {
  for (const slider of sliders()) slider.value = 0;
  moved();
}

async function begin(post, picture) {
  code = null;
  showPicture("faces-first", picture);
  at("faces-empty").hidden = true;
  reset();
  at("faces-busy-text").textContent = "Encoding";
  code = await (await post(address("encode", { noise_steps: NOISE_STEPS }), picture)).text();
  for (const slider of sliders()) slider.disabled = false;
  at("faces-reset").disabled = false;
  await showEdited(post);
}

const draw = () => doing("Drawing", async (post) => begin(post, await (await post(address("sample", { steps: STEPS, prior_steps: PRIOR_STEPS }))).blob()));

function choose() {
  const file = at("faces-file").files[0];
  at("faces-file").value = "";
  if (file) doing("Encoding", (post) => begin(post, file));
}

function sliderOf(name, number) {
  const label = document.createElement("label"), slider = document.createElement("input"), value = document.createElement("output");
  label.append(name.replaceAll("_", " "), slider, value);
  Object.assign(slider, { type: "range", min: -1, max: 1, step: 0.1, value: 0, disabled: true, oninput: moved });
  slider.dataset.number = number;
  value.textContent = "0.0";
  return label;
}

function fill() {
  stop?.abort();
  code = null;
  at("faces-sliders").replaceChildren(...(model()?.attributes ?? []).map(sliderOf));
  at("faces-draw").hidden = !model()?.sample;
  at("faces-reset").disabled = true;
  for (const id of ["faces-first", "faces-edited", "faces-downloads", "faces-busy"]) at(id).hidden = true;
  at("faces-empty").hidden = false;
}

export const isFaces = (each) => each.diffae === true;

export function start(all) {
  models = all.filter(isFaces);
  at("faces").hidden = models.length === 0;
  at("faces-model").replaceChildren(...models.map((each) => new Option(each.id, each.id)));
  at("faces-model").onchange = fill;
  at("faces-form").onsubmit = (event) => { event.preventDefault(); draw(); };
  at("faces-choose").onclick = () => at("faces-file").click();
  at("faces-file").onchange = choose;
  at("faces-reset").onclick = reset;
  fill();
}
