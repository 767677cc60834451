import { mustBeAdministrator, mustBeHuman } from '../access/actor.js';
import { emojiCatalogue } from '../files/custom-emoji.js';
import {
  type Emoji,
  type EmojiCatalogue,
  type EmojiType,
  getEmoji,
  type LoadUnicodeEmoji,
  requireChoosable,
} from '../files/emoji.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import { settingChanges } from '../kernel/settings.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { USER_SETTINGS } from '../realms/user-settings.js';
import { conversationPartnerIds } from './accessible-users.js';
import type { PresencePolicy } from './presence.js';
import { NO_STATUS, type ShownStatus, type StatusChange, shownStatus, storeStatusChange } from './statuses.js';
import { canAccessUser, canAdministerUser } from './user-permissions.js';
import { applySettings } from './user-settings.use-cases.js';

/** Returns a user's status (users §7). */
export class GetStatus {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED */
  execute(caller: Caller, { userId }: { readonly userId: UserId }): Promise<ShownStatus> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const viewer = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      const user = await repositories.users.find(realm.id, userId);
      const sharesConversation = (await conversationPartnerIds(repositories, viewer, realm)).has(userId);
      enforce(canAccessUser(viewer, user, { realm, sharesConversation }));
      return shownStatus((await repositories.statuses.find(realm.id, userId)) ?? NO_STATUS, user!);
    });
  }
}

/** Null fields are unchanged. */
export interface ChangeStatusInput {
  /** Trimmed text of at most MAX_STATUS_TEXT_LENGTH; empty removes it. */
  readonly text: string | null;
  /** Empty removes the emoji. */
  readonly emojiName: string | null;
  readonly emojiCode: string | null;
  /** `unknown`: an invalid type. */
  readonly emojiType: EmojiType | 'unknown' | null;
}

export interface ChangeOwnStatusInput extends ChangeStatusInput {
  /** Inverse of the setting for presence visibility. */
  readonly isAway: boolean | null;
}

/** Changes the caller's status (users §7). */
export class ChangeOwnStatus {
  static readonly inject = ['unitOfWork', 'unicodeEmoji', 'clock', 'presencePolicy'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly unicodeEmoji: LoadUnicodeEmoji,
    private readonly clock: Clock,
    private readonly presencePolicy: PresencePolicy,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_BOT, STATUS_CHANGE_REQUIRED, EMOJI_NAME_REQUIRED, UNKNOWN_EMOJI, UNKNOWN_EMOJI_TYPE,
   * EMOJI_NAME_MISMATCH, EMOJI_DEACTIVATED
   */
  execute(caller: Caller, { isAway, ...input }: ChangeOwnStatusInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { id, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeHuman({ isBot }));
      const change = readChange(input, isAway, await catalogueFor(tx, realmId, this.unicodeEmoji, input));
      const user = await tx.users.get(realmId, id);
      if (isAway !== null) {
        const wanted = { presenceEnabled: !isAway };
        await applySettings(tx, user, settingChanges(USER_SETTINGS, user.settings, wanted), {
          now: this.clock.now(),
          presencePolicy: this.presencePolicy,
        });
      }
      await storeStatusChange(tx, user, change);
    });
  }
}

/** Changes another user's status as an administrator (users §7). */
export class ChangeStatus {
  static readonly inject = ['unitOfWork', 'unicodeEmoji'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly unicodeEmoji: LoadUnicodeEmoji,
  ) {}

  /**
   * @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_USER, NAMED_USER_DEACTIVATED, STATUS_CHANGE_REQUIRED,
   * EMOJI_NAME_REQUIRED, UNKNOWN_EMOJI, UNKNOWN_EMOJI_TYPE, EMOJI_NAME_MISMATCH, EMOJI_DEACTIVATED
   */
  execute(caller: Caller, { userId, ...input }: ChangeStatusInput & { readonly userId: UserId }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustBeAdministrator(actor));
      const user = await tx.users.find(actor.realmId, userId);
      enforce(canAdministerUser(actor, user));
      const catalogue = await catalogueFor(tx, actor.realmId, this.unicodeEmoji, input);
      await storeStatusChange(tx, user!, readChange(input, null, catalogue));
    });
  }
}

const catalogueFor = (
  tx: Transaction,
  realmId: RealmId,
  unicodeEmoji: LoadUnicodeEmoji,
  { emojiName: name, emojiCode: code }: ChangeStatusInput,
): Promise<EmojiCatalogue> => emojiCatalogue(tx, realmId, unicodeEmoji, { name, code });

function readChange(input: ChangeStatusInput, isAway: boolean | null, catalogue: EmojiCatalogue): StatusChange {
  const { text, emojiName, emojiCode, emojiType } = input;
  if (isAway === null && text === null && emojiName === null) {
    throw new DomainError('STATUS_CHANGE_REQUIRED', 'Client did not pass any new values.');
  }
  if (emojiName === null && (emojiCode !== null || emojiType !== null)) {
    throw new DomainError('EMOJI_NAME_REQUIRED', 'An emoji is given without its name.');
  }
  return {
    ...(isAway !== null && { isAway }),
    ...(text !== null && { text }),
    ...(emojiName !== null && { emoji: emojiName === '' ? null : choose(catalogue, { ...input, emojiName }) }),
  };
}

function choose(
  catalogue: EmojiCatalogue,
  { emojiName: name, emojiCode, emojiType }: ChangeStatusInput & { readonly emojiName: string },
): Emoji {
  const named = emojiCode === null || emojiType === null ? getEmoji(catalogue, name) : null;
  const type = emojiType ?? named!.type;
  if (type === 'unknown') throw new DomainError('UNKNOWN_EMOJI_TYPE', 'Invalid emoji type.');
  const emoji = { type, code: emojiCode ?? named!.code, name };
  requireChoosable(catalogue, emoji);
  return emoji;
}
