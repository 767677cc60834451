import type { ScheduledMessage } from '@parley/client';
import type { Destination } from '../kernel/narrow.js';
import type { Gateway } from '../kernel/ports.js';
import type { ChatState } from '../kernel/state.js';
import { directWith, inTopic } from '../messages/unread.js';

/** Number of notification bot messages to search for failure reasons. */
const RECENT_NOTICES = 100;

/** Scheduled messages and reminders. Loaded by the pages and dialogs that use it; events update the state. */
export class Scheduling {
  constructor(
    private readonly state: ChatState,
    private readonly api: Gateway,
  ) {}

  /** `at` is in Unix seconds in all methods. */
  async schedule(to: Destination, content: string, at: number): Promise<void> {
    const self = this.state.selfId;
    await this.api.post('/scheduled_messages', {
      ...(to.kind === 'channel'
        ? { type: 'channel', to: to.channelId, topic: to.topic }
        : { type: 'direct', to: to.userIds.length === 0 ? [self] : to.userIds }),
      content,
      scheduled_delivery_timestamp: at,
      read_by_sender: true,
    });
  }

  /** Sends only changed fields, so that changes from other windows are kept. A failed message is retried. */
  async change({ scheduled_message_id, ...before }: ScheduledMessage, content: string, at: number): Promise<void> {
    const changes = {
      // The server validates the text immediately, but the time only on delivery (users §20.3).
      ...((before.failed || content !== before.content) && { content }),
      ...((before.failed || at !== before.scheduled_delivery_timestamp) && { scheduled_delivery_timestamp: at }),
    };
    if (Object.keys(changes).length === 0) return;
    await this.api.patch('/scheduled_messages/{scheduled_message_id}', { scheduled_message_id, ...changes });
  }

  async remove(id: number): Promise<void> {
    await this.api.delete('/scheduled_messages/{scheduled_message_id}', { scheduled_message_id: id });
  }

  destinationOf({ to, topic = '' }: ScheduledMessage): Destination {
    return typeof to === 'number' ? inTopic(to, topic) : directWith(to, this.state.selfId);
  }

  /**
   * Reasons why messages were not sent, by scheduled time, taken from notification bot messages (users §20.5). These do
   * not identify the message, so a time with several reasons is omitted.
   */
  async reasonsFor(times: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const reasons = new Map<number, string>();
    const bot = this.state.people
      .values()
      .find(({ user, list }) => list === 'cross_realm_bots' && user.email.startsWith('notification-bot@'));
    if (!bot) return reasons;
    const { messages } = await this.api.get('/messages', {
      narrow: [{ operator: 'dm', operand: [bot.user.user_id] }],
      anchor: 'newest',
      num_before: RECENT_NOTICES,
      num_after: 0,
      apply_markdown: false,
    });
    for (const time of times) {
      const mark = `<time:${new Date(time * 1000).toISOString().replace('T', ' ').replace('.000Z', '+00:00')}>`;
      const notices = messages.filter(({ content }) => content.includes(mark));
      const [reason, ...others] = new Set(notices.map(({ content }) => /^> (.*)$/m.exec(content)?.[1]));
      if (reason !== undefined && others.length === 0) reasons.set(time, reason);
    }
    return reasons;
  }
}
