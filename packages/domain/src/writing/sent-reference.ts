import type { DomainEvent, EventOf } from '../kernel/event.js';
import type { EventReference, ReferenceRules, ReferringEvent } from '../kernel/event-encoding.js';
import type { LoggedEvent } from '../kernel/event-log.js';
import type { MessageId } from '../kernel/ids.js';
import type { TopicLink } from '../markdown/markdown.js';
import type { Message, MessageView } from '../messages/message.js';

type MessageSent = EventOf<'message.sent'>;

/** Properties of a new message that later changes can alter. */
const ALTERABLE = ['isMeMessage', 'mentionsChannel', 'hasLink', 'hasImage', 'hasAttachment'] as const;

/** Fields of a new message that are always the same. */
const NEW = { hasReactions: false, isEdited: false, lastEditedAt: null, lastMovedAt: null, version: 1 } as const;

/**
 * Stored form of `message.sent`. The texts and people are read with the message. The location and properties are stored,
 * because later changes must not show them to receivers of this event.
 */
export interface SentReference extends EventReference, Omit<MessageSent, 'type' | 'view'> {
  readonly type: 'message.posted';
  /** Absent for direct messages. */
  readonly channel?: Pick<Message, 'channelId' | 'topic'> & {
    readonly name: string;
    /** Absent if there are none. */
    readonly topicLinks?: readonly TopicLink[];
  };
  readonly properties: readonly (typeof ALTERABLE)[number][];
  /** Length of the Markdown; another length means that the text of this event is gone. */
  readonly contentLength: number;
}

export const SENT_REFERENCES: ReferenceRules<SentReference> = { type: 'message.posted', format: 1, refer };

/** Returns null for events that are stored as they are. */
function refer(event: DomainEvent): SentReference | null {
  // Later submessages must not appear in the event.
  if (event.type !== 'message.sent' || event.view.submessages.length > 0) return null;
  const { view, type: _, ...kept } = event;
  const { message, conversation } = view;
  const { channelId, topic, topicLinks } = message;
  return {
    type: 'message.posted',
    messageId: message.id,
    ...(conversation.kind === 'channel' && {
      channel: { channelId, name: conversation.name, topic, ...(topicLinks.length > 0 && { topicLinks }) },
    }),
    properties: ALTERABLE.filter((property) => message[property]),
    contentLength: message.content.length,
    length: message.content.length + message.renderedContent.length,
    ...kept,
  };
}

/** Reads what references leave out, with the present data of the host application. An event of a deleted message becomes blank. */
export async function completeEvents(
  decoded: readonly (LoggedEvent | ReferringEvent<SentReference>)[],
  listViews: (ids: readonly MessageId[]) => Promise<readonly MessageView[]>,
): Promise<readonly LoggedEvent[]> {
  const ids = decoded.flatMap((each) => ('reference' in each ? [each.reference.messageId] : []));
  const views = new Map(ids.length === 0 ? [] : (await listViews(ids)).map((view) => [view.message.id, view]));
  return decoded.map((each) => {
    if (!('reference' in each)) return each;
    const { reference, ...stored } = each;
    return { ...stored, event: sentAs(reference, views.get(reference.messageId)) ?? { type: 'blank' } };
  });
}

/** Returns the oldest text of the message that is known. */
export function firstTextOf({ message, edits = [] }: MessageView): {
  readonly content: string;
  readonly rendered: string;
} {
  const oldest = edits.findLast(({ previousContent }) => previousContent !== null)?.previousContent;
  return oldest ?? { content: message.content, rendered: message.renderedContent };
}

/** Returns the event as it was sent, with the present sender. Returns null if its text is gone. */
function sentAs(reference: SentReference, view: MessageView | undefined): MessageSent | null {
  if (!view) return null;
  const { type: _, messageId: __, length: ___, channel, properties, contentLength, ...kept } = reference;
  const { message, sender, conversation, hostData } = view;
  const text = firstTextOf(view);
  if (text.content.length !== contentLength) return null;
  const sent: Message = {
    ...message,
    ...NEW,
    recipientId: message.sentRecipientId,
    content: text.content,
    renderedContent: text.rendered,
    ...(channel && { channelId: channel.channelId, topic: channel.topic, topicLinks: channel.topicLinks ?? [] }),
    ...(Object.fromEntries(ALTERABLE.map((property) => [property, properties.includes(property)])) as Pick<
      Message,
      (typeof ALTERABLE)[number]
    >),
  };
  return {
    type: 'message.sent',
    ...kept,
    view: {
      ...(hostData && { hostData }),
      message: sent,
      sender,
      submessages: [],
      conversation: channel ? { kind: 'channel', channelId: channel.channelId!, name: channel.name } : conversation,
    },
  };
}
