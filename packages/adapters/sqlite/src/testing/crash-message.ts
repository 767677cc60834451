import type { Channel } from '@parley/domain/channels';
import type { UserId } from '@parley/domain/kernel';
import type { NewMessage } from '@parley/domain/messages';

/** Message sent by killed programs: one word, already read by its sender. */
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
