#!/usr/bin/env node
// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws faces with known attributes: a set of pictures to train diffusion autoencoders and classifiers on. A face is a
// function of its number alone, so the same command makes the same set. Needs Node 20 and the packages of
// tools/locks/avatars:
//
//     tools/fetch npm avatars PACKAGES
//     node tools/models/avatars.mjs OUT --count 12000 --size 64 [--test 500] --packages PACKAGES
//
// OUT gets train/NUMBER.png, test/NUMBER.png (the last `--test` faces) and labels.json:
//
//     {"attributes": ["glasses", ..], "labels": {"train/000000.png": [0, ..], ..}, "drawn": {"train/000000.png": {..}, ..}}
//
// The faces are the style Adventurer by Lisa Wischofsky (CC BY 4.0). Whoever shows them names her.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '12000' },
    size: { type: 'string', default: '64' },
    test: { type: 'string', default: '500' },
    packages: { type: 'string', default: '.' },
    help: { type: 'boolean' },
  },
});
const [out] = positionals;
const count = Number(options.count), size = Number(options.size), test = Number(options.test);
if (options.help || !out || !(count > test && test >= 0 && size > 0)) {
  console.error('usage: avatars.mjs OUT [--count N] [--size PIXELS] [--test N] [--packages FOLDER]');
  process.exit(options.help ? 0 : 2);
}

// By name from the folder where they were installed, which is not this file's.
async function load(name) {
  const folder = join(resolve(options.packages), 'node_modules', name);
  const facts = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return import(pathToFileURL(join(folder, facts.main)));
}
const { createAvatar } = await load('@dicebear/core');
const { adventurer } = await load('@dicebear/collection');
const { Resvg } = await load('@resvg/resvg-js').then((m) => m.default ?? m);

// More of what is rare by itself, so that a classifier sees enough of both answers.
const style = {
  backgroundColor: ['b6e3f4', 'c0aede', 'd1d4f9', 'ffd5dc', 'ffdfbf', 'c5e8b7'],
  glassesProbability: 40,
  earringsProbability: 40,
  featuresProbability: 40,
  hairProbability: 95,
};

function brightness(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}

// A colour is reddish, or hardly a colour at all.
function hue(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return { grey: Math.max(r, g, b) - Math.min(r, g, b) < 24, red: r > 1.5 * g && r > 1.3 * b };
}

// What a face can be asked. A field that is absent was drawn as no.
const questions = {
  glasses: (face) => face.glasses !== undefined,
  earrings: (face) => face.earrings !== undefined,
  hair: (face) => face.hair !== undefined,
  long_hair: (face) => (face.hair ?? '').startsWith('long'),
  short_hair: (face) => (face.hair ?? '').startsWith('short'),
  dark_hair: (face) => face.hair !== undefined && brightness(face.hairColor) < 0.3,
  light_hair: (face) => face.hair !== undefined && brightness(face.hairColor) > 0.6,
  red_hair: (face) => face.hair !== undefined && hue(face.hairColor).red,
  grey_hair: (face) => face.hair !== undefined && hue(face.hairColor).grey,
  dark_skin: (face) => brightness(face.skinColor) < 0.5,
  light_skin: (face) => brightness(face.skinColor) > 0.8,
  blush: (face) => [face.features ?? []].flat().includes('blush'),
  freckles: (face) => [face.features ?? []].flat().includes('freckles'),
  mustache: (face) => [face.features ?? []].flat().includes('mustache'),
  birthmark: (face) => [face.features ?? []].flat().includes('birthmark'),
  blue_background: (face) => face.primaryBackgroundColor === '#b6e3f4',
};

const labels = { attributes: Object.keys(questions), size, labels: {}, drawn: {} };
for (const split of ['train', 'test']) mkdirSync(join(out, split), { recursive: true });
for (let i = 0; i < count; i++) {
  const name = `${i < count - test ? 'train' : 'test'}/${String(i).padStart(6, '0')}.png`;
  const avatar = createAvatar(adventurer, { seed: `zenith ${i}`, size, ...style });
  const { extra } = avatar.toJson();
  labels.labels[name] = Object.values(questions).map((asked) => Number(asked(extra)));
  labels.drawn[name] = extra;
  const path = join(out, name);
  if (existsSync(path)) continue;
  writeFileSync(path + '.part', new Resvg(avatar.toString(), { fitTo: { mode: 'width', value: size } }).render().asPng());
  renameSync(path + '.part', path); // a picture is there whole or not at all
}
writeFileSync(join(out, 'labels.json'), JSON.stringify(labels) + '\n');
for (const [i, name] of labels.attributes.entries()) {
  const share = Object.values(labels.labels).reduce((sum, list) => sum + list[i], 0) / count;
  console.log(`${name} ${(100 * share).toFixed(1)} %`);
}
