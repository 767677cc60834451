import type { ReceiverRequest } from '../kernel/delivery.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { EventNeeds, Receiver } from '../kernel/event-log.js';
import type { CustomEmojiId, RealmId, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import type { CustomEmojiName, EmojiCatalogue, LoadUnicodeEmoji } from './emoji.js';
import { type ImageInfo, type ImageTarget, MAX_FRAMES } from './images.js';
import type { Picture } from './pictures.js';

/** An emoji of an organization's own (organization §7). Of its pictures, the still one is there where it is animated. */
export interface CustomEmoji extends CustomEmojiName {
  readonly id: CustomEmojiId;
  readonly realmId: RealmId;
  /** Null where none is recorded. */
  readonly authorId: UserId | null;
  readonly format: Picture['format'];
  readonly isAnimated: boolean;
}

export type NewCustomEmoji = Omit<CustomEmoji, 'id' | 'isDeactivated'>;

/** In pixels, as wide as high. */
export const EMOJI_SIZE = 64;
/** Of an organization, deactivated ones too, since clients get all of them. */
export const MAX_CUSTOM_EMOJI = 5000;

/** Of what moves, a still picture too. */
export function emojiTargets({ format, frames }: ImageInfo): readonly ImageTarget[] {
  const square = { width: EMOJI_SIZE, height: EMOJI_SIZE, fit: 'contain' } as const;
  const still: ImageTarget = { ...square, format: 'png', maxFrames: 1 };
  if (frames === 1) return [still];
  return [{ ...square, format: format === 'gif' ? 'gif' : 'webp', maxFrames: MAX_FRAMES }, still];
}

/**
 * What an emoji is called, of what somebody typed.
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

/** Where the picture is, counted from the realm's own address (organization §7). */
export const emojiPath = ({ realmId, id, format }: Pick<CustomEmoji, 'realmId' | 'id' | 'format'>): string =>
  `/user_avatars/${realmId}/emoji/images/${id}.${format}`;

/** Likewise the one that does not move; null: there is no other one. */
export const stillEmojiPath = ({ realmId, id, isAnimated }: CustomEmoji): string | null =>
  isAnimated ? `/user_avatars/${realmId}/emoji/images/still/${id}.png` : null;

/** What a name, or a code, can stand for. */
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

export interface CustomEmojiReads {
  /** Deactivated ones too. */
  find(realmId: RealmId, id: CustomEmojiId): Promise<CustomEmoji | null>;
  /** Those that can be chosen by these names; ascending id. */
  listByName(realmId: RealmId, names: readonly string[]): Promise<readonly CustomEmoji[]>;
  /** Deactivated ones too; ascending id. */
  list(realmId: RealmId): Promise<readonly CustomEmoji[]>;
  /** Deactivated ones too. */
  count(realmId: RealmId): Promise<number>;
}

/** Every implementation passes custom-emoji-repository.contract.ts. */
export interface CustomEmojiRepository extends CustomEmojiReads {
  /** @throws DomainError CUSTOM_EMOJI_EXISTS where one can be chosen by this name. */
  add(emoji: NewCustomEmoji): Promise<CustomEmoji>;
  deactivate(realmId: RealmId, id: CustomEmojiId): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    customEmoji: [reads: CustomEmojiReads, repository: CustomEmojiRepository];
  }
}

export const CUSTOM_EMOJI_ERRORS = declareErrors({
  EMOJI_NAME_MISSING: 'invalid',
  INVALID_EMOJI_NAME: 'invalid',
  CUSTOM_EMOJI_EXISTS: 'conflict',
  UNKNOWN_CUSTOM_EMOJI: 'unknown',
  TOO_MANY_CUSTOM_EMOJI: 'conflict',
});

type CustomEmojiErrors = typeof CUSTOM_EMOJI_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends CustomEmojiErrors {}
}

/** To everybody (organization §7). */
export interface CustomEmojiEventTypes {
  'custom_emoji.added': { readonly emoji: CustomEmoji };
  'custom_emoji.deactivated': { readonly id: CustomEmojiId };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends CustomEmojiEventTypes {}
}

export const CUSTOM_EMOJI_FEATURE = {
  eventFormats: {
    'custom_emoji.added': 1,
    'custom_emoji.deactivated': 1,
  },
} satisfies FeatureParts<CustomEmojiEventTypes>;

declare module '../kernel/event-log.js' {
  interface Receiver {
    /** All of the realm, where the event needs them. */
    readonly customEmoji: readonly CustomEmoji[];
  }
  interface EventNeeds {
    /** Some clients get all emoji, whatever changed: too many to be in the event. */
    readonly customEmoji?: true;
  }
}

type CustomEmojiReceiver = Pick<Receiver, 'customEmoji'>;

const NONE: CustomEmojiReceiver = { customEmoji: [] };

export const customEmojiReceiver = (): CustomEmojiReceiver => NONE;

export const needsCustomEmoji = ({ customEmoji }: EventNeeds): boolean => customEmoji === true;

/** In the order of the requests; the same list for all of them. */
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
