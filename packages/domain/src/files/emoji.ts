import { DomainError, declareErrors } from '../kernel/errors.js';
import * as shape from '../kernel/shape.js';

export const EMOJI_ERRORS = declareErrors({
  /** No emoji has this name or code. */
  UNKNOWN_EMOJI: 'unknown',
  /** The emoji type does not exist. */
  UNKNOWN_EMOJI_TYPE: 'unknown',
  /** The emoji exists under another name. */
  EMOJI_NAME_MISMATCH: 'conflict',
  /** The custom emoji is deactivated. */
  EMOJI_DEACTIVATED: 'conflict',
});

type EmojiErrors = typeof EMOJI_ERRORS;

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends EmojiErrors {}
}

/** Emoji types. `extra` is the only emoji that is neither in Unicode nor custom. Codes are unique within a type. */
export const EMOJI_TYPES = ['unicode', 'custom', 'extra'] as const;
export type EmojiType = (typeof EMOJI_TYPES)[number];

/** Emoji as chosen by a user. */
export interface Emoji {
  readonly type: EmojiType;
  /** Hexadecimal code points joined by dashes, a custom emoji's id as text, or the extra emoji's name. */
  readonly code: string;
  /** Chosen name, one of the emoji's current or former names. */
  readonly name: string;
}

/** Reads a code or a name, which may be unknown here and is part of URLs and classes of clients. */
export const emojiWord: shape.Shape<string> = (value, path) => {
  const word = shape.name(value, path);
  if (!/^[\p{L}\p{M}\p{N}_+.-]*$/u.test(word)) throw shape.wrong(path, 'is not an emoji');
  return word;
};

export const emojiShape = shape.object({ type: shape.oneOf(...EMOJI_TYPES), code: emojiWord, name: emojiWord });

/** Unicode emoji shared by all organizations. */
export interface UnicodeEmoji {
  /** Names by code, canonical name first. */
  readonly namesByCode: ReadonlyMap<string, readonly string[]>;
  /** Codes by name, including aliases. */
  readonly codesByName: ReadonlyMap<string, string>;
}

/** Loads the emoji on first use and caches them. */
export type LoadUnicodeEmoji = () => UnicodeEmoji;

/** Properties of a custom emoji for resolving names. */
export interface CustomEmojiName {
  readonly id: number;
  readonly name: string;
  /** True if the emoji can no longer be chosen and its name is free. */
  readonly isDeactivated: boolean;
}

/** Emoji available in an organization. */
export interface EmojiCatalogue {
  readonly unicode: UnicodeEmoji;
  /** Requested custom emoji, including deactivated ones. */
  readonly custom: readonly CustomEmojiName[];
}

/** Code and name of the extra emoji. */
const EXTRA_EMOJI = 'zulip';

/** Returns the emoji that a name currently refers to, or null; custom emoji shadow others (messages §12.1). */
export function findEmoji({ unicode, custom }: EmojiCatalogue, name: string): Emoji | null {
  const own = custom.find((emoji) => emoji.name === name && !emoji.isDeactivated);
  if (own) return { type: 'custom', code: String(own.id), name };
  if (name === EXTRA_EMOJI) return { type: 'extra', code: EXTRA_EMOJI, name };
  const code = unicode.codesByName.get(name);
  return code === undefined ? null : { type: 'unicode', code, name };
}

/** @throws DomainError UNKNOWN_EMOJI if `findEmoji` returns null */
export function getEmoji(catalogue: EmojiCatalogue, name: string): Emoji {
  const emoji = findEmoji(catalogue, name);
  if (!emoji) throw new DomainError('UNKNOWN_EMOJI', `Emoji '${name}' does not exist`);
  return emoji;
}

/** True if the emoji exists or ever existed. */
export function isEmojiCode({ unicode, custom }: EmojiCatalogue, { type, code }: Omit<Emoji, 'name'>): boolean {
  switch (type) {
    case 'unicode':
      return unicode.namesByCode.has(code);
    case 'custom':
      return custom.some(({ id }) => String(id) === code);
    case 'extra':
      return code === EXTRA_EMOJI;
  }
}

/**
 * Requires that the emoji can be chosen by this name (messages §12.2).
 * @throws DomainError UNKNOWN_EMOJI, EMOJI_NAME_MISMATCH, EMOJI_DEACTIVATED
 */
export function requireChoosable({ unicode, custom }: EmojiCatalogue, { type, code, name }: Emoji): void {
  switch (type) {
    case 'custom': {
      const emoji = custom.find(({ id }) => String(id) === code);
      if (!emoji) throw new DomainError('UNKNOWN_EMOJI', 'Invalid custom emoji.');
      if (emoji.name !== name) throw new DomainError('EMOJI_NAME_MISMATCH', 'Invalid custom emoji name.');
      if (emoji.isDeactivated) throw new DomainError('EMOJI_DEACTIVATED', 'This custom emoji has been deactivated.');
      return;
    }
    case 'extra':
      if (code !== EXTRA_EMOJI) throw new DomainError('UNKNOWN_EMOJI', 'Invalid emoji code.');
      if (name !== code) throw new DomainError('EMOJI_NAME_MISMATCH', 'Invalid emoji name.');
      return;
    case 'unicode':
      if (!unicode.namesByCode.has(code)) throw new DomainError('UNKNOWN_EMOJI', 'Invalid emoji code.');
      if (unicode.codesByName.get(name) !== code) throw new DomainError('EMOJI_NAME_MISMATCH', 'Invalid emoji name.');
  }
}
