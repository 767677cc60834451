import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import {
  HISTORICAL,
  type MessageCondition,
  type MessageFilter,
  type MessageListEntry,
  type MessagePageReads,
  type MessageText,
  type MessageView,
  type Submessage,
  type Viewer,
} from '@parley/domain/messages';
import {
  after,
  grouped,
  idOf,
  type MessageIndexRow,
  type MessagePartReads,
  MessageRows,
  merge,
  orderOf,
  type PageBounds,
  type Quarantine,
  SentSince,
  type SubmessageRow,
  toSubmessage,
  toUserSummary,
  type UserSummaryRow,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { ConditionSubjects } from './conditions.js';
import { type Narrowing, narrowedTo, toNarrowing } from './message-filter.js';
import { MessageSeries } from './message-series.js';
import { UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { UnreadMessages } from './unread-messages.js';
import { MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

/**
 * Candidate source: returns at most `limit` rows in page direction that match the conditions decidable from
 * `message`.
 */
type Source = (pageBounds: PageBounds, limit: number) => Promise<MessageIndexRow[]>;

/** Batch sizes for conditions that no query can decide. */
const JUDGED_AT_ONCE = { atLeast: 100, atMost: 1000 };

/** Pages of messages in id order. */
class MessagePages {
  private readonly receivedPages: ReceivedMessagePages;
  private readonly series: MessageSeries;
  private readonly unread: UnreadMessages;
  private readonly subjects: ConditionSubjects;

  constructor(connection: Connection, states: ViewerMessageStates, words: SearchWords) {
    this.series = new MessageSeries(connection, states);
    this.receivedPages = new ReceivedMessagePages(connection, this.series);
    this.unread = new UnreadMessages(connection, states, new UnreadSpans(connection), words);
    this.subjects = new ConditionSubjects(connection, states, words);
  }

  /** Returns at most `limit` messages in page direction. */
  async page(
    viewer: Viewer,
    { conditions, scope }: MessageFilter,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const narrowing = toNarrowing(conditions);
    if (!narrowing || limit <= 0) return [];
    const history: Source =
      scope === 'own'
        ? (part, count) => this.receivedPages.page(viewer, narrowing, part, count)
        : (part, count) => this.sharedHistory(viewer, narrowing, part, count);
    if (narrowing.personal.length === 0) return history(pageBounds, limit);

    const source = this.personalSource(viewer, narrowing) ?? history;
    const found: MessageIndexRow[] = [];
    let count = Math.max(limit, JUDGED_AT_ONCE.atLeast);
    for (let part: PageBounds | null = pageBounds; part && found.length < limit; ) {
      const rows = await source(part, count);
      found.push(...(await this.subjects.matching(viewer, rows, narrowing.personal, scope)));
      part = rows.length >= count ? after(part, idOf(rows.at(-1)!)) : null;
      count = Math.max(count, Math.min(2 * count, JUDGED_AT_ONCE.atMost));
    }
    return found.slice(0, limit);
  }

  /** Returns the given messages that match all conditions, in order. */
  async among(
    viewer: Viewer,
    indexRows: readonly MessageIndexRow[],
    conditions: readonly MessageCondition[],
  ): Promise<MessageIndexRow[]> {
    const narrowing = toNarrowing(conditions);
    if (!narrowing || indexRows.length === 0) return [];
    const { restriction, personal } = narrowing;
    const rows =
      restriction.sql === ''
        ? indexRows
        : await this.series.select(
            `FROM message m WHERE m.id = ANY(?::bigint[]) ${restriction.sql}`,
            ...[indexRows.map(idOf), ...restriction.parameters],
          );
    const meant = new Set((await this.subjects.matching(viewer, rows, personal, 'shared')).map(idOf));
    return indexRows.filter((indexRow) => meant.has(idOf(indexRow)));
  }

  private async sharedHistory(
    { realmId }: Viewer,
    narrowing: Narrowing,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const { series, privacies } = narrowing;
    if (series) return this.series.inSeries(null, series, narrowing, pageBounds, limit);
    if (!privacies) throw new Error('Shared history requires conditions that name channels');
    return this.series.inChannels(realmId, narrowing, pageBounds, limit);
  }

  /** Returns a source if the matches are a small stored subset of the viewer's messages; otherwise null. */
  private personalSource(viewer: Viewer, narrowing: Narrowing): Source | null {
    for (const condition of narrowing.personal) {
      const sources = this.sourcesOf(viewer, narrowing, condition);
      if (sources)
        return async (pageBounds, limit) =>
          merge(await Promise.all(sources.map((source) => source(pageBounds, limit))), pageBounds, limit);
    }
    return null;
  }

  /** Returns sources that together contain all matches of the condition; null if there are none. */
  private sourcesOf(viewer: Viewer, narrowing: Narrowing, condition: MessageCondition): Source[] | null {
    switch (condition.kind) {
      case 'flag': {
        const { flag } = condition;
        if (flag === 'read') return null;
        if (flag !== 'channelWildcardMentioned') return [this.flagged(viewer, narrowing, flag)];
        const mentioning = narrowedTo(narrowing, 'mentionsChannel');
        return [(pageBounds, limit) => this.receivedPages.page(viewer, mentioning, pageBounds, limit)];
      }
      case 'not': {
        const { condition: negated } = condition;
        if (negated.kind !== 'flag' || negated.flag !== 'read') return null;
        const unjudged = { ...narrowing, personal: [] };
        return [(pageBounds, limit) => this.unread.page(viewer, unjudged, pageBounds, limit)];
      }
      case 'anyOf': {
        const parts = condition.conditions.map((each) => this.sourcesOf(viewer, narrowing, each));
        return parts.some((part) => part === null) ? null : parts.flatMap((part) => part!);
      }
      default:
        return null;
    }
  }

  private flagged({ realmId, userId }: Viewer, { restriction }: Narrowing, flag: keyof typeof FLAG_COLUMNS): Source {
    return (pageBounds, limit) =>
      this.series.select(
        `FROM message_flag f JOIN message m ON m.id = f.message_id
         WHERE f.user_id = ? AND f.${FLAG_COLUMNS[flag]} = 1 AND f.realm_id = ? AND f.message_id BETWEEN ? AND ? ${restriction.sql}
         ORDER BY f.message_id ${orderOf(pageBounds)} LIMIT ?`,
        ...[userId, realmId, pageBounds.first, pageBounds.last, ...restriction.parameters, limit],
      );
  }
}

/** Column of `message_flag` for each flag; each has an index. */
const FLAG_COLUMNS = {
  starred: 'starred',
  mentioned: 'mentioned',
  topicWildcardMentioned: 'topic_wildcard_mentioned',
  hasAlertWord: 'has_alert_word',
} as const;

const MAX_ID = Number.MAX_SAFE_INTEGER;
/** Number of ids searched for the next message of a realm. */
const NEAR_IDS = 1000;

export class PostgresMessagePageReads implements MessagePageReads {
  private readonly states: ViewerMessageStates;
  private readonly pages: MessagePages;
  private readonly indexRowsById: MessageIndexRowsById;
  private readonly rows: MessageRows;
  private readonly sentSince: SentSince;

  private readonly conversationHeads;
  private readonly senderVersions;
  private readonly conversationNames;
  private readonly participants;
  private readonly texts;
  private readonly submessages;
  private readonly senders;
  private readonly firstInRealm;
  private readonly firstOfRecipients;

  constructor(
    connection: Connection,
    private readonly quarantine: Quarantine,
    words: SearchWords,
    private readonly parts: readonly MessagePartReads[],
  ) {
    this.states = new ViewerMessageStates(connection);
    this.pages = new MessagePages(connection, this.states, words);
    this.indexRowsById = new MessageIndexRowsById(connection);
    this.rows = new MessageRows(connection, quarantine);
    this.sentSince = new SentSince(connection);

    this.texts = connection.rows<MessageText>(
      `SELECT id, topic, rendered_content AS "renderedContent"
       FROM message WHERE id = ANY($1::bigint[]) AND realm_id = $2 ORDER BY id`,
    );
    this.conversationHeads = connection.tuples<readonly [RecipientId, ChannelId | null, number]>(
      `SELECT r.id, r.channel_id,
              CASE WHEN r.channel_id IS NULL
                   THEN (SELECT sum(u.version)::bigint FROM direct_participant p JOIN "user" u ON u.id = p.user_id
                         WHERE p.recipient_id = r.id)
                   ELSE (SELECT c.version FROM channel c WHERE c.id = r.channel_id) END
       FROM recipient r WHERE r.id = ANY($1::bigint[]) AND r.realm_id = $2`,
    );
    this.senderVersions = connection.tuples<readonly [UserId, number]>(
      'SELECT id, version FROM "user" WHERE id = ANY($1::bigint[])',
    );
    this.conversationNames = connection.tuples<readonly [RecipientId, ChannelId | null, string | null]>(
      `SELECT r.id, r.channel_id, c.name FROM recipient r LEFT JOIN channel c ON c.id = r.channel_id
       WHERE r.id IN (SELECT recipient_id FROM message WHERE id = ANY($1::bigint[]))`,
    );
    const user = `u.id, u.full_name, u.email, u.settings, u.avatar_source, u.avatar_version, u.avatar_key,
      u.bot_kind IS NOT NULL AS is_bot, u.system_kind IS NOT NULL AS is_system_bot, u.external_id`;
    this.participants = connection.rows<UserSummaryRow & { readonly recipient_id: RecipientId }>(
      `SELECT p.recipient_id, ${user} FROM direct_participant p JOIN "user" u ON u.id = p.user_id
       WHERE p.recipient_id IN (SELECT recipient_id FROM message WHERE id = ANY($1::bigint[]) AND channel_id IS NULL)
       ORDER BY p.recipient_id, p.user_id`,
    );
    this.senders = connection.rows<UserSummaryRow>(
      `SELECT ${user} FROM "user" u WHERE u.id IN (SELECT sender_id FROM message WHERE id = ANY($1::bigint[]))`,
    );
    this.submessages = connection.rows<SubmessageRow>(
      'SELECT * FROM submessage WHERE message_id = ANY($1::bigint[]) ORDER BY id',
    );
    // The next message is near in most realms. A quiet realm among busy ones searches its own recipients.
    this.firstInRealm = connection.values<MessageId>(
      'SELECT id FROM message WHERE id >= $1 AND id < $2 AND realm_id = $3 ORDER BY id LIMIT 1',
    );
    this.firstOfRecipients = connection.values<MessageId | null>(
      `SELECT min(m.id) FROM recipient r CROSS JOIN LATERAL (
         SELECT n.id FROM message n WHERE n.recipient_id = r.id AND n.id >= $1 ORDER BY n.id LIMIT 1) m
       WHERE r.realm_id = $2`,
    );
  }

  async listEntriesUpTo(
    viewer: Viewer,
    filter: MessageFilter,
    atMost: number | null,
    limit: number,
  ): Promise<readonly MessageListEntry[]> {
    const pageBounds: PageBounds = { direction: 'older', first: 0, last: Math.min(atMost ?? MAX_ID, MAX_ID) };
    return this.toEntries(viewer, (await this.pages.page(viewer, filter, pageBounds, limit)).reverse());
  }

  async listEntriesFrom(
    viewer: Viewer,
    filter: MessageFilter,
    atLeast: number,
    limit: number,
  ): Promise<readonly MessageListEntry[]> {
    const pageBounds: PageBounds = { direction: 'newer', first: atLeast, last: MAX_ID };
    return this.toEntries(viewer, await this.pages.page(viewer, filter, pageBounds, limit));
  }

  async listEntries(
    viewer: Viewer,
    ids: readonly MessageId[],
    conditions: readonly MessageCondition[] = [],
  ): Promise<readonly MessageListEntry[]> {
    const indexRows = await this.indexRowsById.list(viewer.realmId, ids);
    return this.toEntries(viewer, await this.pages.among(viewer, indexRows, conditions));
  }

  async listTexts(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageText[]> {
    return this.texts.all(ids, realmId);
  }

  async listViews(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageView[]> {
    const [rows, names, participants, senders, submessageRows] = await Promise.all([
      this.rows.list(realmId, ids),
      this.conversationNames.all(ids),
      this.participants.all(ids),
      this.senders.all(ids),
      this.submessages.all(ids),
    ]);
    const conversations = new Map(names.map((each) => [each[0], each]));
    const participantsOf = grouped(participants, (row) => row.recipient_id);
    const usersById = new Map(
      [...senders, ...participants].map((row) => [row.id, toUserSummary(row, this.quarantine)]),
    );
    const submessages = grouped(submessageRows, (row) => row.message_id);
    const messages = rows.map((row) => this.rows.toMessage(row));
    const parts = await Promise.all(this.parts.map((part) => part.list(messages)));
    return messages.map((message) => {
      const [, channelId, name] = conversations.get(message.recipientId)!;
      return {
        message,
        sender: usersById.get(message.senderId)!,
        submessages: (submessages.get(message.id) ?? []).map((row): Submessage => toSubmessage(row)),
        ...Object.assign({}, ...parts.map((part) => part.get(message.id))),
        conversation:
          channelId !== null
            ? { kind: 'channel', channelId, name: name! }
            : {
                kind: 'direct',
                participants: participantsOf.get(message.recipientId)!.map(({ id }) => usersById.get(id)!),
              },
      };
    });
  }

  async findFirstIdSince(realmId: RealmId, since: UnixSeconds): Promise<MessageId | null> {
    const first = await this.sentSince.firstId(realmId, since);
    const near = await this.firstInRealm.get(first, first + NEAR_IDS, realmId);
    return near ?? (await this.firstOfRecipients.get(first + NEAR_IDS, realmId)) ?? null;
  }

  /** Converts ascending rows; drops rows of another realm's conversations. */
  private async toEntries(viewer: Viewer, indexRows: readonly MessageIndexRow[]): Promise<MessageListEntry[]> {
    if (indexRows.length === 0) return [];
    const [heads, versions, state] = await Promise.all([
      this.conversationHeads.all([...new Set(indexRows.map((indexRow) => indexRow[2]))], viewer.realmId),
      this.senderVersions.all([...new Set(indexRows.map((indexRow) => indexRow[1]))]),
      this.states.load(viewer, indexRows),
    ]);
    const conversations = new Map(heads.map((each) => [each[0], each]));
    const senders = new Map(versions);
    const entries: MessageListEntry[] = [];
    for (const indexRow of indexRows) {
      const [id, senderId, recipientId, , , , version] = indexRow;
      const conversation = conversations.get(recipientId);
      if (!conversation) continue;
      entries.push({
        id,
        senderId,
        recipientId,
        channelId: conversation[1],
        versions: { message: version, sender: senders.get(senderId)!, conversation: conversation[2] },
        flags: state.flags(indexRow) ?? HISTORICAL,
      });
    }
    return entries;
  }
}

export const MESSAGE_PAGE_FEATURE = {
  repositories:
    ({ quarantine, words, features }) =>
    (connection) => {
      const parts = features.flatMap((feature) => feature.messagePart?.(connection) ?? []);
      return { pages: new PostgresMessagePageReads(connection, quarantine, words, parts) };
    },
} satisfies PostgresFeature;
