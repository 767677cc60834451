import type { SubscribedSpan } from '@parley/domain/channels';
import {
  type ChannelId,
  type EventSeq,
  getOrThrow,
  type MessageId,
  type Ordinal,
  type RealmId,
  type RecipientId,
  slicesOf,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import {
  type ChannelMove,
  type ConversationBatch,
  type MessageFilter,
  type MutedSender,
  ownershipOf,
  type PersonalFlags,
  type PersonalMessages,
  type Span,
  type UnreadMessage,
  type UnreadOverview,
  type Viewer,
} from '@parley/domain/messages';
import { ascending, toFlag } from '../engine/rows.js';
import type { MaybePromise, Statements } from '../engine/statements.js';
import { OWNERSHIP_SOURCES } from './message-rows.js';
import type { NarrowedPages } from './message-sources.js';
import type { Narrowing, NarrowPlanner } from './narrowing.js';
import type { Spans } from './spans.js';
import { conversationsIn, type Reader, type UnreadSpan } from './unread.js';
import {
  type IndexRowsById,
  idOf,
  type MessageIndexRow,
  type OwnershipSource,
  type ViewerMessageState,
} from './viewer-message-state.js';

/** Rows changed per statement before yielding. */
const IDS_AT_A_TIME = 1000;
export const EVER = { direction: 'older', first: 0, last: Number.MAX_SAFE_INTEGER } as const;

/** Database-specific reads: SQLite returns rows synchronously, PostgreSQL saves round trips. */
export interface PersonalMessageParts<List> {
  readonly planner: Pick<NarrowPlanner<List>, 'toNarrowing' | 'EVERYTHING'>;
  readonly states: {
    load(viewer: Viewer, messages: readonly MessageIndexRow[]): MaybePromise<ViewerMessageState>;
    loadAll(
      userIds: readonly UserId[],
      messages: readonly MessageIndexRow[],
    ): MaybePromise<ReadonlyMap<UserId, ViewerMessageState>>;
    spansOfAll(
      userIds: readonly UserId[],
      recipientIds: Iterable<RecipientId>,
    ): MaybePromise<ReadonlyMap<UserId, ReadonlyMap<RecipientId, readonly Span[]>>>;
    movesOfIds(ids: readonly MessageId[]): MaybePromise<ReadonlyMap<MessageId, readonly ChannelMove[]>>;
    readonly readSets: {
      markAll(
        viewer: Viewer,
        ordinals: ReadonlyMap<RecipientId, readonly Ordinal[]>,
        read: boolean,
      ): MaybePromise<void>;
    };
  };
  readonly indexRowsById: IndexRowsById;
  readonly receivedPages: NarrowedPages<List>;
  readonly incomplete: { of(viewer: Viewer, recipientId?: RecipientId | null): MaybePromise<UnreadSpan[]> };
  readonly unread: {
    readerOf(viewer: Viewer): MaybePromise<Reader>;
    list(viewer: Viewer, narrowing: Narrowing<List>, limit: number): MaybePromise<readonly UnreadMessage[]>;
    findFirst(viewer: Viewer, narrowing: Narrowing<List>): MaybePromise<MessageId | null>;
  };
  readonly overviews: { of(viewer: Viewer, limit: number): MaybePromise<UnreadOverview> };
  readonly spans: Spans;
}

export abstract class SqlPersonalMessages<List, Parts extends PersonalMessageParts<List>> implements PersonalMessages {
  private readonly starred;
  private readonly sentRows;
  private readonly markedHolders;
  private readonly muting;
  private readonly outsideHolders;
  private readonly subscribedSpans;
  private readonly subscribedSpansIn;

  private readonly insertAdopted;
  private readonly setReadMark;
  private readonly setFlagMark;
  private readonly dropIdle;
  private readonly readAllMarked;
  private readonly mute;
  private readonly mutedSenders;
  private readonly unmute;

  constructor(
    private readonly statements: Statements,
    protected readonly parts: Parts,
  ) {
    const { inSet, elements, indexedBy, aboveAllIds } = statements.dialect;
    this.starred = statements.values<MessageId>(
      `SELECT message_id FROM message_flag ${indexedBy('message_flag_starred')}
       WHERE user_id = ? AND starred = 1 AND realm_id = ? ORDER BY message_id`,
    );
    this.sentRows = statements.tuples<readonly [MessageId, RecipientId, Ordinal]>(
      `SELECT id, sent_recipient_id, ordinal FROM message WHERE id ${inSet} AND +realm_id = ?
       UNION ALL
       SELECT id, sent_recipient_id, ordinal FROM removed_message WHERE id ${inSet} AND +realm_id = ?`,
    );
    this.markedHolders = statements.tuples<readonly [MessageId, UserId]>(
      `SELECT message_id, user_id FROM message_flag WHERE message_id ${inSet} AND source <> 0
       UNION ALL
       SELECT message_id, user_id FROM removed_message_holder WHERE message_id ${inSet}`,
    );
    this.muting = statements.values<UserId>(
      `SELECT user_id FROM muted_sender WHERE user_id ${inSet} AND sender_id = ? AND until_message_id IS NULL
       UNION ALL
       SELECT sender_id FROM muted_sender WHERE user_id = ? AND sender_id ${inSet} AND until_message_id IS NULL`,
    );
    this.outsideHolders = statements.values<UserId>(outsideHoldersSql(statements.dialect));
    const spans = (from: string) =>
      statements.tuples<readonly [ChannelId, EventSeq, EventSeq | null]>(
        `SELECT r.channel_id, s.from_seq, s.to_seq ${from} ORDER BY s.from_seq, s.recipient_id, s.number`,
      );
    this.subscribedSpans = spans(
      `FROM span s JOIN recipient r ON r.id = s.recipient_id
       WHERE s.user_id = ? AND r.realm_id = ? AND r.channel_id IS NOT NULL`,
    );
    this.subscribedSpansIn = spans(
      `FROM recipient r CROSS JOIN span s
       WHERE r.channel_id ${inSet} AND s.user_id = ? AND s.recipient_id = r.id AND +r.realm_id = ?`,
    );

    const listed = `${elements('bigint')} WHERE true ON CONFLICT (user_id, message_id) DO UPDATE`;
    this.insertAdopted = statements.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, source, read)
       SELECT CAST(? AS bigint), value, CAST(? AS bigint), ${OWNERSHIP_SOURCES.historical}, 1
       FROM ${listed} SET source = excluded.source, read = excluded.read`,
    );
    this.setReadMark = statements.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, read)
       SELECT CAST(? AS bigint), value, CAST(? AS bigint), CAST(? AS smallint)
       FROM ${listed}
       SET read = CASE WHEN message_flag.source = 0 THEN nullif(excluded.read, 1) ELSE excluded.read END`,
    );
    const flagMark = (column: 'starred' | 'collapsed') =>
      statements.command(
        `INSERT INTO message_flag (user_id, message_id, realm_id, ${column})
         SELECT CAST(? AS bigint), value, CAST(? AS bigint), CAST(? AS smallint)
         FROM ${listed} SET ${column} = excluded.${column}`,
      );
    this.setFlagMark = { starred: flagMark('starred'), collapsed: flagMark('collapsed') };
    this.dropIdle = statements.command(
      `DELETE FROM message_flag WHERE user_id = ? AND message_id ${inSet} AND ${IS_IDLE}`,
    );
    this.readAllMarked = statements.command(
      `UPDATE message_flag SET read = CASE WHEN source = 0 THEN NULL ELSE 1 END
       WHERE user_id = ? AND message_id ${inSet}`,
    );
    this.mute = statements.command(
      `INSERT INTO muted_sender (user_id, sender_id, from_message_id, realm_id, muted_at)
       SELECT CAST(? AS bigint), CAST(? AS bigint), ${aboveAllIds('message')}, CAST(? AS bigint), CAST(? AS bigint)
       WHERE NOT EXISTS (
         SELECT 1 FROM muted_sender WHERE user_id = ? AND sender_id = ? AND until_message_id IS NULL)
       ON CONFLICT (user_id, sender_id, from_message_id) DO UPDATE
       SET until_message_id = NULL, muted_at = excluded.muted_at`,
    );
    this.mutedSenders = statements.tuples<readonly [UserId, UnixSeconds]>(
      `SELECT sender_id, muted_at FROM muted_sender WHERE user_id = ? AND realm_id = ? AND until_message_id IS NULL
       ORDER BY muted_at, sender_id`,
    );
    this.unmute = statements.command(
      `UPDATE muted_sender SET until_message_id = ${aboveAllIds('message')}
       WHERE user_id = ? AND sender_id = ? AND until_message_id IS NULL`,
    );
  }

  abstract listUnsubscribedChannelIdsWithMessages(viewer: Viewer): Promise<readonly ChannelId[]>;

  /** Marks everything in the spans as read. */
  protected abstract markSpans(viewer: Viewer, spans: readonly UnreadSpan[]): Promise<void>;

  /**
   * Closes gaps without remaining unread messages: the first of each recipient, where walks begin, and the one before
   * the newly read messages.
   */
  protected abstract closeEmptyGaps(
    viewer: Viewer,
    marked: ReadonlyMap<RecipientId, readonly Ordinal[]>,
  ): MaybePromise<void>;

  async listFlags(viewer: Viewer, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, PersonalFlags>> {
    const messages = await this.parts.indexRowsById.list(viewer.realmId, ids);
    return flagsOf(messages, await this.parts.states.load(viewer, messages));
  }

  async listUnread(viewer: Viewer, limit: number, filter?: MessageFilter): Promise<readonly UnreadMessage[]> {
    const { planner, unread } = this.parts;
    const narrowing = filter ? planner.toNarrowing(filter.conditions) : planner.EVERYTHING;
    return narrowing && limit > 0 ? unread.list(viewer, narrowing, limit) : [];
  }

  async overviewUnread(viewer: Viewer, limit: number): Promise<UnreadOverview> {
    return this.parts.overviews.of(viewer, limit);
  }

  async findFirstUnread(viewer: Viewer, filter: MessageFilter): Promise<MessageId | null> {
    const narrowing = this.parts.planner.toNarrowing(filter.conditions);
    return narrowing && this.parts.unread.findFirst(viewer, narrowing);
  }

  async listStarred(viewer: Viewer): Promise<readonly MessageId[]> {
    return this.starred.all(viewer.userId, viewer.realmId);
  }

  async newestId(viewer: Viewer): Promise<MessageId | null> {
    const { planner, receivedPages } = this.parts;
    return (await receivedPages.page(viewer, planner.EVERYTHING, EVER, 1)).map(idOf)[0] ?? null;
  }

  async filterHolders(
    realmId: RealmId,
    ids: readonly MessageId[],
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<MessageId, readonly UserId[]>> {
    const list = this.statements.dialect.set(ids);
    const [messages, markedRows, moves] = await Promise.all([
      this.sentRows.all(list, realmId, list, realmId),
      this.markedHolders.all(list, list),
      this.parts.states.movesOfIds(ids),
    ]);
    const recipientIds = new Set(messages.map(([, recipientId]) => recipientId));
    for (const each of moves.values()) for (const move of each) recipientIds.add(move.targetRecipientId);
    const spans = await this.parts.states.spansOfAll(userIds, recipientIds);
    const marked = new Set(markedRows.map(([id, userId]) => `${id}:${userId}`));
    const holders = new Map<MessageId, UserId[]>(ids.map((id) => [id, []]));
    for (const userId of [...new Set(userIds)].sort(ascending)) {
      const own = [...(spans.get(userId)?.values() ?? [])].flat();
      for (const [id, recipientId, ordinal] of messages) {
        const ownership = ownershipOf(own, { recipientId, ordinal }, moves.get(id) ?? []);
        if (ownership !== 'none' || marked.has(`${id}:${userId}`)) getOrThrow(holders, id).push(userId);
      }
    }
    return holders;
  }

  async listFlagsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    ids: readonly MessageId[],
  ): Promise<ReadonlyMap<UserId, ReadonlyMap<MessageId, PersonalFlags>>> {
    const messages = await this.parts.indexRowsById.list(realmId, ids);
    const states = await this.parts.states.loadAll(userIds, messages);
    return new Map(userIds.map((userId) => [userId, flagsOf(messages, states.get(userId))]));
  }

  async filterMuting({ userId }: Viewer, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
    const list = this.statements.dialect.set(userIds);
    return new Set(await this.muting.all(list, userId, userId, list));
  }

  async listOutsideHolders(
    realmId: RealmId,
    recipientId: RecipientId,
    ids: readonly MessageId[],
    limit: number,
  ): Promise<readonly UserId[]> {
    const list = this.statements.dialect.set(ids);
    // Includes former subscribers who left while the messages were sent. Messages sent elsewhere are kept by subscribers
    // of that channel who were subscribed here when they moved.
    const moved = [list, realmId, recipientId, recipientId];
    const userIds = await this.outsideHolders.all(list, realmId, list, realmId, ...moved, recipientId, limit);
    const holders = new Set([...(await this.filterHolders(realmId, ids, userIds)).values()].flat());
    return userIds.filter((userId) => holders.has(userId));
  }

  async listSubscribedSpans(
    { realmId, userId }: Viewer,
    channelIds?: readonly ChannelId[],
  ): Promise<readonly SubscribedSpan[]> {
    const rows = channelIds
      ? await this.subscribedSpansIn.all(this.statements.dialect.set(channelIds), userId, realmId)
      : await this.subscribedSpans.all(userId, realmId);
    return rows.map(([channelId, fromSeq, toSeq]) => ({ channelId, fromSeq, toSeq }));
  }

  async openSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void> {
    this.parts.spans.open(realmId, recipientIds, userIds);
  }

  async closeSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void> {
    this.parts.spans.closeAll(realmId, recipientIds, userIds);
  }

  async addHistorical(viewer: Viewer, ids: readonly MessageId[]): Promise<void> {
    const messages = await this.parts.indexRowsById.list(viewer.realmId, ids);
    const state = await this.parts.states.load(viewer, messages);
    const foreign = messages.filter((message) => !state.isOwn(message)).map(idOf);
    if (foreign.length === 0) return;
    this.insertAdopted.defer(viewer.userId, viewer.realmId, this.statements.dialect.set(foreign));
  }

  async setRead(viewer: Viewer, ids: readonly MessageId[], read: boolean): Promise<readonly MessageId[]> {
    const messages = await this.parts.indexRowsById.list(viewer.realmId, ids);
    const change = await this.readChange(viewer, messages, read);
    await this.applyRead(viewer, change, read);
    return change.ids;
  }

  async markRead(
    viewer: Viewer,
    filter: MessageFilter,
    limit: number = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly MessageId[]> {
    const unread = await this.listUnread(viewer, limit, filter);
    return this.setRead(
      viewer,
      unread.map(({ id }) => id),
      true,
    );
  }

  async markAllRead(viewer: Viewer, batch?: ConversationBatch): Promise<RecipientId | null> {
    const [{ marked }, incomplete] = await Promise.all([
      this.parts.unread.readerOf(viewer),
      this.parts.incomplete.of(viewer),
    ]);
    const { spans, next } = conversationsIn(incomplete, batch);
    await this.markSpans(viewer, spans);
    if (next !== null) return next;
    for (const ids of slicesOf([...marked], IDS_AT_A_TIME)) {
      const list = this.statements.dialect.set(ids);
      this.readAllMarked.defer(viewer.userId, list);
      this.dropIdle.defer(viewer.userId, list);
      await this.statements.yield();
    }
    return null;
  }

  async setFlag(
    viewer: Viewer,
    ids: readonly MessageId[],
    flag: 'starred' | 'collapsed',
    on: boolean,
  ): Promise<readonly MessageId[]> {
    const messages = await this.parts.indexRowsById.list(viewer.realmId, ids);
    const state = await this.parts.states.load(viewer, messages);
    const changing = messages
      .filter((message) => state.isOwn(message) && (state.row(idOf(message))?.[flag] === 1) !== on)
      .map(idOf);
    if (changing.length === 0) return [];
    const list = this.statements.dialect.set(changing);
    this.setFlagMark[flag].defer(viewer.userId, viewer.realmId, toFlag(on), list);
    if (!on) this.dropIdle.defer(viewer.userId, list);
    return changing;
  }

  async listMutedSenders({ realmId, userId }: Viewer): Promise<readonly MutedSender[]> {
    const rows = await this.mutedSenders.all(userId, realmId);
    return rows.map(([senderId, mutedAt]) => ({ userId: senderId, mutedAt }));
  }

  async muteSender({ realmId, userId }: Viewer, senderId: UserId, at: UnixSeconds): Promise<void> {
    this.mute.defer(userId, senderId, realmId, at, userId, senderId);
  }

  async unmuteSender({ userId }: Viewer, senderId: UserId): Promise<void> {
    this.unmute.defer(userId, senderId);
  }

  /** Computes the changes required to mark the viewer's own messages. */
  protected async readChange(viewer: Viewer, messages: readonly MessageIndexRow[], read: boolean): Promise<ReadChange> {
    const change: ReadChange = { ids: [], marks: [], ordinals: new Map() };
    const state = await this.parts.states.load(viewer, messages);
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

  protected async applyRead(viewer: Viewer, change: ReadChange, read: boolean): Promise<void> {
    if (change.ids.length === 0) return;
    await this.parts.states.readSets.markAll(viewer, change.ordinals, read);
    this.putReadMarks(viewer, change.marks, read);
    if (read && change.ordinals.size > 0) await this.closeEmptyGaps(viewer, change.ordinals);
  }

  private putReadMarks({ realmId, userId }: Viewer, ids: readonly MessageId[], read: boolean): void {
    if (ids.length === 0) return;
    const list = this.statements.dialect.set(ids);
    this.setReadMark.defer(userId, realmId, toFlag(read), list);
    if (read) this.dropIdle.defer(userId, list);
  }
}

function flagsOf(
  messages: readonly MessageIndexRow[],
  state: ViewerMessageState | undefined,
): ReadonlyMap<MessageId, PersonalFlags> {
  const found = new Map<MessageId, PersonalFlags>();
  for (const message of messages) {
    const flags = state?.flags(message);
    if (flags) found.set(idOf(message), flags);
  }
  return found;
}

/** Writes required to change the read state of messages. */
export interface ReadChange {
  /** All changed messages, ascending. */
  readonly ids: MessageId[];
  /** Messages that need a message_flag row. */
  readonly marks: MessageId[];
  /** Ordinals in the read sets, by original recipient. */
  readonly ordinals: Map<RecipientId, Ordinal[]>;
}

/** True if a message_flag row must be written or must change. */
function needsMark(
  state: ViewerMessageState,
  message: MessageIndexRow,
  source: OwnershipSource,
  read: boolean,
): boolean {
  if (read) return state.row(idOf(message))?.read === 0;
  return source !== 'received' || state.isReadOnArrival(message);
}

/** Users with a row for a message, or with an ended span that contains one, and without an open span of the recipient. */
const outsideHoldersSql = ({ inSet, indexedBy }: Statements['dialect']): string =>
  `SELECT user_id FROM (
     SELECT f.user_id FROM message_flag f ${indexedBy('message_flag_by_message')}
     WHERE f.message_id ${inSet} AND f.realm_id = ?
     UNION
     SELECT s.user_id FROM (
       SELECT sent_recipient_id, min(ordinal) AS first, max(ordinal) AS last FROM message
       WHERE id ${inSet} AND +realm_id = ? GROUP BY sent_recipient_id) m
     JOIN span s ON s.recipient_id = m.sent_recipient_id AND s.to_ordinal > m.first AND s.from_ordinal <= m.last
     UNION
     SELECT s.user_id FROM (
       SELECT sent_recipient_id, max(ordinal) AS last FROM message
       WHERE id ${inSet} AND +realm_id = ? AND sent_recipient_id <> ? GROUP BY sent_recipient_id) m
     JOIN span s ON s.recipient_id = m.sent_recipient_id AND s.to_ordinal IS NULL AND s.from_ordinal <= m.last
     WHERE EXISTS (
       SELECT 1 FROM span t WHERE t.recipient_id = ? AND t.user_id = s.user_id AND t.to_ordinal IS NOT NULL)) holder
   WHERE NOT EXISTS (
     SELECT 1 FROM span o WHERE o.recipient_id = ? AND o.user_id = holder.user_id AND o.to_ordinal IS NULL)
   ORDER BY user_id LIMIT ? + 0`;

/**
 * Condition for rows that duplicate information of spans, moves and read sets. Rows that make a message the user's own
 * always store the read state.
 */
const IS_IDLE = `read IS NULL AND starred = 0 AND collapsed = 0 AND mentioned = 0
  AND topic_wildcard_mentioned = 0 AND has_alert_word = 0`;
