import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { LANGUAGES } from './src/kit/languages.js';

const DATA = join(import.meta.dirname, 'src/kit/emoji-data.ts');
const WORDS = '\0emoji-words/';
const FONTS = '/noto-color-emoji/index.css';
const { resolve } = createRequire(import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(resolve(file), 'utf8'));

/** Fills in `src/kit/emoji-data.ts` with data of Unicode and CLDR, and renames the emoji font. */
export const emojiData: Plugin = {
  name: 'emoji-data',
  enforce: 'pre',
  resolveId: (id) => (id.startsWith(WORDS) ? id : null),
  load(id) {
    if (id === DATA) {
      const loaders = LANGUAGES.map((each) => `'${each}': () => import(${JSON.stringify(WORDS + each)})`);
      return `${categories()} export const WORDS = {${loaders.join()}};`;
    }
    // Large texts are parsed faster as JSON.
    return id.startsWith(WORDS)
      ? `export default JSON.parse(${JSON.stringify(JSON.stringify(wordsIn(id.slice(WORDS.length))))})`
      : null;
  },
  // Pages may use an installed font of the same name.
  transform: (code, id) => (id.endsWith(FONTS) ? code.replaceAll("'Noto Color Emoji'", "'Parley Noto Emoji'") : null),
};

function categories(): string {
  const groups: readonly { readonly emojis: readonly Pictograph[] }[] = read('unicode-emoji-json/data-by-group.json');
  const codes = (list: readonly Pictograph[]) => `'${list.map(({ emoji }) => codeOf(emoji)).join(' ')}'.split(' ')`;
  const toned = groups.flatMap(({ emojis }) => emojis.filter((each) => each.skin_tone_support));
  const lists = groups.map(({ emojis }) => codes(emojis));
  return `export const GROUPS = [${lists.join()}]; export const TONED = ${codes(toned)};`;
}

interface Pictograph {
  readonly emoji: string;
  readonly skin_tone_support: boolean;
}

/** Names and keywords by emoji code, the name first. */
function wordsIn(language: string): Readonly<Record<string, readonly string[]>> {
  const { annotations }: { annotations: Readonly<Record<string, Annotation>> } = read(
    `cldr-annotations-full/annotations/${language.split('-')[0]}/annotations.json`,
  ).annotations;
  const words = Object.entries(annotations).map(([emoji, { tts, default: keywords = [] }]) => {
    const name = tts?.[0] ?? '';
    // Searches find each word of the name.
    const known = [name, ...name.split(' ')].map((word) => word.toLowerCase());
    return [codeOf(emoji), [name, ...keywords.filter((word) => !known.includes(word.toLowerCase()))]] as const;
  });
  return Object.fromEntries(words);
}

interface Annotation {
  /** Name as read aloud. */
  readonly tts?: readonly string[];
  readonly default?: readonly string[];
}

/** Zulip's code of an emoji, which lacks variation selectors. */
const codeOf = (emoji: string): string =>
  [...emoji]
    .map((character) => character.codePointAt(0)!.toString(16).padStart(4, '0'))
    .filter((code) => code !== 'fe0f')
    .join('-');
