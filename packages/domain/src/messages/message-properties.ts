/** What is found in a message's text when it is sent, by the operand of `has` that asks for it (messages §7.2). */
const FOUND_IN_TEXT = { attachment: 'hasAttachment', image: 'hasImage', link: 'hasLink' } as const;

/** What comes to a message later, and goes; a new message has none of it. */
const ADDED_LATER = { reaction: 'hasReactions' } as const;

export const HAS_OPERANDS = { ...FOUND_IN_TEXT, ...ADDED_LATER } as const;

/** What a message has, whoever looks. */
export type HasProperty = (typeof HAS_OPERANDS)[keyof typeof HAS_OPERANDS];
export type LaterProperty = (typeof ADDED_LATER)[keyof typeof ADDED_LATER];

export const MESSAGE_PROPERTIES = [...Object.values(HAS_OPERANDS), 'isResolved'] as const;
/** What a message is to everybody; `isResolved`: its topic is marked as resolved. */
export type MessageProperty = (typeof MESSAGE_PROPERTIES)[number];
