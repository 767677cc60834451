import type { ReceiverRequest } from '../kernel/delivery.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { EventNeeds, Receiver } from '../kernel/feature-types.js';
import type { CustomEmojiId, RealmId, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import type { CustomEmojiName, EmojiCatalogue, LoadUnicodeEmoji } from './emoji.js';
import { type ImageInfo, type ImageTarget, MAX_FRAMES } from './images.js';
import type { Picture } from './pictures.js';

/** Custom emoji of an organization (organization §7). An animated one also has a still picture. */
export interface CustomEmoji extends CustomEmojiName {
  readonly id: CustomEmojiId;
  readonly realmId: RealmId;
  /** Null if no author is recorded. */
  readonly authorId: UserId | null;
  readonly format: Picture['format'];
  readonly isAnimated: boolean;
}

/** Width and height in pixels. */
export const EMOJI_SIZE = 64;
/** Limit per organization, including deactivated emoji, because clients receive all of them. */
export const MAX_CUSTOM_EMOJI = 5000;

/** Returns the pictures to make; animations also get a still picture. */
export function emojiTargets({ format, frames }: ImageInfo): readonly ImageTarget[] {
  const square = { width: EMOJI_SIZE, height: EMOJI_SIZE, fit: 'contain' } as const;
  const still: ImageTarget = { ...square, format: 'png', maxFrames: 1 };
  if (frames === 1) return [still];
  return [{ ...square, format: format === 'gif' ? 'gif' : 'webp', maxFrames: MAX_FRAMES }, still];
}

/**
 * Normalizes a typed emoji name.
 * @throws DomainError EMOJI_NAME_MISSING, INVALID_EMOJI_NAME
 */
export function parseEmojiName(raw: string): string {
  const name = raw.trim().replaceAll(' ', '_');
  if (name === '') throw new DomainError('EMOJI_NAME_MISSING', 'Emoji name is missing');
  if (!/^[0-9a-z_-]+$/.test(name)) {
    throw new DomainError(
      'INVALID_EMOJI_NAME',
      'Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores.',
    );
  }
  if (/[_-]$/.test(name)) {
    throw new DomainError('INVALID_EMOJI_NAME', 'Emoji names must end with either a letter or digit.');
  }
  return name;
}

/** @throws DomainError TOO_MANY_CUSTOM_EMOJI */
export function requireRoomForEmoji(count: number): void {
  if (count < MAX_CUSTOM_EMOJI) return;
  throw new DomainError('TOO_MANY_CUSTOM_EMOJI', `Too many custom emoji (limit: ${MAX_CUSTOM_EMOJI}).`);
}

export const emojiExists = (): DomainError =>
  new DomainError('CUSTOM_EMOJI_EXISTS', 'A custom emoji with this name already exists.');

/** Path of the picture, relative to the realm's address (organization §7). */
export const emojiPath = ({ realmId, id, format }: Pick<CustomEmoji, 'realmId' | 'id' | 'format'>): string =>
  `/user_avatars/${realmId}/emoji/images/${id}.${format}`;

/** Path of the still picture; null if the emoji is not animated. */
export const stillEmojiPath = ({ realmId, id, isAnimated }: CustomEmoji): string | null =>
  isAnimated ? `/user_avatars/${realmId}/emoji/images/still/${id}.png` : null;

/** Loads the emoji that names and codes can refer to. */
export async function emojiCatalogue(
  { customEmoji }: Pick<Repositories, 'customEmoji'>,
  realmId: RealmId,
  unicode: LoadUnicodeEmoji,
  { name, code }: { readonly name: string | null; readonly code: string | null },
): Promise<EmojiCatalogue> {
  const named = name === null ? [] : await customEmoji.listByName(realmId, [name]);
  const id = code !== null && /^[1-9]\d{0,14}$/.test(code) ? (Number(code) as CustomEmojiId) : null;
  const coded = id === null ? null : await customEmoji.find(realmId, id);
  return { unicode: unicode(), custom: coded ? [...named, coded] : named };
}

export interface CustomEmojiReads extends RealmRowReads<CustomEmoji> {
  /** Returns the active emoji with these names, by ascending id. */
  listByName(realmId: RealmId, names: readonly string[]): Promise<readonly CustomEmoji[]>;
}

/** Lists include deactivated emoji. Every implementation passes custom-emoji-repository.contract.ts. */
export interface CustomEmojiRepository extends CustomEmojiReads, RealmRows<CustomEmoji> {}

export const CUSTOM_EMOJI_ROWS: RowRules<CustomEmoji> = {
  kind: 'customEmoji',
  owner: 'realm',
  order: ['id'],
  unique: { property: 'name', unless: 'isDeactivated', taken: emojiExists },
};

export const CUSTOM_EMOJI_ERRORS = declareErrors({
  /** The emoji's name is blank. */
  EMOJI_NAME_MISSING: 'invalid',
  /** The name contains forbidden characters. */
  INVALID_EMOJI_NAME: 'invalid',
  /** The organization has an emoji with this name. */
  CUSTOM_EMOJI_EXISTS: 'conflict',
  /** The organization has no active emoji with this name. */
  UNKNOWN_CUSTOM_EMOJI: 'unknown',
  /** The organization has too many emoji, including deactivated ones. */
  TOO_MANY_CUSTOM_EMOJI: 'conflict',
});

type CustomEmojiErrors = typeof CUSTOM_EMOJI_ERRORS;

/** Sent to the whole realm (organization §7). */
export interface CustomEmojiEventTypes {
  'custom_emoji.added': { readonly emoji: CustomEmoji };
  'custom_emoji.deactivated': { readonly id: CustomEmojiId };
}

export const CUSTOM_EMOJI_FEATURE = {
  eventFormats: {
    'custom_emoji.added': 1,
    'custom_emoji.deactivated': 1,
  },
  rows: { customEmoji: CUSTOM_EMOJI_ROWS },
} satisfies FeatureParts<CustomEmojiEventTypes>;

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    customEmoji: [reads: CustomEmojiReads, repository: CustomEmojiRepository];
  }
  interface ErrorCodes extends CustomEmojiErrors {}
  interface DomainEventTypes extends CustomEmojiEventTypes {}
  interface Receiver {
    /** All custom emoji of the realm, if the event needs them. */
    readonly customEmoji: readonly CustomEmoji[];
  }
  interface EventNeeds {
    /** True if clients need the complete list of emoji, which is too long for the event. */
    readonly customEmoji?: true;
  }
}

type CustomEmojiReceiver = Pick<Receiver, 'customEmoji'>;

const NONE: CustomEmojiReceiver = { customEmoji: [] };

export const customEmojiReceiver = (): CustomEmojiReceiver => NONE;

export const needsCustomEmoji = ({ customEmoji }: EventNeeds): boolean => customEmoji === true;

/** Loads receivers in request order, with one shared list. */
export async function loadCustomEmojiReceivers(
  { customEmoji }: Repositories,
  realmId: RealmId,
  requests: readonly ReceiverRequest[],
): Promise<readonly CustomEmojiReceiver[]> {
  if (!requests.some(({ needs }) => needsCustomEmoji(needs))) return requests.map(customEmojiReceiver);
  const all: CustomEmojiReceiver = { customEmoji: await customEmoji.list(realmId) };
  return requests.map(({ needs }) => (needsCustomEmoji(needs) ? all : NONE));
}

export const loadCustomEmoji = ({ caller, repositories }: Snapshot): Promise<readonly CustomEmoji[]> =>
  repositories.customEmoji.list(caller.realmId);
