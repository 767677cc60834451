#!/usr/bin/env node
// Writes src/kit/emoji-categories.json by Unicode, and names and keywords by CLDR to src/kit/emoji-words. Run after an update of
// unicode-emoji-json or cldr-annotations-full, which are tools of packages/testing, and for a new language.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');
const kit = join(web, 'src/kit');
const tools = join(web, '../../testing/node_modules');
const read = (file) => JSON.parse(readFileSync(join(tools, file), 'utf8'));

const groups = read('unicode-emoji-json/data-by-group.json').map(({ emojis }) => emojis);
const codes = (list) => list.map(({ emoji }) => codeOf(emoji)).join(' ');
write('emoji-categories', {
  groups: groups.map(codes),
  toned: codes(groups.flat().filter((each) => each.skin_tone_support)),
});
for (const name of readdirSync(join(web, 'src/app/texts'))) {
  const language = name.replace(/\.po$/, '');
  write(`emoji-words/${language}`, wordsIn(language));
}
writeLicence('unicode-emoji-json');
writeLicence('cldr-annotations-full');

/** Names and keywords by emoji code, the name first. */
function wordsIn(language) {
  const file = `cldr-annotations-full/annotations/${language.split('-')[0]}/annotations.json`;
  const { annotations } = read(file).annotations;
  const words = Object.entries(annotations).map(([emoji, { tts, default: keywords = [] }]) => {
    // Name as read aloud.
    const name = tts?.[0] ?? '';
    // Searches find each word of the name.
    const known = [name, ...name.split(' ')].map((word) => word.toLowerCase());
    return [codeOf(emoji), [name, ...keywords.filter((word) => !known.includes(word.toLowerCase()))]];
  });
  return Object.fromEntries(words);
}

/** Zulip's code of an emoji, which lacks variation selectors. */
function codeOf(emoji) {
  return [...emoji]
    .map((character) => character.codePointAt(0).toString(16).padStart(4, '0'))
    .filter((code) => code !== 'fe0f')
    .join('-');
}

function write(name, content) {
  writeFileSync(join(kit, `${name}.json`), `${JSON.stringify(content)}\n`);
}

function writeLicence(name) {
  const { version } = read(`${name}/package.json`);
  const file = readdirSync(join(tools, name)).find((each) => /^licen[cs]e/i.test(each));
  const text = readFileSync(join(tools, name, file), 'utf8').trim();
  writeFileSync(join(web, 'licences', `${name}.txt`), `${name} ${version}\n\n${text}\n`);
}
