import type { UnicodeEmoji } from '@parley/domain/files';
import { lazily } from '../characters.js';
import { EMOJI_NAMES } from './emoji-names.js';

/** Emoji available in every realm. */
export const unicodeEmoji = lazily((): UnicodeEmoji => {
  const namesByCode = new Map<string, readonly string[]>();
  const codesByName = new Map<string, string>();
  for (const entry of EMOJI_NAMES.trim().split(/,\s*/)) {
    const [code, ...names] = entry.split(' ') as [string, ...string[]];
    namesByCode.set(code, names);
    for (const name of names) codesByName.set(name, code);
  }
  return { namesByCode, codesByName };
});

/** Returns code points in hexadecimal, without the variation selector. */
export function codeOf(sequence: string): string {
  return [...sequence]
    .map((character) => character.codePointAt(0)!.toString(16).padStart(4, '0'))
    .filter((code) => code !== 'fe0f')
    .join('-');
}
