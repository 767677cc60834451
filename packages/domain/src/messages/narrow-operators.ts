import type { Actor } from '../access/actor.js';
import { type Channel, type ChannelPrivacy, normalizeTopic, topicKey } from '../channels/channel.js';
import { hasFullHistoryAccess } from '../channels/channel-access.js';
import type { TopicVisibility } from '../channels/topic-policies.js';
import { parseDataFilter } from '../kernel/data-keys.js';
import { DomainError, refusalOr } from '../kernel/errors.js';
import type { ChannelId, MessageId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { RealmUrls } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { SearchWords } from '../markdown/markdown.js';
import { findByPublicAddress } from '../users/find-user.js';
import { canReadFile } from './file-access.js';
import { HAS_OPERANDS, type HasProperty } from './message.js';
import {
  type ChannelTopic,
  type Combined,
  EVERY_MESSAGE,
  inRanges,
  type MessageCondition,
  NO_MESSAGE,
  not,
  type SimpleCondition,
} from './message-condition.js';
import { type Period, parsePeriod } from './periods.js';
import { parseSearch, type SearchQuery, uploadTerm } from './search.js';

/** Single term of a requested narrow. */
export interface NarrowTerm {
  /** Name or alias of an operator. Unknown operators are rejected when the narrow is resolved. */
  readonly operator: string;
  readonly operand: string | number | readonly number[];
  readonly negated: boolean;
}

type Operand = NarrowTerm['operand'];

/** JSON values that an operator accepts (messages §7.1); all operators accept strings. */
export type OperandForm = 'text' | 'nonBlankText' | 'textOrInteger' | 'textOrIntegers';

export interface NarrowContext {
  readonly reads: Pick<
    Repositories | Transaction,
    | 'realms'
    | 'channels'
    | 'users'
    | 'recipients'
    | 'personal'
    | 'topicPolicies'
    | 'pages'
    | 'messages'
    | 'files'
    | 'fileTexts'
    | 'dataKeys'
  >;
  readonly actor: Actor;
  readonly realmUrls: RealmUrls;
  readonly words: SearchWords;
  /** False if searches find no files by their text. */
  readonly findsFiles?: false;
}

/** Existing users named in the terms of a narrow. */
export interface NamedPeople {
  readonly ids: ReadonlySet<UserId>;
  readonly byAddress: ReadonlyMap<string, UserId>;
}

/** Context for resolving a narrow. */
export interface ResolvingContext extends NarrowContext {
  readonly people: NamedPeople;
}

/** Term resolved for one viewer, without its negation. */
export interface ResolvedTerm {
  readonly condition: MessageCondition;
  /** True if the term, unless negated, includes history that the viewer has not received (messages §5.4). */
  readonly opensHistory?: boolean;
  /** Terms of links to the files that a search finds by their text. */
  readonly fileLinks?: readonly string[];
}

/**
 * Condition in a queue's narrow. Refers to channels and senders by name, so that those created or renamed later match,
 * too (events §1).
 */
export type QueueCondition = Combined<
  | Extract<SimpleCondition, { readonly kind: 'direct' | 'topic' | 'property' | 'flag' }>
  | { readonly kind: 'channelName'; readonly name: string }
  | { readonly kind: 'senderEmail'; readonly email: string }
>;

/** Kind of messages that a term limits a narrow to. */
type Sort = 'channel' | 'direct';

/**
 * Definition of a narrow operator, shared by pages, flag updates by narrow, queues and parameter validation. The names
 * belong to the domain, because users type them into the search box and error messages repeat them.
 */
export interface NarrowOperator {
  /** Current name, followed by aliases of older clients. */
  readonly names: readonly [string, ...string[]];
  readonly operand: OperandForm;
  /**
   * Null if pages and flags do not support the operator and reject it as unknown. `with` is replaced before, by
   * `replaceWith`.
   * @throws DomainError INVALID_NARROW
   */
  readonly resolve: ((context: ResolvingContext, operand: Operand, negated: boolean) => Promise<ResolvedTerm>) | null;
  /** True if the operand names users, who are all looked up in one batch. */
  readonly namesPeople?: true;
  /**
   * Kind of messages that the term limits the narrow to, excluding the other kind; absent or null for no limit
   * (messages §7.4).
   */
  readonly sort?: (term: NarrowTerm) => Sort | null;
  /** True if the term matches only received messages, even if the narrow opens history. */
  readonly isPersonal?: (operand: Operand) => boolean;
  /** True if anonymous callers may use the operand; absent means always true. */
  readonly isForSpectators?: (operand: Operand) => boolean;
  /** Absent if queues do not support the operator. */
  readonly queueCondition?: (operand: string) => QueueCondition;
  /** True if the operator selects a channel or conversation, which `with` replaces (messages §7.5). */
  readonly isConversation?: true;
}

const unlessNegated =
  (sort: Sort) =>
  ({ negated }: NarrowTerm): Sort | null =>
    negated ? null : sort;

/** Common properties of operators for direct conversations. */
const AMONG_PEOPLE = {
  isForSpectators: () => false,
  namesPeople: true,
  sort: unlessNegated('direct'),
} as const satisfies Partial<NarrowOperator>;

const OPERATORS: readonly NarrowOperator[] = [
  {
    names: ['channel', 'stream'],
    operand: 'textOrInteger',
    sort: unlessNegated('channel'),
    isConversation: true,
    resolve: async (context, operand) => {
      const { reads, actor } = context;
      const channel = await findChannel(context, operand);
      // Only existence is checked; messages that the actor cannot read simply do not match.
      if (!channel) throw invalidNarrow(`unknown channel ${spell(operand)}`);
      const isSubscribed = await reads.channels.isSubscribed(actor.realmId, channel.id, actor.id);
      return {
        condition: { kind: 'recipient', recipientIds: [channel.recipientId] },
        opensHistory: hasFullHistoryAccess(actor, channel, isSubscribed),
      };
    },
    queueCondition: (name) => ({ kind: 'channelName', name }),
  },
  {
    names: ['channels', 'streams'],
    operand: 'text',
    sort: unlessNegated('channel'),
    resolve: async ({ actor }, operand) => {
      const privacies = lookUp(CHANNEL_SETS, operand, 'channels operand');
      // Deliberate: unlike `public`, `web-public` is limited to received messages, as in the reference server.
      const opensHistory = operand === 'public' && actor.role !== 'guest';
      return { condition: { kind: 'channelPrivacy', privacies }, opensHistory };
    },
  },
  {
    names: ['topic'],
    operand: 'text',
    sort: unlessNegated('channel'),
    isConversation: true,
    resolve: async (_context, operand) => ({ condition: inTopic(String(operand)) }),
    queueCondition: inTopic,
  },
  {
    names: ['dm', 'pm-with', 'pm_with'],
    ...AMONG_PEOPLE,
    operand: 'textOrIntegers',
    isConversation: true,
    resolve: async (context, operand) => {
      const { reads, actor } = context;
      const ids = userIdsIn(context.people, operand);
      if (!ids) throw invalidNarrow(`unknown user in ${spell(operand)}`);
      if (ids.length === 0) return { condition: NO_MESSAGE };
      const recipientId = await reads.recipients.findDirect(actor.realmId, [...new Set([...ids, actor.id])]);
      return { condition: recipientId === null ? NO_MESSAGE : inRecipients([recipientId]) };
    },
  },
  {
    names: ['dm-including'],
    ...AMONG_PEOPLE,
    operand: 'textOrInteger',
    resolve: async (context, operand) => {
      const { reads, actor } = context;
      const userId = userIdIn(context.people, operand);
      // Every direct message of the viewer includes the viewer.
      if (userId === actor.id) return { condition: { kind: 'direct' } };
      return { condition: inRecipients(await reads.recipients.listDirectWith(actor.realmId, actor.id, userId, 2)) };
    },
  },
  {
    names: ['group-pm-with', 'group_pm_with'],
    ...AMONG_PEOPLE,
    operand: 'textOrInteger',
    resolve: async (context, operand) => {
      const { reads, actor } = context;
      const userId = userIdIn(context.people, operand);
      return { condition: inRecipients(await reads.recipients.listDirectWith(actor.realmId, actor.id, userId, 3)) };
    },
  },
  {
    names: ['sender'],
    operand: 'textOrInteger',
    namesPeople: true,
    resolve: async ({ people }, operand) => ({ condition: { kind: 'sender', userId: userIdIn(people, operand) } }),
    queueCondition: (email) => ({ kind: 'senderEmail', email }),
  },
  {
    names: ['mentions'],
    operand: 'textOrInteger',
    namesPeople: true,
    resolve: async ({ people }, operand) => ({ condition: { kind: 'mentions', userId: userIdIn(people, operand) } }),
  },
  {
    names: ['is'],
    isForSpectators: (operand) => operand === 'resolved',
    operand: 'text',
    sort: ({ operand, negated }) => (isDirect(operand) ? (negated ? 'channel' : 'direct') : null),
    isPersonal: (operand) => operand !== 'resolved',
    resolve: async (context, operand) => ({
      condition: await lookUp(IS_OPERANDS, operand, "'is' operand").resolve(context),
    }),
    // Deliberate: as in the reference server, operands that queues do not know match everything (events §1).
    queueCondition: (operand) => findEntry(IS_OPERANDS, operand)?.inQueues ?? EVERY_MESSAGE,
  },
  {
    names: ['has'],
    operand: 'text',
    resolve: async (_context, operand) => ({
      condition: { kind: 'property', property: lookUp<HasProperty>(HAS_OPERANDS, operand, "'has' operand") },
    }),
  },
  {
    names: ['in'],
    isForSpectators: () => false,
    operand: 'text',
    resolve: async (context, operand) => ({
      condition: await lookUp(IN_OPERANDS, operand, "'in' operand")(context),
    }),
  },
  {
    names: ['id'],
    operand: 'textOrInteger',
    resolve: async (_context, operand) => {
      const messageId = toMessageId(operand);
      if (messageId === null) throw invalidNarrow('Invalid message ID');
      return { condition: { kind: 'message', messageId } };
    },
  },
  {
    names: ['before'],
    operand: 'text',
    resolve: async (context, operand) => {
      const { start } = await periodOf(context, operand);
      return { condition: not(await sentSince(context, start)) };
    },
  },
  {
    names: ['after'],
    operand: 'text',
    resolve: async (context, operand) => {
      const { end } = await periodOf(context, operand);
      return { condition: await sentSince(context, end) };
    },
  },
  {
    names: ['during'],
    operand: 'text',
    resolve: async (context, operand) => {
      const { start, end } = await periodOf(context, operand);
      const conditions = [await sentSince(context, start), not(await sentSince(context, end))];
      return { condition: { kind: 'allOf', conditions } };
    },
  },
  {
    names: ['data'],
    operand: 'text',
    isForSpectators: () => false,
    resolve: async ({ reads, actor }, operand) => {
      const keys = await reads.dataKeys.list(actor.realmId);
      const filter = refusalOr(() => parseDataFilter(keys, 'message', String(operand)));
      if (filter instanceof DomainError) throw invalidNarrow(filter.message);
      return { condition: { kind: 'data', ...filter } };
    },
  },
  // Hint about the client's position, without filtering.
  { names: ['near'], operand: 'text', resolve: async () => ({ condition: EVERY_MESSAGE }) },
  { names: ['with'], operand: 'textOrInteger', resolve: null },
  {
    names: ['search'],
    operand: 'nonBlankText',
    resolve: async ({ words, reads, actor, findsFiles }, operand, negated) => {
      const query = parseSearch(words, String(operand), negated);
      if (query === null) return { condition: NO_MESSAGE };
      const fileLinks = findsFiles === false ? [] : await findFiles(reads, actor, query);
      const withFiles = query.words.map((word) => word.map((alternatives) => [...alternatives, ...fileLinks]));
      return { condition: { kind: 'search', ...query, words: withFiles }, fileLinks };
    },
  },
];

/** Maximum number of files per search, newest first. */
const MAX_FOUND_FILES = 50;
/** Maximum number of messages per file that are checked for read access, newest first. */
const MAX_CHECKED_MESSAGES = 20;

/**
 * Returns terms of links to readable files that contain all words. Finds no files if the query has phrases, because only
 * terms of files are stored.
 */
async function findFiles(
  reads: NarrowContext['reads'],
  actor: Actor,
  { words, phrases }: SearchQuery,
): Promise<readonly string[]> {
  const ids = phrases.length > 0 ? [] : await reads.fileTexts.find(actor.realmId, words, MAX_FOUND_FILES);
  if (ids.length === 0) return [];
  const links: string[] = [];
  for (const file of await reads.files.listAttached(actor.realmId, ids)) {
    const messageIds = file.messageIds.slice(-MAX_CHECKED_MESSAGES);
    if (await canReadFile(reads, actor, { ...file, messageIds })) links.push(uploadTerm(file.pathId));
  }
  return links;
}

const byName: ReadonlyMap<string, NarrowOperator> = new Map(
  OPERATORS.flatMap((operator) => operator.names.map((name) => [name, operator] as const)),
);

/** Finds an operator by any of its names. */
export const findNarrowOperator = (name: string): NarrowOperator | undefined => byName.get(name);

/** Returns all names of the operators with this operand form. */
export const narrowOperatorNames = (form: OperandForm): readonly string[] =>
  OPERATORS.filter((operator) => operator.operand === form).flatMap(({ names }) => names);

/** True if the term's operator has this current name. */
export const isOperator = ({ operator }: NarrowTerm, name: string): boolean => byName.get(operator)?.names[0] === name;

const CHANNEL_SETS: Readonly<Record<string, readonly ChannelPrivacy[]>> = {
  public: ['public', 'webPublic'],
  'web-public': ['webPublic'],
};

interface IsOperand {
  readonly resolve: (context: NarrowContext) => Promise<MessageCondition> | MessageCondition;
  /** Absent if queues match all messages. */
  readonly inQueues?: QueueCondition;
}

const isDirect = (operand: Operand): boolean => operand === 'dm' || operand === 'private';
const direct: IsOperand = { resolve: () => ({ kind: 'direct' }), inQueues: { kind: 'direct' } };
const resolved = { kind: 'property', property: 'isResolved' } as const;
const mentioned = { kind: 'flag', flag: 'mentioned' } as const;
const unread = not<Extract<SimpleCondition, { readonly kind: 'flag' }>>({ kind: 'flag', flag: 'read' });
const starred = { kind: 'flag', flag: 'starred' } as const;

const IS_OPERANDS: Readonly<Record<string, IsOperand>> = {
  dm: direct,
  private: direct,
  starred: { resolve: () => starred, inQueues: starred },
  unread: { resolve: () => unread, inQueues: unread },
  mentioned: {
    resolve: () => ({
      kind: 'anyOf',
      conditions: [
        mentioned,
        { kind: 'flag', flag: 'channelWildcardMentioned' },
        { kind: 'flag', flag: 'topicWildcardMentioned' },
      ],
    }),
    inQueues: mentioned,
  },
  // Deliberate: as in the reference server, treated like `mentioned` in queues.
  alerted: { resolve: () => ({ kind: 'flag', flag: 'hasAlertWord' }), inQueues: mentioned },
  resolved: { resolve: () => resolved, inQueues: resolved },
  followed: {
    resolve: async (context) => ({ kind: 'channelTopic', topics: await topicsWith(context, ['followed']) }),
  },
  muted: { resolve: (context) => mutedMessages(context, 'topicsAndChannels') },
};

const IN_OPERANDS: Readonly<Record<string, (context: NarrowContext) => Promise<MessageCondition>>> = {
  home: async (context) => not(await mutedMessages(context, 'topicsAndChannels')),
  all: async () => EVERY_MESSAGE,
};

/** Returns a condition for muted topics and channels. Excludes unmuted and followed topics of muted channels. */
export async function mutedMessages(
  context: Pick<NarrowContext, 'actor'> & {
    readonly reads: Pick<NarrowContext['reads'], 'channels' | 'topicPolicies'>;
  },
  what: 'topics' | 'topicsAndChannels',
): Promise<MessageCondition> {
  const { reads, actor } = context;
  const mutedTopics: MessageCondition = { kind: 'channelTopic', topics: await topicsWith(context, ['muted']) };
  if (what === 'topics') return mutedTopics;
  const mutedIds = await reads.channels.listMutedIds(actor.realmId, actor.id);
  if (mutedIds.length === 0) return mutedTopics;
  const recipientIds = (await reads.channels.list(actor.realmId, mutedIds)).map((channel) => channel.recipientId);
  const kept = (await topicsWith(context, ['unmuted', 'followed'])).filter((topic) =>
    recipientIds.includes(topic.recipientId),
  );
  const withKept = new Set(kept.map((topic) => topic.recipientId));
  return {
    kind: 'anyOf',
    conditions: [
      mutedTopics,
      inRecipients(recipientIds.filter((id) => !withKept.has(id))),
      ...(kept.length === 0
        ? []
        : [
            {
              kind: 'allOf' as const,
              conditions: [inRecipients([...withKept]), not<SimpleCondition>({ kind: 'channelTopic', topics: kept })],
            },
          ]),
    ],
  };
}

/** Returns the topics with one of these policies of the viewer. */
async function topicsWith(
  { reads, actor }: Parameters<typeof mutedMessages>[0],
  visibilities: readonly TopicVisibility[],
): Promise<readonly ChannelTopic[]> {
  const policies = (await reads.topicPolicies.list(actor.realmId, actor.id)).filter((policy) =>
    visibilities.includes(policy.visibility),
  );
  if (policies.length === 0) return [];
  const channelIds = [...new Set(policies.map((policy) => policy.channelId))];
  const channels = new Map((await reads.channels.list(actor.realmId, channelIds)).map((one) => [one.id, one]));
  return policies.flatMap(({ channelId, topic }) => {
    const channel = channels.get(channelId);
    return channel ? [{ recipientId: channel.recipientId, topicKey: topicKey(topic) }] : [];
  });
}

const inRecipients = (recipientIds: readonly RecipientId[]) => ({ kind: 'recipient', recipientIds }) as const;

function inTopic(name: string) {
  return { kind: 'topic', topicKey: topicKey(normalizeTopic(name)) } as const;
}

/** Parses a period in the actor's time zone. @throws DomainError INVALID_NARROW */
async function periodOf({ reads, actor }: NarrowContext, operand: Operand): Promise<Period> {
  const user = await reads.users.find(actor.realmId, actor.id);
  const period = parsePeriod(String(operand), user?.settings.timezone || 'UTC');
  if (!period) throw invalidNarrow(`invalid date ${spell(operand)}`);
  return period;
}

async function sentSince({ reads, actor }: NarrowContext, since: UnixSeconds): Promise<MessageCondition> {
  return inRanges(await reads.pages.listIdsSince(actor.realmId, since));
}

/** Finds a channel by numeric id or by name; a numeric string counts as a name. */
function findChannel({ reads, actor }: NarrowContext, operand: Operand): Promise<Channel | null> {
  return typeof operand === 'number'
    ? reads.channels.find(actor.realmId, operand as ChannelId)
    : reads.channels.findByName(actor.realmId, trim(String(operand)));
}

/** Looks up the users named by the terms with a constant number of statements. */
export async function findNamedPeople(
  { reads, actor, realmUrls }: NarrowContext,
  terms: readonly NarrowTerm[],
): Promise<NamedPeople> {
  const operands = terms
    .filter(({ operator }) => findNarrowOperator(operator)?.namesPeople)
    .map(({ operand }) => operand);
  const asked = new Set(operands.flatMap(idsIn));
  const addresses = new Set(operands.flatMap(addressesIn));
  const listed = asked.size === 0 ? [] : await reads.users.list(actor.realmId, [...asked]);
  const ids = new Set(listed.map(({ id }) => id));
  if (addresses.size === 0) return { ids, byAddress: new Map() };
  const emailDomain = realmUrls.emailDomainOf(await reads.realms.get(actor.realmId));
  const found = await findByPublicAddress(reads, actor.realmId, [...addresses], emailDomain);
  return { ids, byAddress: new Map([...found].map(([address, { id }]) => [address, id])) };
}

function idsIn(operand: Operand): readonly UserId[] {
  if (typeof operand === 'string') return [];
  return (typeof operand === 'number' ? [operand] : operand) as readonly UserId[];
}

function addressesIn(operand: Operand): readonly string[] {
  if (typeof operand !== 'string') return [];
  const addresses = operand.split(',').map((address) => address.trim());
  return addresses.filter((address) => address !== '');
}

/** Returns the single user in the operand. @throws DomainError INVALID_NARROW unless it names exactly one user */
function userIdIn(people: NamedPeople, operand: Operand): UserId {
  const isList = typeof operand === 'string' && operand.includes(',');
  const [id] = isList ? [] : (userIdsIn(people, operand) ?? []);
  if (id === undefined) throw invalidNarrow(`unknown user ${spell(operand)}`);
  return id;
}

/** Returns null if any of the users is unknown. Includes deactivated users and system bots. */
function userIdsIn({ ids, byAddress }: NamedPeople, operand: Operand): readonly UserId[] | null {
  const found =
    typeof operand === 'string'
      ? addressesIn(operand).map((address) => byAddress.get(address))
      : idsIn(operand).map((id) => (ids.has(id) ? id : undefined));
  return found.every((id) => id !== undefined) ? [...new Set(found)] : null;
}

const MAX_MESSAGE_ID = 2_147_483_647;

/** Returns null if the operand is not a message id. */
export function toMessageId(operand: Operand): MessageId | null {
  const text = String(operand);
  return /^\d+$/.test(text) && Number(text) <= MAX_MESSAGE_ID ? (Number(text) as MessageId) : null;
}

const spell = (operand: Operand): string => (typeof operand === 'object' ? `[${operand.join(', ')}]` : String(operand));

function findEntry<T>(entries: Readonly<Record<string, T>>, operand: Operand): T | undefined {
  return typeof operand === 'string' && Object.hasOwn(entries, operand) ? entries[operand] : undefined;
}

function lookUp<T>(entries: Readonly<Record<string, T>>, operand: Operand, what: string): T {
  const entry = findEntry(entries, operand);
  if (entry === undefined) throw invalidNarrow(`unknown ${what} ${spell(operand)}`);
  return entry;
}

export function invalidNarrow(description: string): DomainError {
  return new DomainError('INVALID_NARROW', `Invalid narrow operator: ${description}`, { description });
}
