import type { MessageCopy } from '@parley/domain/exports';
import type { MessageEdit } from '@parley/domain/messages';
import { FLAG_BITS, PRIVATE_BIT } from './layout.js';

/** Numbers for the clients that messages were sent with, in the order in which they turn up. */
export class ClientNumbers {
  private readonly numbers = new Map<string, number>();

  numberOf(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    this.numbers.set(name, this.numbers.size + 1);
    return this.numbers.size;
  }

  rows(): readonly { readonly id: number; readonly name: string }[] {
    return [...this.numbers].map(([name, id]) => ({ id, name }));
  }
}

/** A row of `zerver_message`. */
export function messageRow({ message, edits }: MessageCopy, realmId: number, clients: ClientNumbers) {
  return {
    id: message.id,
    sender: message.senderId,
    recipient: message.recipientId,
    realm: realmId,
    is_channel_message: message.channelId !== null,
    subject: message.channelId === null ? '\u0007' : message.topic,
    content: message.content,
    rendered_content: message.renderedContent,
    rendered_content_version: 1,
    date_sent: message.sentAt,
    sending_client: clients.numberOf(message.clientName),
    last_edit_time: message.lastEditedAt,
    edit_history: edits.length === 0 ? null : JSON.stringify(edits.map(editEntry)),
    has_attachment: message.hasAttachment,
    has_image: message.hasImage,
    has_link: message.hasLink,
    search_tsvector: null,
    type: 1,
  };
}

const editEntry = ({ userId, editedAt, previousContent, topic, channel }: MessageEdit) => ({
  user_id: userId,
  timestamp: editedAt,
  ...(previousContent && {
    prev_content: previousContent.content,
    prev_rendered_content: previousContent.rendered,
    prev_rendered_content_version: 1,
  }),
  ...(topic && { prev_topic: topic.from, topic: topic.to }),
  ...(channel && { prev_stream: channel.from, stream: channel.to }),
});

/** Rows of `zerver_usermessage`, as JSON without brackets. There may be many, so that they are spelt out. */
export function userMessageRows({ message, holders }: MessageCopy, nextId: () => number): string {
  const isDirect = message.channelId === null ? PRIVATE_BIT : 0;
  const rows: string[] = [];
  for (const { userId, flags } of holders) {
    let mask = isDirect;
    for (const flag in FLAG_BITS) {
      if (flags[flag as keyof typeof FLAG_BITS]) mask |= FLAG_BITS[flag as keyof typeof FLAG_BITS];
    }
    rows.push(`{"id":${nextId()},"user_profile":${userId},"message":${message.id},"flags_mask":${mask}}`);
  }
  return rows.join(',');
}

/** What `zerver_message` has no column for; null: nothing. */
export function extraRow({ message, reactions, submessages }: MessageCopy): object | null {
  const extra = {
    ...(message.topicLinks && message.topicLinks.length > 0 && { topicLinks: message.topicLinks }),
    ...(message.mentionsChannel && { mentionsChannel: true }),
    ...(message.isReadByDefault && { isReadByDefault: true }),
    ...(message.isMeMessage && { isMeMessage: true }),
    ...(message.isEdited && { isEdited: true }),
    ...(message.lastMovedAt !== null && { lastMovedAt: message.lastMovedAt }),
    ...(reactions.length > 0 && { reactions }),
    ...(submessages.length > 0 && { submessages }),
  };
  return Object.keys(extra).length === 0 ? null : { id: message.id, ...extra };
}
