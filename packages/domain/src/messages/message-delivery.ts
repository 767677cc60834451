import { type Channel, hasSharedHistory, isPrivate } from '../channels/channel.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import type {
  AskedUsers,
  AudienceAnswers,
  AudienceQuestions,
  AudienceRules,
  LiveCandidate,
  Membership,
  QueueSelection,
  ReceiverRequest,
  ReplayedCandidate,
} from '../kernel/delivery.js';
import { type Audience, allOf, anyOf, type EventOf, except, users } from '../kernel/event.js';
import type { EventNeeds, Receiver } from '../kernel/event-log.js';
import type { QueueNarrowTerm } from '../kernel/event-queue.js';
import { isId, type MessageId, type RealmId, type UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import { dummyAddress } from '../users/accessible-users.js';
import { atLeast } from '../users/user-delivery.js';
import type { Message, PersonalFlags, UserSummary } from './message.js';
import { evaluate, holds } from './message-condition.js';
import type { ReceivedFlags } from './message-events.js';
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

declare module '../kernel/event.js' {
  interface AudienceTypes {
    /** Those who have the message as their own. */
    holders: { readonly messageId: MessageId };
  }
}

declare module '../kernel/delivery.js' {
  interface Membership {
    holds(messageId: MessageId): boolean;
  }
  interface AudienceQuestions {
    /** Who has these messages as their own. */
    readonly messageIds?: readonly MessageId[];
  }
}

declare module '../kernel/delivery.js' {
  interface AudienceAnswers {
    /** Who of the users asked about has the message. */
    readonly holders: ReadonlyMap<MessageId, ReadonlySet<UserId>>;
  }
}

declare module '../kernel/event-log.js' {
  interface Receiver {
    /** What the messages of `EventNeeds.messageIds` are to them now; those that are not their own are absent. */
    readonly flags: ReadonlyMap<MessageId, PersonalFlags>;
    /** Those of `EventNeeds.heldMessageIds` that they have, or had before the messages were deleted. */
    readonly held: ReadonlySet<MessageId>;
  }
  interface EventNeeds {
    /** Messages of which it tells the receiver's present flags. */
    readonly messageIds?: readonly MessageId[];
    /** Messages of which it tells only those who have them; deleted ones too. */
    readonly heldMessageIds?: readonly MessageId[];
  }
}

export const holdersOf = (messageId: MessageId): Audience => ({ kind: 'holders', messageId });

export const MESSAGE_AUDIENCES: AudienceRules<'holders'> = {
  holders: {
    isValid: ({ messageId }) => isId(messageId),
    includes: ({ messageId }, member) => member.holds(messageId),
    questions: ({ messageId }) => ({ messageIds: [messageId] }),
  },
};

export const messageHolder = (candidate: LiveCandidate | ReplayedCandidate): Pick<Membership, 'holds'> => ({
  holds: (id) => candidate.answers.holders.get(id)?.has(candidate.user.userId) ?? false,
});

/** Anybody may have a message. */
export const asksForMessages = ({ messageIds = [] }: AudienceQuestions): boolean => messageIds.length > 0;

export async function findHolders(
  { personal }: Repositories,
  realmId: RealmId,
  { messageIds = [] }: AudienceQuestions,
  { ids }: AskedUsers,
): Promise<Pick<AudienceAnswers, 'holders'>> {
  const holders = messageIds.length === 0 ? [] : await personal.filterHolders(realmId, messageIds, ids);
  return { holders: new Map([...holders].map(([id, userIds]) => [id, new Set(userIds)])) };
}

/** Messages of public channels can be read by everybody but guests, and narrows are about messages (events §1). */
export const MESSAGE_SELECTION: QueueSelection = {
  isOpen: ({ allPublicChannels, narrow }) => allPublicChannels || narrow.length > 0,
  isPublic: (event) => event.type === 'message.sent' && event.isPublic,
  mayReadPublic: ({ role }) => role !== 'guest',
  isInNarrow: ({ filter, ownerId }, event) =>
    event.type !== 'message.sent' || isInNarrow(filter.narrow, event, ownerId),
};

type MessageReceiver = Pick<Receiver, 'flags' | 'held'>;

const NOTHING_KNOWN: MessageReceiver = { flags: new Map(), held: new Set() };

export const messageReceiver = (): MessageReceiver => NOTHING_KNOWN;

export const needsMessages = ({ messageIds, heldMessageIds }: EventNeeds): boolean =>
  messageIds !== undefined || heldMessageIds !== undefined;

/** In the order of the requests. A constant number of statements. */
export async function loadMessageReceivers(
  { personal }: Repositories,
  realmId: RealmId,
  requests: readonly ReceiverRequest[],
): Promise<readonly MessageReceiver[]> {
  const flagged = asked(requests, ({ messageIds }) => messageIds);
  const holding = asked(requests, ({ heldMessageIds }) => heldMessageIds);
  if (!flagged && !holding) return requests.map(messageReceiver);
  const flags = flagged && (await personal.listFlagsOf(realmId, flagged.userIds, flagged.messageIds));
  const holders = holding && (await personal.filterHolders(realmId, holding.messageIds, holding.userIds));
  const held = new Map<UserId, Set<MessageId>>();
  for (const [messageId, userIds] of holders ?? []) {
    for (const userId of userIds) held.set(userId, (held.get(userId) ?? new Set()).add(messageId));
  }
  return requests.map(({ owner: { userId } }) => ({
    flags: flags?.get(userId) ?? NOTHING_KNOWN.flags,
    held: held.get(userId) ?? NOTHING_KNOWN.held,
  }));
}

/** Null: nobody asks. */
function asked(
  requests: readonly ReceiverRequest[],
  idsOf: (needs: EventNeeds) => readonly MessageId[] | undefined,
): { readonly userIds: readonly UserId[]; readonly messageIds: readonly MessageId[] } | null {
  const asking = requests.filter(({ needs }) => idsOf(needs) !== undefined);
  if (asking.length === 0) return null;
  return {
    userIds: [...new Set(asking.map(({ owner }) => owner.userId))],
    messageIds: [...new Set(asking.flatMap(({ needs }) => idsOf(needs)!))],
  };
}

/** Who gets events of what happens to a message: the "message watchers" of messages §18. `channel`: null for direct messages. */
export const messageWatchers = (
  { id }: Pick<Message, 'id'>,
  channel: Pick<Channel, 'id' | 'privacy'> | null,
): Audience => watchersOfAny([id], channel);

/** Who watches at least one of the messages, of which there is at least one. */
export function watchersOfAny(ids: readonly MessageId[], channel: Pick<Channel, 'id' | 'privacy'> | null): Audience {
  const holders = ids.length === 1 ? holdersOf(ids[0]!) : anyOf(...ids.map(holdersOf));
  if (!channel) return holders;
  const subscribers = subscribersOf(channel.id);
  if (!hasSharedHistory(channel)) return allOf(subscribers, holders);
  return isPrivate(channel) ? subscribers : anyOf(subscribers, allOf(atLeast('member'), holders));
}

type AudienceChannel = Pick<Channel, 'id' | 'privacy'>;

/** Who gets the event of a change that moves nothing out of its channel; null: a direct message (messages §18.2). */
export function watchersOfUpdate(message: Pick<Message, 'id'>, channel: AudienceChannel | null): Audience {
  // In protected history each gets those messages that they have.
  if (channel && !hasSharedHistory(channel)) return subscribersOf(channel.id);
  return messageWatchers(message, channel);
}

/**
 * Who still can see messages that were moved to another channel: its subscribers, and, where it is public, members who could see
 * them before. `outside`: who had any of them without being subscribed.
 */
export function receiversAfterMove(
  source: AudienceChannel,
  target: AudienceChannel,
  outside: readonly UserId[],
): Audience {
  const subscribers = subscribersOf(target.id);
  if (isPrivate(target)) return subscribers;
  const before = anyOf(subscribersOf(source.id), users(outside));
  return anyOf(subscribers, allOf(atLeast('member'), before));
}

/** Who could see them, and no longer can. */
export function receiversLostByMove(
  source: AudienceChannel,
  target: AudienceChannel,
  outside: readonly UserId[],
): Audience {
  const before = anyOf(subscribersOf(source.id), users(outside));
  const kept = isPrivate(target) ? subscribersOf(target.id) : anyOf(subscribersOf(target.id), atLeast('member'));
  return except(before, kept);
}
