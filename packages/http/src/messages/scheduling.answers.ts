import * as wire from '../kernel/wire-schema.js';

const CONTENT = {
  content: wire.text(),
  rendered_content: wire.text(),
  scheduled_delivery_timestamp: wire.integer(),
  failed: wire.boolean(),
};

/** Users §20.1. */
export const scheduledMessage = wire.named(
  'ScheduledMessage',
  wire.fields({
    scheduled_message_id: wire.integer(),
    type: wire.oneOf('stream', 'private'),
    to: wire.anyOf(wire.integer(), wire.listOf(wire.integer())),
    topic: wire.optional(wire.text()),
    ...CONTENT,
  }),
);

/** Users §21. */
export const reminder = wire.named(
  'Reminder',
  wire.fields({
    reminder_id: wire.integer(),
    type: wire.oneOf('private'),
    to: wire.listOf(wire.integer()),
    ...CONTENT,
    reminder_target_message_id: wire.integer(),
  }),
);
