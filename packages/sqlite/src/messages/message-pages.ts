import type { MessageCondition, MessageFilter, Viewer } from '@parley/domain';
import { type Connection, LIMIT } from '../connection.js';
import { jsonList } from '../rows.js';
import { ConditionSubjects } from './condition-subjects.js';
import { IncompletePlaces } from './incomplete-places.js';
import { type Narrowing, narrowedTo, toNarrowing } from './message-filter.js';
import { idOf, type MessagePlace } from './message-place.js';
import { after, MessageSeries, merge, orderOf, type Walk } from './message-series.js';
import { OwnHistory } from './own-history.js';
import type { Standings } from './standing.js';
import { UnreadMessages } from './unread-messages.js';

/** At most so many, in the direction of the walk, as far as rows of `message` tell and perhaps more than is meant. */
type Source = (walk: Walk, limit: number) => MessagePlace[];

/** How many messages are judged at once where what the viewer has read or marked decides. */
const JUDGED_AT_ONCE = { atLeast: 100, atMost: 1000 };

/** Pages of messages in order of id, found by the index that leads to the fewest which are not meant. */
export class MessagePages {
  readonly ownHistory: OwnHistory;
  private readonly series: MessageSeries;
  private readonly unread: UnreadMessages;
  private readonly subjects: ConditionSubjects;

  constructor(connection: Connection, standings: Standings) {
    this.series = new MessageSeries(connection);
    this.ownHistory = new OwnHistory(connection, standings, this.series);
    this.unread = new UnreadMessages(connection, standings, new IncompletePlaces(connection));
    this.subjects = new ConditionSubjects(connection, standings);
  }

  /** At most `limit`, in the direction of the walk. */
  page(viewer: Viewer, { conditions, scope }: MessageFilter, walk: Walk, limit: number): MessagePlace[] {
    const narrowing = toNarrowing(conditions);
    if (!narrowing || limit <= 0) return [];
    const history: Source = (part, count) =>
      scope === 'own'
        ? this.ownHistory.page(viewer, narrowing, part, count)
        : this.sharedHistory(viewer, narrowing, part, count);
    if (narrowing.personal.length === 0) return history(walk, limit);

    const source = this.personalSource(viewer, narrowing) ?? history;
    const found: MessagePlace[] = [];
    let count = Math.max(limit, JUDGED_AT_ONCE.atLeast);
    for (let part: Walk | null = walk; part && found.length < limit; ) {
      const rows = source(part, count);
      found.push(...this.subjects.matching(viewer, rows, narrowing.personal, scope));
      part = rows.length >= count ? after(part, idOf(rows.at(-1)!)) : null;
      count = Math.max(count, Math.min(2 * count, JUDGED_AT_ONCE.atMost));
    }
    return found.slice(0, limit);
  }

  /** Those of the messages of which all the conditions hold, in their order. */
  among(viewer: Viewer, places: readonly MessagePlace[], conditions: readonly MessageCondition[]): MessagePlace[] {
    const narrowing = toNarrowing(conditions);
    if (!narrowing) return [];
    const { restriction, personal } = narrowing;
    if (restriction.sql === '') return this.subjects.matching(viewer, places, personal, 'shared');
    const from = `FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE true ${restriction.sql}`;
    const rows = this.series.select(from, jsonList(places.map(idOf)), ...restriction.parameters);
    const meant = new Set(this.subjects.matching(viewer, rows, personal, 'shared').map(idOf));
    return places.filter((place) => meant.has(idOf(place)));
  }

  private sharedHistory(viewer: Viewer, narrowing: Narrowing, walk: Walk, limit: number): MessagePlace[] {
    const { series, privacies } = narrowing;
    const [only, another] = series ?? [];
    if (only && !another) return this.series.list(only, narrowing, walk, limit);
    if (!series && !privacies) throw new Error('Shared history is of channels that the conditions name');
    const starts = series
      ? this.series.starts(series, narrowing, walk)
      : this.series.channelStarts(viewer.realmId, privacies!, narrowing, walk);
    return this.series.merged(starts, walk, limit, (one, part, count) => this.series.list(one, narrowing, part, count));
  }

  /** Where what is meant is few of the viewer's messages, and stored as such; null: nowhere. */
  private personalSource(viewer: Viewer, narrowing: Narrowing): Source | null {
    for (const condition of narrowing.personal) {
      const sources = this.sourcesOf(viewer, narrowing, condition);
      if (sources)
        return (walk, limit) =>
          merge(
            sources.map((source) => source(walk, limit)),
            walk,
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
        return [(walk, limit) => this.ownHistory.page(viewer, mentioning, walk, limit)];
      }
      case 'not': {
        const { condition: negated } = condition;
        if (negated.kind !== 'flag' || negated.flag !== 'read') return null;
        return [(walk, limit) => this.unread.page(viewer, narrowing, walk, limit)];
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
    return (walk, limit) =>
      this.series.select(
        `FROM message_flag f INDEXED BY ${index} CROSS JOIN message m ON m.id = f.message_id
         WHERE f.user_id = ? AND f.${column} = 1 AND f.realm_id = ? AND f.message_id BETWEEN ? AND ? ${restriction.sql}
         ORDER BY f.message_id ${orderOf(walk)} ${LIMIT}`,
        ...[userId, realmId, walk.first, walk.last, ...restriction.parameters, limit],
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
