// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What sections show alike: a picture that came as a blob, and why there is none. NAME-failure, NAME-failure-what and
// NAME-failure-advice are elements of the section NAME.
import { explain } from "./server.js";
import { at } from "./format.js";

export function showPicture(id, blob) {
  URL.revokeObjectURL(at(id).src);
  at(id).src = URL.createObjectURL(blob);
  at(id).hidden = false;
}

export function showFailure(name, error) {
  const known = explain(error);
  at(`${name}-failure-what`).textContent = known.message;
  at(`${name}-failure-advice`).textContent = known.advice;
  at(`${name}-failure`).hidden = false;
}
