import type { ChannelGroup, Chat, ConversationRow, Inbox, RecentRow, TopicPolicy, TopicRow } from '@parley/chat';

export type InboxFilter = 'all' | 'mentions' | 'direct' | 'followed' | 'later';

/** Unread conversations of one channel, or all direct ones. */
export interface InboxSection {
  /** Channel id; `direct` for direct conversations. */
  readonly key: number | 'direct';
  readonly rows: readonly ConversationRow[];
  /** Unread messages. */
  readonly count: number;
  readonly hasMention: boolean;
}

export interface InboxGroup<Section = InboxSection> {
  readonly key: ChannelGroup['key'] | 'direct';
  /** Folder name; empty for the other groups. */
  readonly name: string;
  readonly sections: readonly Section[];
}

export interface DrawnSection extends InboxSection {
  /** Rows to draw; none if the section is folded. */
  readonly drawn: readonly ConversationRow[];
}

/** Policy of a topic; `none` for direct conversations. Observed inside computations. */
export const policyOf = ({ sidebar }: Pick<Chat, 'sidebar'>, { destination: to }: ConversationRow): TopicPolicy =>
  to.kind === 'channel' ? sidebar.policyOf(to.channelId, to.topic) : 'none';

type PolicyOf = (row: ConversationRow) => TopicPolicy;

/** Inbox sections with the conversations that pass a filter; empty sections are omitted. */
export function inboxGroups(inbox: Inbox, filter: InboxFilter, policy: PolicyOf): readonly InboxGroup[] {
  const isWanted = (row: ConversationRow) => passes(row, filter, policy);
  const groups: readonly InboxGroup[] = [
    { key: 'direct', name: '', sections: [sectionOf('direct', inbox.directs.filter(isWanted))] },
    ...inbox.groups.map(({ key, name, channels }) => ({
      key,
      name,
      sections: channels.map(({ channelId, topics }) => sectionOf(channelId, topics.filter(isWanted))),
    })),
  ];
  return groups
    .map((group) => ({ ...group, sections: group.sections.filter(({ rows }) => rows.length > 0) }))
    .filter(({ sections }) => sections.length > 0);
}

const passes = (row: ConversationRow, filter: InboxFilter, policy: PolicyOf): boolean =>
  filter === 'all' ||
  (filter === 'mentions' && row.unread.hasMention) ||
  (filter === 'direct' && row.destination.kind === 'direct') ||
  (filter === 'followed' && policy(row) === 'followed');

function sectionOf(key: InboxSection['key'], rows: readonly ConversationRow[]): InboxSection {
  return {
    key,
    rows,
    count: rows.reduce((sum, { unread }) => sum + unread.count, 0),
    hasMention: rows.some(({ unread }) => unread.hasMention),
  };
}

/** Groups with the headings and rows to draw: no rows of folded sections, and `limit` altogether. */
export function drawnGroups(
  groups: readonly InboxGroup[],
  folded: ReadonlySet<InboxSection['key']>,
  limit: number,
): { readonly groups: readonly InboxGroup<DrawnSection>[]; readonly hasMore: boolean } {
  let left = limit;
  let hasMore = false;
  const cut = (section: InboxSection): readonly DrawnSection[] => {
    hasMore ||= left <= 0;
    if (left <= 0) return [];
    const rows = folded.has(section.key) ? [] : section.rows;
    left -= rows.length + 1;
    hasMore ||= left < 0;
    return [{ ...section, drawn: rows.slice(0, rows.length + Math.min(left, 0)) }];
  };
  const drawn = groups.map((group) => ({ ...group, sections: group.sections.flatMap(cut) }));
  return { groups: drawn.filter(({ sections }) => sections.length > 0), hasMore };
}

/** Returns the greatest ids, greatest first. */
export function newestOf(ids: Iterable<number>, count: number): readonly number[] {
  const newest: number[] = [];
  for (const id of ids) {
    if (newest.length === count && id < newest.at(-1)!) continue;
    newest.splice(newest.findLastIndex((each) => each > id) + 1, 0, id);
    if (newest.length > count) newest.pop();
  }
  return newest;
}

export type RecentFilter = 'all' | 'unread' | 'participated' | 'direct' | 'followed';
export type RecentOrder = 'time' | 'unread' | 'participants';

/** Recent conversation with the people who wrote in it, latest first. */
export interface RecentConversation extends RecentRow {
  readonly senderIds: readonly number[];
}

/** Filters and sorts conversations; equal ones stay ordered by time. */
export function sortedRecent(
  rows: readonly RecentConversation[],
  filter: RecentFilter,
  order: RecentOrder,
  selfId: number,
  policy: PolicyOf,
): readonly RecentConversation[] {
  const isWanted = (row: RecentConversation) =>
    filter === 'unread'
      ? row.unread.count > 0
      : filter === 'participated'
        ? row.senderIds.includes(selfId)
        : passes(row, filter, policy);
  const rank: Readonly<Record<RecentOrder, (row: RecentConversation) => number>> = {
    time: () => 0,
    unread: ({ unread }) => unread.count,
    participants: ({ senderIds }) => senderIds.length,
  };
  return rows.filter(isWanted).sort((a, b) => rank[order](b) - rank[order](a));
}

/** Value of `visibility_policy` (users §9). */
const FOLLOWED = 3;

/** Followed topics of subscribed channels, latest first. Observed inside computations. */
export function followedRows({ state, sidebar }: Pick<Chat, 'state' | 'sidebar'>): readonly ConversationRow[] {
  const rows = state.policies.values().flatMap(({ stream_id: channelId, topic_name, visibility_policy }) => {
    if (visibility_policy !== FOLLOWED || !sidebar.channel(channelId).value?.isSubscribed) return [];
    const isSame = ({ name }: TopicRow) => name.toLowerCase() === topic_name.toLowerCase();
    const known = sidebar.topics(channelId).value.find(isSame);
    const row: ConversationRow = {
      key: `${channelId}:${topic_name.toLowerCase()}`,
      destination: { kind: 'channel', channelId, topic: known?.name ?? topic_name },
      lastMessageId: known?.lastMessageId ?? 0,
      unread: known?.unread ?? { count: 0, hasMention: false },
    };
    return row;
  });
  return rows.sort((a, b) => b.lastMessageId - a.lastMessageId);
}

/** Counts times before the next midnight, including past ones. */
export function dueCount(times: readonly number[], now: Date): number {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).getTime() / 1000;
  return times.filter((time) => time < midnight).length;
}
