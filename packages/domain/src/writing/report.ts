import { EMPTY_TOPIC_DISPLAY_NAME } from '../channels/channel.js';
import { configuredChannel } from '../channels/channel-notices.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, MessageId } from '../kernel/ids.js';
import { isLongerThan, takeCodePoints } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { channelLink, silentMention } from '../markdown/markdown.js';
import { type LocatedMessage, loadReadable } from '../messages/load-access.js';
import { loadSender, participantIdsOf } from '../messages/message.js';
import { SystemMessages } from './system-messages.js';

/** Reasons for reporting a message, with display names. */
export const REPORT_REASONS = {
  spam: 'Spam',
  harassment: 'Harassment',
  inappropriate: 'Inappropriate content',
  norms: 'Violates community norms',
  other: 'Other reason',
} as const;

export type ReportReason = keyof typeof REPORT_REASONS;

/** Length in code points. */
export const MAX_REPORT_LENGTH = 1000;

/** Validates in the order of messages §15.4. @throws DomainError REPORT_TOO_LONG, REPORT_NEEDS_EXPLANATION */
export function checkReport(reason: ReportReason, description: string): void {
  if (isLongerThan(description, MAX_REPORT_LENGTH)) {
    throw new DomainError('REPORT_TOO_LONG', `description is too long (limit: ${MAX_REPORT_LENGTH} characters)`);
  }
  if (reason === 'other' && description.trim() === '') {
    throw new DomainError('REPORT_NEEDS_EXPLANATION', 'An explanation is required.');
  }
}

/** Maximum quoted length, so that the whole report fits into one message. */
const MAX_QUOTED = 6000;

/** Returns a Markdown quote of a text that may itself contain fences. */
export function quoted(text: string): string {
  const content = isLongerThan(text, MAX_QUOTED) ? `${takeCodePoints(text, MAX_QUOTED)}…` : text;
  // No run may be as long as the fence, or a line of it would end the quote.
  const shown = content.replace(/`{100,}/g, '`'.repeat(99));
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}quote\n${shown}\n${fence}`;
}

export interface ReportMessageInput {
  readonly messageId: MessageId;
  readonly reason: ReportReason;
  readonly description: string;
}

/** Reports a message to the moderators (messages §15.4). */
export class ReportMessage {
  static readonly inject = ['unitOfWork', SystemMessages] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
  ) {}

  /** @throws DomainError REPORT_TOO_LONG, REPORT_NEEDS_EXPLANATION, REPORTS_DISABLED, UNKNOWN_MESSAGE */
  execute(caller: Caller, { messageId, reason, description }: ReportMessageInput): Promise<void> {
    checkReport(reason, description);
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      const channel = await configuredChannel(tx, realm, realm.settings.moderationRequestChannelId);
      if (!channel) {
        throw new DomainError('REPORTS_DISABLED', 'Message reporting is not enabled in this organization.');
      }
      const loaded = await loadReadable(tx, actor, messageId);
      const { message } = loaded;
      const reporter = await tx.users.get(realm.id, actor.id);
      const sender = await loadSender(tx, message);
      const content = [
        `${silentMention(reporter)} reported a message by ${silentMention(sender)} ${await whereIs(tx, loaded)}.`,
        `- Reason: **${REPORT_REASONS[reason]}**`,
        ...(description.trim() === '' ? [] : ['- Explanation:', quoted(description.trim())]),
        `\n${quoted(message.content)}`,
      ].join('\n');
      // All readers have at least the moderators' access, and all mentions are silent.
      await this.systemMessages.sendToChannel(tx, realm, {
        channel,
        topic: topicOf(sender.fullName),
        content,
        author: { actor: null },
      });
    });
  }
}

const topicOf = (name: string): string => `Reports about ${name}`;

/** Describes the location, with a link for users who may read the message. */
async function whereIs(tx: Transaction, { message, channel }: LocatedMessage): Promise<string> {
  if (channel) {
    const topic = message.topic === '' ? EMPTY_TOPIC_DISPLAY_NAME : message.topic;
    return `in ${channelLink(channel).slice(0, -2)}>${topic}@${message.id}**`;
  }
  const people = await tx.users.list(message.realmId, (await participantIdsOf(tx, message)) ?? []);
  return `in the direct conversation of ${people.map(silentMention).join(', ')} (message ${message.id})`;
}
