import { destinationKey, destinationOf, type Narrow } from '../kernel/narrow.js';
import { derived, isSame, isSameDeep, Memo, type Reading } from '../kernel/reactive.js';
import { type ChannelState, type ChatState, policyOf, withoutMark } from '../kernel/state.js';
import type { ChannelGroup, ChannelRow, DirectRow, TopicPolicy, TopicRow, UnreadCount } from '../kernel/view-models.js';
import { isMutedTopic, spelledIn } from '../messages/unread.js';
import { isMutedPerson } from '../people/person-rows.js';

const NOTHING_UNREAD: UnreadCount = { count: 0, hasMention: false };
const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Maximum unread messages in a register response (events §4.4). */
const MAX_UNREAD = 50_000;

/** Values of `desktop_icon_count_display`: all unread messages, some kinds, or none. */
const BADGE = { all: 1, followed: 2, personal: 3, none: 4 };

/** Channels, topics and direct conversations with their unread counts. */
export class Sidebar {
  private readonly channelRows = new Memo((id: number) => this.channelRow(id), isSameDeep);
  private readonly subscribed: Reading<readonly ChannelState[]>;
  private readonly topicLists = new Memo((id: number) => this.topicRows(id), isSameDeep);

  /**
   * Subscribed channels, or all readable channels for visitors: pinned, then by folder, then others. Empty groups are
   * omitted.
   */
  readonly channelGroups: Reading<readonly ChannelGroup[]>;
  /** Same for the inbox, which has a separate folder setting. */
  readonly inboxGroups: Reading<readonly ChannelGroup[]>;
  /** Channel ids in the order of `channelGroups`: by name, muted ones last in their group. */
  readonly channelIds: Reading<readonly number[]>;
  /** Direct conversations, latest first. Excludes conversations with muted people only. */
  readonly directs: Reading<readonly DirectRow[]>;
  /** Total of all counted unread messages. */
  readonly total: Reading<UnreadCount>;
  /** Number in the page title, according to the user's setting (users §6.1). */
  readonly badge: Reading<number>;

  constructor(private readonly state: ChatState) {
    this.subscribed = derived(() => this.subscribedNow(), isSame);
    this.channelGroups = derived(() => this.groupsBy('web_left_sidebar_show_channel_folders'), isSameDeep);
    this.inboxGroups = derived(() => this.groupsBy('web_inbox_show_channel_folders'), isSameDeep);
    this.channelIds = derived(() => this.channelGroups.value.flatMap(({ channelIds }) => channelIds), isSame);
    this.directs = derived(() => this.directRows(), isSameDeep);
    this.total = derived(() => this.totalCount(), isSame);
    this.badge = derived(() => this.badgeCount(), isSame);
  }

  /** Null for missing or hidden channels. */
  channel(id: number): Reading<ChannelRow | null> {
    return this.channelRows.at(id);
  }

  /** Known topics of a channel, latest first; `Chat.loadTopics` fetches all. */
  topics(channelId: number): Reading<readonly TopicRow[]> {
    return this.topicLists.at(channelId);
  }

  /** Unread messages of a conversation or a channel, or the total for other narrows. Observed inside computations. */
  unreadIn(narrow: Narrow): UnreadCount {
    const destination = destinationOf(narrow);
    if (destination) return unreadOf(this.state, destinationKey(destination));
    const [first] = narrow;
    if (first?.operator !== 'channel' || typeof first.operand !== 'number') return this.total.value;
    return this.channel(first.operand).value?.unread ?? NOTHING_UNREAD;
  }

  policyOf(channelId: number, topic: string): TopicPolicy {
    return policyOf(this.state, channelId, topic);
  }

  private subscribedNow(): readonly ChannelState[] {
    const rank = ({ own }: ChannelState) => (own?.pin_to_top ? 0 : own?.is_muted ? 2 : 1);
    const wanted = this.state.isVisitor ? 'never' : 'subscribed';
    return this.state.channels
      .values()
      .filter(({ membership, channel }) => membership === wanted && !channel.is_archived)
      .sort((a, b) => rank(a) - rank(b) || COLLATOR.compare(a.channel.name, b.channel.name));
  }

  /** Returns a single group if the setting is off or no channel has a folder. */
  private groupsBy(
    setting: 'web_left_sidebar_show_channel_folders' | 'web_inbox_show_channel_folders',
  ): readonly ChannelGroup[] {
    const { fields } = this.state;
    const groupOf = (key: ChannelGroup['key'], name = '') => ({ key, name, channelIds: [] as number[] });
    const [all, pinned, other] = [groupOf('all'), groupOf('pinned'), groupOf('other')];
    const isShown = fields.get('user_settings')?.[setting] !== false;
    const folders = isShown ? (fields.get('channel_folders') ?? []) : [];
    const byFolder = new Map(folders.map(({ id, name }) => [id, groupOf(id, name)]));
    for (const { own, channel } of this.subscribed.value) {
      all.channelIds.push(channel.stream_id);
      const group = own?.pin_to_top ? pinned : (byFolder.get(channel.folder_id ?? 0) ?? other);
      group.channelIds.push(channel.stream_id);
    }
    const isFilled = ({ channelIds }: ChannelGroup) => channelIds.length > 0;
    const filled = [...byFolder.values()].filter(isFilled);
    return filled.length === 0 ? [all] : [pinned, ...filled, other].filter(isFilled);
  }

  private channelRow(id: number): ChannelRow | null {
    const known = this.state.channels.get(id);
    if (!known) return null;
    const { channel, own, membership } = known;
    return {
      id,
      name: channel.name,
      color: own?.color ?? '',
      description: channel.rendered_description,
      privacy: channel.is_web_public ? 'web-public' : channel.invite_only ? 'private' : 'public',
      isSubscribed: membership === 'subscribed',
      isMuted: own?.is_muted === true,
      isPinned: own?.pin_to_top === true,
      isArchived: channel.is_archived,
      isActive: channel.is_recently_active,
      folderId: channel.folder_id,
      unread: membership === 'subscribed' ? this.channelCount(id) : NOTHING_UNREAD,
    };
  }

  private channelCount(id: number): UnreadCount {
    const topics = this.topicLists.at(id).value;
    const counted = topics.filter(({ isMuted }) => !isMuted);
    return {
      count: counted.reduce((sum, { unread }) => sum + unread.count, 0),
      hasMention: topics.some(({ unread }) => unread.hasMention),
    };
  }

  private topicRows(channelId: number): readonly TopicRow[] {
    const known = new Map(
      [...(this.state.topics.get(channelId)?.values() ?? [])].map((topic) => [topic.name.toLowerCase(), topic]),
    );
    const prefix = `channel:${channelId}:`;
    for (const key of this.state.unread.topicKeys.get(channelId) ?? []) {
      const lower = key.slice(prefix.length);
      const first = spelledIn(this.state.unread, key);
      if (known.has(lower) || first?.kind !== 'channel') continue;
      known.set(lower, { channelId, name: first.topic, maxId: this.state.unread.tallies.get(key)?.newest ?? 0 });
    }
    return [...known.values()]
      .map(({ name, maxId }) => this.topic(channelId, name, maxId))
      .sort((a, b) => b.lastMessageId - a.lastMessageId);
  }

  /** Row of a topic, which may have no messages. Observed inside computations. */
  topic(channelId: number, name: string, maxId = 0): TopicRow {
    const bare = withoutMark(name);
    const key = destinationKey({ kind: 'channel', channelId, topic: name });
    return {
      channelId,
      name,
      title: bare === '' ? (this.state.fields.get('realm_empty_topic_display_name') ?? '') : bare,
      isResolved: bare !== name,
      policy: this.policyOf(channelId, name),
      isMuted: isMutedTopic(this.state, channelId, name),
      lastMessageId: Math.max(maxId, this.state.unread.tallies.get(key)?.newest ?? 0),
      unread: unreadOf(this.state, key),
    };
  }

  private directRows(): readonly DirectRow[] {
    const { recentDirects, unread } = this.state;
    const rows = new Map(recentDirects.values().map((row) => [row.userIds.join(','), row]));
    for (const key of unread.tallies.keys()) {
      if (!key.startsWith('dm:') || rows.has(key.slice(3))) continue;
      const userIds = key.slice(3).split(',').filter(Boolean).map(Number);
      rows.set(key.slice(3), { userIds, maxMessageId: unread.tallies.get(key)?.newest ?? 0 });
    }
    return [...rows]
      .filter(([, { userIds }]) => userIds.length === 0 || !userIds.every((id) => isMutedPerson(this.state, id)))
      .map(([key, { userIds, maxMessageId }]) => ({
        key,
        userIds,
        lastMessageId: maxMessageId,
        unread: unreadOf(this.state, `dm:${key}`),
      }))
      .sort((a, b) => b.lastMessageId - a.lastMessageId);
  }

  private badgeCount(): number {
    const { state } = this;
    const setting = state.fields.get('user_settings')?.desktop_icon_count_display ?? BADGE.all;
    if (setting === BADGE.none) return 0;
    if (setting === BADGE.all) return this.total.value.count;
    let count = 0;
    for (const key of state.unread.tallies.keys()) {
      const tally = state.unread.tallies.get(key)!;
      const [kind, id, ...topic] = key.split(':');
      if (kind === 'channel' && !this.isListed(Number(id))) continue;
      const isFollowed = kind === 'channel' && this.policyOf(Number(id), topic.join(':')) === 'followed';
      const isWhole = kind === 'dm' || (setting === BADGE.followed && isFollowed);
      count += isWhole ? tally.count : tally.mentions;
    }
    return count;
  }

  /** True if a list shows the unread messages of the channel. */
  private isListed(channelId: number): boolean {
    const known = this.state.channels.get(channelId);
    return known?.membership === 'subscribed' && !known.channel.is_archived;
  }

  private totalCount(): UnreadCount {
    const { state } = this;
    let count = 0;
    let hasMention = false;
    for (const key of state.unread.tallies.keys()) {
      const tally = state.unread.tallies.get(key)!;
      const [kind, id, ...topic] = key.split(':');
      const isChannel = kind === 'channel';
      if (isChannel && !this.isListed(Number(id))) continue;
      hasMention ||= tally.mentions > 0;
      if (!isChannel || !isMutedTopic(state, Number(id), topic.join(':'))) count += tally.count;
    }
    // The server omitted older messages.
    if (count === MAX_UNREAD && state.unread.isTruncated) count++;
    return { count, hasMention };
  }
}

export function unreadOf(state: ChatState, key: string): UnreadCount {
  const tally = state.unread.tallies.get(key);
  return tally ? { count: tally.count, hasMention: tally.mentions > 0 } : NOTHING_UNREAD;
}
