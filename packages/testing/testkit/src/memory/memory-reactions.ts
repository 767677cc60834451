import type { MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type { EmojiKey, Reaction, ReactionRepository } from '@parley/domain/writing';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Reactions by message, oldest first; never empty. */
    readonly 'reactions of messages': Map<MessageId, readonly Reaction[]>;
  }
}

export class MemoryReactions implements ReactionRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, messageId: MessageId, emoji: EmojiKey, userId?: UserId): Promise<Reaction | null> {
    const found = this.list(realmId, messageId).find(
      (reaction) => isOf(reaction, emoji) && (userId === undefined || reaction.userId === userId),
    );
    return found ?? null;
  }

  async listOfUser(realmId: RealmId, messageIds: readonly MessageId[], userId: UserId) {
    return [...messageIds]
      .sort((a, b) => a - b)
      .flatMap((messageId) => this.list(realmId, messageId).map((reaction) => ({ ...reaction, messageId })))
      .filter((reaction) => reaction.userId === userId);
  }

  async listSomeOfUser(realmId: RealmId, userId: UserId) {
    const messageIds = [...this.unit.read('reactions of messages').keys()];
    return { reactions: await this.listOfUser(realmId, messageIds, userId), next: null };
  }

  async count(realmId: RealmId, messageId: MessageId) {
    const reactions = this.list(realmId, messageId);
    return { reactions: reactions.length, emoji: new Set(reactions.map(({ type, code }) => `${type} ${code}`)).size };
  }

  async add(realmId: RealmId, messageId: MessageId, reaction: Reaction): Promise<void> {
    this.put(messageId, [...this.list(realmId, messageId), reaction]);
  }

  async remove(realmId: RealmId, messageId: MessageId, emoji: EmojiKey, userId: UserId): Promise<void> {
    const reactions = this.list(realmId, messageId);
    const kept = reactions.filter((reaction) => !isOf(reaction, emoji) || reaction.userId !== userId);
    if (kept.length < reactions.length) this.put(messageId, kept);
  }

  private list(realmId: RealmId, messageId: MessageId): readonly Reaction[] {
    const isHere = this.unit.read('messages').get(messageId)?.realmId === realmId;
    return (isHere && this.unit.read('reactions of messages').get(messageId)) || [];
  }

  private put(messageId: MessageId, reactions: readonly Reaction[]): void {
    if (reactions.length > 0) this.unit.change('reactions of messages').set(messageId, reactions);
    else this.unit.change('reactions of messages').delete(messageId);
    const message = this.unit.read('messages').get(messageId)!;
    const renewed = { ...message, version: message.version + 1, hasReactions: reactions.length > 0 };
    this.unit.change('messages').set(messageId, renewed);
  }
}

const isOf = (reaction: Reaction, { type, code }: EmojiKey): boolean =>
  reaction.type === type && reaction.code === code;
