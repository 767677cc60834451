import { conversationAt, type Place, type TokenScope } from '@parley/domain/kernel';
import {
  type LoadedUnread,
  loadNewestMessageId,
  loadRecentConversations,
  loadStarredIds,
  loadUnread,
  STOP_WORDS,
} from '@parley/domain/messages';
import { presentTopic } from '../channels/channel.presenters.js';
import {
  catalogueSection,
  type RegisterSection,
  registerSection,
  type SectionContext,
} from '../declarations/register-section.js';
import { can } from '../delivery/event-presenter.js';
import * as wire from '../wire/schema.js';
import { recentConversation, unreadMessages } from './message.presenters.js';

export const newestMessageSection: RegisterSection = registerSection({
  name: 'message',
  fields: { max_message_id: wire.integer() },
  forSpectators: 'likeGuests',
  forTokens: 'likeAccount',
  load: (snapshot) => snapshot.load(loadNewestMessageId),
  present: (newestMessageId) => ({ max_message_id: newestMessageId ?? -1 }),
});

export const unreadSection: RegisterSection = registerSection({
  name: 'unread',
  fields: { unread_msgs: unreadMessages },
  forSpectators: 'likeGuests',
  forTokens: unreadWithin,
  // Clients need both event types to keep the section up to date.
  fetchEventTypes: ['message', 'update_message_flags'],
  load: (snapshot) => snapshot.load(loadUnread),
  present: (unread, context) => ({ unread_msgs: presentUnread(unread, context) }),
});

export const starredMessagesSection: RegisterSection = registerSection({
  name: 'starred_messages',
  fields: { starred_messages: wire.listOf(wire.integer()) },
  forSpectators: { starred_messages: [] },
  load: (snapshot) => snapshot.load(loadStarredIds),
  present: (ids) => ({ starred_messages: ids }),
});

export const recentConversationsSection: RegisterSection = registerSection({
  name: 'recent_private_conversations',
  fields: { recent_private_conversations: wire.listOf(recentConversation) },
  forSpectators: { recent_private_conversations: [] },
  load: (snapshot) => snapshot.load(loadRecentConversations),
  present: (conversations) => ({
    recent_private_conversations: conversations.map(({ userIds, lastMessageId }) => ({
      user_ids: userIds,
      max_message_id: lastMessageId,
    })),
  }),
});

function unreadWithin(unread: LoadedUnread, scope: TokenScope): LoadedUnread {
  const placeOf = ({ channelId, topic, recipientId }: LoadedUnread['conversations'][number]): Place => {
    if (channelId !== null) return { kind: 'channel', channelId, topic };
    const recipient = unread.recipients.get(recipientId);
    return { kind: 'direct', userIds: recipient?.kind === 'direct' ? recipient.userIds : [] };
  };
  const conversations = unread.conversations.filter((one) => conversationAt(scope, placeOf(one)));
  return { ...unread, conversations };
}

/** Presents unread messages (events §4.4), without archived channels for clients that do not support them. */
function presentUnread(
  { conversations: all, recipients, oldOnesAreMissing }: LoadedUnread,
  { viewer, presentation }: SectionContext,
): Record<string, unknown> {
  const self = viewer.id;
  const knowsArchived = can(presentation, 'archived_channels');
  const conversations = all.filter(({ isArchived }) => knowsArchived || !isArchived);
  const pairs: { other_user_id: number; sender_id: number; unread_message_ids: readonly number[] }[] = [];
  const groups: { user_ids_string: string; unread_message_ids: readonly number[] }[] = [];
  const topics: { stream_id: number; topic: string; unread_message_ids: readonly number[] }[] = [];
  let count = 0;
  for (const { recipientId, channelId, topic, ids, isMuted } of conversations) {
    if (!isMuted) count += ids.length;
    if (channelId !== null) {
      const shown = presentTopic(topic, can(presentation, 'empty_topic_name'));
      topics.push({ stream_id: channelId, topic: shown, unread_message_ids: ids });
      continue;
    }
    const recipient = recipients.get(recipientId);
    const people = recipient?.kind === 'direct' ? recipient.userIds : [];
    const other = people.find((id) => id !== self) ?? self;
    if (people.length > 2) groups.push({ user_ids_string: people.join(','), unread_message_ids: ids });
    else pairs.push({ other_user_id: other, sender_id: other, unread_message_ids: ids });
  }
  return {
    count,
    pms: pairs.sort((a, b) => a.other_user_id - b.other_user_id),
    streams: topics.sort((a, b) => a.stream_id - b.stream_id || compareText(a.topic, b.topic)),
    huddles: groups.sort((a, b) => compareText(a.user_ids_string, b.user_ids_string)),
    mentions: conversations.flatMap(({ mentionIds }) => mentionIds).sort((a, b) => a - b),
    old_unreads_missing: oldOnesAreMissing,
  };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const stopWordsSection: RegisterSection = catalogueSection(
  'stop_words',
  { stop_words: wire.listOf(wire.text()) },
  { stop_words: STOP_WORDS },
);
