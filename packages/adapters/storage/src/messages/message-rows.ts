import { RESOLVED_PREFIX } from '@parley/domain/channels';
import type { ChannelId, MessageId, Ordinal, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { TopicLink } from '@parley/domain/markdown';
import type { Message, MessageProperty, Submessage } from '@parley/domain/messages';
import type { Quarantine } from '../engine/quarantine.js';
import { listColumn } from '../engine/rows.js';

/** Bits in `message.property_bits`. */
export const PROPERTY_BITS = {
  isMeMessage: 1,
  mentionsChannel: 2,
  hasLink: 4,
  hasImage: 8,
  hasAttachment: 16,
  isReadByDefault: 32,
  /**
   * Set once a message has changed channel or conversation, since its ownership then depends on moves. The index
   * message_moved_in repeats the value.
   */
  wasMoved: 64,
  hasReactions: 128,
  isEdited: 256,
  hasData: 512,
} as const;

type StoredProperty = Exclude<keyof typeof PROPERTY_BITS, 'wasMoved'>;

export function propertiesOf(bits: number): Pick<Message, StoredProperty> {
  const has = (property: StoredProperty) => (bits & PROPERTY_BITS[property]) !== 0;
  return {
    isMeMessage: has('isMeMessage'),
    mentionsChannel: has('mentionsChannel'),
    hasLink: has('hasLink'),
    hasImage: has('hasImage'),
    hasAttachment: has('hasAttachment'),
    hasReactions: has('hasReactions'),
    isReadByDefault: has('isReadByDefault'),
    isEdited: has('isEdited'),
    hasData: has('hasData'),
  };
}

/** Returns the bits of a new message. */
export function bitsOf(properties: Partial<Pick<Message, StoredProperty>>): number {
  let bits = 0;
  for (const property in PROPERTY_BITS) {
    if (properties[property as StoredProperty] === true) bits |= PROPERTY_BITS[property as StoredProperty];
  }
  return bits;
}

/** Bits determined by the text, recomputed by edits. */
export const TEXT_BITS =
  PROPERTY_BITS.isMeMessage |
  PROPERTY_BITS.mentionsChannel |
  PROPERTY_BITS.hasLink |
  PROPERTY_BITS.hasImage |
  PROPERTY_BITS.hasAttachment;

/** Properties with their own index on `message`. `mentionsChannel` is one half of a flag. */
export type IndexedProperty = MessageProperty | 'mentionsChannel';

export const PROPERTY_INDEXES: Readonly<Record<IndexedProperty, string>> = {
  hasLink: 'message_with_link',
  hasImage: 'message_with_image',
  hasAttachment: 'message_with_attachment',
  hasReactions: 'message_with_reactions',
  isResolved: 'message_resolved',
  mentionsChannel: 'message_mentioning_channel',
};

/** Prefix of topic keys of resolved topics. */
export const RESOLVED = RESOLVED_PREFIX;
/** Smallest text after all topic keys with the prefix for resolved topics. */
export const AFTER_RESOLVED = RESOLVED_PREFIX.slice(0, -1) + String.fromCodePoint(RESOLVED_PREFIX.codePointAt(1)! + 1);

/** Values of `message_flag.source`: the reason why the message belongs to the user. */
export const OWNERSHIP_SOURCES = {
  /** Determined by spans and moves. */
  spans: 0,
  sentWithoutSpan: 1,
  /** Added from channel history. */
  historical: 2,
} as const;

/** Sets the newest message of direct conversations; continues with a condition. */
export const RENEW_NEWEST = `
  UPDATE direct_participant
  SET last_message_id = (SELECT max(m.id) FROM message m WHERE m.recipient_id = direct_participant.recipient_id)`;

export interface MessageRow {
  readonly id: MessageId;
  readonly realm_id: RealmId;
  readonly sender_id: UserId;
  readonly sent_recipient_id: RecipientId;
  readonly ordinal: Ordinal;
  readonly recipient_id: RecipientId;
  readonly channel_id: ChannelId | null;
  readonly property_bits: number;
  readonly version: number;
  readonly sent_at: UnixSeconds;
  readonly last_edited_at: UnixSeconds | null;
  readonly last_moved_at: UnixSeconds | null;
  readonly topic: string;
  readonly client_name: string;
  readonly topic_links: string | null;
  readonly content: string;
  readonly rendered_content: string;
}

export function toMessage(row: MessageRow, quarantine: Quarantine): Message {
  return {
    id: row.id,
    realmId: row.realm_id,
    senderId: row.sender_id,
    sentRecipientId: row.sent_recipient_id,
    ordinal: row.ordinal,
    recipientId: row.recipient_id,
    channelId: row.channel_id,
    topic: row.topic,
    content: row.content,
    renderedContent: row.rendered_content,
    sentAt: row.sent_at,
    clientName: row.client_name,
    ...propertiesOf(row.property_bits),
    topicLinks: row.topic_links === null ? [] : topicLinks(row.topic_links, row.id, quarantine),
    lastEditedAt: row.last_edited_at,
    lastMovedAt: row.last_moved_at,
    version: row.version,
  };
}

const isTopicLink = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as TopicLink).text === 'string' &&
  typeof (value as TopicLink).url === 'string';
const topicLinks = listColumn<TopicLink>('message', 'topic_links', isTopicLink);

export interface SubmessageRow {
  readonly id: number;
  readonly message_id: MessageId;
  readonly sender_id: UserId;
  readonly kind: Submessage['kind'];
  readonly content: string;
}

export function toSubmessage(row: SubmessageRow): Submessage {
  return { id: row.id, messageId: row.message_id, senderId: row.sender_id, kind: row.kind, content: row.content };
}
