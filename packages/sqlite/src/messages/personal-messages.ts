import type { SubscribedSpan } from '@parley/domain/channels';
import {
  type ChannelId,
  type EventSeq,
  type MessageId,
  type Ordinal,
  type RealmId,
  type RecipientId,
  slicesOf,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import {
  type ConversationBatch,
  type MessageFilter,
  type MutedSender,
  ownershipOf,
  type PersonalFlags,
  type PersonalMessages,
  type ReadSegment,
  type UnreadMessage,
  type UnreadOverview,
  type Viewer,
} from '@parley/domain/messages';
import {
  ascending,
  conversationsIn,
  idOf,
  jsonList,
  type MessageIndexRow,
  OWNERSHIP_SOURCES,
  type OwnershipSource,
  type Reader,
  type RecipientOrdinalRange,
  toFlag,
  type ViewerMessageState,
} from '@parley/storage';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { EVERYTHING, narrowingTo, toNarrowing, wholeSeriesOf } from './message-filter.js';
import { MessageSeries } from './message-series.js';
import { Spans, UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { TopicUnread } from './topics.js';
import { UnreadMessages } from './unread-messages.js';
import { UnreadOverviews } from './unread-overview.js';
import { MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

/** Rows changed per statement before yielding. */
const IDS_AT_A_TIME = 1000;
const EVER = { direction: 'older', first: 0, last: Number.MAX_SAFE_INTEGER } as const;

export class SqlitePersonalMessages implements PersonalMessages {
  private readonly states: ViewerMessageStates;
  private readonly receivedPages: ReceivedMessagePages;
  private readonly incomplete: UnreadSpans;
  private readonly unread: UnreadMessages;
  private readonly overviews: UnreadOverviews;
  private readonly conversations: TopicUnread;
  private readonly spans: Spans;
  private readonly indexRowsById: MessageIndexRowsById;

  private readonly starred;
  private readonly leftRecipients;
  private readonly historicalChannels;
  private readonly sentRows;
  private readonly markedHolders;
  private readonly muting;
  private readonly muted;
  private readonly outsideHolders;
  private readonly subscribedSpans;

  private readonly insertAdopted;
  private readonly setReadMark;
  private readonly setFlagMark;
  private readonly dropIdle;
  private readonly readAllMarked;
  private readonly mute;
  private readonly mutedSenders;
  private readonly unmute;

  constructor(private readonly connection: Connection) {
    this.states = new ViewerMessageStates(connection);
    this.receivedPages = new ReceivedMessagePages(connection, this.states, new MessageSeries(connection));
    this.incomplete = new UnreadSpans(connection);
    this.unread = new UnreadMessages(connection, this.states, this.incomplete);
    this.overviews = new UnreadOverviews(connection, this.states, this.incomplete, this.unread);
    this.conversations = new TopicUnread(connection, this.states.readSets, this.incomplete);
    this.spans = new Spans(connection);
    this.indexRowsById = new MessageIndexRowsById(connection);

    this.starred = connection.values<MessageId>(
      `SELECT message_id FROM message_flag INDEXED BY message_flag_starred
       WHERE user_id = ? AND starred = 1 AND realm_id = ? ORDER BY message_id`,
    );
    this.leftRecipients = connection.tuples<readonly [RecipientId, ChannelId]>(
      `SELECT DISTINCT s.recipient_id, r.channel_id FROM span s JOIN recipient r ON r.id = s.recipient_id
       WHERE s.user_id = ? AND r.realm_id = ? AND r.channel_id IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM span o WHERE o.user_id = s.user_id AND o.recipient_id = s.recipient_id AND o.to_ordinal IS NULL)`,
    );
    this.historicalChannels = connection.tuples<readonly [RecipientId, ChannelId]>(
      `SELECT DISTINCT m.recipient_id, m.channel_id
       FROM message_flag f INDEXED BY message_flag_own CROSS JOIN message m ON m.id = f.message_id
       WHERE f.user_id = ? AND f.source <> 0 AND m.realm_id = ? AND m.channel_id IS NOT NULL`,
    );
    this.sentRows = connection.tuples<readonly [MessageId, RecipientId, Ordinal]>(
      `SELECT id, sent_recipient_id, ordinal FROM message
       WHERE id IN (SELECT value FROM json_each(?)) AND +realm_id = ?
       UNION ALL
       SELECT id, sent_recipient_id, ordinal FROM removed_message
       WHERE id IN (SELECT value FROM json_each(?)) AND +realm_id = ?`,
    );
    this.markedHolders = connection.tuples<readonly [MessageId, UserId]>(
      `SELECT message_id, user_id FROM message_flag
       WHERE message_id IN (SELECT value FROM json_each(?)) AND source <> 0
       UNION ALL
       SELECT message_id, user_id FROM removed_message_holder WHERE message_id IN (SELECT value FROM json_each(?))`,
    );
    this.muting = connection.values<UserId>(
      `SELECT m.user_id FROM json_each(?) u CROSS JOIN muted_sender m ON m.user_id = u.value AND m.sender_id = ?
       WHERE m.until_message_id IS NULL`,
    );
    this.muted = connection.values<UserId>(
      `SELECT m.sender_id FROM json_each(?) u CROSS JOIN muted_sender m ON m.user_id = ? AND m.sender_id = u.value
       WHERE m.until_message_id IS NULL`,
    );
    this.outsideHolders = connection.values<UserId>(
      `SELECT DISTINCT f.user_id FROM json_each(?) wanted
       CROSS JOIN message_flag f INDEXED BY message_flag_by_message ON f.message_id = wanted.value
       WHERE f.realm_id = ? AND NOT EXISTS (
         SELECT 1 FROM span s WHERE s.recipient_id = ? AND s.user_id = f.user_id AND s.to_ordinal IS NULL)
       ORDER BY f.user_id ${LIMIT}`,
    );
    this.subscribedSpans = connection.tuples<readonly [ChannelId, EventSeq, EventSeq | null]>(
      `SELECT r.channel_id, s.from_seq, s.to_seq FROM span s JOIN recipient r ON r.id = s.recipient_id
       WHERE s.user_id = ? AND r.realm_id = ? AND r.channel_id IS NOT NULL
       ORDER BY s.from_seq, s.recipient_id, s.number`,
    );

    this.insertAdopted = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, source, read)
       SELECT ?, value, ?, ${OWNERSHIP_SOURCES.historical}, 1 FROM json_each(?)`,
    );
    this.setReadMark = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, read) SELECT ?, value, ?, ? FROM json_each(?) WHERE true
       ON CONFLICT DO UPDATE SET read = CASE WHEN source = 0 THEN nullif(excluded.read, 1) ELSE excluded.read END`,
    );
    this.setFlagMark = {
      starred: connection.command(flagMark('starred')),
      collapsed: connection.command(flagMark('collapsed')),
    };
    this.dropIdle = connection.command(
      `DELETE FROM message_flag
       WHERE user_id = ? AND message_id IN (SELECT value FROM json_each(?)) AND ${IS_IDLE}`,
    );
    this.readAllMarked = connection.command(
      `UPDATE message_flag SET read = CASE WHEN source = 0 THEN NULL ELSE 1 END
       WHERE user_id = ? AND message_id IN (SELECT value FROM json_each(?))`,
    );
    this.mute = connection.command(
      `INSERT INTO muted_sender (user_id, sender_id, from_message_id, realm_id, muted_at)
       SELECT ?, ?, ${NEXT_MESSAGE}, ?, ?
       WHERE NOT EXISTS (
         SELECT 1 FROM muted_sender WHERE user_id = ? AND sender_id = ? AND until_message_id IS NULL)
       ON CONFLICT DO UPDATE SET until_message_id = NULL, muted_at = excluded.muted_at`,
    );
    this.mutedSenders = connection.tuples<readonly [UserId, UnixSeconds]>(
      `SELECT sender_id, muted_at FROM muted_sender WHERE user_id = ? AND realm_id = ? AND until_message_id IS NULL
       ORDER BY muted_at, sender_id`,
    );
    this.unmute = connection.command(
      `UPDATE muted_sender SET until_message_id = ${NEXT_MESSAGE}
       WHERE user_id = ? AND sender_id = ? AND until_message_id IS NULL`,
    );
  }

  async listFlags(viewer: Viewer, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, PersonalFlags>> {
    const messages = this.indexRowsById.list(viewer.realmId, ids);
    const state = this.states.load(viewer, messages);
    const flags = new Map<MessageId, PersonalFlags>();
    for (const message of messages) {
      const own = state.flags(message);
      if (own) flags.set(idOf(message), own);
    }
    return flags;
  }

  async listUnread(viewer: Viewer, limit: number, filter?: MessageFilter): Promise<readonly UnreadMessage[]> {
    const narrowing = filter ? toNarrowing(filter.conditions) : EVERYTHING;
    return narrowing && limit > 0 ? this.unread.list(viewer, narrowing, limit) : [];
  }

  async overviewUnread(viewer: Viewer, limit: number): Promise<UnreadOverview> {
    return this.overviews.of(viewer, limit);
  }

  async findFirstUnread(viewer: Viewer, filter: MessageFilter): Promise<MessageId | null> {
    const narrowing = toNarrowing(filter.conditions);
    return narrowing && this.unread.findFirst(viewer, narrowing);
  }

  async listStarred(viewer: Viewer): Promise<readonly MessageId[]> {
    return this.starred.all(viewer.userId, viewer.realmId);
  }

  async newestId(viewer: Viewer): Promise<MessageId | null> {
    return this.receivedPages.page(viewer, EVERYTHING, EVER, 1).map(idOf)[0] ?? null;
  }

  async listUnsubscribedChannelIdsWithMessages(viewer: Viewer): Promise<readonly ChannelId[]> {
    const former = new Set<ChannelId>();
    for (const [recipientId, channelId] of this.leftRecipients.all(viewer.userId, viewer.realmId)) {
      if (this.receivedPages.page(viewer, narrowingTo(recipientId), EVER, 1).length > 0) former.add(channelId);
    }
    for (const [recipientId, channelId] of this.historicalChannels.all(viewer.userId, viewer.realmId)) {
      if (!this.spans.isOpen(recipientId, viewer.userId)) former.add(channelId);
    }
    return [...former].sort((a, b) => a - b);
  }

  async filterHolders(
    realmId: RealmId,
    ids: readonly MessageId[],
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<MessageId, readonly UserId[]>> {
    const messages = this.sentRows.all(jsonList(ids), realmId, jsonList(ids), realmId);
    const moves = messages.length === 0 ? new Map() : this.states.movesOfIds(messages.map(([id]) => id));
    const recipientIds = new Set(messages.map(([, recipientId]) => recipientId));
    for (const list of moves.values()) for (const move of list) recipientIds.add(move.targetRecipientId);
    const spans = this.states.spansOfAll(userIds, recipientIds);
    const marked = new Set(
      this.markedHolders.all(jsonList(ids), jsonList(ids)).map(([id, userId]) => `${id}:${userId}`),
    );
    const holders = new Map<MessageId, UserId[]>(ids.map((id) => [id, []]));
    for (const userId of [...new Set(userIds)].sort(ascending)) {
      const own = [...(spans.get(userId)?.values() ?? [])].flat();
      for (const [id, recipientId, ordinal] of messages) {
        const ownership = ownershipOf(own, { recipientId, ordinal }, moves.get(id) ?? []);
        if (ownership !== 'none' || marked.has(`${id}:${userId}`)) holders.get(id)!.push(userId);
      }
    }
    return holders;
  }

  async listFlagsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    ids: readonly MessageId[],
  ): Promise<ReadonlyMap<UserId, ReadonlyMap<MessageId, PersonalFlags>>> {
    const messages = this.indexRowsById.list(realmId, ids);
    const states = this.states.loadAll(userIds, messages);
    return new Map(
      userIds.map((userId) => {
        const own = new Map<MessageId, PersonalFlags>();
        for (const message of messages) {
          const flags = states.get(userId)?.flags(message);
          if (flags) own.set(idOf(message), flags);
        }
        return [userId, own];
      }),
    );
  }

  async filterMuting({ userId }: Viewer, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
    const list = jsonList(userIds);
    return new Set([...this.muting.all(list, userId), ...this.muted.all(list, userId)]);
  }

  async listOutsideHolders(
    realmId: RealmId,
    recipientId: RecipientId,
    ids: readonly MessageId[],
    limit: number,
  ): Promise<readonly UserId[]> {
    return this.outsideHolders.all(jsonList(ids), realmId, recipientId, limit);
  }

  async listSubscribedSpans({ realmId, userId }: Viewer): Promise<readonly SubscribedSpan[]> {
    return this.subscribedSpans
      .all(userId, realmId)
      .map(([channelId, fromSeq, toSeq]) => ({ channelId, fromSeq, toSeq }));
  }

  async openSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void> {
    this.spans.open(realmId, recipientIds, userIds);
  }

  async closeSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void> {
    this.spans.closeAll(realmId, recipientIds, userIds);
  }

  async addHistorical(viewer: Viewer, ids: readonly MessageId[]): Promise<void> {
    const messages = this.indexRowsById.list(viewer.realmId, ids);
    const state = this.states.load(viewer, messages);
    const foreign = messages.filter((message) => !state.isOwn(message)).map(idOf);
    this.insertAdopted.run(viewer.userId, viewer.realmId, jsonList(foreign));
  }

  async setRead(viewer: Viewer, ids: readonly MessageId[], read: boolean): Promise<readonly MessageId[]> {
    const change = this.readChange(viewer, this.indexRowsById.list(viewer.realmId, ids), read);
    this.applyRead(viewer, change, read);
    return change.ids;
  }

  async markRead(viewer: Viewer, filter: MessageFilter): Promise<readonly MessageId[]> {
    const reader = this.unread.readerOf(viewer);
    const series = wholeSeriesOf(filter.conditions);
    const found = series && this.conversations.find(reader, series);
    if (!found) {
      const narrowing = toNarrowing(filter.conditions);
      if (!narrowing) return [];
      const unread = this.unread.list(viewer, narrowing, Number.MAX_SAFE_INTEGER);
      return this.setRead(
        viewer,
        unread.map(({ id }) => id),
        true,
      );
    }
    const { recipientId, received } = found;
    if (found.uncertain.length === 0) {
      if (received.ids.length === 0) return [];
      const { readSets } = this.states;
      const segments = readSets.markAmong(found.segments, viewer, recipientId, received.ordinals, true);
      this.closeEmptyGaps(reader, found.ordinalRanges, received.ordinals[0]!, segments);
      return received.ids;
    }
    const change = this.readChange(viewer, found.uncertain, true);
    for (const id of received.ids) change.ids.push(id);
    change.ids.sort(ascending);
    if (received.ids.length > 0) {
      change.ordinals.set(recipientId, [...(change.ordinals.get(recipientId) ?? []), ...received.ordinals]);
    }
    this.applyRead(viewer, change, true);
    return change.ids;
  }

  async markAllRead(viewer: Viewer, batch?: ConversationBatch): Promise<RecipientId | null> {
    const { spans, next } = conversationsIn(this.incomplete.of(viewer), batch);
    for (const span of spans) {
      this.states.readSets.markRange(viewer, span.recipientId, span);
      await this.connection.yield();
    }
    if (next !== null) return next;
    const { marked } = this.unread.readerOf(viewer);
    for (const ids of slicesOf([...marked], IDS_AT_A_TIME)) {
      const list = jsonList(ids);
      this.readAllMarked.run(viewer.userId, list);
      this.dropIdle.run(viewer.userId, list);
      await this.connection.yield();
    }
    return null;
  }

  async setFlag(
    viewer: Viewer,
    ids: readonly MessageId[],
    flag: 'starred' | 'collapsed',
    on: boolean,
  ): Promise<readonly MessageId[]> {
    const messages = this.indexRowsById.list(viewer.realmId, ids);
    const state = this.states.load(viewer, messages);
    const changing = messages
      .filter((message) => state.isOwn(message) && (state.row(idOf(message))?.[flag] === 1) !== on)
      .map(idOf);
    if (changing.length === 0) return [];
    const list = jsonList(changing);
    this.setFlagMark[flag].run(viewer.userId, viewer.realmId, toFlag(on), list);
    if (!on) this.dropIdle.run(viewer.userId, list);
    return changing;
  }

  async listMutedSenders({ realmId, userId }: Viewer): Promise<readonly MutedSender[]> {
    return this.mutedSenders.all(userId, realmId).map(([senderId, mutedAt]) => ({ userId: senderId, mutedAt }));
  }

  async muteSender({ realmId, userId }: Viewer, senderId: UserId, at: UnixSeconds): Promise<void> {
    this.mute.run(userId, senderId, realmId, at, userId, senderId);
  }

  async unmuteSender({ userId }: Viewer, senderId: UserId): Promise<void> {
    this.unmute.run(userId, senderId);
  }

  /** Computes the changes required to mark the viewer's own messages. */
  private readChange(viewer: Viewer, messages: readonly MessageIndexRow[], read: boolean): ReadChange {
    const change: ReadChange = { ids: [], marks: [], ordinals: new Map() };
    const state = this.states.load(viewer, messages);
    for (const message of messages) {
      const source = state.source(message);
      if (source === null || state.isRead(message, source) === read) continue;
      const id = idOf(message);
      change.ids.push(id);
      if (needsMark(state, message, source, read)) change.marks.push(id);
      if (source !== 'received') continue;
      const existing = change.ordinals.get(message[3]);
      if (existing) existing.push(message[4]);
      else change.ordinals.set(message[3], [message[4]]);
    }
    return change;
  }

  private applyRead(viewer: Viewer, change: ReadChange, read: boolean): void {
    for (const [recipientId, each] of change.ordinals) this.states.readSets.mark(viewer, recipientId, each, read);
    this.putReadMarks(viewer, change.marks, read);
    if (!read) return;
    let reader: Reader | undefined;
    for (const [recipientId, ordinals] of change.ordinals) {
      const spans = this.incomplete.of(viewer, recipientId);
      if (spans.length === 0) continue;
      reader ??= this.unread.readerOf(viewer);
      // A loop, because there may be too many values for function arguments.
      const first = ordinals.reduce((least, ordinal) => Math.min(least, ordinal) as Ordinal);
      this.closeEmptyGaps(reader, spans, first);
    }
  }

  private putReadMarks({ realmId, userId }: Viewer, ids: readonly MessageId[], read: boolean): void {
    if (ids.length === 0) return;
    const list = jsonList(ids);
    this.setReadMark.run(userId, realmId, toFlag(read), list);
    if (read) this.dropIdle.run(userId, list);
  }

  /**
   * Closes gaps without remaining unread messages: the first gap per recipient, where walks begin, and the one before
   * the newly read messages. `segments` are the recipients' segments, if already loaded.
   */
  private closeEmptyGaps(
    reader: Reader,
    ordinalRanges: readonly RecipientOrdinalRange[],
    firstRead: Ordinal,
    segments?: readonly ReadSegment[],
  ): void {
    for (const ordinalRange of ordinalRanges) {
      const before = { ...ordinalRange, last: Math.min(ordinalRange.last, firstRead - 1) };
      for (const empty of [
        this.unread.findEmpty(reader, ordinalRange, 'start', segments),
        before.first <= before.last ? this.unread.findEmpty(reader, before, 'end', segments) : null,
      ]) {
        if (empty) this.states.readSets.markRange(reader.viewer, ordinalRange.recipientId, empty);
      }
    }
  }
}

/** Writes required to change the read state of messages. */
interface ReadChange {
  /** All changed messages, ascending. */
  readonly ids: MessageId[];
  /** Messages that need a message_flag row. */
  readonly marks: MessageId[];
  /** Ordinals in the read sets, by original recipient. */
  readonly ordinals: Map<RecipientId, Ordinal[]>;
}

/** True if a message_flag row must be written or changed. */
function needsMark(
  state: ViewerMessageState,
  message: MessageIndexRow,
  source: OwnershipSource,
  read: boolean,
): boolean {
  if (read) return state.row(idOf(message))?.read === 0;
  return source !== 'received' || state.isReadOnArrival(message);
}

/** Lower bound above all message ids ever used, because ids are never reused. */
const NEXT_MESSAGE = `(SELECT 1 + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'message'), 0))`;

/**
 * Condition for rows that repeat the state of spans, moves and read sets. Rows that make a message the user's own
 * always store the read state.
 */
const IS_IDLE = `read IS NULL AND starred = 0 AND collapsed = 0 AND mentioned = 0
  AND topic_wildcard_mentioned = 0 AND has_alert_word = 0`;

const flagMark = (column: 'starred' | 'collapsed'): string =>
  `INSERT INTO message_flag (user_id, message_id, realm_id, ${column})
   SELECT ?, value, ?, ? FROM json_each(?) WHERE true
   ON CONFLICT DO UPDATE SET ${column} = excluded.${column}`;

export const PERSONAL_MESSAGE_FEATURE = {
  repositories: () => (connection) => ({ personal: new SqlitePersonalMessages(connection) }),
} satisfies SqliteFeature;
