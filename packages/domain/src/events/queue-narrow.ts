import type { PersonView } from '../messages/message-repository.js';
import { normalizeTopic, RESOLVED_PREFIX, topicKey } from '../messages/topic.js';
import type { UserId } from '../shared/ids.js';
import { foldCase } from '../shared/text.js';
import { dummyAddress } from '../users/email-visibility.js';
import type { DomainEvent, ReceivedFlags } from './event.js';
import type { QueueNarrowTerm } from './event-queue.js';

type MessageSent = Extract<DomainEvent, { type: 'message.sent' }>;

/** What a message is to a receiver on arrival: as to everybody, but for the exceptions. */
export function receivedFlags(event: MessageSent, userId: UserId): ReceivedFlags {
  const exceptions = exceptionsOf(event);
  return exceptions.get(userId) ?? NOTHING;
}

const NOTHING: ReceivedFlags = {};
const byEvent = new WeakMap<MessageSent, ReadonlyMap<UserId, ReceivedFlags>>();

function exceptionsOf(event: MessageSent): ReadonlyMap<UserId, ReceivedFlags> {
  let exceptions = byEvent.get(event);
  if (!exceptions) {
    exceptions = new Map(event.exceptions);
    byEvent.set(event, exceptions);
  }
  return exceptions;
}

/** Whether a queue that is narrowed gets this message (events §1); other events it gets anyhow. */
export function isInNarrow(terms: readonly QueueNarrowTerm[], event: MessageSent, ownerId: UserId): boolean {
  return terms.every((term) => holds(term, event, ownerId));
}

function holds(term: QueueNarrowTerm, event: MessageSent, ownerId: UserId): boolean {
  const { message, conversation, sender } = event.view;
  switch (term.operator) {
    case 'channel':
      return conversation.kind === 'channel' && foldCase(conversation.name) === foldCase(term.name);
    case 'topic':
      return conversation.kind === 'channel' && topicKey(message.topic) === topicKey(normalizeTopic(term.topic));
    case 'sender':
      return isKnownAs(sender, term.email);
    case 'is':
      return isWhat(term.operand, event, ownerId);
  }
}

/** By the address others see. Whose is hidden is known by the number in his dummy address, on whatever host. */
function isKnownAs(sender: PersonView, email: string): boolean {
  if (sender.emailVisibility === 'everyone') return foldCase(sender.email) === foldCase(email);
  return foldCase(email).startsWith(dummyAddress(sender.id, ''));
}

function isWhat(operand: string, event: MessageSent, ownerId: UserId): boolean {
  const flags = receivedFlags(event, ownerId);
  switch (operand) {
    case 'dm':
    case 'private':
      return event.view.conversation.kind === 'direct';
    case 'starred':
      return false;
    case 'unread':
      return !flags.read;
    case 'mentioned':
    case 'alerted':
      // By name or group: wildcards have flags of their own (events §1).
      return flags.mentioned === true;
    case 'resolved':
      return event.view.message.topic.startsWith(RESOLVED_PREFIX);
    default:
      // Sic: what nobody knows lets everything pass.
      return true;
  }
}
