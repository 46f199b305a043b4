#!/usr/bin/env node
// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws a set of pictures with captions, to train small models that make pictures from words: emoji in ten styles, and
// shapes of one colour on a ground of another. All choices are hashes of names, so the same command and the same packages
// make the same set. Needs Node 20 and the packages of tools/locks/words:
//
//     tools/fetch npm words PACKAGES
//     node tools/models/words.mjs OUT [--size 128] [--colours 3] --packages PACKAGES
//
// OUT gets SET/CODE.png and colours/SET/NAME-COLOUR-GROUND.png on white or on their ground, and
//
//     captions.jsonl   a picture in each line: its file, split, captions, and the facts that captions are made of
//     shapes.jsonl     every shape of one colour, black on white: what the shape of a coloured picture is sought among
//     credits.md       who drew the pictures, and their licences; whoever shows them names these people
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '128' },
    colours: { type: 'string', default: '3' },
    'test-colours': { type: 'string', default: '500' },
    count: { type: 'string', default: '0' },
    skip: { type: 'string', default: '' },
    packages: { type: 'string', default: '.' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const [out] = positionals;
const size = Number(options.size), coloursEach = Number(options.colours);
const testColours = Number(options['test-colours']), count = Number(options.count);
if (options.help || !out || !(size > 0 && coloursEach >= 0 && coloursEach <= 10 && testColours >= 0 && count >= 0)) {
  console.error(`usage: words.mjs OUT [OPTIONS]
  --size PIXELS       of a picture's side; default: 128
  --colours N         coloured pictures of each shape, 0 to 10; default: 3
  --test-colours N    pictures of pairs of colour and shape that are held out; default: 500
  --count N           a small set to look at: N concepts and N shapes; 0: all
  --skip SET:NAME,..  icons that the renderer cannot draw
  --packages FOLDER   where the packages were installed; default: here`);
  process.exit(options.help ? 0 : 2);
}

// --- packages -----------------------------------------------------------------------------------

const modules = join(resolve(options.packages), 'node_modules');
const readPackage = (path) => JSON.parse(readFileSync(join(modules, path), 'utf8'));
const { Resvg } = createRequire(join(modules, 'words.js'))('@resvg/resvg-js');

// The word of a style in captions, and its family: sets of a family are one drawing in several finishes.
const styles = {
  'noto': { word: 'shaded', family: 'noto' },
  'noto-v1': { word: 'blob', family: 'noto-v1' },
  'fluent-emoji': { word: 'glossy', family: 'fluent' },
  'fluent-emoji-flat': { word: 'flat', family: 'fluent' },
  'fluent-emoji-high-contrast': { word: 'ink', family: 'fluent', oneColour: true },
  'twemoji': { word: 'bold', family: 'twemoji' },
  'emojione': { word: 'cartoon', family: 'emojione' },
  'emojione-monotone': { word: 'stencil', family: 'emojione', oneColour: true },
  'fxemoji': { word: 'plain', family: 'fxemoji' },
  'streamline-emojis': { word: 'cute', family: 'streamline-emojis' },
};
// Sets that are not drawn, for their share-alike licence; the others' names are found with the help of theirs.
const onlyNames = ['openmoji', 'emojione-v1'];
const icons = 'game-icons'; // shapes besides the emoji of one colour

// The renderer ends the whole process, and no try sees it, at translucent groups outside of the picture.
const broken = new Set([
  'noto:package', 'noto:rainbow-flag', 'noto-v1:ambulance', 'noto-v1:bullet-train', 'noto-v1:cocktail-glass',
  'noto-v1:hot-beverage', 'noto-v1:lady-beetle', 'noto-v1:man-lifting-weights', 'noto-v1:person-lifting-weights',
  'noto-v1:woman-juggling-dark-skin-tone', ...options.skip.split(',').filter(Boolean),
]);
const groups = ['smiley', 'person', 'component', 'animal or plant', 'food', 'travel', 'activity', 'object', 'symbol', 'flag'];
const components = 2; // skin tones and hair, which are no pictures by themselves

const hash = (text) => createHash('sha256').update(text).digest().readUInt32BE(0);
const byHash = (prefix, key) => (a, b) => hash(prefix + key(a)) - hash(prefix + key(b)) || (key(a) < key(b) ? -1 : 1);

// --- which icon is which emoji ------------------------------------------------------------------

// Codes without the selector that only asks for a colourful drawing.
const plainCode = (code) => code.toLowerCase().split('-').filter((part) => part !== 'fe0f').join('-');

// A label as icon sets spell it.
function hyphened(label) {
  const ascii = label.toLowerCase().normalize('NFD').replace(/[\u0300-\u036f’'“”.!,:()]/g, '').replace(/&/g, 'and');
  return ascii.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

// A map in which the first value of a key stays.
class First extends Map {
  add(key, value) {
    if (value !== undefined && !this.has(key)) this.set(key, value);
  }
}

function readEmoji() {
  const byCode = new Map(), byLabel = new First();
  for (const emoji of readPackage('emojibase-data/en/data.json')) {
    byCode.set(plainCode(emoji.hexcode), emoji);
    byLabel.add(hyphened(emoji.label), plainCode(emoji.hexcode));
    for (const toned of emoji.skins ?? []) byCode.set(plainCode(toned.hexcode), { toned: true });
  }
  return { byCode, byLabel };
}

function readSet(name) {
  const file = readPackage(`@iconify-json/${name}/icons.json`);
  const codes = Object.entries(readPackage(`@iconify-json/${name}/chars.json`)).map(([code, icon]) => [icon, plainCode(code)]);
  const own = new First(), aliases = new Map();
  for (const [icon, code] of codes) own.add(icon, code);
  for (const [alias, { parent }] of Object.entries(file.aliases ?? {}))
    aliases.set(parent, [...(aliases.get(parent) ?? []), alias]);
  return { name, file, codes, own, aliases };
}

// Names of all sets together, since a set may lack the code of a name that another one has.
function collectNames(sets, { byLabel }) {
  const names = new First(), joined = new First();
  for (const set of sets) for (const [icon, code] of set.codes) names.add(icon, code);
  for (const set of sets)
    for (const [parent, list] of set.aliases) for (const alias of list) names.add(alias, names.get(parent));
  for (const map of [names, byLabel]) for (const [name, code] of map) joined.add(name.replaceAll('-', ''), code);
  for (const source of ['github', 'joypixels', 'iamcal', 'emojibase'])
    for (const [code, list] of Object.entries(readPackage(`emojibase-data/en/shortcodes/${source}.json`)))
      for (const name of [list].flat()) joined.add(name.replace(/[_-]/g, ''), plainCode(code));
  const find = (name) => {
    const flag = `flag-${name.replace(/^flag-for-/, '')}`;
    return names.get(name) ?? byLabel.get(name) ?? names.get(flag) ?? byLabel.get(flag);
  };
  return { find, joined };
}

function codeOf(set, icon, names) {
  let code = set.own.get(icon) ?? names.find(icon);
  for (const alias of set.aliases.get(icon) ?? []) code ??= names.find(alias);
  // These two spell names in ways of their own.
  if (['fxemoji', 'streamline-emojis'].includes(set.name))
    code ??= names.joined.get(icon.replace(/-\d$/, '').replaceAll('-', ''));
  return code;
}

// Every emoji that a set has: {code, label, group, tags, icons: {SET: icon}}.
function findConcepts(sets, emoji) {
  const names = collectNames(sets, emoji), concepts = new Map();
  for (const set of sets.filter(({ name }) => styles[name]))
    for (const [icon, { hidden }] of Object.entries(set.file.icons)) {
      if (hidden || broken.has(`${set.name}:${icon}`)) continue;
      const code = codeOf(set, icon, names), fact = emoji.byCode.get(code);
      if (!fact || fact.toned || fact.group === undefined || fact.group === components) continue;
      if (!concepts.has(code))
        concepts.set(code, { code, label: fact.label, group: groups[fact.group], tags: fact.tags ?? [], icons: {} });
      concepts.get(code).icons[set.name] ??= icon;
    }
  return [...concepts.values()];
}

// --- splits -------------------------------------------------------------------------------------

const unimportant = new Set(['of', 'with', 'and', 'the', 'a', 'in', 'on', 'to', 'no', 'not', 'for', 'at']);
const wordsOf = (label) =>
  label.toLowerCase().replace(/[^a-z0-9 -]/g, ' ').split(/\s+/).filter((word) => word && !unimportant.has(word));

// test-concept: a label that no style is trained with, each of whose words three others have at least.
function composedLabels(concepts) {
  const labels = new Map();
  for (const { label } of concepts)
    for (const word of new Set(wordsOf(label))) labels.set(word, (labels.get(word) ?? 0) + 1);
  const composed = ({ label }) => wordsOf(label).length > 1 && wordsOf(label).every((word) => labels.get(word) >= 4);
  return new Set(concepts.filter((c) => composed(c) && hash(`concept:${c.label}`) % 4 === 0).map((c) => c.label));
}

// test-family: all sets of a family are held out, and three other families have the concept. test-finish: one set of a
// family is held out, and others of it have the same drawing. val: a twentieth of the rest.
function splitOf(concept, set, composed) {
  if (composed.has(concept.label)) return 'test-concept';
  const sets = Object.keys(concept.icons), family = styles[set].family;
  const families = [...new Set(sets.map((name) => styles[name].family))].sort();
  const siblings = sets.filter((name) => styles[name].family === family).sort();
  if (families.length >= 4 && concept.group !== 'flag') {
    const drawn = hash(`family:${concept.label}`);
    const finish = hash(`finish:${concept.label}${family}`);
    if (drawn % 3 === 0) {
      if (families[(drawn >>> 8) % families.length] === family) return 'test-family';
    } else if (siblings.length > 1 && finish % 4 === 0 && siblings[(finish >>> 8) % siblings.length] === set) {
      return 'test-finish';
    }
  }
  return hash(`val:${concept.label}${set}`) % 20 === 0 ? 'val' : 'train';
}

// --- captions -----------------------------------------------------------------------------------

const palette = {
  red: '#e0201b', orange: '#f58a07', yellow: '#f7d417', green: '#1f9d3a', blue: '#1c5fd4', purple: '#7b2fb5', pink: '#f277b6',
  brown: '#7a4a21', black: '#000000', white: '#ffffff', gray: '#8a8a8a',
};
const namesColour = (name) => wordsOf(name).some((word) => word.split('-').some((part) => part === 'grey' || part in palette));
const spoken = (label) => label.toLowerCase().replace(/^flag: /, 'flag of ');

// "an apple"; names of many things and flags stand without.
function withArticle(name) {
  if (/[^s]s$/.test(name) || name.startsWith('flag of')) return name;
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}

// Ten captions, of which training draws one for each epoch: four with style and name, three with keywords besides, one with
// the style behind, one without a style, one without the name.
function emojiCaptions({ name, style, group, keywords }) {
  const some = (i) => {
    const order = [...keywords].sort(byHash(`${name} ${style} ${i} `, (word) => word));
    return order.slice(0, 1 + (hash(`${name} ${style} ${i}`) % 3)).map((word) => `, ${word}`).join('');
  };
  const full = `${style} emoji of ${name}`, article = `${style} emoji of ${withArticle(name)}`;
  return [
    full, full, article, article, full + some(0), full + some(1), article + some(2), `${name}, ${style} style`,
    `emoji of ${name}`, `${style} emoji, ${group}${some(3)}`,
  ];
}

function colourCaptions({ name, style, colour, ground }) {
  const plain = `${colour} ${name} on ${ground} background`;
  const article = `${withArticle(`${colour} ${name}`)} on ${withArticle(ground)} background`;
  const styled = `${plain}, ${style} style`;
  return [plain, plain, plain, plain, article, article, styled, styled, styled, styled];
}

// --- drawing ------------------------------------------------------------------------------------

const note = join(out, 'rendering'); // the icon in work, for a renderer that ends the process

function draw(file, set, icon, ground = '#ffffff', colour = '#000000') {
  const { body, ...own } = set.icons[icon];
  const { width = 16, height = 16, left = 0, top = 0 } = { ...set, ...own };
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${size}" ` +
    `height="${size}" viewBox="${left} ${top} ${width} ${height}" color="${colour}">${body}</svg>`;
  const path = join(out, file);
  writeSync(noteFile, `${set.prefix}:${icon}`.padEnd(120), 0);
  mkdirSync(dirname(path), { recursive: true });
  const picture = new Resvg(svg, { background: ground, font: { loadSystemFonts: false } }).render();
  writeFileSync(`${path}.part`, picture.asPng());
  renameSync(`${path}.part`, path); // a picture is there whole or not at all
  return picture.pixels;
}

// A picture as 16 x 16 means of its colours, by which near copies are found.
function thumbnail(pixels) {
  const sums = new Float32Array(16 * 16 * 3), numbers = new Float32Array(16 * 16);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const cell = Math.floor((y * 16) / size) * 16 + Math.floor((x * 16) / size);
      numbers[cell]++;
      for (let k = 0; k < 3; k++) sums[cell * 3 + k] += pixels[(y * size + x) * 4 + k];
    }
  return sums.map((sum, i) => sum / Math.max(1, numbers[Math.floor(i / 3)]));
}

// Whether the root of the mean square of differences is below 8.
function isNear(a, b) {
  let left = 64 * a.length;
  for (let i = 0; i < a.length && left > 0; i++) left -= (a[i] - b[i]) ** 2;
  return left > 0;
}

// --- the set ------------------------------------------------------------------------------------

function drawEmoji(concepts, sets, composed) {
  const lines = [], thumbnails = new Map();
  for (const concept of concepts)
    for (const [set, icon] of Object.entries(concept.icons)) {
      const { word: style, family, oneColour } = styles[set];
      const name = spoken(concept.label), file = `${set}/${concept.code}.png`;
      const pixels = draw(file, sets.get(set), icon);
      if (oneColour && namesColour(name)) continue; // black, whatever the name says; drawn for shapes.jsonl
      const keywords = concept.tags.filter((tag) => /^[a-z][a-z -]{2,}$/.test(tag) && !name.includes(tag));
      const line = { file, split: splitOf(concept, set, composed), set, family, style, name, group: concept.group, keywords };
      thumbnails.set(line, thumbnail(pixels));
      lines.push(Object.assign(line, { captions: emojiCaptions(line) }));
    }
  const trained = lines.filter(({ split }) => split === 'train').map((line) => thumbnails.get(line));
  for (const line of lines.filter(({ split }) => split !== 'train'))
    line.near_copy = trained.some((other) => isNear(thumbnails.get(line), other));
  return lines;
}

// {file, set, name, icon, usable}: usable shapes are coloured, unless their drawing is held out.
function drawShapes(concepts, sets, composed) {
  const shapes = [];
  for (const set of Object.keys(styles).filter((name) => styles[name].oneColour))
    for (const concept of concepts.filter((c) => c.icons[set])) {
      const name = spoken(concept.label);
      const usable = concept.group !== 'flag' && splitOf(concept, set, composed) === 'train' && !namesColour(name);
      shapes.push({ file: `${set}/${concept.code}.png`, set, name, icon: concept.icons[set], usable });
    }
  const drawn = Object.keys(sets.get(icons).icons).filter((icon) => !sets.get(icons).icons[icon].hidden);
  drawn.sort(byHash('shape:', (icon) => icon));
  const unseen = new Set([...composed].map(spoken));
  for (const icon of drawn.slice(0, count || drawn.length)) {
    const name = icon.replaceAll('-', ' '), file = `${icons}/${icon}.png`;
    draw(file, sets.get(icons), icon);
    shapes.push({ file, set: icons, name, icon, usable: !namesColour(name) && !unseen.has(name) && !/\d/.test(name) });
  }
  return shapes;
}

// By name, so that no set shows the colour of a name that is held out in another.
const isHeldOut = (name, colour) => hash(`pair:${colour}:${name}`) % 20 === 0;

function drawColoured(shape, colour, split, sets) {
  const { set, name, icon } = shape, style = styles[set]?.word ?? 'icon', family = styles[set]?.family ?? set;
  const grounds = Object.keys(palette).filter((word) => word !== colour);
  const ground = grounds[hash(`ground:${set}:${icon}:${colour}`) % grounds.length];
  const file = `colours/${set}/${shape.file.split('/')[1].replace('.png', '')}-${colour}-${ground}.png`;
  draw(file, sets.get(set), icon, palette[ground], palette[colour]);
  const line = { file, split, set, family, style, name, group: 'shape', keywords: [], shape: shape.file, colour, ground };
  return { ...line, colour_rgb: palette[colour], ground_rgb: palette[ground], captions: colourCaptions(line) };
}

// test-colour: pairs of colour and shape that are never drawn for training.
function drawColours(shapes, sets) {
  const lines = [], held = new First();
  for (const shape of shapes.filter(({ usable }) => usable)) {
    const colours = Object.keys(palette).sort(byHash(`colour:${shape.set}:${shape.icon}:`, (colour) => colour));
    for (const colour of colours.filter((word) => isHeldOut(shape.name, word)))
      held.add(`${shape.name}:${colour}`, { shape, colour });
    for (const colour of colours.filter((word) => !isHeldOut(shape.name, word)).slice(0, coloursEach)) {
      const split = hash(`val:${shape.set}:${shape.icon}:${colour}`) % 40 === 0 ? 'val' : 'train';
      lines.push(drawColoured(shape, colour, split, sets));
    }
  }
  const order = [...held.keys()].sort(byHash('held:', (pair) => pair));
  for (const pair of order.slice(0, testColours)) {
    const { shape, colour } = held.get(pair);
    lines.push(drawColoured(shape, colour, 'test-colour', sets));
  }
  return lines;
}

// --- credits ------------------------------------------------------------------------------------

// What packages do not say of themselves.
const remarks = { fxemoji: 'the source has its drawings under CC-BY-4.0', 'game-icons': 'drawn by Lorc, Delapouite and others' };

function credits() {
  const text = ['# Credits of the pictures\n', 'Icons were drawn as pixels, and those of one colour in other colours.\n'];
  for (const name of [...Object.keys(styles), icons]) {
    const info = readPackage(`@iconify-json/${name}/info.json`), { version } = readPackage(`@iconify-json/${name}/package.json`);
    const author = `${info.author.name}${info.author.url ? ` (${info.author.url})` : ''}`;
    const licence = `${info.license.spdx ?? info.license.title} (${info.license.url ?? info.license.title})`;
    const more = remarks[name] ? `; ${remarks[name]}` : '';
    text.push(`- ${info.name}, by ${author}: ${licence}${more}. Package @iconify-json/${name} ${version}, style ` +
      `"${styles[name]?.word ?? 'icon'}".`);
  }
  const { version } = readPackage('emojibase-data/package.json');
  text.push(`- Names and keywords: emojibase-data ${version}, by Miles Johnson: MIT (https://github.com/milesj/emojibase).`);
  return `${text.join('\n')}\n`;
}

// --- all of it ----------------------------------------------------------------------------------

function write(name, text) {
  writeFileSync(join(out, `${name}.part`), text);
  renameSync(join(out, `${name}.part`), join(out, name));
}

function printCounts(lines) {
  const counts = new Map();
  for (const { split, group } of lines) {
    const key = `${split}${group === 'shape' && split !== 'test-colour' ? ', coloured shapes' : ''}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const [key, number] of counts) console.log(`${key}: ${number}`);
  for (const split of ['val', 'test-family', 'test-finish', 'test-concept'])
    console.log(`${split}, near copies of trained pictures: ${lines.filter((l) => l.split === split && l.near_copy).length}`);
}

mkdirSync(out, { recursive: true });
if (existsSync(note)) {
  console.error(`the last run ended while it drew ${readFileSync(note, 'utf8').trim()}; if it did so by itself, give --skip`);
  rmSync(note);
}
const noteFile = openSync(note, 'w');
const named = [...Object.keys(styles), ...onlyNames].map(readSet);
const sets = new Map(named.map(({ name, file }) => [name, file]));
sets.set(icons, readPackage(`@iconify-json/${icons}/icons.json`));
const concepts = findConcepts(named, readEmoji()), composed = composedLabels(concepts);
const chosen = count ? concepts.sort(byHash('concept:', ({ code }) => code)).slice(0, count) : concepts;
console.log(`${chosen.length} concepts, ${chosen.reduce((sum, c) => sum + Object.keys(c.icons).length, 0)} emoji`);
const emoji = drawEmoji(chosen, sets, composed), shapes = drawShapes(chosen, sets, composed);
const lines = [...emoji, ...drawColours(shapes, sets)];
write('captions.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
write('shapes.jsonl', shapes.map(({ file, set, name }) => `${JSON.stringify({ file, set, name })}\n`).join(''));
write('credits.md', credits());
closeSync(noteFile);
rmSync(note);
printCounts(lines);
console.log(`${shapes.length} shapes of one colour`);
