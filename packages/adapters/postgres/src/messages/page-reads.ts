import { lastOf, type MessageId, type RealmId, type RecipientId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { MessageCondition, MessageFilter, Viewer } from '@parley/domain/messages';
import {
  after,
  type ConversationName,
  grouped,
  idOf,
  type MessageIndexRow,
  type MessagePartReads,
  merge,
  orderOf,
  type PageBounds,
  type Quarantine,
  SqlMessagePageReads,
  sourcesOf,
  USER_SUMMARY,
  type UserSummaryRow,
  type ViewRows,
  within,
} from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
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

/** Number of messages with a value above which conversations are read instead of the index of values. */
const MANY_WITH_VALUE = 2000;

/** Pages of messages in id order. */
class MessagePages {
  private readonly receivedPages: ReceivedMessagePages;
  private readonly series: MessageSeries;
  private readonly unread: UnreadMessages;
  private readonly subjects: ConditionSubjects;
  private readonly countWithValue: Query<string>;

  constructor(connection: Connection, states: ViewerMessageStates, words: SearchWords) {
    this.series = new MessageSeries(connection, states);
    this.receivedPages = new ReceivedMessagePages(connection, this.series);
    this.unread = new UnreadMessages(connection, states, new UnreadSpans(connection), words);
    this.subjects = new ConditionSubjects(connection, states, words);
    this.countWithValue = connection.values(
      'SELECT count(*) FROM (SELECT 1 FROM data_value WHERE key_id = $1 AND value = $2 LIMIT $3) v',
    );
  }

  /** Returns at most `limit` messages in page direction. */
  async page(
    viewer: Viewer,
    { conditions, scope }: MessageFilter,
    bounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const narrowing = toNarrowing(conditions);
    const pageBounds = narrowing && within(bounds, narrowing.ids);
    if (!narrowing || !pageBounds || limit <= 0) return [];
    const history: Source =
      scope === 'own'
        ? (part, count) => this.receivedPages.page(viewer, narrowing, part, count)
        : (part, count) => this.sharedHistory(viewer, narrowing, part, count);
    const byValue = await this.valueSource(narrowing);
    if (narrowing.personal.length === 0 && !byValue) return history(pageBounds, limit);

    const source = byValue ?? this.personalSource(viewer, narrowing) ?? history;
    const found: MessageIndexRow[] = [];
    let count = Math.max(limit, JUDGED_AT_ONCE.atLeast);
    for (let part: PageBounds | null = pageBounds; part && found.length < limit; ) {
      const rows = await source(part, count);
      found.push(...(await this.subjects.matching(viewer, rows, narrowing.personal, scope)));
      part = rows.length >= count ? after(part, idOf(lastOf(rows))) : null;
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
    const { receivedPages, unread } = this;
    for (const condition of narrowing.personal) {
      const sources = sourcesOf<Source>(condition, {
        flagged: (flag) => this.flagged(viewer, narrowing, flag),
        mentioningChannel: () => {
          const mentioning = narrowedTo(narrowing, 'mentionsChannel');
          return (pageBounds, limit) => receivedPages.page(viewer, mentioning, pageBounds, limit);
        },
        unread: () => (pageBounds, limit) => unread.page(viewer, { ...narrowing, personal: [] }, pageBounds, limit),
      });
      if (sources)
        return async (pageBounds, limit) =>
          merge(await Promise.all(sources.map((source) => source(pageBounds, limit))), pageBounds, limit);
    }
    return null;
  }

  /** Returns a source of all messages with a rare value, whoever received them; null for a frequent or no value. */
  private async valueSource({ data, restriction }: Narrowing): Promise<Source | null> {
    if (!data) return null;
    const value = [data.key.id, data.value];
    if (Number(await this.countWithValue.one(...value, MANY_WITH_VALUE)) === MANY_WITH_VALUE) return null;
    return (pageBounds, limit) =>
      this.series.select(
        `FROM data_value w JOIN message m ON m.id = w.object_id
         WHERE w.key_id = ? AND w.value = ? AND w.object_id BETWEEN ? AND ? ${restriction.sql}
         ORDER BY w.object_id ${orderOf(pageBounds)} LIMIT ?`,
        ...[...value, pageBounds.first, pageBounds.last, ...restriction.parameters, limit],
      );
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

export class PostgresMessagePageReads extends SqlMessagePageReads {
  private readonly conversationNames;
  private readonly participants;
  private readonly senders;

  constructor(connection: Connection, quarantine: Quarantine, words: SearchWords, parts: readonly MessagePartReads[]) {
    const states = new ViewerMessageStates(connection);
    const pages = new MessagePages(connection, states, words);
    const indexRowsById = new MessageIndexRowsById(connection);
    super(connection, { states, pages, indexRowsById }, quarantine, parts);
    this.conversationNames = connection.tuples<ConversationName>(
      `SELECT r.id, r.channel_id, c.name FROM recipient r LEFT JOIN channel c ON c.id = r.channel_id
       WHERE r.id IN (SELECT recipient_id FROM message WHERE id = ANY($1::bigint[]))`,
    );
    this.participants = connection.rows<UserSummaryRow & { readonly recipient_id: RecipientId }>(
      `SELECT p.recipient_id, ${USER_SUMMARY} FROM direct_participant p JOIN "user" u ON u.id = p.user_id
       WHERE p.recipient_id IN (SELECT recipient_id FROM message WHERE id = ANY($1::bigint[]) AND channel_id IS NULL)
       ORDER BY p.recipient_id, p.user_id`,
    );
    this.senders = connection.rows<UserSummaryRow>(
      `SELECT ${USER_SUMMARY} FROM "user" u
       WHERE u.id IN (SELECT sender_id FROM message WHERE id = ANY($1::bigint[]))`,
    );
  }

  protected async viewRows(realmId: RealmId, ids: readonly MessageId[]): Promise<ViewRows> {
    const [rows, names, participants, senders, submessages] = await Promise.all([
      this.rows.list(realmId, ids),
      this.conversationNames.all(ids),
      this.participants.all(ids),
      this.senders.all(ids),
      this.submessages.all(ids),
    ]);
    return {
      rows,
      names,
      participants: grouped(participants, (row) => row.recipient_id),
      users: [...senders, ...participants],
      submessages,
    };
  }
}

declare module '../engine/feature.js' {
  interface SharedObjects {
    readonly pages: PostgresMessagePageReads;
  }
}

export const MESSAGE_PAGE_FEATURE = {
  shared:
    ({ quarantine, words, features }) =>
    (connection) => {
      const parts = features.flatMap((feature) => feature.messagePart?.(connection, { quarantine }) ?? []);
      return { pages: new PostgresMessagePageReads(connection, quarantine, words, parts) };
    },
  repositories:
    () =>
    (_, { pages }) => ({ pages }),
} satisfies PostgresFeature;
