import type { EventOf } from '../kernel/event.js';
import type { QueueNarrowTerm } from '../kernel/event-queue.js';
import type { UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';
import { dummyAddress } from '../users/email-visibility.js';
import type { PersonalFlags } from './message.js';
import { evaluate, holds } from './message-condition.js';
import type { ReceivedFlags } from './message-events.js';
import type { UserSummary } from './message-view.js';
import { findNarrowOperator, type QueueCondition } from './narrow-operators.js';

type MessageSent = EventOf<'message.sent'>;

const NOTHING: ReceivedFlags = {};
const exceptionsByEvent = new WeakMap<MessageSent, ReadonlyMap<UserId, ReceivedFlags>>();

function exceptionsOf(event: MessageSent): ReadonlyMap<UserId, ReceivedFlags> {
  let exceptions = exceptionsByEvent.get(event);
  if (!exceptions) {
    exceptions = new Map(event.exceptions);
    exceptionsByEvent.set(event, exceptions);
  }
  return exceptions;
}

/** What a message is to a receiver on arrival: as to everybody, but for the exceptions. */
export function receivedFlags(event: MessageSent, userId: UserId): PersonalFlags {
  const flags = exceptionsOf(event).get(userId) ?? NOTHING;
  const { mentionsChannel, isReadByDefault } = event.view.message;
  return {
    read: flags.read ?? (isReadByDefault && flags.unread !== true),
    starred: false,
    collapsed: false,
    mentioned: flags.mentioned ?? false,
    channelWildcardMentioned: mentionsChannel,
    topicWildcardMentioned: flags.topicWildcardMentioned ?? false,
    hasAlertWord: flags.hasAlertWord ?? false,
    historical: false,
  };
}

/** Null: no queue can be narrowed by this operator. */
export function queueConditionOf({ operator, operand }: QueueNarrowTerm): QueueCondition | null {
  return findNarrowOperator(operator)?.queueCondition?.(operand) ?? null;
}

const conditionsByNarrow = new WeakMap<readonly QueueNarrowTerm[], readonly QueueCondition[]>();

/** The terms of a queue do not change, and every message asks for them. */
function conditionsOf(terms: readonly QueueNarrowTerm[]): readonly QueueCondition[] {
  let conditions = conditionsByNarrow.get(terms);
  if (!conditions) {
    conditions = terms.flatMap((term) => queueConditionOf(term) ?? []);
    conditionsByNarrow.set(terms, conditions);
  }
  return conditions;
}

/** Whether a queue that is narrowed gets this message (events §1); other events it gets anyhow. */
export function isInNarrow(terms: readonly QueueNarrowTerm[], event: MessageSent, ownerId: UserId): boolean {
  const conditions = conditionsOf(terms);
  if (conditions.length === 0) return true;
  const { message, conversation, sender } = event.view;
  // No condition of a queue asks for the privacy of a channel, or for what a message says.
  const subject = { message, channelPrivacy: null, flags: receivedFlags(event, ownerId), text: noText };
  return conditions.every((condition) =>
    evaluate(condition, (simple) => {
      switch (simple.kind) {
        case 'channelName':
          return conversation.kind === 'channel' && foldCase(conversation.name) === foldCase(simple.name);
        case 'senderEmail':
          return matchesSender(sender, simple.email);
        default:
          return holds(subject, simple);
      }
    }),
  );
}

function noText(): never {
  throw new Error('Queues do not search');
}

/** By the address others see. Whose is hidden is known by the number in their dummy address, on whatever host. */
function matchesSender(sender: UserSummary, email: string): boolean {
  if (sender.emailVisibility === 'everyone') return foldCase(sender.email) === foldCase(email);
  return foldCase(email).startsWith(dummyAddress(sender.id, ''));
}
