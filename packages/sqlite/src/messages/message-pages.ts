import type { MessageCondition, MessageFilter, Viewer } from '@parley/domain/messages';
import { type Connection, LIMIT } from '../engine/connection.js';
import { jsonList } from '../engine/rows.js';
import { ConditionSubjects } from './condition-subjects.js';
import { type Narrowing, narrowedTo, toNarrowing } from './message-filter.js';
import { idOf, type MessageIndexRow } from './message-index-row.js';
import { after, MessageSeries, merge, orderOf, type PageRange } from './message-series.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { SearchPages, splitExclusions } from './search-pages.js';
import { UnreadMessages } from './unread-messages.js';
import { UnreadSpans } from './unread-spans.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** At most so many, in the direction of the walk, as far as rows of `message` tell and perhaps more than is meant. */
type Source = (pageRange: PageRange, limit: number) => MessageIndexRow[];

/** How many messages are judged at once where what the viewer has read or marked decides. */
const JUDGED_AT_ONCE = { atLeast: 100, atMost: 1000 };

/** Of what a search finds, so many are judged before the index of what is marked leads instead. */
const MAX_JUDGED_FOUND = 2000;

/** Pages of messages in order of id, found by the index that leads to the fewest which are not meant. */
export class MessagePages {
  readonly receivedPages: ReceivedMessagePages;
  private readonly series: MessageSeries;
  private readonly searchPages: SearchPages;
  private readonly unread: UnreadMessages;
  private readonly subjects: ConditionSubjects;

  constructor(connection: Connection, states: ViewerMessageStates) {
    this.series = new MessageSeries(connection);
    this.receivedPages = new ReceivedMessagePages(connection, states, this.series);
    this.searchPages = new SearchPages(connection, states, this.series, this.receivedPages);
    this.unread = new UnreadMessages(connection, states, new UnreadSpans(connection));
    this.subjects = new ConditionSubjects(connection, states);
  }

  /** At most `limit`, in the direction of the walk. */
  page(viewer: Viewer, { conditions, scope }: MessageFilter, pageRange: PageRange, limit: number): MessageIndexRow[] {
    const { others, excluded } = splitExclusions(conditions);
    const asked = toNarrowing(others);
    if (!asked || limit <= 0) return [];
    // The same without the index of searches: each message is judged by what it says.
    const unsearched = asked.searched ? judgingText(others) : asked;
    const isLookedUp = asked.messageId !== null || (asked.searched !== null && this.searchPages.isShort(asked));
    const narrowing = isLookedUp ? unsearched : asked;
    const plain: Source = (part, count) =>
      scope === 'own'
        ? this.receivedPages.page(viewer, unsearched, part, count)
        : this.sharedHistory(viewer, unsearched, part, count);
    const history: Source = narrowing.searched
      ? (part, count) => this.searchPages.page(viewer, narrowing, scope, part, count)
      : plain;
    if (narrowing.personal.length === 0 && excluded === null) return history(pageRange, limit);

    const marked = this.personalSource(viewer, unsearched);
    // What is searched for may be rarer than what is marked, or not: that shows as it is read.
    let source = narrowing.searched ? history : (marked ?? history);
    let judges = narrowing.personal;
    let judged = 0;
    const found: MessageIndexRow[] = [];
    let count = Math.max(limit, JUDGED_AT_ONCE.atLeast);
    for (let part: PageRange | null = pageRange; part && found.length < limit; ) {
      const rows = source(part, count);
      const kept = excluded === null ? rows : this.searchPages.without(rows, excluded);
      found.push(...(judges.length === 0 ? kept : this.subjects.matching(viewer, kept, judges, scope)));
      part = rows.length >= count ? after(part, idOf(rows.at(-1)!)) : null;
      count = Math.max(count, Math.min(2 * count, JUDGED_AT_ONCE.atMost));
      judged += rows.length;
      if (judged >= MAX_JUDGED_FOUND && marked && narrowing.searched) {
        source = marked;
        judges = unsearched.personal;
      }
    }
    return found.slice(0, limit);
  }

  /** Those of the messages of which all the conditions hold, in their order. */
  among(
    viewer: Viewer,
    places: readonly MessageIndexRow[],
    conditions: readonly MessageCondition[],
  ): MessageIndexRow[] {
    const { others, excluded } = splitExclusions(conditions);
    const narrowing = toNarrowing(others);
    if (!narrowing) return [];
    const left = excluded === null ? places : this.searchPages.without(places, excluded);
    const kept = narrowing.searched ? this.searchPages.among(left, narrowing.searched.terms) : left;
    const { besidesSearch: restriction, personal } = narrowing;
    if (restriction.sql === '') return this.subjects.matching(viewer, kept, personal, 'shared');
    const from = `FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE true ${restriction.sql}`;
    const rows = this.series.select(from, jsonList(kept.map(idOf)), ...restriction.parameters);
    const meant = new Set(this.subjects.matching(viewer, rows, personal, 'shared').map(idOf));
    return kept.filter((place) => meant.has(idOf(place)));
  }

  private sharedHistory(viewer: Viewer, narrowing: Narrowing, pageRange: PageRange, limit: number): MessageIndexRow[] {
    const { series, privacies } = narrowing;
    const [only, another] = series ?? [];
    if (only && !another) return this.series.list(only, narrowing, pageRange, limit);
    if (!series && !privacies) throw new Error('Shared history is of channels that the conditions name');
    const starts = series
      ? this.series.starts(series, narrowing, pageRange)
      : this.series.channelStarts(viewer.realmId, privacies!, narrowing, pageRange);
    return this.series.merged(starts, pageRange, limit, (one, part, count) =>
      this.series.list(one, narrowing, part, count),
    );
  }

  /** Where what is meant is few of the viewer's messages, and stored as such; null: nowhere. */
  private personalSource(viewer: Viewer, narrowing: Narrowing): Source | null {
    for (const condition of narrowing.personal) {
      const sources = this.sourcesOf(viewer, narrowing, condition);
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

  /** Sources that together have everything that fulfils the condition; null: there are none. */
  private sourcesOf(viewer: Viewer, narrowing: Narrowing, condition: MessageCondition): Source[] | null {
    switch (condition.kind) {
      case 'flag': {
        const { flag } = condition;
        if (flag === 'read') return null;
        if (flag !== 'channelWildcardMentioned') return [this.flagged(viewer, narrowing, flag)];
        const mentioning = narrowedTo(narrowing, 'mentionsChannel');
        return [(pageRange, limit) => this.receivedPages.page(viewer, mentioning, pageRange, limit)];
      }
      case 'not': {
        const { condition: negated } = condition;
        if (negated.kind !== 'flag' || negated.flag !== 'read') return null;
        return [(pageRange, limit) => this.unread.page(viewer, narrowing, pageRange, limit)];
      }
      case 'anyOf': {
        const parts = condition.conditions.map((each) => this.sourcesOf(viewer, narrowing, each));
        return parts.some((part) => part === null) ? null : parts.flatMap((part) => part!);
      }
      default:
        return null;
    }
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

/** The index of `message_flag` that lists a flag, and the flag's column. */
const FLAG_INDEXES = {
  starred: ['message_flag_starred', 'starred'],
  mentioned: ['message_flag_mentioned', 'mentioned'],
  topicWildcardMentioned: ['message_flag_topic_mentioned', 'topic_wildcard_mentioned'],
  hasAlertWord: ['message_flag_alerted', 'has_alert_word'],
} as const;

/** With searches and mentions among what is judged message by message. */
function judgingText(conditions: readonly MessageCondition[]): Narrowing {
  const isText = ({ kind }: MessageCondition) => kind === 'search' || kind === 'mentions';
  const narrowing = toNarrowing(conditions.filter((condition) => !isText(condition)))!;
  return { ...narrowing, personal: [...narrowing.personal, ...conditions.filter(isText)] };
}
