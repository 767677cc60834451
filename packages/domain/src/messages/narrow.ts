import type { Channel } from '../channels/channel.js';
import { canReadContent, hasFullHistoryAccess } from '../channels/channel-permissions.js';
import { DomainError } from '../shared/errors.js';
import type { ChannelId, MessageId, RecipientId, UserId } from '../shared/ids.js';
import type { RealmAddresses } from '../shared/realm-address.js';
import { trim } from '../shared/text.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import type { Actor } from '../users/actor.js';
import { findByPublicAddress } from '../users/find-by-address.js';
import type { Message } from './message.js';
import type { MessageCondition, MessageFilter } from './message-repository.js';
import { normalizeTopic, topicKey } from './topic.js';

/** One term of a narrow, as somebody put it. */
export interface NarrowTerm {
  /** In its present name: `channel`, `topic`, `dm`, `sender`, `id`, `near`; anything else is refused when it is resolved. */
  readonly operator: string;
  readonly operand: string | number | readonly number[];
  readonly negated: boolean;
}

/** A narrow with its names resolved for one viewer. */
export interface ResolvedNarrow {
  readonly filter: MessageFilter;
  /** Whether it names the channel it is about: then what is muted there is not left out. */
  readonly namesChannel: boolean;
}

type Reads = Pick<Repositories | Transaction, 'realms' | 'channels' | 'users' | 'recipients' | 'personal'>;
type Resolver = (reads: Reads, actor: Actor, term: NarrowTerm, addresses: RealmAddresses) => Promise<Condition | null>;
/** Without its sign; a distributive `Omit`. */
type Condition = MessageCondition extends infer C ? (C extends MessageCondition ? Omit<C, 'negated'> : never) : never;

const MAX_MESSAGE_ID = 2_147_483_647;
const CHANNEL_OPERATORS: readonly string[] = ['channel', 'topic'];
const DIRECT_OPERATORS: readonly string[] = ['dm'];

/** @throws DomainError INVALID_NARROW for the first term that is wrong (messages §7). */
export async function resolveNarrow(
  reads: Reads,
  actor: Actor,
  terms: readonly NarrowTerm[],
  addresses: RealmAddresses,
): Promise<ResolvedNarrow> {
  const positive = terms.filter((term) => !term.negated);
  const conditions: MessageCondition[] = [];
  for (const term of terms) {
    const resolver = Object.hasOwn(RESOLVERS, term.operator) ? RESOLVERS[term.operator] : undefined;
    if (!resolver) throw invalidNarrow(`unknown operator ${term.operator}`);
    const condition = await resolver(reads, actor, term, addresses);
    if (condition) conditions.push({ ...condition, negated: term.negated });
  }
  const isAbout = (operators: readonly string[]) => positive.some((term) => operators.includes(term.operator));
  if (isAbout(CHANNEL_OPERATORS) && isAbout(DIRECT_OPERATORS)) {
    throw invalidNarrow('No message can be both a channel message and direct message');
  }
  const channelTerms = positive.filter((term) => term.operator === 'channel');
  const isShared = await anyAsync(channelTerms, async (term) => {
    const channel = await findChannel(reads, actor, term.operand);
    return channel !== null && hasFullHistoryAccess(actor, channel, await isFollowed(reads, actor, channel));
  });
  return {
    filter: {
      conditions,
      scope: isShared ? 'shared' : 'own',
      withoutRecipients: isShared ? [] : await hiddenRecipients(reads, actor),
    },
    namesChannel: channelTerms.length > 0,
  };
}

/** What somebody has received in a channel, or in one topic of it. */
export function ownMessagesIn(recipientId: RecipientId, key: string | null = null): MessageFilter {
  const inChannel = { kind: 'recipient', recipientId, negated: false } as const;
  const inTopic = key === null ? [] : [{ kind: 'topic', topicKey: key, negated: false } as const];
  return { conditions: [inChannel, ...inTopic], scope: 'own', withoutRecipients: [] };
}

/** What conditions are about. */
type Described = Pick<Message, 'id' | 'recipientId' | 'channelId' | 'topic' | 'senderId'>;

/** Whether a message is what the conditions say, for messages that are at hand. */
export function matchesConditions(message: Described, conditions: readonly MessageCondition[]): boolean {
  return conditions.every((condition) => holds(message, condition) !== condition.negated);
}

function holds(message: Described, condition: MessageCondition): boolean {
  switch (condition.kind) {
    case 'recipient':
      return message.recipientId === condition.recipientId;
    case 'topic':
      return message.channelId !== null && topicKey(message.topic) === condition.topicKey;
    case 'sender':
      return message.senderId === condition.userId;
    case 'message':
      return message.id === condition.messageId;
    case 'nothing':
      return false;
  }
}

/** Channels of which the actor still has messages although they may no longer read them (messages §5.4). */
async function hiddenRecipients(reads: Reads, actor: Actor): Promise<readonly RecipientId[]> {
  const former = await reads.personal.listFormerChannelIds({ realmId: actor.realmId, userId: actor.id });
  if (former.length === 0) return [];
  return (await reads.channels.list(actor.realmId, former))
    .filter((channel) => !canReadContent(actor, channel, false).allowed)
    .map((channel) => channel.recipientId);
}

/** Channels the viewer has muted, for whoever looks for what is unread. */
export async function mutedRecipients(reads: Pick<Reads, 'channels'>, actor: Actor): Promise<readonly RecipientId[]> {
  const muted = (await reads.channels.listSubscriptions(actor.realmId, actor.id))
    .filter((subscription) => subscription.isActive && subscription.isMuted)
    .map((subscription) => subscription.channelId);
  return (await reads.channels.list(actor.realmId, muted)).map((channel) => channel.recipientId);
}

const RESOLVERS: Readonly<Record<string, Resolver>> = {
  channel: async (reads, actor, { operand }) => {
    // Existence is checked, access is not: what the actor may not read is simply not there.
    const channel = await findChannel(reads, actor, operand);
    if (!channel) throw invalidNarrow(`unknown channel ${spell(operand)}`);
    return { kind: 'recipient', recipientId: channel.recipientId };
  },
  topic: async (_reads, _actor, { operand }) => ({
    kind: 'topic',
    topicKey: topicKey(normalizeTopic(String(operand))),
  }),
  dm: async (reads, actor, { operand }, addresses) => {
    const ids = await findPeople(reads, actor, operand, addresses);
    if (!ids) throw invalidNarrow(`unknown user in ${spell(operand)}`);
    if (ids.length === 0) return { kind: 'nothing' };
    const everybody = [...new Set([...ids, actor.id])];
    const recipientId = await reads.recipients.findDirect(actor.realmId, everybody);
    return recipientId === null ? { kind: 'nothing' } : { kind: 'recipient', recipientId };
  },
  sender: async (reads, actor, { operand }, addresses) => {
    const ids =
      typeof operand === 'string' && operand.includes(',') ? null : await findPeople(reads, actor, operand, addresses);
    const [id] = ids ?? [];
    if (id === undefined) throw invalidNarrow(`unknown user ${spell(operand)}`);
    return { kind: 'sender', userId: id };
  },
  id: async (_reads, _actor, { operand }) => {
    const text = String(operand);
    if (!/^\d+$/.test(text) || Number(text) > MAX_MESSAGE_ID) throw invalidNarrow('Invalid message ID');
    return { kind: 'message', messageId: Number(text) as MessageId };
  },
  // Clients say by it where in the conversation they look; it filters nothing.
  near: async () => null,
};

/** By number, or by name: digits in a string are a name. */
function findChannel(reads: Reads, actor: Actor, operand: NarrowTerm['operand']): Promise<Channel | null> {
  return typeof operand === 'number'
    ? reads.channels.find(actor.realmId, operand as ChannelId)
    : reads.channels.findByName(actor.realmId, trim(String(operand)));
}

const isFollowed = (reads: Reads, actor: Actor, channel: Channel): Promise<boolean> =>
  reads.channels.isSubscribed(actor.realmId, channel.id, actor.id);

/** Null when somebody of them is unknown. Deactivated users and system bots count. */
async function findPeople(
  reads: Reads,
  actor: Actor,
  operand: NarrowTerm['operand'],
  addresses: RealmAddresses,
): Promise<readonly UserId[] | null> {
  if (typeof operand === 'string') {
    const emails = operand
      .split(',')
      .map((email) => email.trim())
      .filter((email) => email !== '');
    const mailHost = addresses.mailHostOf(await reads.realms.get(actor.realmId));
    const found = await findByPublicAddress(reads, actor.realmId, emails, mailHost);
    return found.size < new Set(emails).size ? null : [...found.values()].map((user) => user.id);
  }
  const ids = [...new Set(typeof operand === 'number' ? [operand] : operand)] as UserId[];
  return (await reads.users.list(actor.realmId, ids)).length < ids.length ? null : ids;
}

const spell = (operand: NarrowTerm['operand']): string =>
  typeof operand === 'object' ? `[${operand.join(', ')}]` : String(operand);

function invalidNarrow(description: string): DomainError {
  return new DomainError('INVALID_NARROW', `Invalid narrow operator: ${description}`, { description });
}

async function anyAsync<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await test(item)) return true;
  return false;
}
