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
} as const;

/** Values of `message_flag.source`: why a message is the user's own. */
export const OWNERSHIP_SOURCES = {
  /** Spans and moves say so. */
  spans: 0,
  sentWithoutSpan: 1,
  /** They took it from channel history. */
  historical: 2,
} as const;
