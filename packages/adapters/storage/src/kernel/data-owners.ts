/** Column with the id of the object, and the condition of its unique index. */
export const OWNERS = {
  message: ['message_id', 'message_id IS NOT NULL'],
  channel: ['channel_id', 'channel_id IS NOT NULL'],
  user: ['user_id', 'user_id IS NOT NULL'],
  realm: ['realm_id', 'message_id IS NULL AND channel_id IS NULL AND user_id IS NULL'],
} as const;
