import type { Channel } from '@parley/domain/channels';
import type { UserId } from '@parley/domain/kernel';
import type { NewMessage } from '@parley/domain/messages';

/** What the programs that are killed send: a message of one word, which its sender has read. */
export const crashMessage = (channel: Channel, senderId: UserId, content: string, sentAt: number): NewMessage => ({
  realmId: channel.realmId,
  senderId,
  recipientId: channel.recipientId,
  channelId: channel.id,
  topic: 'crash',
  content,
  renderedContent: content,
  sentAt,
  clientName: 'test',
  isMeMessage: false,
  mentionsChannel: false,
  hasLink: false,
  hasImage: false,
  hasAttachment: false,
  topicLinks: [],
  isReadByDefault: false,
  readBy: [senderId],
  exceptions: new Map(),
});
