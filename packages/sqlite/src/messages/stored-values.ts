import type { Message, MessageProperty } from '@parley/domain/messages';

/** Bits of `message.property_bits`. */
export const PROPERTY_BITS = {
  isMeMessage: 1,
  mentionsChannel: 2,
  hasLink: 4,
  hasImage: 8,
  hasAttachment: 16,
  isReadByDefault: 32,
  /** Has ever been moved to another channel: ownership needs its moves. The index message_moved_in repeats the number. */
  wasMoved: 64,
  hasReactions: 128,
  isEdited: 256,
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
  };
}

/** Of a new message. */
export function bitsOf(properties: Partial<Pick<Message, StoredProperty>>): number {
  let bits = 0;
  for (const property in PROPERTY_BITS) {
    if (properties[property as StoredProperty] === true) bits |= PROPERTY_BITS[property as StoredProperty];
  }
  return bits;
}

/** What the text of a message decides, and an edit decides again. */
export const TEXT_BITS =
  PROPERTY_BITS.isMeMessage |
  PROPERTY_BITS.mentionsChannel |
  PROPERTY_BITS.hasLink |
  PROPERTY_BITS.hasImage |
  PROPERTY_BITS.hasAttachment;

/** What indexes of `message` list apart. `mentionsChannel` is half of what a flag says. */
export type IndexedProperty = MessageProperty | 'mentionsChannel';

export const PROPERTY_INDEXES: Readonly<Record<IndexedProperty, string>> = {
  hasLink: 'message_with_link',
  hasImage: 'message_with_image',
  hasAttachment: 'message_with_attachment',
  hasReactions: 'message_with_reactions',
  isResolved: 'message_resolved',
  mentionsChannel: 'message_mentioning_channel',
};

/** Values of `message_flag.source`: why a message is the user's own. */
export const OWNERSHIP_SOURCES = {
  /** Spans and moves say so. */
  spans: 0,
  sentWithoutSpan: 1,
  /** They took it from channel history. */
  historical: 2,
} as const;
