import { DomainError, declareErrors } from '../kernel/errors.js';

export const EMOJI_ERRORS = declareErrors({
  UNKNOWN_EMOJI: 'unknown',
  UNKNOWN_EMOJI_TYPE: 'unknown',
  /** The emoji exists, but not by this name. */
  EMOJI_NAME_MISMATCH: 'conflict',
  EMOJI_DEACTIVATED: 'conflict',
});

type EmojiErrors = typeof EMOJI_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends EmojiErrors {}
}

/** `extra`: the one emoji that is neither in Unicode nor the organization's own. Codes are unique within a type. */
export const EMOJI_TYPES = ['unicode', 'custom', 'extra'] as const;
export type EmojiType = (typeof EMOJI_TYPES)[number];

/** An emoji as somebody chose it. */
export interface Emoji {
  readonly type: EmojiType;
  /** Code points in hex joined by dashes; a custom emoji's id as text; the extra emoji's name. */
  readonly code: string;
  /** The one it was chosen by, of those it has or had. */
  readonly name: string;
}

/** The emoji that every organization has. */
export interface UnicodeEmoji {
  /** Names by code, the canonical one first. */
  readonly namesByCode: ReadonlyMap<string, readonly string[]>;
  /** Codes by name, aliases included. */
  readonly codesByName: ReadonlyMap<string, string>;
}

/** Made when it is first asked for, and kept. */
export type LoadUnicodeEmoji = () => UnicodeEmoji;

/** What of an organization's own emoji decides who is meant by a name. */
export interface CustomEmojiName {
  readonly id: number;
  readonly name: string;
  /** Cannot be chosen any more, and leaves its name to others. */
  readonly isDeactivated: boolean;
}

/** Emoji of an organization. */
export interface EmojiCatalogue {
  readonly unicode: UnicodeEmoji;
  /** Of those asked for; deactivated ones too. */
  readonly custom: readonly CustomEmojiName[];
}

/** Code and name of the extra emoji. */
const EXTRA_EMOJI = 'zulip';

/** What a name stands for now; custom emoji take names from others (messages §12.1). Null: nothing. */
export function findEmoji({ unicode, custom }: EmojiCatalogue, name: string): Emoji | null {
  const own = custom.find((emoji) => emoji.name === name && !emoji.isDeactivated);
  if (own) return { type: 'custom', code: String(own.id), name };
  if (name === EXTRA_EMOJI) return { type: 'extra', code: EXTRA_EMOJI, name };
  const code = unicode.codesByName.get(name);
  return code === undefined ? null : { type: 'unicode', code, name };
}

/** @throws DomainError UNKNOWN_EMOJI where `findEmoji` answers null. */
export function getEmoji(catalogue: EmojiCatalogue, name: string): Emoji {
  const emoji = findEmoji(catalogue, name);
  if (!emoji) throw new DomainError('UNKNOWN_EMOJI', `Emoji '${name}' does not exist`);
  return emoji;
}

/** Whether there is or was such an emoji. */
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
 * Whether an emoji can be chosen as it is named (messages §12.2).
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
