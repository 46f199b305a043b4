// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A file as pixels of the size that is asked for, and these pixels as PNG. The page sends what it measures against: resized
// and cropped here, so that both pictures have the same pixels, and in any format that the browser reads.
import { Refusal } from "./server.js";

export async function open(file) {
  try {
    return await createImageBitmap(file, { imageOrientation: "from-image" });
  } catch {
    throw new Refusal(`“${file.name}” is no picture that this browser can read.`,
      "Choose a photograph as JPEG, PNG, WebP or AVIF.", "no_picture");
  }
}

// Sides for a longest side (0: as it is), multiples of the model's factor; never larger than the photograph.
export function sides(bitmap, longest, factor) {
  const scale = longest ? Math.min(1, longest / Math.max(bitmap.width, bitmap.height)) : 1;
  const side = (value) => Math.max(factor, Math.floor(Math.round(value * scale) / factor) * factor);
  return { width: side(bitmap.width), height: side(bitmap.height), scale };
}

// The middle of the photograph, on white where it is transparent.
export function draw(canvas, bitmap, { width, height, scale }) {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = "high";
  const w = Math.max(width, Math.round(bitmap.width * scale)), h = Math.max(height, Math.round(bitmap.height * scale));
  context.drawImage(bitmap, Math.floor((width - w) / 2), Math.floor((height - h) / 2), w, h);
}

export const pixels = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);

export function png(canvas) {
  return new Promise((resolve, reject) => {
    const failed = () => reject(new Refusal("The browser has no memory for this picture.", "Choose a smaller longest side.", "too_large"));
    canvas.toBlob((blob) => (blob ? resolve(blob) : failed()), "image/png");
  });
}

export async function drawAnswer(canvas, blob) {
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: "none" });
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d", { willReadFrequently: true }).drawImage(bitmap, 0, 0);
  bitmap.close();
}
