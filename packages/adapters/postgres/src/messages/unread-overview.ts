import { firstOf, getOrThrow, type MessageId } from '@parley/domain/kernel';
import type { UnreadOverview, Viewer } from '@parley/domain/messages';
import { ascending, UnreadCollection } from '@parley/storage';
import { EVERYTHING } from './message-filter.js';
import type { UnreadMessages } from './unread-messages.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Unread messages by conversation. */
export class UnreadOverviews {
  constructor(
    private readonly states: ViewerMessageStates,
    private readonly unread: UnreadMessages,
  ) {}

  async of(viewer: Viewer, limit: number): Promise<UnreadOverview> {
    const [reader, marked] = await Promise.all([
      this.unread.readerOf(viewer),
      this.unread.marked(viewer, EVERYTHING, 'DESC', limit + 1),
    ]);
    const rows = await this.unread.newest(reader, EVERYTHING, limit + 1, marked);
    const found = new UnreadCollection();
    found.addRows(rows);
    found.keepNewest(limit);
    const topicOf = new Map(rows.map((row) => [row[0], row[8]]));
    const [flags, unmentioned] = await Promise.all([
      this.states.flagRows(viewer, found.ids()),
      this.unread.unmentioned(viewer, marked),
    ]);
    const mentioned: MessageId[] = [];
    const wildcardMentioned = new Set<MessageId>();
    for (const [id, row] of flags) {
      if (row.mentioned === 1) mentioned.push(id);
      if (row.topicWildcardMentioned === 1) wildcardMentioned.add(id);
    }
    for (const id of found.mentioning) if (!unmentioned.has(id) && found.has(id)) wildcardMentioned.add(id);
    return {
      conversations: found.groups().map(({ recipientId, channelId, ids }) => ({
        recipientId,
        channelId,
        topic: channelId === null ? '' : getOrThrow(topicOf, firstOf(ids)),
        ids,
      })),
      mentionedIds: mentioned.sort(ascending),
      wildcardMentionedIds: [...wildcardMentioned].sort(ascending),
      oldOnesAreMissing: found.isCut,
    };
  }
}
