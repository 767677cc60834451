import type { Actor } from '../access/actor.js';
import { emojiCatalogue } from '../files/custom-emoji.js';
import {
  type Emoji,
  type EmojiCatalogue,
  type EmojiType,
  findEmoji,
  getEmoji,
  isEmojiCode,
  type LoadUnicodeEmoji,
  requireChoosable,
} from '../files/emoji.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, MessageId } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { loadReadable, loadReadableWithFlags } from '../messages/load-access.js';
import { applyParticipation } from './automatic-topic-policies.js';
import { type EmojiKey, publishReaction, requireRoomForReaction } from './reactions.js';

export interface AddReactionInput {
  readonly messageId: MessageId;
  readonly name: string;
  /** Null to derive it from the name. */
  readonly code: string | null;
  /** Null to derive it from the name; `unknown` for an invalid type. */
  readonly type: EmojiType | 'unknown' | null;
}

/** Adds a reaction to a message (messages §12.2). */
export class AddReaction {
  static readonly inject = ['unitOfWork', 'unicodeEmoji', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly unicodeEmoji: LoadUnicodeEmoji,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_MESSAGE, UNKNOWN_EMOJI, UNKNOWN_EMOJI_TYPE, REACTION_ALREADY_EXISTS, EMOJI_NAME_MISMATCH,
   * EMOJI_DEACTIVATED, TOO_MANY_REACTIONS
   */
  execute(caller: Caller, input: AddReactionInput): Promise<void> {
    return this.uow.write(
      caller.realmId,
      async (tx) => {
        const actor = await tx.actors.get(caller);
        const loaded = await loadReadableWithFlags(tx, actor, input.messageId, { modifying: true });
        const { message, isOwn } = loaded;
        const catalogue = await emojiCatalogue(tx, actor.realmId, this.unicodeEmoji, input);
        const emoji = await choose(tx, actor, input, catalogue);
        await tx.reactions.add(actor.realmId, message.id, { ...emoji, userId: actor.id });
        if (!isOwn) await tx.personal.addHistorical({ realmId: actor.realmId, userId: actor.id }, [message.id]);
        await applyParticipation(tx, actor, message, this.clock.now());
        await publishReaction(tx, 'add', actor, loaded, emoji);
      },
      { shared: { kind: 'react', userId: caller.userId } },
    );
  }
}

/** Returns the emoji as in existing reactions, even if it is no longer available. */
async function choose(
  tx: Transaction,
  { realmId, id: userId }: Actor,
  { messageId, name, code, type }: AddReactionInput,
  catalogue: EmojiCatalogue,
): Promise<Emoji> {
  const named = code === null || type === null ? getEmoji(catalogue, name) : null;
  const asked = { type: type ?? named!.type, code: code ?? named!.code };
  if (asked.type === 'unknown') throw new DomainError('UNKNOWN_EMOJI_TYPE', 'Invalid emoji type.');
  const emoji: Emoji = { type: asked.type, code: asked.code, name };
  if (await tx.reactions.find(realmId, messageId, emoji, userId)) {
    throw new DomainError('REACTION_ALREADY_EXISTS', 'Reaction already exists.');
  }
  const present = await tx.reactions.find(realmId, messageId, emoji);
  if (!present) requireChoosable(catalogue, emoji);
  const { reactions, emoji: emojiCount } = await tx.reactions.count(realmId, messageId);
  requireRoomForReaction(reactions, present ? emojiCount : emojiCount + 1);
  return { ...emoji, name: present?.name ?? name };
}

export interface RemoveReactionInput {
  readonly messageId: MessageId;
  /** Null if absent; either the name or the code is required. */
  readonly name: string | null;
  readonly code: string | null;
  /** Null to derive it from the name, or else Unicode; `unknown` for an invalid type. */
  readonly type: EmojiType | 'unknown' | null;
}

/** Removes the caller's reaction even if its emoji no longer exists (messages §12.3). */
export class RemoveReaction {
  static readonly inject = ['unitOfWork', 'unicodeEmoji'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly unicodeEmoji: LoadUnicodeEmoji,
  ) {}

  /** @throws DomainError UNKNOWN_MESSAGE, EMOJI_REQUIRED, UNKNOWN_EMOJI, UNKNOWN_REACTION */
  execute(caller: Caller, input: RemoveReactionInput): Promise<void> {
    return this.uow.write(
      caller.realmId,
      async (tx) => {
        const actor = await tx.actors.get(caller);
        const loaded = await loadReadable(tx, actor, input.messageId, { modifying: true });
        const { realmId, id: userId } = actor;
        const catalogue = await emojiCatalogue(tx, realmId, this.unicodeEmoji, input);
        const asked = toEmojiKey(catalogue, input);
        const reaction = asked && (await tx.reactions.find(realmId, input.messageId, asked, userId));
        if (!reaction) {
          if (!asked || !isEmojiCode(catalogue, asked)) throw new DomainError('UNKNOWN_EMOJI', 'Invalid emoji code.');
          throw new DomainError('UNKNOWN_REACTION', "Reaction doesn't exist.");
        }
        await tx.reactions.remove(realmId, input.messageId, reaction, userId);
        await publishReaction(tx, 'remove', actor, loaded, reaction);
      },
      { shared: { kind: 'react', userId: caller.userId } },
    );
  }
}

/** Returns null for an invalid type. */
function toEmojiKey(catalogue: EmojiCatalogue, { name, code, type }: RemoveReactionInput): EmojiKey | null {
  if (code === null) {
    if (name === null) {
      throw new DomainError('EMOJI_REQUIRED', 'The name or the code of an emoji is needed');
    }
    const named = getEmoji(catalogue, name);
    return type === 'unknown' ? null : { type: type ?? named.type, code: named.code };
  }
  if (type !== null) return type === 'unknown' ? null : { type, code };
  const named = name === null ? null : findEmoji(catalogue, name);
  return { type: named?.code === code ? named.type : 'unicode', code };
}
