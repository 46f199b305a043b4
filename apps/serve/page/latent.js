// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A latent as the server writes it (safetensors with one tensor of floats, [.., c, h, w]), and its channels as small
// pictures in greys: black is the mean less three deviations, white the mean and three more.
import { Refusal } from "./server.js";

export function parse(buffer) {
  const wrong = () => new Refusal("The server’s latent cannot be read.", "Reload this page: the server may be another version now.");
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (length > buffer.byteLength - 8) throw wrong();
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const tensor = Object.entries(header).find(([name]) => name !== "__metadata__")?.[1];
  if (tensor?.dtype !== "F32" || tensor.shape.length < 3) throw wrong();
  const [channels, height, width] = tensor.shape.slice(-3);
  const start = 8 + length + tensor.data_offsets[0];
  const values = new Float32Array(buffer.slice(start, start + 4 * channels * height * width));
  return { channels, height, width, values };
}

function spread(values) {
  let sum = 0, squares = 0;
  for (const value of values) { sum += value; squares += value * value; }
  const mean = sum / values.length;
  return { mean, deviation: Math.sqrt(Math.max(0, squares / values.length - mean * mean)) };
}

function paint(canvas, values, { mean, deviation }) {
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
  const step = deviation > 0 ? 255 / (6 * deviation) : 0;
  for (let i = 0; i < values.length; i++) {
    image.data.fill(127.5 + (values[i] - mean) * step, 4 * i, 4 * i + 3); // clamped by its type
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

export function show(box, latent) {
  box.replaceChildren();
  const size = latent.width * latent.height;
  for (let c = 0; c < latent.channels; c++) {
    const values = latent.values.subarray(c * size, (c + 1) * size), known = spread(values);
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    const canvas = Object.assign(document.createElement("canvas"), { width: latent.width, height: latent.height });
    const label = `${known.mean.toFixed(2)} ± ${known.deviation.toFixed(2)}`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Channel ${c + 1}: ${label}`);
    const number = document.createElement("span"), range = document.createElement("span");
    number.textContent = c + 1;
    range.textContent = label;
    caption.append(number, range);
    figure.append(canvas, caption);
    paint(canvas, values, known);
    box.append(figure);
  }
}
