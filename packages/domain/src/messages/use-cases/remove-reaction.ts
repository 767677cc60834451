import { emojiCatalogue } from '../../files/custom-emoji.js';
import {
  type EmojiCatalogue,
  type EmojiType,
  findEmoji,
  getEmoji,
  isEmojiCode,
  type LoadUnicodeEmoji,
} from '../../files/emoji.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { MessageId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { loadReadable } from '../load-access.js';
import type { EmojiKey } from '../reaction.js';
import { publishReaction } from '../reaction-events.js';

export interface RemoveReactionInput {
  readonly messageId: MessageId;
  /** Name and code: null where not given; one of them has to be. */
  readonly name: string | null;
  readonly code: string | null;
  /** Null: that of the emoji of this name, else a Unicode one; `unknown`: something that is no type. */
  readonly type: EmojiType | 'unknown' | null;
}

/** Takes a reaction of one's own back, whatever became of its emoji (messages §12.3). */
export class RemoveReaction {
  static readonly inject = ['unitOfWork', 'unicodeEmoji'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly unicodeEmoji: LoadUnicodeEmoji,
  ) {}

  /** @throws DomainError UNKNOWN_MESSAGE, EMOJI_REQUIRED, UNKNOWN_EMOJI, UNKNOWN_REACTION */
  execute(caller: Caller, input: RemoveReactionInput): Promise<void> {
    return this.uow.write(async (tx) => {
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
    });
  }
}

/** Null: of a type that there is none of. */
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
