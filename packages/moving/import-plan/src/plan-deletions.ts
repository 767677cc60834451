import { topicKey } from '@parley/domain/channels';
import type { MessageId, RecipientId } from '@parley/domain/kernel';
import { DELETED_HASH } from '@parley/transfer/imports';
import type { ExistingOrganization } from './existing-organization.js';
import type { StagedGap } from './gaps.js';
import { BY_RECORD } from './plan-merge.js';
import { type PlannedPlaces, placeKey } from './plan-places.js';
import type { Staging } from './staging.js';

/** Messages of earlier imports that are missing in the export, but not deleted. */
export interface KeptMissing {
  /** Name of the channel; empty for direct conversations. */
  readonly channel: string;
  readonly reason: string;
  readonly messages: number;
}

/** Number of messages of the organization read at once. */
const MESSAGES_AT_A_TIME = 500;
const SECONDS_PER_DAY = 86_400;
/** Readers give this time to messages without one. */
const UNKNOWN_TIME = 1;
/** Maximum number of distinct reasons for keeping messages. */
const MAX_REASONS = 1000;

interface MissingMessage {
  readonly recipientId: RecipientId;
  readonly topic: string;
  readonly sentAt: number;
}

/**
 * Finds messages of earlier imports that were deleted in the source: by a deletion record, or because they are missing
 * between the first and the last message of their conversation. Others may be missing because the export is partial, or
 * because a part of it is damaged or missing. Returns those that may have been in such a part.
 */
export async function noteDeleted(
  staging: Staging,
  places: PlannedPlaces,
  existing: ExistingOrganization,
): Promise<readonly KeptMissing[]> {
  if (staging.lastKnown === 0) return [];
  staging.run(
    `INSERT OR IGNORE INTO deleted SELECT known.record FROM records JOIN known ON known.record = records.parent
     WHERE records.kind = 'deletion' AND known.kind = 'message' AND known.hash <> ? AND known.own`,
    DELETED_HASH,
  );
  const coverage = await Coverage.load(staging, places, existing);
  const kept = new Map<string, KeptMissing>();
  const query = {
    sql: `SELECT record, target FROM known WHERE record > ? AND kind = 'message' AND hash <> ? AND own
       AND NOT EXISTS (SELECT 1 FROM records WHERE records.kind = 'message' AND records.id = known.record)
       AND NOT EXISTS (SELECT 1 FROM deleted WHERE deleted.record = known.record)
       ORDER BY record LIMIT ?`,
    parameters: [DELETED_HASH],
    limit: MESSAGES_AT_A_TIME,
    ...BY_RECORD,
  };
  for (const page of staging.pages<{ readonly record: string; readonly target: MessageId }>(query)) {
    const messages = await existing.current(page.map(({ target }) => target));
    for (const { record, target } of page) {
      const message = messages.get(target);
      if (!message) continue;
      const { channelId, topic, sentAt } = message;
      // Merges of placeholders move direct messages.
      const recipientId = channelId === null ? message.sentRecipientId : message.recipientId;
      const fate = coverage.fateOf({ recipientId, topic, sentAt });
      if (fate === 'deleted') staging.run('INSERT OR IGNORE INTO deleted VALUES (?)', record);
      else if (fate !== 'outside') {
        const channel = coverage.nameOf(recipientId);
        const key = `${channel}\0${fate.reason}`;
        const line = kept.get(key) ?? { channel, reason: fate.reason, messages: 0 };
        if (kept.has(key) || kept.size < MAX_REASONS) kept.set(key, { ...line, messages: line.messages + 1 });
      }
    }
  }
  return [...kept.values()];
}

/** Times of the first and last message. */
interface Span {
  first: number;
  last: number;
}

interface SpanRow extends Span {
  readonly place: string;
  readonly topic: string;
  /** Message of an earlier import; null if there is none. */
  readonly known: MessageId | null;
}

/** Conversations and time spans that the export contains completely. */
class Coverage {
  private readonly spans = new Map<RecipientId, Span>();
  /** Spans by conversation and topic, if the source has files of threads. */
  private readonly topicSpans = new Map<string, Span>();
  private readonly gaps = new Map<RecipientId | null, StagedGap[]>();
  private readonly keys = new Map<RecipientId, string[]>();

  private constructor(
    private readonly staging: Staging,
    private readonly places: PlannedPlaces,
    private readonly files: 'days' | 'threads' | undefined,
  ) {
    if (files === 'days')
      staging.database.exec(`CREATE INDEX planned_by_time ON planned (place, at) WHERE role = 'message'`);
  }

  static async load(staging: Staging, places: PlannedPlaces, existing: ExistingOrganization): Promise<Coverage> {
    const [organization] = staging.list('organization');
    const coverage = new Coverage(staging, places, organization?.record.messageFiles);
    for (const gap of staging.gaps.list()) coverage.addGap(gap);
    const isByTopic = coverage.files === 'threads';
    const rows = staging.all<SpanRow>(
      `SELECT place, ${isByTopic ? 'topic' : "'' AS topic"}, min(at) AS first, max(at) AS last,
         max(CASE WHEN number <= ? THEN number END) AS known
       FROM planned WHERE role = 'message' AND at > ? GROUP BY place${isByTopic ? ', topic' : ''}`,
      staging.lastKnown,
      UNKNOWN_TIME,
    );
    for (let start = 0; start < rows.length; start += MESSAGES_AT_A_TIME) {
      const page = rows.slice(start, start + MESSAGES_AT_A_TIME);
      const stored = await existing.current(isByTopic ? page.flatMap(({ known }) => known ?? []) : []);
      // People may have renamed topics.
      for (const row of page) coverage.addSpan(row, stored.get(row.known ?? (0 as MessageId))?.topic);
    }
    return coverage;
  }

  nameOf(recipientId: RecipientId): string {
    const [key = ''] = this.keys.get(recipientId) ?? [];
    const place = this.places.find(key);
    return place?.kind === 'channel' ? place.name : '';
  }

  fateOf({ recipientId, topic, sentAt }: MissingMessage): 'deleted' | 'outside' | { readonly reason: string } {
    if (!isWithin(this.spans.get(recipientId), sentAt)) return 'outside';
    const gap = [...(this.gaps.get(recipientId) ?? []), ...(this.gaps.get(null) ?? [])].find(
      ({ from = 0, until = Number.POSITIVE_INFINITY }) => Math.floor(from) <= sentAt && sentAt <= until,
    );
    if (gap) return { reason: `${gap.part}: ${gap.reason}` };
    if (this.files === 'threads' && !isWithin(this.topicSpans.get(topicSpanKey(recipientId, topic)), sentAt))
      return { reason: topic === '' ? 'no later messages outside of threads' : `no later messages in “${topic}”` };
    if (this.files === 'days' && !this.hasDay(recipientId, sentAt))
      return { reason: `no messages of ${new Date(sentAt * 1000).toISOString().slice(0, 10)}` };
    return 'deleted';
  }

  private addGap(gap: StagedGap): void {
    const { channel, conversation } = gap;
    const isEverywhere = channel === undefined && conversation === undefined;
    const place = isEverywhere ? null : this.places.find(placeKey(gap));
    if (!isEverywhere && !place) return;
    const key = place?.recipientId ?? null;
    const gaps = this.gaps.get(key);
    if (gaps) gaps.push(gap);
    else this.gaps.set(key, [gap]);
  }

  private addSpan({ place, topic, first, last }: SpanRow, storedTopic: string | undefined): void {
    const { recipientId } = this.places.find(place)!;
    this.keys.set(recipientId, [...(this.keys.get(recipientId) ?? []), place]);
    const span = { first: Math.floor(first), last };
    widen(this.spans, recipientId, span);
    for (const each of new Set([topic, storedTopic ?? topic]))
      widen(this.topicSpans, topicSpanKey(recipientId, each), span);
  }

  private hasDay(recipientId: RecipientId, sentAt: number): boolean {
    const day = Math.floor(sentAt / SECONDS_PER_DAY) * SECONDS_PER_DAY;
    const sql = `SELECT 1 FROM planned WHERE role = 'message' AND place = ? AND at >= ? AND at < ? LIMIT 1`;
    return (this.keys.get(recipientId) ?? []).some(
      (place) => this.staging.get(sql, place, day, day + SECONDS_PER_DAY) !== undefined,
    );
  }
}

const topicSpanKey = (recipientId: RecipientId, topic: string): string => `${recipientId} ${topicKey(topic)}`;

const isWithin = (span: Span | undefined, time: number): boolean =>
  span !== undefined && span.first <= time && time <= span.last;

function widen<Key>(spans: Map<Key, Span>, key: Key, { first, last }: Span): void {
  const known = spans.get(key);
  spans.set(key, { first: Math.min(first, known?.first ?? first), last: Math.max(last, known?.last ?? last) });
}
