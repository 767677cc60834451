import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { MessageId, UnixSeconds } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { inRanges, type MessageListEntry, not, type SimpleCondition, type Viewer } from './message-condition.js';
import type { ResolvedNarrow } from './narrow.js';
import { mutedMessages } from './narrow-operators.js';

/** Position of a page within a conversation. */
export type Anchor =
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'oldest' | 'newest' | 'firstUnread' }
  | { readonly kind: 'date'; readonly since: UnixSeconds };

export interface PageRange {
  readonly anchor: Anchor;
  readonly before: number;
  readonly after: number;
  readonly includeAnchor: boolean;
}

export interface MessagePage {
  /** Ascending id. */
  readonly entries: readonly MessageListEntry[];
  /** Resolved anchor; null if messages were requested by id. */
  readonly anchor: number | null;
  readonly foundAnchor: boolean;
  readonly foundOldest: boolean;
  readonly foundNewest: boolean;
}

/** Reserved anchor that clients use for the newest message (messages §5.1). */
export const NEWEST_ANCHOR = 10 ** 16;
/** Limit per request (protocol §14). */
export const MAX_MESSAGES = 5000;

const UNREAD = not<SimpleCondition>({ kind: 'flag', flag: 'read' });

type Reads = Pick<Repositories | Transaction, 'channels' | 'topicPolicies' | 'personal' | 'pages'>;

/** Rejects oversized requests and invalid ranges. @throws DomainError TOO_MANY_MESSAGES, INVALID_MESSAGE_RANGE */
export function checkPage(select: PageRange | { readonly ids: readonly MessageId[] }): void {
  const wanted = 'ids' in select ? select.ids.length : select.before + select.after;
  if (wanted > MAX_MESSAGES) {
    throw new DomainError('TOO_MANY_MESSAGES', `Too many messages requested (maximum ${MAX_MESSAGES}).`);
  }
  if (!('ids' in select)) checkRange(select);
}

/** Builds a page of messages requested by id. */
export const pageOfIds = (entries: readonly MessageListEntry[]): MessagePage => ({
  entries,
  anchor: null,
  foundAnchor: false,
  foundOldest: false,
  foundNewest: false,
});

/** @throws DomainError INVALID_MESSAGE_RANGE if the range is contradictory (messages §5.2 row 6) */
export function checkRange({ before, after, includeAnchor }: PageRange): void {
  if (before > 0 && after > 0 && !includeAnchor) {
    throw new DomainError('INVALID_MESSAGE_RANGE', 'The anchor can only be excluded at an end of the range');
  }
}

/** Clamps oversized ranges instead of rejecting them, starting with the side of older messages (messages §13.2). */
export function clampRange(range: PageRange): PageRange {
  if (range.before + range.after <= MAX_MESSAGES) return range;
  const before = Math.min(range.before, Math.max(MAX_MESSAGES - range.after, MAX_MESSAGES / 2));
  return { ...range, before, after: Math.min(range.after, MAX_MESSAGES - before) };
}

/** Selects a page of a narrow as specified in messages §5.3. */
export async function selectPage(
  reads: Reads,
  actor: Actor,
  { filter, namesChannel, search }: ResolvedNarrow,
  range: PageRange,
): Promise<MessagePage> {
  const viewer: Viewer = { realmId: actor.realmId, userId: actor.id };
  const { before, includeAnchor } = range;
  const anchor = await effectiveAnchor();
  const atOldest = anchor === 0;
  const atNewest = anchor >= NEWEST_ANCHOR;
  const after = atNewest ? 0 : range.after;

  const rows = await fetch();
  const older = atNewest ? rows : rows.filter((entry) => entry.id < anchor);
  const exact = atNewest ? [] : rows.filter((entry) => entry.id === anchor);
  const newer = atNewest ? [] : rows.filter((entry) => entry.id > anchor);
  const keptOlder = before > 0 ? older.slice(-before) : older;
  const keptNewer = after > 0 ? newer.slice(0, after) : newer;
  return {
    entries: [...keptOlder, ...exact, ...keptNewer],
    anchor,
    foundAnchor: exact.length === 1,
    foundOldest: atOldest || older.length < before,
    foundNewest: atNewest || newer.length < after,
  };

  async function effectiveAnchor(): Promise<number> {
    switch (range.anchor.kind) {
      case 'id':
        return Math.min(Math.max(range.anchor.id, 0), NEWEST_ANCHOR);
      case 'oldest':
        return 0;
      case 'newest':
        return NEWEST_ANCHOR;
      case 'firstUnread': {
        const muted = await mutedMessages({ reads, actor }, namesChannel ? 'topics' : 'topicsAndChannels');
        const unmuted = { ...filter, conditions: [...filter.conditions, not(muted)] };
        if (search !== null) {
          // The narrow usually matches fewer messages than there are unread ones.
          const unread = { ...unmuted, conditions: [...unmuted.conditions, UNREAD] };
          return (await reads.pages.listEntriesFrom(viewer, unread, 0, 1))[0]?.id ?? NEWEST_ANCHOR;
        }
        return (await reads.personal.findFirstUnread(viewer, unmuted)) ?? NEWEST_ANCHOR;
      }
      case 'date': {
        const since = inRanges(await reads.pages.listIdsSince(viewer.realmId, range.anchor.since));
        const sent = { ...filter, conditions: [...filter.conditions, since] };
        const [entry] = await reads.pages.listEntriesFrom(viewer, sent, 0, 1);
        return entry?.id ?? NEWEST_ANCHOR;
      }
    }
  }

  async function fetch(): Promise<readonly MessageListEntry[]> {
    const needsOlder = !atOldest && before > 0;
    const needsNewer = !atNewest && after > 0;
    const upTo = (atMost: number | null, limit: number) => reads.pages.listEntriesUpTo(viewer, filter, atMost, limit);
    const from = (atLeast: number, limit: number) => reads.pages.listEntriesFrom(viewer, filter, atLeast, limit);
    if (needsOlder && needsNewer) return [...(await upTo(anchor - 1, before)), ...(await from(anchor, after + 1))];
    if (needsOlder) {
      if (atNewest) return upTo(null, before);
      return includeAnchor ? upTo(anchor, before + 1) : upTo(anchor - 1, before);
    }
    if (needsNewer) {
      if (atOldest) return from(0, after + (includeAnchor ? 1 : 0));
      return includeAnchor ? from(anchor, after + 1) : from(anchor + 1, after);
    }
    // Only the anchor is requested; it is returned only if included (contract decision 27).
    return includeAnchor ? (await upTo(anchor, 1)).filter((entry) => entry.id === anchor) : [];
  }
}
