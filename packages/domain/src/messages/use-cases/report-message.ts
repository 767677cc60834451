import { configuredChannel } from '../../channels/notification-bot.js';
import { EMPTY_TOPIC_DISPLAY_NAME } from '../../channels/topic.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { MessageId } from '../../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { channelLink, silentMention } from '../../markdown/syntax.js';
import { type LocatedMessage, loadReadable } from '../load-access.js';
import { loadSender, participantIdsOf } from '../message-people.js';
import { checkReport, quoted, REPORT_REASONS, type ReportReason } from '../report.js';
import { SystemMessages } from '../system-messages.js';

export interface ReportMessageInput {
  readonly messageId: MessageId;
  readonly reason: ReportReason;
  readonly description: string;
}

/** Shows a message to the moderators (messages §15.4). */
export class ReportMessage {
  static readonly inject = ['unitOfWork', SystemMessages] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
  ) {}

  /** @throws DomainError REPORT_TOO_LONG, REPORT_NEEDS_EXPLANATION, REPORTS_DISABLED, UNKNOWN_MESSAGE */
  execute(caller: Caller, { messageId, reason, description }: ReportMessageInput): Promise<void> {
    checkReport(reason, description);
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      const channel = await configuredChannel(tx, realm, realm.settings.moderationRequestChannelId);
      if (!channel) {
        throw new DomainError('REPORTS_DISABLED', 'Message reporting is not enabled in this organization.');
      }
      const loaded = await loadReadable(tx, actor, messageId);
      const { message } = loaded;
      const reporter = (await tx.users.find(realm.id, actor.id))!;
      const sender = await loadSender(tx, message);
      const content = [
        `${silentMention(reporter)} reported a message by ${silentMention(sender)} ${await whereIs(tx, loaded)}.`,
        `- Reason: **${REPORT_REASONS[reason]}**`,
        ...(description.trim() === '' ? [] : ['- Explanation:', quoted(description.trim())]),
        `\n${quoted(message.content)}`,
      ].join('\n');
      // Nobody who reads it may see less than the moderators do, and it names nobody but with silent mentions.
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

/** With a link to the message, for those who may read it. */
async function whereIs(tx: Transaction, { message, channel }: LocatedMessage): Promise<string> {
  if (channel) {
    const topic = message.topic === '' ? EMPTY_TOPIC_DISPLAY_NAME : message.topic;
    return `in ${channelLink(channel).slice(0, -2)}>${topic}@${message.id}**`;
  }
  const people = await tx.users.list(message.realmId, (await participantIdsOf(tx, message)) ?? []);
  return `in the direct conversation of ${people.map(silentMention).join(', ')} (message ${message.id})`;
}
