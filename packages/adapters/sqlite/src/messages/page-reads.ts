import { lastOf, type MessageId, type RealmId, type RecipientId, type UserId } from '@parley/domain/kernel';
import type { MessageCondition, MessageFilter, Viewer } from '@parley/domain/messages';
import {
  after,
  type ConversationName,
  grouped,
  idOf,
  jsonList,
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
import { asStatements, type Connection, LIMIT, type Query } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { ConditionSubjects } from './conditions.js';
import { type Narrowing, narrowedTo, toNarrowing } from './message-filter.js';
import { MessageSeries } from './message-series.js';
import { UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { SearchPages, splitExclusions } from './search.js';
import { UnreadMessages } from './unread-messages.js';
import { MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

/**
 * Candidate source: returns at most `limit` rows in page direction that match the conditions decidable from
 * `message`.
 */
type Source = (pageRange: PageBounds, limit: number) => MessageIndexRow[];

/** Batch sizes for conditions on the viewer's read state and flags. */
const JUDGED_AT_ONCE = { atLeast: 100, atMost: 1000 };

/** Number of messages with a value above which conversations are read instead of the index of values. */
const MANY_WITH_VALUE = 2000;

/** Search hits to test against personal filters before falling back to the flag index. */
const MAX_JUDGED_FOUND = 2000;

/**
 * Pages of messages in id order, using the index with the fewest non-matching candidates. Separate from PostgreSQL's,
 * where the planner chooses the index.
 */
export class MessagePages {
  readonly receivedPages: ReceivedMessagePages;
  private readonly series: MessageSeries;
  private readonly searchPages: SearchPages;
  private readonly unread: UnreadMessages;
  private readonly subjects: ConditionSubjects;
  private readonly countWithValue: Query<number>;

  constructor(connection: Connection, states: ViewerMessageStates) {
    this.series = new MessageSeries(connection);
    this.receivedPages = new ReceivedMessagePages(connection, states, this.series);
    this.searchPages = new SearchPages(connection, states, this.series, this.receivedPages);
    this.unread = new UnreadMessages(connection, states, new UnreadSpans(connection));
    this.subjects = new ConditionSubjects(connection, states);
    this.countWithValue = connection.values(
      `SELECT count(*) FROM (SELECT 1 FROM data_value WHERE key_id = ? AND value = ? ${LIMIT})`,
    );
  }

  /** Returns at most `limit` messages in page direction. */
  page(viewer: Viewer, { conditions, scope }: MessageFilter, bounds: PageBounds, limit: number): MessageIndexRow[] {
    const { others, excluded } = splitExclusions(conditions);
    const asked = toNarrowing(others);
    const pageRange = asked && within(bounds, asked.ids);
    if (!asked || !pageRange || limit <= 0) return [];
    // Same conditions without the search index; each message is tested by its text.
    const unsearched = asked.searched ? judgingText(others) : asked;
    const byValue = this.valueSource(unsearched);
    const isLookedUp =
      byValue !== null || asked.messageId !== null || (asked.searched !== null && this.searchPages.isShort(asked));
    const narrowing = isLookedUp ? unsearched : asked;
    const plain: Source = (part, count) =>
      scope === 'own'
        ? this.receivedPages.page(viewer, unsearched, part, count)
        : this.sharedHistory(viewer, unsearched, part, count);
    const history: Source = narrowing.searched
      ? (part, count) => this.searchPages.page(viewer, narrowing, scope, part, count)
      : (byValue ?? plain);
    if (narrowing.personal.length === 0 && excluded === null && !byValue) return history(pageRange, limit);

    const marked = byValue ? null : this.personalSource(viewer, unsearched);
    // Search hits may be rarer or more frequent than flagged messages, which only reading reveals.
    let source = narrowing.searched ? history : (marked ?? history);
    let judges = narrowing.personal;
    let judged = 0;
    const found: MessageIndexRow[] = [];
    let count = Math.max(limit, JUDGED_AT_ONCE.atLeast);
    for (let part: PageBounds | null = pageRange; part && found.length < limit; ) {
      const rows = source(part, count);
      const kept = excluded === null ? rows : this.searchPages.without(rows, excluded);
      found.push(...(judges.length === 0 && !byValue ? kept : this.subjects.matching(viewer, kept, judges, scope)));
      part = rows.length >= count ? after(part, idOf(lastOf(rows))) : null;
      count = Math.max(count, Math.min(2 * count, JUDGED_AT_ONCE.atMost));
      judged += rows.length;
      if (judged >= MAX_JUDGED_FOUND && marked && narrowing.searched) {
        source = marked;
        judges = unsearched.personal;
      }
    }
    return found.slice(0, limit);
  }

  /** Returns the given messages that match all conditions, in order. */
  among(
    viewer: Viewer,
    indexRows: readonly MessageIndexRow[],
    conditions: readonly MessageCondition[],
  ): MessageIndexRow[] {
    const { others, excluded } = splitExclusions(conditions);
    const narrowing = toNarrowing(others);
    if (!narrowing) return [];
    const left = excluded === null ? indexRows : this.searchPages.without(indexRows, excluded);
    const kept = narrowing.searched ? this.searchPages.among(left, narrowing.searched.query) : left;
    const { besidesSearch: restriction, personal } = narrowing;
    if (restriction.sql === '') return this.subjects.matching(viewer, kept, personal, 'shared');
    const from = `FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE true ${restriction.sql}`;
    const rows = this.series.select(from, jsonList(kept.map(idOf)), ...restriction.parameters);
    const meant = new Set(this.subjects.matching(viewer, rows, personal, 'shared').map(idOf));
    return kept.filter((indexRow) => meant.has(idOf(indexRow)));
  }

  private sharedHistory(viewer: Viewer, narrowing: Narrowing, pageRange: PageBounds, limit: number): MessageIndexRow[] {
    const { series, privacies } = narrowing;
    const [only, another] = series ?? [];
    if (only && !another) return this.series.list(only, narrowing, pageRange, limit);
    if (!series && !privacies) throw new Error('Shared history requires conditions that name channels');
    const starts = series
      ? this.series.starts(series, narrowing, pageRange)
      : this.series.channelStarts(viewer.realmId, privacies!, narrowing, pageRange);
    return this.series.merged(starts, pageRange, limit, (one, part, count) =>
      this.series.list(one, narrowing, part, count),
    );
  }

  /** Returns a source if the matches are a small stored subset of the viewer's messages; otherwise null. */
  private personalSource(viewer: Viewer, narrowing: Narrowing): Source | null {
    const { receivedPages, unread } = this;
    for (const condition of narrowing.personal) {
      const sources = sourcesOf<Source>(condition, {
        flagged: (flag) => this.flagged(viewer, narrowing, flag),
        mentioningChannel: () => {
          const mentioning = narrowedTo(narrowing, 'mentionsChannel');
          return (pageRange, limit) => receivedPages.page(viewer, mentioning, pageRange, limit);
        },
        unread: () => (pageRange, limit) => unread.page(viewer, narrowing, pageRange, limit),
      });
      if (sources)
        return (pageRange, limit) =>
          merge(
            sources.map((source) => source(pageRange, limit)),
            pageRange,
            limit,
          );
    }
    return null;
  }

  /** Returns a source of all messages with a rare value, whoever received them; null for a frequent or no value. */
  private valueSource({ data, restriction }: Narrowing): Source | null {
    if (!data) return null;
    const value = [data.key.id, data.value];
    if (this.countWithValue.one(...value, MANY_WITH_VALUE) === MANY_WITH_VALUE) return null;
    return (pageRange, limit) =>
      this.series.select(
        `FROM data_value w CROSS JOIN message m ON m.id = w.object_id
         WHERE w.key_id = ? AND w.value = ? AND w.object_id BETWEEN ? AND ? ${restriction.sql}
         ORDER BY w.object_id ${orderOf(pageRange)} ${LIMIT}`,
        ...[...value, pageRange.first, pageRange.last, ...restriction.parameters, limit],
      );
  }

  private flagged({ realmId, userId }: Viewer, { restriction }: Narrowing, flag: keyof typeof FLAG_INDEXES): Source {
    const [index, column] = FLAG_INDEXES[flag];
    return (pageRange, limit) =>
      this.series.select(
        `FROM message_flag f INDEXED BY ${index} CROSS JOIN message m ON m.id = f.message_id
         WHERE f.user_id = ? AND f.${column} = 1 AND f.realm_id = ? AND f.message_id BETWEEN ? AND ? ${restriction.sql}
         ORDER BY f.message_id ${orderOf(pageRange)} ${LIMIT}`,
        ...[userId, realmId, pageRange.first, pageRange.last, ...restriction.parameters, limit],
      );
  }
}

/** Index of `message_flag` and column for each flag. */
const FLAG_INDEXES = {
  starred: ['message_flag_starred', 'starred'],
  mentioned: ['message_flag_mentioned', 'mentioned'],
  topicWildcardMentioned: ['message_flag_topic_mentioned', 'topic_wildcard_mentioned'],
  hasAlertWord: ['message_flag_alerted', 'has_alert_word'],
} as const;

/** Tests search and mention conditions message by message. */
function judgingText(conditions: readonly MessageCondition[]): Narrowing {
  const isText = ({ kind }: MessageCondition) => kind === 'search' || kind === 'mentions';
  const narrowing = toNarrowing(conditions.filter((condition) => !isText(condition)))!;
  return { ...narrowing, personal: [...narrowing.personal, ...conditions.filter(isText)] };
}

export class SqliteMessagePageReads extends SqlMessagePageReads {
  private readonly conversationNames;
  private readonly participantIds;
  private readonly usersById;

  constructor(connection: Connection, quarantine: Quarantine, parts: readonly MessagePartReads[]) {
    const states = new ViewerMessageStates(connection);
    const pages = new MessagePages(connection, states);
    const indexRowsById = new MessageIndexRowsById(connection);
    super(asStatements(connection), { states, pages, indexRowsById }, quarantine, parts);
    this.conversationNames = connection.tuples<ConversationName>(
      `SELECT r.id, r.channel_id, c.name FROM recipient r LEFT JOIN channel c ON c.id = r.channel_id
       WHERE r.id IN (SELECT value FROM json_each(?))`,
    );
    this.participantIds = connection.tuples<readonly [RecipientId, UserId]>(
      `SELECT recipient_id, user_id FROM direct_participant
       WHERE recipient_id IN (SELECT value FROM json_each(?)) ORDER BY recipient_id, user_id`,
    );
    this.usersById = connection.rows<UserSummaryRow>(
      `SELECT ${USER_SUMMARY} FROM user u WHERE u.id IN (SELECT value FROM json_each(?))`,
    );
  }

  /** Reads each row once, while PostgreSQL reads messages repeatedly to need a single round trip. */
  protected async viewRows(realmId: RealmId, ids: readonly MessageId[]): Promise<ViewRows> {
    const rows = await this.rows.list(realmId, ids);
    const recipientIds = jsonList(new Set(rows.map((row) => row.recipient_id)));
    const participants = this.participantIds.all(recipientIds).map(([recipientId, id]) => ({ recipientId, id }));
    const userIds = new Set([...rows.map((row) => row.sender_id), ...participants.map(({ id }) => id)]);
    return {
      rows,
      names: this.conversationNames.all(recipientIds),
      participants: grouped(participants, ({ recipientId }) => recipientId),
      users: this.usersById.all(jsonList(userIds)),
      submessages: await this.submessages.all(jsonList(rows.map((row) => row.id))),
    };
  }
}

declare module '../engine/feature.js' {
  interface SharedObjects {
    readonly pages: SqliteMessagePageReads;
  }
}

export const MESSAGE_PAGE_FEATURE = {
  shared:
    ({ quarantine, features }) =>
    (connection) => {
      const parts = features.flatMap((feature) => feature.messagePart?.(connection, { quarantine }) ?? []);
      return { pages: new SqliteMessagePageReads(connection, quarantine, parts) };
    },
  repositories:
    () =>
    (_, { pages }) => ({ pages }),
} satisfies SqliteFeature;
