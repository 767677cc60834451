import type { Audience } from '../kernel/audience.js';
import type { AudienceQuestions, AudienceRules, Membership } from '../kernel/audience-membership.js';
import type {
  AskedUsers,
  AudienceAnswers,
  LiveCandidate,
  QueueSelection,
  ReceiverRequest,
  ReplayedCandidate,
} from '../kernel/delivery-features.js';
import { isId, type MessageId, type RealmId, type UserId } from '../kernel/ids.js';
import type { EventNeeds, Receiver } from '../kernel/receiver.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import type { PersonalFlags } from './message.js';
import { isInNarrow } from './queue-narrow.js';

declare module '../kernel/audience.js' {
  interface AudienceTypes {
    /** Those who have the message as their own. */
    holders: { readonly messageId: MessageId };
  }
}

declare module '../kernel/audience-membership.js' {
  interface Membership {
    holds(messageId: MessageId): boolean;
  }
  interface AudienceQuestions {
    /** Who has these messages as their own. */
    readonly messageIds?: readonly MessageId[];
  }
}

declare module '../kernel/delivery-features.js' {
  interface AudienceAnswers {
    /** Who of the users asked about has the message. */
    readonly holders: ReadonlyMap<MessageId, ReadonlySet<UserId>>;
  }
}

declare module '../kernel/receiver.js' {
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
