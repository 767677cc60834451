import { lastOf, type MessageId, type RealmId, type RecipientId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { MessageCondition, MessageFilter, Viewer } from '@parley/domain/messages';
import {
  after,
  ConditionSubjects,
  type ConversationName,
  grouped,
  idOf,
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
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { type Narrowing, narrowedTo, toNarrowing } from './message-filter.js';
import { MessageSeries } from './message-series.js';
import { UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { UnreadMessages } from './unread-messages.js';
import { MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

/** Batch sizes for conditions that no query can decide. */
const JUDGED_AT_ONCE = { atLeast: 100, atMost: 1000 };

/** Pages of messages in id order. */
class MessagePages {
  private readonly receivedPages: ReceivedMessagePages;
  private readonly series: MessageSeries;
  private readonly unread: UnreadMessages;
  private readonly subjects: ConditionSubjects;
  private readonly sources;

  constructor(connection: Connection, states: ViewerMessageStates, words: SearchWords) {
    this.series = new MessageSeries(connection, states);
    this.receivedPages = new ReceivedMessagePages(connection, this.series);
    this.unread = new UnreadMessages(connection, states, new UnreadSpans(connection), words);
    this.subjects = new ConditionSubjects(connection, states, words);
    const { series, receivedPages, unread } = this;
    this.sources = new MessageSources(connection, { series, receivedPages, unread }, narrowedTo);
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
    const history: MessageSource =
      scope === 'own'
        ? (part, count) => this.receivedPages.page(viewer, narrowing, part, count)
        : (part, count) => this.sharedHistory(viewer, narrowing, part, count);
    const byValue = await this.sources.withValue(narrowing);
    if (narrowing.personal.length === 0 && !byValue) return history(pageBounds, limit);

    const source = byValue ?? this.sources.ofViewer(viewer, narrowing) ?? history;
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
}

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
