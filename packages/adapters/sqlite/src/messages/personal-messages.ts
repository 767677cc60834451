import { type ChannelId, firstOf, type MessageId, type Ordinal, type RecipientId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { MessageFilter, ReadSegment, Viewer } from '@parley/domain/messages';
import {
  ascending,
  EVER,
  type Reader,
  type RecipientOrdinalRange,
  SqlPersonalMessages,
  type UnreadSpan,
} from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { EVERYTHING, narrowingTo, toNarrowing, wholeSeriesOf } from './message-filter.js';
import { MessageSeries } from './message-series.js';
import { newSpans, UnreadSpans } from './read-sets.js';
import { ReceivedMessagePages } from './received-message-pages.js';
import { TopicUnread } from './topics.js';
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
    receivedPages: new ReceivedMessagePages(connection, states, new MessageSeries(connection)),
    incomplete,
    unread,
    overviews: new UnreadOverviews(connection, states, incomplete, unread),
    spans: newSpans(connection),
    indexRowsById: new MessageIndexRowsById(connection),
  };
}

export class SqlitePersonalMessages extends SqlPersonalMessages<string, ReturnType<typeof newParts>> {
  private readonly conversations: TopicUnread;
  private readonly leftRecipients;
  private readonly historicalChannels;

  constructor(
    private readonly connection: Connection,
    words: SearchWords,
  ) {
    super(asStatements(connection), newParts(connection, words));
    this.conversations = new TopicUnread(connection, this.parts.states.readSets, this.parts.incomplete);
    // One page per recipient here, while PostgreSQL decides most of them in one statement to save round trips.
    this.leftRecipients = connection.tuples<readonly [RecipientId, ChannelId]>(
      `SELECT DISTINCT s.recipient_id, r.channel_id
       FROM span s INDEXED BY span_left CROSS JOIN recipient r ON r.id = s.recipient_id
       WHERE s.user_id = ? AND s.to_ordinal IS NOT NULL AND r.realm_id = ? AND r.channel_id IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM span o WHERE o.user_id = s.user_id AND o.recipient_id = s.recipient_id AND o.to_ordinal IS NULL)`,
    );
    this.historicalChannels = connection.tuples<readonly [RecipientId, ChannelId]>(
      `SELECT DISTINCT m.recipient_id, m.channel_id
       FROM message_flag f INDEXED BY message_flag_own CROSS JOIN message m ON m.id = f.message_id
       WHERE f.user_id = ? AND f.source <> 0 AND m.realm_id = ? AND m.channel_id IS NOT NULL`,
    );
  }

  async listUnsubscribedChannelIdsWithMessages(viewer: Viewer): Promise<readonly ChannelId[]> {
    const former = new Set<ChannelId>();
    for (const [recipientId, channelId] of this.leftRecipients.all(viewer.userId, viewer.realmId)) {
      const newest = await this.parts.receivedPages.page(viewer, narrowingTo(recipientId), EVER, 1);
      if (newest.length > 0) former.add(channelId);
    }
    for (const [recipientId, channelId] of this.historicalChannels.all(viewer.userId, viewer.realmId)) {
      if (!(await this.parts.spans.isOpen(recipientId, viewer.userId))) former.add(channelId);
    }
    return [...former].sort(ascending);
  }

  /** Marks a whole conversation or topic without an index row per message, which is several times faster. */
  override async markRead(viewer: Viewer, filter: MessageFilter, limit?: number): Promise<readonly MessageId[]> {
    const series = wholeSeriesOf(filter.conditions);
    const reader = await this.parts.unread.readerOf(viewer);
    const found = series && this.conversations.find(reader, series, limit);
    if (!found) return super.markRead(viewer, filter, limit);
    const { recipientId, received } = found;
    if (found.uncertain.length === 0) {
      if (received.ids.length === 0) return [];
      const { readSets } = this.parts.states;
      const segments = readSets.markAmong(found.segments, viewer, recipientId, received.ordinals, true);
      await this.closeGapsOf(reader, found.ordinalRanges, firstOf(received.ordinals), segments);
      return received.ids;
    }
    const change = await this.readChange(viewer, found.uncertain, true);
    for (const id of received.ids) change.ids.push(id);
    change.ids.sort(ascending);
    if (received.ids.length > 0) {
      change.ordinals.set(recipientId, [...(change.ordinals.get(recipientId) ?? []), ...received.ordinals]);
    }
    await this.applyRead(viewer, change, true);
    return change.ids;
  }

  protected async markSpans(viewer: Viewer, spans: readonly UnreadSpan[]): Promise<void> {
    for (const span of spans) {
      await this.parts.states.readSets.markRange(viewer, span.recipientId, span);
      await this.connection.yield();
    }
  }

  protected async closeEmptyGaps(viewer: Viewer, marked: ReadonlyMap<RecipientId, readonly Ordinal[]>): Promise<void> {
    let reader: Reader | undefined;
    for (const [recipientId, ordinals] of marked) {
      const spans = this.parts.incomplete.of(viewer, recipientId);
      if (spans.length === 0) continue;
      reader ??= await this.parts.unread.readerOf(viewer);
      // A loop, because there may be too many for arguments.
      const first = ordinals.reduce((least, ordinal) => Math.min(least, ordinal) as Ordinal);
      await this.closeGapsOf(reader, spans, first);
    }
  }

  /** @param segments those of the recipients, if already loaded */
  private async closeGapsOf(
    reader: Reader,
    ordinalRanges: readonly RecipientOrdinalRange[],
    firstRead: Ordinal,
    segments?: readonly ReadSegment[],
  ): Promise<void> {
    const { states, unread } = this.parts;
    for (const ordinalRange of ordinalRanges) {
      const before = { ...ordinalRange, last: Math.min(ordinalRange.last, firstRead - 1) };
      for (const empty of [
        await unread.findEmpty(reader, ordinalRange, 'start', segments),
        before.first <= before.last ? await unread.findEmpty(reader, before, 'end', segments) : null,
      ]) {
        if (empty) await states.readSets.markRange(reader.viewer, ordinalRange.recipientId, empty);
      }
    }
  }
}

export const PERSONAL_MESSAGE_FEATURE = {
  repositories:
    ({ words }) =>
    (connection) => ({ personal: new SqlitePersonalMessages(connection, words) }),
} satisfies SqliteFeature;
