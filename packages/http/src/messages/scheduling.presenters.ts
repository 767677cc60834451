import type { Reminder, ScheduledMessage } from '@parley/domain/messages';

/** Users §20.1. */
export const presentScheduledMessage = (message: ScheduledMessage) => ({
  scheduled_message_id: message.id,
  ...(message.to.kind === 'channelId'
    ? { type: 'stream', to: message.to.id, topic: message.topic }
    : { type: 'private', to: message.to.ids }),
  content: message.content,
  rendered_content: message.renderedContent,
  scheduled_delivery_timestamp: message.dueAt,
  failed: message.status === 'failed',
});

/** Users §21. */
export const presentReminder = (reminder: Reminder) => ({
  reminder_id: reminder.id,
  type: 'private',
  to: [reminder.userId],
  content: reminder.content,
  rendered_content: reminder.renderedContent,
  scheduled_delivery_timestamp: reminder.dueAt,
  failed: reminder.failure !== null,
  reminder_target_message_id: reminder.messageId,
});
