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
import type { SearchWords } from '@parley/domain/markdown';
import {
  type ConversationBatch,
  type MessageFilter,
  type MutedSender,
  ownershipOf,
  type PersonalFlags,
  type PersonalMessages,
  type UnreadMessage,
  type UnreadOverview,
  type Viewer,
} from '@parley/domain/messages';
import {
  ascending,
  conversationsIn,
  idOf,
  type MessageIndexRow,
  OWNERSHIP_SOURCES,
  type OwnershipSource,
  toFlag,
  type ViewerMessageState,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { EVERYTHING, narrowingTo, toNarrowing } from './message-filter.js';
import { MessageSeries } from './message-series.js';
import { Spans, UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { UnreadMessages } from './unread-messages.js';
import { UnreadOverviews } from './unread-overview.js';
import { MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

/** Rows changed per statement. */
const IDS_AT_A_TIME = 1000;
const EVER = { direction: 'older', first: 0, last: Number.MAX_SAFE_INTEGER } as const;

export class PostgresPersonalMessages implements PersonalMessages {
  private readonly states: ViewerMessageStates;
  private readonly receivedPages: ReceivedMessagePages;
  private readonly incomplete: UnreadSpans;
  private readonly unread: UnreadMessages;
  private readonly overviews: UnreadOverviews;
  private readonly spans: Spans;
  private readonly indexRowsById: MessageIndexRowsById;

  private readonly starred;
  private readonly leftChannels;
  private readonly historicalChannels;
  private readonly sentRows;
  private readonly markedHolders;
  private readonly muting;
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

  constructor(connection: Connection, words: SearchWords) {
    this.states = new ViewerMessageStates(connection);
    this.receivedPages = new ReceivedMessagePages(connection, new MessageSeries(connection, this.states));
    this.incomplete = new UnreadSpans(connection);
    this.unread = new UnreadMessages(connection, this.states, this.incomplete, words);
    this.overviews = new UnreadOverviews(this.states, this.unread);
    this.spans = new Spans(connection);
    this.indexRowsById = new MessageIndexRowsById(connection);

    this.starred = connection.values<MessageId>(
      'SELECT message_id FROM message_flag WHERE user_id = $1 AND starred = 1 AND realm_id = $2 ORDER BY message_id',
    );
    // Determines whether a message that never changed channel was received there, and whether others were moved in.
    this.leftChannels = connection.tuples<readonly [RecipientId, ChannelId, hasReceived: 0 | 1, hasMovedIn: 0 | 1]>(
      `SELECT l.recipient_id, l.channel_id,
              EXISTS (SELECT 1 FROM span s CROSS JOIN LATERAL (
                        SELECT 1 FROM message m
                        WHERE m.sent_recipient_id = s.recipient_id AND m.recipient_id = s.recipient_id
                          AND m.ordinal >= s.from_ordinal AND m.ordinal < s.to_ordinal AND (m.property_bits & 64) = 0
                        LIMIT 1) m
                      WHERE s.user_id = $1 AND s.recipient_id = l.recipient_id),
              EXISTS (SELECT 1 FROM message m WHERE m.recipient_id = l.recipient_id AND (m.property_bits & 64) <> 0)
       FROM (
         SELECT DISTINCT s.recipient_id, r.channel_id FROM span s JOIN recipient r ON r.id = s.recipient_id
         WHERE s.user_id = $1 AND r.realm_id = $2 AND r.channel_id IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM span o WHERE o.user_id = s.user_id AND o.recipient_id = s.recipient_id AND o.to_ordinal IS NULL)
       ) l`,
    );
    this.historicalChannels = connection.values<ChannelId>(
      `SELECT DISTINCT m.channel_id FROM message_flag f JOIN message m ON m.id = f.message_id
       WHERE f.user_id = $1 AND f.source <> 0 AND m.realm_id = $2 AND m.channel_id IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM span o WHERE o.user_id = $1 AND o.recipient_id = m.recipient_id AND o.to_ordinal IS NULL)`,
    );
    this.sentRows = connection.tuples<readonly [MessageId, RecipientId, Ordinal]>(
      `SELECT id, sent_recipient_id, ordinal FROM message WHERE id = ANY($1::bigint[]) AND realm_id = $2
       UNION ALL
       SELECT id, sent_recipient_id, ordinal FROM removed_message WHERE id = ANY($1::bigint[]) AND realm_id = $2`,
    );
    this.markedHolders = connection.tuples<readonly [MessageId, UserId]>(
      `SELECT message_id, user_id FROM message_flag WHERE message_id = ANY($1::bigint[]) AND source <> 0
       UNION ALL
       SELECT message_id, user_id FROM removed_message_holder WHERE message_id = ANY($1::bigint[])`,
    );
    this.muting = connection.values<UserId>(
      `SELECT user_id FROM muted_sender
       WHERE user_id = ANY($1::bigint[]) AND sender_id = $2 AND until_message_id IS NULL
       UNION
       SELECT sender_id FROM muted_sender
       WHERE user_id = $2 AND sender_id = ANY($1::bigint[]) AND until_message_id IS NULL`,
    );
    this.outsideHolders = connection.values<UserId>(
      `SELECT DISTINCT f.user_id FROM message_flag f
       WHERE f.message_id = ANY($1::bigint[]) AND f.realm_id = $2 AND NOT EXISTS (
         SELECT 1 FROM span s WHERE s.recipient_id = $3 AND s.user_id = f.user_id AND s.to_ordinal IS NULL)
       ORDER BY f.user_id LIMIT $4`,
    );
    this.subscribedSpans = connection.tuples<readonly [ChannelId, EventSeq, EventSeq | null]>(
      `SELECT r.channel_id, s.from_seq, s.to_seq FROM span s JOIN recipient r ON r.id = s.recipient_id
       WHERE s.user_id = $1 AND r.realm_id = $2 AND r.channel_id IS NOT NULL
       ORDER BY s.from_seq, s.recipient_id, s.number`,
    );

    this.insertAdopted = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, source, read)
       SELECT $1::bigint, id, $2::bigint, ${OWNERSHIP_SOURCES.historical}, 1 FROM unnest($3::bigint[]) m (id)
       ON CONFLICT (user_id, message_id) DO UPDATE SET source = excluded.source, read = excluded.read`,
    );
    this.setReadMark = connection.command(
      `INSERT INTO message_flag (user_id, message_id, realm_id, read)
       SELECT $1::bigint, id, $2::bigint, $3::smallint FROM unnest($4::bigint[]) m (id)
       ON CONFLICT (user_id, message_id) DO UPDATE
       SET read = CASE WHEN message_flag.source = 0 THEN nullif(excluded.read, 1) ELSE excluded.read END`,
    );
    this.setFlagMark = {
      starred: connection.command(flagMark('starred')),
      collapsed: connection.command(flagMark('collapsed')),
    };
    this.dropIdle = connection.command(
      `DELETE FROM message_flag WHERE user_id = $1 AND message_id = ANY($2::bigint[]) AND ${IS_IDLE}`,
    );
    this.readAllMarked = connection.command(
      `UPDATE message_flag SET read = CASE WHEN source = 0 THEN NULL ELSE 1 END
       WHERE user_id = $1 AND message_id = ANY($2::bigint[])`,
    );
    this.mute = connection.command(
      `INSERT INTO muted_sender (user_id, sender_id, from_message_id, realm_id, muted_at)
       SELECT $1::bigint, $2::bigint, ${NEXT_MESSAGE}, $3::bigint, $4::bigint
       WHERE NOT EXISTS (
         SELECT 1 FROM muted_sender WHERE user_id = $1 AND sender_id = $2 AND until_message_id IS NULL)
       ON CONFLICT (user_id, sender_id, from_message_id) DO UPDATE
       SET until_message_id = NULL, muted_at = excluded.muted_at`,
    );
    this.mutedSenders = connection.tuples<readonly [UserId, UnixSeconds]>(
      `SELECT sender_id, muted_at FROM muted_sender WHERE user_id = $1 AND realm_id = $2 AND until_message_id IS NULL
       ORDER BY muted_at, sender_id`,
    );
    this.unmute = connection.command(
      `UPDATE muted_sender SET until_message_id = ${NEXT_MESSAGE}
       WHERE user_id = $1 AND sender_id = $2 AND until_message_id IS NULL`,
    );
  }

  async listFlags(viewer: Viewer, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, PersonalFlags>> {
    return (await this.listFlagsOf(viewer.realmId, [viewer.userId], ids)).get(viewer.userId)!;
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
    return (await this.receivedPages.page(viewer, EVERYTHING, EVER, 1)).map(idOf)[0] ?? null;
  }

  async listUnsubscribedChannelIdsWithMessages(viewer: Viewer): Promise<readonly ChannelId[]> {
    const [left, historical] = await Promise.all([
      this.leftChannels.all(viewer.userId, viewer.realmId),
      this.historicalChannels.all(viewer.userId, viewer.realmId),
    ]);
    const former = new Set(historical);
    for (const [recipientId, channelId, hasReceived, hasMovedIn] of left) {
      // Few channels contain messages from other channels but none of their own.
      const isFormer =
        hasReceived === 1 ||
        (hasMovedIn === 1 && (await this.receivedPages.page(viewer, narrowingTo(recipientId), EVER, 1)).length > 0);
      if (isFormer) former.add(channelId);
    }
    return [...former].sort(ascending);
  }

  async filterHolders(
    realmId: RealmId,
    ids: readonly MessageId[],
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<MessageId, readonly UserId[]>> {
    const [messages, markedRows, moves] = await Promise.all([
      this.sentRows.all(ids, realmId),
      this.markedHolders.all(ids),
      this.states.movesOfIds(ids),
    ]);
    const recipientIds = new Set(messages.map(([, recipientId]) => recipientId));
    for (const list of moves.values()) for (const move of list) recipientIds.add(move.targetRecipientId);
    const spans = await this.states.spansOfAll(userIds, recipientIds);
    const marked = new Set(markedRows.map(([id, userId]) => `${id}:${userId}`));
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
    const messages = await this.indexRowsById.list(realmId, ids);
    const states = await this.states.loadAll(userIds, messages);
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
    return new Set(await this.muting.all(userIds, userId));
  }

  async listOutsideHolders(
    realmId: RealmId,
    recipientId: RecipientId,
    ids: readonly MessageId[],
    limit: number,
  ): Promise<readonly UserId[]> {
    return this.outsideHolders.all(ids, realmId, recipientId, limit);
  }

  async listSubscribedSpans({ realmId, userId }: Viewer): Promise<readonly SubscribedSpan[]> {
    const rows = await this.subscribedSpans.all(userId, realmId);
    return rows.map(([channelId, fromSeq, toSeq]) => ({ channelId, fromSeq, toSeq }));
  }

  async openSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void> {
    this.spans.open(realmId, recipientIds, userIds);
  }

  async closeSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void> {
    this.spans.closeAll(realmId, recipientIds, userIds);
  }

  async addHistorical(viewer: Viewer, ids: readonly MessageId[]): Promise<void> {
    const messages = await this.indexRowsById.list(viewer.realmId, ids);
    const state = await this.states.load(viewer, messages);
    const foreign = messages.filter((message) => !state.isOwn(message)).map(idOf);
    if (foreign.length > 0) this.insertAdopted.defer(viewer.userId, viewer.realmId, foreign);
  }

  async setRead(viewer: Viewer, ids: readonly MessageId[], read: boolean): Promise<readonly MessageId[]> {
    const change = await this.readChange(viewer, await this.indexRowsById.list(viewer.realmId, ids), read);
    await this.applyRead(viewer, change, read);
    return change.ids;
  }

  async markRead(viewer: Viewer, filter: MessageFilter): Promise<readonly MessageId[]> {
    const narrowing = toNarrowing(filter.conditions);
    if (!narrowing) return [];
    const unread = await this.unread.list(viewer, narrowing, Number.MAX_SAFE_INTEGER);
    return this.setRead(
      viewer,
      unread.map(({ id }) => id),
      true,
    );
  }

  async markAllRead(viewer: Viewer, batch?: ConversationBatch): Promise<RecipientId | null> {
    const [{ marked }, incomplete] = await Promise.all([this.unread.readerOf(viewer), this.incomplete.of(viewer)]);
    const { spans, next } = conversationsIn(incomplete, batch);
    // Spans of one recipient change the same segments, so each round marks one span per recipient.
    for (let rest = spans; rest.length > 0; ) {
      const first = new Map(rest.toReversed().map((span) => [span.recipientId, span]));
      await this.states.readSets.markRanges(viewer, [...first.values()]);
      rest = rest.filter((span) => first.get(span.recipientId) !== span);
    }
    if (next !== null) return next;
    for (const ids of slicesOf([...marked], IDS_AT_A_TIME)) {
      this.readAllMarked.defer(viewer.userId, ids);
      this.dropIdle.defer(viewer.userId, ids);
    }
    return null;
  }

  async setFlag(
    viewer: Viewer,
    ids: readonly MessageId[],
    flag: 'starred' | 'collapsed',
    on: boolean,
  ): Promise<readonly MessageId[]> {
    const messages = await this.indexRowsById.list(viewer.realmId, ids);
    const state = await this.states.load(viewer, messages);
    const changing = messages
      .filter((message) => state.isOwn(message) && (state.row(idOf(message))?.[flag] === 1) !== on)
      .map(idOf);
    if (changing.length === 0) return [];
    this.setFlagMark[flag].defer(viewer.userId, viewer.realmId, toFlag(on), changing);
    if (!on) this.dropIdle.defer(viewer.userId, changing);
    return changing;
  }

  async listMutedSenders({ realmId, userId }: Viewer): Promise<readonly MutedSender[]> {
    const rows = await this.mutedSenders.all(userId, realmId);
    return rows.map(([senderId, mutedAt]) => ({ userId: senderId, mutedAt }));
  }

  async muteSender({ realmId, userId }: Viewer, senderId: UserId, at: UnixSeconds): Promise<void> {
    this.mute.defer(userId, senderId, realmId, at);
  }

  async unmuteSender({ userId }: Viewer, senderId: UserId): Promise<void> {
    this.unmute.defer(userId, senderId);
  }

  /** Computes the changes required to mark the viewer's own messages. */
  private async readChange(viewer: Viewer, messages: readonly MessageIndexRow[], read: boolean): Promise<ReadChange> {
    const change: ReadChange = { ids: [], marks: [], ordinals: new Map() };
    const state = await this.states.load(viewer, messages);
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

  private async applyRead(viewer: Viewer, change: ReadChange, read: boolean): Promise<void> {
    if (change.ids.length === 0) return;
    await this.states.readSets.markAll(viewer, change.ordinals, read);
    this.putReadMarks(viewer, change.marks, read);
    if (read && change.ordinals.size > 0) await this.closeEmptyGaps(viewer, change.ordinals);
  }

  private putReadMarks({ realmId, userId }: Viewer, ids: readonly MessageId[], read: boolean): void {
    if (ids.length === 0) return;
    this.setReadMark.defer(userId, realmId, toFlag(read), ids);
    if (read) this.dropIdle.defer(userId, ids);
  }

  /**
   * Closes gaps without remaining unread messages: the first gap per recipient, where walks begin, and the one before
   * the newly read messages.
   */
  private async closeEmptyGaps(viewer: Viewer, marked: ReadonlyMap<RecipientId, readonly Ordinal[]>): Promise<void> {
    const only = marked.size === 1 ? [...marked.keys()][0]! : null;
    const [spans, reader] = await Promise.all([this.incomplete.of(viewer, only), this.unread.readerOf(viewer)]);
    const searched = spans.flatMap((range) => {
      const ordinals = marked.get(range.recipientId);
      if (!ordinals) return [];
      // A loop, because there may be too many values for function arguments.
      const firstRead = ordinals.reduce((least, ordinal) => Math.min(least, ordinal) as Ordinal);
      const before = { ...range, last: Math.min(range.last, firstRead - 1) };
      return [
        { range, from: 'start' as const },
        ...(before.first <= before.last ? [{ range: before, from: 'end' as const }] : []),
      ];
    });
    let empty = await this.unread.findEmpty(reader, searched);
    while (empty.length > 0) {
      const first = new Map(empty.toReversed().map((range) => [range.recipientId, range]));
      await this.states.readSets.markRanges(viewer, [...first.values()]);
      empty = empty.filter((range) => first.get(range.recipientId) !== range);
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
const NEXT_MESSAGE = '(SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM message_id_seq)';

/**
 * Condition for rows that repeat the state of spans, moves and read sets. Rows that make a message the user's own
 * always store the read state.
 */
const IS_IDLE = `read IS NULL AND starred = 0 AND collapsed = 0 AND mentioned = 0
  AND topic_wildcard_mentioned = 0 AND has_alert_word = 0`;

const flagMark = (column: 'starred' | 'collapsed'): string =>
  `INSERT INTO message_flag (user_id, message_id, realm_id, ${column})
   SELECT $1::bigint, id, $2::bigint, $3::smallint FROM unnest($4::bigint[]) m (id)
   ON CONFLICT (user_id, message_id) DO UPDATE SET ${column} = excluded.${column}`;

export const PERSONAL_MESSAGE_FEATURE = {
  repositories:
    ({ words }) =>
    (connection) => ({ personal: new PostgresPersonalMessages(connection, words) }),
} satisfies PostgresFeature;
