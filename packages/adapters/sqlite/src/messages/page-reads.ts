import { lastOf, type MessageId, type RealmId, type RecipientId, type UserId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { MessageCondition, MessageFilter, Viewer } from '@parley/domain/messages';
import {
  after,
  ConditionSubjects,
  type ConversationName,
  grouped,
  idOf,
  jsonList,
  type MaybePromise,
  type MessageIndexRow,
  type MessagePartReads,
  type MessageSource,
  MessageSources,
  type PageBounds,
  type Quarantine,
  SqlMessagePageReads,
  USER_SUMMARY,
  type UserSummaryRow,
  type ViewRows,
  within,
} from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { type Narrowing, narrowedTo, toNarrowing } from './message-filter.js';
import { MessageSeries } from './message-series.js';
import { UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { SearchPages, splitExclusions } from './search.js';
import { UnreadMessages } from './unread-messages.js';
import { MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

/** Batch sizes for conditions on the viewer's read state and flags. */
const JUDGED_AT_ONCE = { atLeast: 100, atMost: 1000 };

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
  private readonly sources;

  constructor(connection: Connection, states: ViewerMessageStates, words: SearchWords) {
    this.series = new MessageSeries(connection);
    this.receivedPages = new ReceivedMessagePages(connection, states, this.series);
    this.searchPages = new SearchPages(connection, states, this.series, this.receivedPages);
    this.unread = new UnreadMessages(connection, states, new UnreadSpans(connection), words);
    this.subjects = new ConditionSubjects(asStatements(connection), states, words);
    const { series, receivedPages, unread } = this;
    this.sources = new MessageSources<string>(asStatements(connection), { series, receivedPages, unread }, narrowedTo);
  }

  /** Returns at most `limit` messages in page direction. */
  async page(
    viewer: Viewer,
    { conditions, scope }: MessageFilter,
    bounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const { others, excluded } = splitExclusions(conditions);
    const asked = toNarrowing(others);
    const pageRange = asked && within(bounds, asked.ids);
    if (!asked || !pageRange || limit <= 0) return [];
    // Same conditions without the search index; each message is tested by its text.
    const unsearched = asked.searched ? judgingText(others) : asked;
    const byValue = await this.sources.withValue(unsearched);
    const isLookedUp =
      byValue !== null || asked.messageId !== null || (asked.searched !== null && this.searchPages.isShort(asked));
    const narrowing = isLookedUp ? unsearched : asked;
    const plain: MessageSource = (part, count) =>
      scope === 'own'
        ? this.receivedPages.page(viewer, unsearched, part, count)
        : this.sharedHistory(viewer, unsearched, part, count);
    const history: MessageSource = narrowing.searched
      ? (part, count) => this.searchPages.page(viewer, narrowing, scope, part, count)
      : (byValue ?? plain);
    if (narrowing.personal.length === 0 && excluded === null && !byValue) return history(pageRange, limit);

    const marked = byValue ? null : this.sources.ofViewer(viewer, unsearched);
    // Search hits may be rarer or more frequent than flagged messages, which only reading reveals.
    let source = narrowing.searched ? history : (marked ?? history);
    let judges = narrowing.personal;
    let judged = 0;
    const found: MessageIndexRow[] = [];
    let count = Math.max(limit, JUDGED_AT_ONCE.atLeast);
    for (let part: PageBounds | null = pageRange; part && found.length < limit; ) {
      const rows = await source(part, count);
      const kept = excluded === null ? rows : this.searchPages.without(rows, excluded);
      found.push(
        ...(judges.length === 0 && !byValue ? kept : await this.subjects.matching(viewer, kept, judges, scope)),
      );
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
  async among(
    viewer: Viewer,
    indexRows: readonly MessageIndexRow[],
    conditions: readonly MessageCondition[],
  ): Promise<MessageIndexRow[]> {
    const { others, excluded } = splitExclusions(conditions);
    const narrowing = toNarrowing(others);
    if (!narrowing) return [];
    const left = excluded === null ? indexRows : this.searchPages.without(indexRows, excluded);
    const kept = narrowing.searched ? this.searchPages.among(left, narrowing.searched.query) : left;
    const { besidesSearch: restriction, personal } = narrowing;
    if (restriction.sql === '') return this.subjects.matching(viewer, kept, personal, 'shared');
    const from = `FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE true ${restriction.sql}`;
    const rows = this.series.select(from, jsonList(kept.map(idOf)), ...restriction.parameters);
    const meant = new Set((await this.subjects.matching(viewer, rows, personal, 'shared')).map(idOf));
    return kept.filter((indexRow) => meant.has(idOf(indexRow)));
  }

  private sharedHistory(
    viewer: Viewer,
    narrowing: Narrowing,
    pageRange: PageBounds,
    limit: number,
  ): MaybePromise<MessageIndexRow[]> {
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
}

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

  constructor(connection: Connection, quarantine: Quarantine, words: SearchWords, parts: readonly MessagePartReads[]) {
    const states = new ViewerMessageStates(connection);
    const pages = new MessagePages(connection, states, words);
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

  /**
   * Reads each row once. PostgreSQL reads messages repeatedly to need a single round trip, which takes 1.3 times as long
   * here.
   */
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
    ({ quarantine, words, features }) =>
    (connection) => {
      const parts = features.flatMap((feature) => feature.messagePart?.(connection, { quarantine }) ?? []);
      return { pages: new SqliteMessagePageReads(connection, quarantine, words, parts) };
    },
  repositories:
    () =>
    (_, { pages }) => ({ pages }),
} satisfies SqliteFeature;
