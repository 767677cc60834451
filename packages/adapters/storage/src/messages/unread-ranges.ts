import { topicKey } from '@parley/domain/channels';
import { type ChannelId, firstOf, type MessageId, type Ordinal, type RecipientId } from '@parley/domain/kernel';
import { countRead, findFirstUnread, isOrdinalRead, type ReadSegment } from '@parley/domain/messages';
import { ascending } from '../engine/rows.js';
import { PROPERTY_BITS } from './message-rows.js';
import type { UnreadRow, UnreadSpan } from './unread.js';

/** Unread range of a recipient according to read sets. */
export interface UnreadRange {
  readonly recipientId: RecipientId;
  readonly channelId: ChannelId | null;
  /** First unread ordinal. */
  readonly first: Ordinal;
  readonly last: Ordinal;
  /** Number of unread ordinals in the range, including those of deleted messages. */
  readonly count: number;
  /** Read segments within the range; null if none. */
  readonly segments: readonly ReadSegment[] | null;
}

/** Messages of one topic or direct conversation. */
export interface UnreadGroup {
  readonly recipientId: RecipientId;
  readonly channelId: ChannelId | null;
  readonly ids: MessageId[];
}

/** @param segments read segments of the span, if there is more than one */
export function toUnread(span: UnreadSpan, segments: readonly ReadSegment[]): UnreadRange | null {
  const { recipientId, channelId, last, onlyGap } = span;
  if (onlyGap !== null) {
    return { recipientId, channelId, first: onlyGap, last, count: last - onlyGap + 1, segments: null };
  }
  const first = findFirstUnread(segments, span);
  if (first === null) return null;
  const count = last - first + 1 - countRead(segments, { first, last });
  return { recipientId, channelId, first, last, count, segments };
}

export const countOf = (ordinalRanges: readonly UnreadRange[]): number =>
  ordinalRanges.reduce((sum, { count }) => sum + count, 0);

/** Returns the part of a range that starts at the ordinal. */
export function rangeFrom(ordinalRange: UnreadRange, from: Ordinal | null): UnreadRange | null {
  const { first, last, segments } = ordinalRange;
  if (from === null || from > last) return null;
  if (from <= first) return ordinalRange;
  if (segments === null) return { ...ordinalRange, first: from, count: last - from + 1 };
  const firstLeft = findFirstUnread(segments, { first: from, last });
  if (firstLeft === null) return null;
  const range = { first: firstLeft, last };
  return { ...ordinalRange, ...range, count: last - firstLeft + 1 - countRead(segments, range) };
}

export const isUnreadIn = ({ first, last, segments }: UnreadRange, ordinal: Ordinal): boolean =>
  ordinal >= first && ordinal <= last && !(segments !== null && isOrdinalRead(segments, ordinal));

/** Collects the results of all strategies. */
export class UnreadCollection {
  readonly mentioning = new Set<MessageId>();
  count = 0;
  isCut = false;
  private readonly byKey = new Map<string, UnreadGroup>();
  /** Created on first use, because usually no user is mentioned. */
  private known: ReadonlySet<MessageId> | null = null;

  /** `ids`: ascending. */
  add({ recipientId, channelId }: Pick<UnreadGroup, 'recipientId' | 'channelId'>, key: string, ids: MessageId[]): void {
    if (ids.length === 0) return;
    this.count += ids.length;
    const groupKey = `${recipientId}/${key}`;
    const group = this.byKey.get(groupKey);
    if (!group) {
      this.byKey.set(groupKey, { recipientId, channelId, ids });
      return;
    }
    for (const id of ids) group.ids.push(id);
    group.ids.sort(ascending);
  }

  addRows(rows: readonly UnreadRow[]): void {
    const groups = new Map<string, UnreadGroup & { readonly key: string }>();
    for (const [id, , recipientId, , , property_bits, , channelId, topic] of rows) {
      const key = channelId === null ? '' : topicKey(topic);
      const groupKey = `${recipientId}/${key}`;
      const group = groups.get(groupKey);
      if (group) group.ids.push(id);
      else groups.set(groupKey, { recipientId, channelId, key, ids: [id] });
      if ((property_bits & PROPERTY_BITS.mentionsChannel) !== 0) this.mentioning.add(id);
    }
    for (const { key, ids, ...conversation } of groups.values()) this.add(conversation, key, ids.sort(ascending));
  }

  /** Returns the oldest id that is kept. */
  keepNewest(limit: number): number {
    if (this.count > limit) {
      this.isCut = true;
      const ids = Float64Array.from(this.ids()).sort();
      const oldestKept = ids[ids.length - limit]!;
      for (const { ids } of this.byKey.values()) {
        const start = ids.findIndex((id) => id >= oldestKept);
        ids.splice(0, start === -1 ? ids.length : start);
      }
    }
    let oldest = Number.POSITIVE_INFINITY;
    for (const { ids } of this.byKey.values()) if (ids.length > 0 && firstOf(ids) < oldest) oldest = firstOf(ids);
    return oldest;
  }

  has(id: MessageId): boolean {
    this.known ??= new Set(this.ids());
    return this.known.has(id);
  }

  ids(): MessageId[] {
    const all: MessageId[] = [];
    // Much faster than flatMap.
    for (const { ids } of this.byKey.values()) for (let i = 0; i < ids.length; i++) all.push(ids[i]!);
    return all;
  }

  /** Returns the groups ordered by their oldest message. */
  groups(): readonly UnreadGroup[] {
    return [...this.byKey.values()].filter(({ ids }) => ids.length > 0).sort((a, b) => firstOf(a.ids) - firstOf(b.ids));
  }
}
