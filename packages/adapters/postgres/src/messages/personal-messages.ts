import { type ChannelId, firstOf, type Ordinal, type RecipientId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { Viewer } from '@parley/domain/messages';
import { ascending, EVER, SqlPersonalMessages, type UnreadSpan } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { EVERYTHING, narrowingTo, toNarrowing } from './message-filter.js';
import { MessageSeries } from './message-series.js';
import { newSpans, UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { UnreadMessages } from './unread-messages.js';
import { UnreadOverviews } from './unread-overview.js';
import { MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

function newParts(connection: Connection, words: SearchWords) {
  const states = new ViewerMessageStates(connection);
  const incomplete = new UnreadSpans(connection);
  const unread = new UnreadMessages(connection, states, incomplete, words);
  return {
    planner: { toNarrowing, EVERYTHING },
    states,
    receivedPages: new ReceivedMessagePages(connection, new MessageSeries(connection, states)),
    incomplete,
    unread,
    overviews: new UnreadOverviews(states, unread),
    spans: newSpans(connection),
    indexRowsById: new MessageIndexRowsById(connection),
  };
}

export class PostgresPersonalMessages extends SqlPersonalMessages<
  readonly (string | number)[],
  ReturnType<typeof newParts>
> {
  private readonly leftChannels;
  private readonly historicalChannels;

  constructor(connection: Connection, words: SearchWords) {
    super(connection, newParts(connection, words));
    // Tells whether a message that never changed channel or conversation was received there, and whether others were moved in.
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
         WHERE s.user_id = $1 AND s.to_ordinal IS NOT NULL AND r.realm_id = $2 AND r.channel_id IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM span o WHERE o.user_id = s.user_id AND o.recipient_id = s.recipient_id AND o.to_ordinal IS NULL)
       ) l`,
    );
    this.historicalChannels = connection.values<ChannelId>(
      `SELECT DISTINCT m.channel_id FROM message_flag f JOIN message m ON m.id = f.message_id
       WHERE f.user_id = $1 AND f.source <> 0 AND m.realm_id = $2 AND m.channel_id IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM span o WHERE o.user_id = $1 AND o.recipient_id = m.recipient_id AND o.to_ordinal IS NULL)`,
    );
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
        (hasMovedIn === 1 &&
          (await this.parts.receivedPages.page(viewer, narrowingTo(recipientId), EVER, 1)).length > 0);
      if (isFormer) former.add(channelId);
    }
    return [...former].sort(ascending);
  }

  /** Spans of one recipient change the same segments, so each statement marks one of them. */
  protected async markSpans(viewer: Viewer, spans: readonly UnreadSpan[]): Promise<void> {
    for (let rest = spans; rest.length > 0; ) {
      const first = new Map(rest.toReversed().map((span) => [span.recipientId, span]));
      await this.parts.states.readSets.markRanges(viewer, [...first.values()]);
      rest = rest.filter((span) => first.get(span.recipientId) !== span);
    }
  }

  protected async closeEmptyGaps(viewer: Viewer, marked: ReadonlyMap<RecipientId, readonly Ordinal[]>): Promise<void> {
    const only = marked.size === 1 ? firstOf([...marked.keys()]) : null;
    const [spans, reader] = await Promise.all([
      this.parts.incomplete.of(viewer, only),
      this.parts.unread.readerOf(viewer),
    ]);
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
    let empty = await this.parts.unread.findEmpty(reader, searched);
    while (empty.length > 0) {
      const first = new Map(empty.toReversed().map((range) => [range.recipientId, range]));
      await this.parts.states.readSets.markRanges(viewer, [...first.values()]);
      empty = empty.filter((range) => first.get(range.recipientId) !== range);
    }
  }
}

export const PERSONAL_MESSAGE_FEATURE = {
  repositories:
    ({ words }) =>
    (connection) => ({ personal: new PostgresPersonalMessages(connection, words) }),
} satisfies PostgresFeature;
