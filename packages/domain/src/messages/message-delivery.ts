import { type Channel, hasSharedHistory, isPrivate } from '../channels/channel.js';
import { metadataUsers, readersOutside, subscribersOf } from '../channels/channel-delivery.js';
import type {
  AudienceRules,
  LiveCandidate,
  QueueSelection,
  ReceiverRequest,
  ReplayedCandidate,
} from '../kernel/delivery.js';
import { type Audience, allOf, anyOf, type EventOf, except, users } from '../kernel/event.js';
import type { QueueNarrowTerm } from '../kernel/event-queue.js';
import type {
  AudienceQuestions,
  AudienceResults,
  EventNeeds,
  LookupUsers,
  Membership,
  Receiver,
} from '../kernel/feature-types.js';
import { isId, type MessageId, type RealmId, type TokenScope, type UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import { firstOf, slicesOf } from '../kernel/work.js';
import { dummyAddress } from '../users/accessible-users.js';
import { atLeast } from '../users/user-delivery.js';
import type { Message, PersonalFlags, UserSummary } from './message.js';
import { evaluate, holds } from './message-condition.js';
import type { MessageEventTypes, ReceivedFlags } from './message-events.js';
import { findNarrowOperator, type QueueCondition } from './narrow-operators.js';
import { filterWithin } from './token-scope.js';

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

/** Returns the receiver's initial flags: the default or the user's exception. */
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

/** Returns the condition of a term, or null if queues do not support the operator. */
export function queueConditionOf({ operator, operand }: QueueNarrowTerm): QueueCondition | null {
  return findNarrowOperator(operator)?.queueCondition?.(operand) ?? null;
}

const conditionsByNarrow = new WeakMap<readonly QueueNarrowTerm[], readonly QueueCondition[]>();

/** Cached, since the terms of a queue never change and every message needs them. */
function conditionsOf(terms: readonly QueueNarrowTerm[]): readonly QueueCondition[] {
  let conditions = conditionsByNarrow.get(terms);
  if (!conditions) {
    conditions = terms.flatMap((term) => queueConditionOf(term) ?? []);
    conditionsByNarrow.set(terms, conditions);
  }
  return conditions;
}

/** True if a narrowed queue receives this message (events §1). Narrows do not apply to other events. */
export function isInNarrow(terms: readonly QueueNarrowTerm[], event: MessageSent, ownerId: UserId): boolean {
  const conditions = conditionsOf(terms);
  if (conditions.length === 0) return true;
  const { message, conversation, sender } = event.view;
  // Queue conditions never depend on channel privacy, message text or data.
  const subject = {
    ...{ message, channelPrivacy: null, flags: receivedFlags(event, ownerId) },
    ...{ text: notRead, data: notRead },
  };
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

function notRead(): never {
  throw new Error('Queues do not search');
}

/** Matches the sender's visible email. A hidden email matches by the user id in a dummy email, on any host. */
function matchesSender(sender: UserSummary, email: string): boolean {
  if (sender.emailVisibility === 'everyone') return foldCase(sender.email) === foldCase(email);
  return foldCase(email).startsWith(dummyAddress(sender.id, ''));
}

declare module '../kernel/feature-types.js' {
  interface AudienceTypes {
    /** Users who have the message as their own. */
    holders: { readonly messageId: MessageId };
  }
  interface Membership {
    holds(messageId: MessageId): boolean;
  }
  interface AudienceQuestions {
    /** Messages for which holders must be known. */
    readonly messageIds?: readonly MessageId[];
  }
  interface AudienceResults {
    /** Requested users who have each message. */
    readonly holders: ReadonlyMap<MessageId, ReadonlySet<UserId>>;
  }
  interface Receiver {
    /**
     * Current flags for the messages in `EventNeeds.messageIds`; absent for messages that are not the receiver's own.
     */
    readonly flags: ReadonlyMap<MessageId, PersonalFlags>;
    /** Messages in `EventNeeds.heldMessageIds` that the receiver has, or had before deletion. */
    readonly held: ReadonlySet<MessageId>;
    /** Messages in `EventNeeds.within` that are in one of its conversations at the moment. */
    readonly within: ReadonlySet<MessageId>;
  }
  interface EventNeeds {
    /** Messages with current flags in the event. */
    readonly messageIds?: readonly MessageId[];
    /** Messages, possibly deleted, that the event reports only to users who have them. */
    readonly heldMessageIds?: readonly MessageId[];
    /** Messages that the event reports only if they are in one of the conversations. */
    readonly within?: Pick<TokenScope, 'conversations'> & { readonly messageIds: readonly MessageId[] };
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
  holds: (id) => candidate.results.holders.get(id)?.has(candidate.user.userId) ?? false,
});

/** Always looked up, because any user may have a message. */
export const asksForMessages = ({ messageIds = [] }: AudienceQuestions): boolean => messageIds.length > 0;

export async function findHolders(
  { personal }: Repositories,
  realmId: RealmId,
  { messageIds = [] }: AudienceQuestions,
  { ids }: LookupUsers,
): Promise<Pick<AudienceResults, 'holders'>> {
  const holders = messageIds.length === 0 ? [] : await personal.filterHolders(realmId, messageIds, ids);
  return { holders: new Map([...holders].map(([id, userIds]) => [id, new Set(userIds)])) };
}

/**
 * Selects message events for queues. All users except guests can read messages of public channels, and narrows apply to
 * messages (events §1).
 */
export const MESSAGE_SELECTION: QueueSelection = {
  isOpen: ({ allPublicChannels, narrow }) => allPublicChannels || narrow.length > 0,
  isPublic: (event) => event.type === 'message.sent' && event.isPublic,
  mayReadPublic: ({ role }) => role !== 'guest',
  isInNarrow: ({ filter, ownerId }, event) =>
    event.type !== 'message.sent' || isInNarrow(filter.narrow, event, ownerId),
};

type MessageReceiver = Pick<Receiver, 'flags' | 'held' | 'within'>;

const NO_MESSAGES: MessageReceiver = { flags: new Map(), held: new Set(), within: new Set() };

export const messageReceiver = (): MessageReceiver => NO_MESSAGES;

export const needsMessages = ({ messageIds, heldMessageIds, within }: EventNeeds): boolean =>
  messageIds !== undefined || heldMessageIds !== undefined || within !== undefined;

/**
 * Returns receivers in the order of the requests. Runs a constant number of statements, and a few more for each receiver
 * with a token.
 */
export async function loadMessageReceivers(
  repositories: Repositories,
  realmId: RealmId,
  requests: readonly ReceiverRequest[],
): Promise<readonly MessageReceiver[]> {
  const { personal } = repositories;
  const flagged = asked(requests, ({ messageIds }) => messageIds);
  const holding = asked(requests, ({ heldMessageIds }) => heldMessageIds);
  const flags = flagged && (await personal.listFlagsOf(realmId, flagged.userIds, flagged.messageIds));
  const holders = holding && (await personal.filterHolders(realmId, holding.messageIds, holding.userIds));
  const held = new Map<UserId, Set<MessageId>>();
  for (const [messageId, userIds] of holders ?? []) {
    for (const userId of userIds) held.set(userId, (held.get(userId) ?? new Set()).add(messageId));
  }
  const receivers: MessageReceiver[] = [];
  for (const { owner, needs } of requests) {
    const { userId } = owner;
    receivers.push({
      flags: flags?.get(userId) ?? NO_MESSAGES.flags,
      held: held.get(userId) ?? NO_MESSAGES.held,
      within: needs.within
        ? await filterWithin(repositories, { realmId, userId }, needs.within, needs.within.messageIds)
        : NO_MESSAGES.within,
    });
  }
  return receivers;
}

/** Returns null if no request needs the data. */
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

/** Audience of a message's events, called "message watchers" in messages §18. `channel` is null for direct messages. */
export const messageWatchers = (
  { id }: Pick<Message, 'id'>,
  channel: Pick<Channel, 'id' | 'privacy'> | null,
): Audience => watchersOfAny([id], channel);

/** Audience of users who watch at least one of the messages. Expects at least one id. */
export function watchersOfAny(ids: readonly MessageId[], channel: Pick<Channel, 'id' | 'privacy'> | null): Audience {
  const holders = ids.length === 1 ? holdersOf(firstOf(ids)) : anyOf(...ids.map(holdersOf));
  if (!channel) return holders;
  const subscribers = subscribersOf(channel.id);
  if (!hasSharedHistory(channel)) return allOf(subscribers, holders);
  return isPrivate(channel) ? subscribers : anyOf(subscribers, allOf(atLeast('member'), holders));
}

type AudienceChannel = Pick<Channel, 'id' | 'privacy'>;

/** Audience of a change within the channel, or of a direct message if null (messages §18.2). */
export function watchersOfUpdate(message: Pick<Message, 'id'>, channel: AudienceChannel | null): Audience {
  // With protected history, each receiver is sent only the messages they have.
  if (channel && !hasSharedHistory(channel)) return subscribersOf(channel.id);
  return messageWatchers(message, channel);
}

/**
 * Audience that still sees messages after a move: subscribers of the target and, if it is public, members with previous
 * access. `outside` lists users who have the messages but no subscription.
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

/** Audience that loses access because of the move. Former readers of the source are not informed about its topics. */
export function receiversLostByMove(
  source: Pick<Channel, 'id' | 'privacy' | 'permissions'>,
  target: AudienceChannel,
  outside: readonly UserId[],
): Audience {
  const before = anyOf(subscribersOf(source.id), allOf(users(outside), readersOutside(source)));
  const kept = isPrivate(target) ? subscribersOf(target.id) : anyOf(subscribersOf(target.id), atLeast('member'));
  return except(before, kept);
}

/** Maximum number of ids in an event filtered per receiver. */
const MAX_HELD_IDS = 500;

type Updated = MessageEventTypes['message.updated'];

/**
 * Returns one update per audience, in its form. Users who see moved messages in their new location may not know the
 * channel they came from.
 */
export function updateParts(
  event: Updated,
  audience: Audience,
  source: Channel | null,
): readonly { readonly part: Updated; readonly to: Audience }[] {
  const parts = event.onlyToHolders ? inHeldParts(event) : [event];
  if (!source) return parts.map((part) => ({ part, to: audience }));
  const informed = metadataUsers(source);
  const unnamed = { id: source.id, name: null };
  return [
    ...parts.map((part) => ({ part, to: allOf(audience, informed) })),
    ...parts.map((part) => ({ part: { ...part, channel: unnamed }, to: except(audience, informed) })),
  ];
}

/** Splits an event; the text change stays in the part with its message. */
function inHeldParts(event: Updated): readonly Updated[] {
  return [...slicesOf(event.messageIds, MAX_HELD_IDS)].map((messageIds) => {
    const isNamed = messageIds.includes(event.messageId);
    return {
      ...event,
      messageIds,
      messageId: isNamed ? event.messageId : firstOf(messageIds),
      text: isNamed ? event.text : null,
    };
  });
}
