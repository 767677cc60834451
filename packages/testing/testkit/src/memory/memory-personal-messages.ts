import { type SubscribedSpan, topicKey } from '@parley/domain/channels';
import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  type ConversationBatch,
  HISTORICAL,
  type Message,
  type MessageFilter,
  type MutedSender,
  type PersonalFlags,
  type PersonalMessages,
  type UnreadMessage,
  type UnreadOverview,
  type Viewer,
} from '@parley/domain/messages';
import { matching } from './message-filter.js';
import { messagesOf } from './messages-of.js';
import { closeSpans, findFlags, holdersOf, openSpans, putFlags, receiversOf } from './personal-rows.js';
import { ascending, keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Mutes by `keyOf(user, muted user)`. */
    readonly mutes: Map<string, MutedSender>;
  }
}

interface FlaggedMessage {
  readonly message: Message;
  readonly flags: PersonalFlags;
}

const EVERYTHING: MessageFilter = { conditions: [], scope: 'own' };

export class MemoryPersonalMessages implements PersonalMessages {
  constructor(private readonly unit: MemoryUnit) {}

  async listFlags(viewer: Viewer, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, PersonalFlags>> {
    return new Map(this.ownAmong(viewer, ids).map(({ message, flags }) => [message.id, flags]));
  }

  async listUnread(viewer: Viewer, limit: number, filter?: MessageFilter): Promise<readonly UnreadMessage[]> {
    const unread = this.unread(viewer, filter ?? EVERYTHING);
    return unread.slice(Math.max(0, unread.length - limit)).map(({ message, flags }) => ({
      id: message.id,
      senderId: message.senderId,
      recipientId: message.recipientId,
      channelId: message.channelId,
      topic: message.topic,
      isMentioned: flags.mentioned,
      isWildcardMentioned: flags.channelWildcardMentioned || flags.topicWildcardMentioned,
    }));
  }

  async overviewUnread(viewer: Viewer, limit: number): Promise<UnreadOverview> {
    const everything = this.unread(viewer, EVERYTHING).length;
    const unread = await this.listUnread(viewer, limit);
    const conversations = new Map<string, UnreadMessage[]>();
    for (const message of unread) {
      const key = keyOf(message.recipientId, topicKey(message.topic));
      conversations.set(key, [...(conversations.get(key) ?? []), message]);
    }
    const idsWhere = (isWanted: (message: UnreadMessage) => boolean) => unread.filter(isWanted).map(({ id }) => id);
    return {
      conversations: [...conversations.values()].map((messages) => {
        const { recipientId, channelId, topic } = messages[0]!;
        return { recipientId, channelId, topic, ids: messages.map(({ id }) => id) };
      }),
      mentionedIds: idsWhere(({ isMentioned }) => isMentioned),
      wildcardMentionedIds: idsWhere(({ isWildcardMentioned }) => isWildcardMentioned),
      oldOnesAreMissing: everything > unread.length,
    };
  }

  async findFirstUnread(viewer: Viewer, filter: MessageFilter): Promise<MessageId | null> {
    return this.unread(viewer, filter)[0]?.message.id ?? null;
  }

  async listStarred(viewer: Viewer): Promise<readonly MessageId[]> {
    return this.own(viewer, EVERYTHING)
      .filter(({ flags }) => flags.starred)
      .map(({ message }) => message.id);
  }

  async newestId(viewer: Viewer): Promise<MessageId | null> {
    return this.own(viewer, EVERYTHING).at(-1)?.message.id ?? null;
  }

  async listUnsubscribedChannelIdsWithMessages(viewer: Viewer): Promise<readonly ChannelId[]> {
    const former = new Set<ChannelId>();
    for (const { message } of this.own(viewer, EVERYTHING)) {
      const { channelId, recipientId } = message;
      if (channelId === null) continue;
      if (!receiversOf(this.unit, viewer.realmId, recipientId).has(viewer.userId)) former.add(channelId);
    }
    return [...former].sort(ascending);
  }

  async filterHolders(
    realmId: RealmId,
    ids: readonly MessageId[],
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<MessageId, readonly UserId[]>> {
    return new Map(ids.map((id) => [id, this.holdersAmong(realmId, id, userIds)]));
  }

  async listFlagsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    ids: readonly MessageId[],
  ): Promise<ReadonlyMap<UserId, ReadonlyMap<MessageId, PersonalFlags>>> {
    const flags = new Map<UserId, ReadonlyMap<MessageId, PersonalFlags>>();
    for (const userId of userIds) flags.set(userId, await this.listFlags({ realmId, userId }, ids));
    return flags;
  }

  async filterMuting({ userId }: Viewer, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
    const mutes = this.unit.read('mutes');
    return new Set(userIds.filter((id) => mutes.has(keyOf(id, userId)) || mutes.has(keyOf(userId, id))));
  }

  async listOutsideHolders(
    realmId: RealmId,
    recipientId: RecipientId,
    ids: readonly MessageId[],
    limit: number,
  ): Promise<readonly UserId[]> {
    const subscribers = receiversOf(this.unit, realmId, recipientId);
    const holders = new Set(messagesOf(this.unit, realmId, ids).flatMap(({ id }) => holdersOf(this.unit, id)));
    return [...holders]
      .filter((userId) => !subscribers.has(userId))
      .sort(ascending)
      .slice(0, limit);
  }

  async listSubscribedSpans(
    { realmId, userId }: Viewer,
    channelIds?: readonly ChannelId[],
  ): Promise<readonly SubscribedSpan[]> {
    return [...this.unit.read('spans').values()].flatMap((span) => {
      const recipient = this.unit.read('recipients').get(span.recipientId);
      if (span.userId !== userId || span.realmId !== realmId || recipient?.kind !== 'channel') return [];
      if (channelIds && !channelIds.includes(recipient.channelId)) return [];
      return [{ channelId: recipient.channelId, fromSeq: span.fromSeq, toSeq: span.toSeq }];
    });
  }

  async openSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void> {
    for (const id of recipientIds) openSpans(this.unit, realmId, id, userIds);
  }

  async closeSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void> {
    for (const id of recipientIds) closeSpans(this.unit, realmId, id, userIds);
  }

  async addHistorical(viewer: Viewer, ids: readonly MessageId[]): Promise<void> {
    for (const id of new Set(ids)) {
      const isHere = this.unit.read('messages').get(id)?.realmId === viewer.realmId;
      if (isHere && !findFlags(this.unit, viewer.userId, id)) putFlags(this.unit, viewer.userId, id, HISTORICAL);
    }
  }

  async setRead(viewer: Viewer, ids: readonly MessageId[], read: boolean): Promise<readonly MessageId[]> {
    return this.setOwn(viewer, this.ownAmong(viewer, ids), 'read', read);
  }

  async markRead(
    viewer: Viewer,
    filter: MessageFilter,
    limit = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly MessageId[]> {
    const unread = this.own(viewer, filter).filter(({ flags }) => !flags.read);
    return this.setOwn(viewer, unread.slice(-limit), 'read', true);
  }

  async markAllRead(viewer: Viewer, batch?: ConversationBatch): Promise<RecipientId | null> {
    const own = this.own(viewer, EVERYTHING);
    const recipients = [...new Set(own.map(({ message }) => message.recipientId))].sort((a, b) => a - b);
    const following = batch ? recipients.filter((id) => id > (batch.after ?? 0)) : recipients;
    const marked = following.slice(0, batch?.limit);
    this.setOwn(
      viewer,
      own.filter(({ message }) => marked.includes(message.recipientId)),
      'read',
      true,
    );
    return marked.length < following.length ? marked.at(-1)! : null;
  }

  async setFlag(
    viewer: Viewer,
    ids: readonly MessageId[],
    flag: 'starred' | 'collapsed',
    on: boolean,
  ): Promise<readonly MessageId[]> {
    return this.setOwn(viewer, this.ownAmong(viewer, ids), flag, on);
  }

  async listMutedSenders({ realmId, userId }: Viewer): Promise<readonly MutedSender[]> {
    if (this.unit.read('users').get(userId)?.user.realmId !== realmId) return [];
    const muted = [...this.unit.read('mutes')].filter(([key]) => key.startsWith(`${userId}:`));
    return muted.map(([, sender]) => sender).sort((a, b) => a.mutedAt - b.mutedAt || a.userId - b.userId);
  }

  async muteSender({ userId }: Viewer, senderId: UserId, mutedAt: UnixSeconds): Promise<void> {
    const key = keyOf(userId, senderId);
    if (!this.unit.read('mutes').has(key)) this.unit.change('mutes').set(key, { userId: senderId, mutedAt });
  }

  async unmuteSender(viewer: Viewer, senderId: UserId): Promise<void> {
    this.unit.change('mutes').delete(keyOf(viewer.userId, senderId));
  }

  private holdersAmong(realmId: RealmId, id: MessageId, userIds: readonly UserId[]): readonly UserId[] {
    const former = this.unit.read('formerHolders').get(id);
    if ((former ?? this.unit.read('messages').get(id))?.realmId !== realmId) return [];
    return (former?.userIds ?? holdersOf(this.unit, id)).filter((userId) => userIds.includes(userId));
  }

  private own(viewer: Viewer, filter: MessageFilter): FlaggedMessage[] {
    return matching(this.unit, viewer, filter).flatMap((message) => {
      const flags = findFlags(this.unit, viewer.userId, message.id);
      return flags ? [{ message, flags }] : [];
    });
  }

  private ownAmong(viewer: Viewer, ids: readonly MessageId[]): FlaggedMessage[] {
    const wanted = new Set(ids);
    return this.own(viewer, EVERYTHING).filter(({ message }) => wanted.has(message.id));
  }

  private unread(viewer: Viewer, filter: MessageFilter): FlaggedMessage[] {
    return this.own(viewer, filter).filter(({ flags }) => !flags.read);
  }

  private setOwn(
    { userId }: Viewer,
    own: readonly FlaggedMessage[],
    flag: 'read' | 'starred' | 'collapsed',
    on: boolean,
  ): MessageId[] {
    const changing = own.filter(({ flags }) => flags[flag] !== on);
    for (const { message, flags } of changing) putFlags(this.unit, userId, message.id, { ...flags, [flag]: on });
    return changing.map(({ message }) => message.id);
  }
}
