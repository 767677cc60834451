import type { Actor } from '../access/actor.js';
import { canReadContent } from '../channels/channel-access.js';
import { DomainError } from '../kernel/errors.js';
import type { ChannelId, MessageId, RecipientId, TokenConversation, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { firstOf } from '../kernel/work.js';
import { type LoadedMessage, loadMessages } from './load-access.js';
import { participantIdsOf } from './message.js';
import { type MessageCondition, type MessageFilter, not } from './message-condition.js';
import { canReadMessage } from './message-permissions.js';
import {
  findNamedPeople,
  findNarrowOperator,
  invalidNarrow,
  isOperator,
  type NarrowContext,
  type NarrowTerm,
  type ResolvedTerm,
  toMessageId,
} from './narrow-operators.js';
import { MAX_SEARCHED_WORDS } from './search.js';

/** Narrow with all names resolved for one viewer. */
export interface ResolvedNarrow {
  readonly filter: MessageFilter;
  /** True if the narrow names its channel; muted messages in it are then included. */
  readonly namesChannel: boolean;
  /** Search text to highlight in results; null if there is none. */
  readonly search: string | null;
  /** Terms of links to the files that the search finds by their text. */
  readonly fileLinks: readonly string[];
}

/** Narrow to a conversation. */
export const termsOf = (conversation: TokenConversation): readonly NarrowTerm[] => {
  if (conversation.kind === 'direct') return [positive('dm', conversation.userIds)];
  const { channelId, topic } = conversation;
  return [positive('channel', channelId), ...(topic === null ? [] : [positive('topic', topic)])];
};

/**
 * True for narrows that anonymous callers may read: limited to web-public channels, without per-user operators
 * (protocol §9).
 */
export const isForSpectators = (terms: readonly NarrowTerm[]): boolean =>
  terms.some((term) => !term.negated && isOperator(term, 'channels') && term.operand === 'web-public') &&
  terms.every(({ operator, operand }) => findNarrowOperator(operator)?.isForSpectators?.(operand) ?? true);

/**
 * `history`: `open` includes history opened by the terms. A condition that names channels selects all of its messages,
 * independent of a viewer. `received` selects only messages received by the viewer (messages §8).
 * @throws DomainError INVALID_NARROW for the first invalid term (messages §7)
 */
export async function resolveNarrow(
  context: NarrowContext,
  asked: readonly NarrowTerm[],
  history: 'open' | 'received' | MessageCondition = 'open',
): Promise<ResolvedNarrow> {
  const terms = joinSearches(asked);
  const conditions: MessageCondition[] = [];
  const sorts = new Set<string>();
  // Repeated terms are resolved once.
  const resolvedTerms = new Map<string, ResolvedTerm>();
  const resolving = { ...context, people: await findNamedPeople(context, terms) };
  const fileLinks: string[] = [];
  let opensHistory = false;
  let isPersonal = false;
  for (const term of terms) {
    const { operator, operand, negated } = term;
    const row = findNarrowOperator(operator);
    if (!row?.resolve) throw invalidNarrow(`unknown operator ${operator}`);
    const key = JSON.stringify([row.names[0], operand, negated]);
    const resolved = resolvedTerms.get(key) ?? (await row.resolve(resolving, operand, negated));
    resolvedTerms.set(key, resolved);
    conditions.push(negated ? not(resolved.condition) : resolved.condition);
    opensHistory ||= !negated && resolved.opensHistory === true;
    if (!negated) fileLinks.push(...(resolved.fileLinks ?? []));
    isPersonal ||= row.isPersonal?.(operand) ?? false;
    const sort = row.sort?.(term);
    if (sort) sorts.add(sort);
  }
  const searched = conditions.reduce((count, condition) => count + countSearched(condition), 0);
  if (searched > MAX_SEARCHED_WORDS) throw invalidNarrow(`more than ${MAX_SEARCHED_WORDS} words are searched for`);
  if (sorts.size > 1) throw invalidNarrow('No message can be both a channel message and direct message');
  const namesChannel = terms.some((term) => !term.negated && isOperator(term, 'channel'));
  const query = terms.find((term) => !term.negated && isOperator(term, 'search'));
  const search = query ? String(query.operand) : null;
  const narrow = { namesChannel, search, fileLinks };
  if (typeof history === 'object') {
    conditions.push(history);
    return { filter: { conditions, scope: 'shared' }, ...narrow };
  }
  if (history === 'open' && opensHistory && !isPersonal) return { filter: { conditions, scope: 'shared' }, ...narrow };
  const hidden = await hiddenRecipients(context);
  if (hidden.length > 0) conditions.push(not({ kind: 'recipient', recipientIds: hidden }));
  return { filter: { conditions, scope: 'own' }, ...narrow };
}

/** Returns the number of words that the condition searches for. */
function countSearched(condition: MessageCondition): number {
  if (condition.kind === 'not') return countSearched(condition.condition);
  if (condition.kind === 'search') return condition.words.length;
  return condition.kind === 'mentions' ? 1 : 0;
}

/** Merges all search terms into one query (messages §7.6). */
function joinSearches(terms: readonly NarrowTerm[]): readonly NarrowTerm[] {
  const isSearch = (term: NarrowTerm) => !term.negated && isOperator(term, 'search');
  const searches = terms.filter(isSearch);
  if (searches.length < 2) return terms;
  const whole = { ...firstOf(searches), operand: searches.map(({ operand }) => operand).join(' ') };
  return terms.flatMap((term) => (term === searches[0] ? [whole] : isSearch(term) ? [] : [term]));
}

/** Selects messages received in a channel or in one of its topics. */
export function receivedMessagesIn(recipientId: RecipientId, key: string | null = null): MessageFilter {
  const inChannel = { kind: 'recipient', recipientIds: [recipientId] } as const;
  const inTopic = key === null ? [] : [{ kind: 'topic', topicKey: key } as const];
  return { conditions: [inChannel, ...inTopic], scope: 'own' };
}

type WithReads = Pick<Repositories | Transaction, 'channels' | 'personal' | 'messages' | 'recipients'>;

/**
 * Replaces `with` and other conversation terms with the current conversation of its message (messages §7.5). @throws
 * DomainError INVALID_NARROW
 */
export async function replaceWith(
  reads: WithReads,
  actor: Actor,
  terms: readonly NarrowTerm[],
  mayRead: (loaded: LoadedMessage) => boolean = (loaded) => canReadMessage(actor, loaded).allowed,
): Promise<readonly NarrowTerm[]> {
  const [term, second] = terms.filter((each) => isOperator(each, 'with'));
  if (!term) return terms;
  if (second) {
    const description = "Duplicate 'with' operators.";
    throw new DomainError('INVALID_NARROW', `Invalid narrow operator combination: ${description}`, { description });
  }
  const id = toMessageId(term.operand);
  const [loaded] = id === null ? [] : await loadMessages(reads, actor, [id]);
  const rest = terms.filter((each) => each !== term);
  if (loaded && mayRead(loaded)) {
    const { channelId, topic } = loaded.message;
    const elsewhere = rest.filter((each) => !findNarrowOperator(each.operator)?.isConversation);
    const participantIds = await participantIdsOf(reads, loaded.message);
    return [
      ...elsewhere,
      ...(channelId !== null ? [positive('channel', channelId), positive('topic', topic)] : []),
      ...(participantIds ? [positive('dm', participantIds)] : []),
    ];
  }
  const names = (name: string) => rest.some((each) => isOperator(each, name));
  if (id !== null && ((names('channel') && names('topic')) || names('dm'))) return rest;
  throw invalidNarrow("Invalid 'with' operator");
}

const positive = (operator: string, operand: NarrowTerm['operand']): NarrowTerm => ({
  operator,
  operand,
  negated: false,
});

/** Returns unreadable channels in which the actor still has messages (messages §5.4). */
async function hiddenRecipients({ reads, actor }: NarrowContext): Promise<readonly RecipientId[]> {
  const former = await reads.personal.listUnsubscribedChannelIdsWithMessages({
    realmId: actor.realmId,
    userId: actor.id,
  });
  if (former.length === 0) return [];
  return (await reads.channels.list(actor.realmId, former))
    .filter((channel) => !canReadContent(actor, channel, false).allowed)
    .map((channel) => channel.recipientId);
}

/** Client path of a channel relative to the realm URL, such as `/#narrow/channel/7-general`. */
export const channelUrl = ({ id, name }: { readonly id: ChannelId; readonly name: string }): string =>
  `/#narrow/channel/${id}-${encodeName(name.replaceAll(' ', '-'))}`;

export const topicUrl = (channel: { readonly id: ChannelId; readonly name: string }, topic: string): string =>
  `${channelUrl(channel)}/topic/${encodeName(topic)}`;

/** Client path of a direct conversation, from the ids of all participants. */
export const conversationUrl = (userIds: readonly UserId[]): string => `/#narrow/dm/${userIds.join(',')}-pm`;

/** Client path of a message, from the path of its narrow. */
export const messageUrl = (narrowUrl: string, id: MessageId | string): string => `${narrowUrl}/near/${id}`;

/** Percent-encodes a name with dots instead of percent signs, as clients expect in fragments. */
function encodeName(name: string): string {
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\ufffd'))
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('.', '%2E')
    .replaceAll('%', '.');
}
