import type { Actor } from '../access/actor.js';
import { canReadContent } from '../channels/channel-access.js';
import { DomainError } from '../kernel/errors.js';
import type { ChannelId, MessageId, RecipientId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
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
import { MAX_SEARCH_TERMS } from './search.js';

/** A narrow with its names resolved for one viewer. */
export interface ResolvedNarrow {
  readonly filter: MessageFilter;
  /** Whether it names the channel it is about: then what is muted there is not left out. */
  readonly namesChannel: boolean;
  /** What is searched for and therefore marked in what is found; null: nothing is. */
  readonly search: string | null;
}

/**
 * Whether somebody may read it without logging in: it asks for web-public channels, and for nothing that is somebody's own
 * (protocol §9).
 */
export const isForSpectators = (terms: readonly NarrowTerm[]): boolean =>
  terms.some((term) => !term.negated && isOperator(term, 'channels') && term.operand === 'web-public') &&
  terms.every(({ operator, operand }) => findNarrowOperator(operator)?.isForSpectators?.(operand) ?? true);

/**
 * `history`: `webPublic`, all that is in web-public channels, of no viewer in particular; `received`, whatever history its channels open, only what the viewer has received (messages §8).
 * @throws DomainError INVALID_NARROW for the first term that is wrong (messages §7).
 */
export async function resolveNarrow(
  context: NarrowContext,
  asked: readonly NarrowTerm[],
  history: 'open' | 'received' | 'webPublic' = 'open',
): Promise<ResolvedNarrow> {
  const terms = joinSearches(asked);
  const conditions: MessageCondition[] = [];
  const sorts = new Set<string>();
  // What is said twice is looked up once.
  const known = new Map<string, ResolvedTerm>();
  const resolving = { ...context, people: await findNamedPeople(context, terms) };
  let opensHistory = false;
  let isPersonal = false;
  for (const term of terms) {
    const { operator, operand, negated } = term;
    const row = findNarrowOperator(operator);
    if (!row?.resolve) throw invalidNarrow(`unknown operator ${operator}`);
    const key = JSON.stringify([row.names[0], operand]);
    const resolved = known.get(key) ?? (await row.resolve(resolving, operand));
    known.set(key, resolved);
    conditions.push(negated ? not(resolved.condition) : resolved.condition);
    opensHistory ||= !negated && resolved.opensHistory === true;
    isPersonal ||= row.isPersonal?.(operand) ?? false;
    const sort = row.sort?.(term);
    if (sort) sorts.add(sort);
  }
  const searched = conditions.reduce((count, condition) => count + countSearched(condition), 0);
  if (searched > MAX_SEARCH_TERMS) throw invalidNarrow(`more than ${MAX_SEARCH_TERMS} words are searched for`);
  if (sorts.size > 1) throw invalidNarrow('No message can be both a channel message and direct message');
  const namesChannel = terms.some((term) => !term.negated && isOperator(term, 'channel'));
  const query = terms.find((term) => !term.negated && isOperator(term, 'search'));
  const search = query ? String(query.operand) : null;
  if (history === 'webPublic') {
    conditions.push({ kind: 'channelPrivacy', privacies: ['webPublic'] });
    return { filter: { conditions, scope: 'shared' }, namesChannel, search };
  }
  if (history === 'open' && opensHistory && !isPersonal)
    return { filter: { conditions, scope: 'shared' }, namesChannel, search };
  const hidden = await hiddenRecipients(context);
  if (hidden.length > 0) conditions.push(not({ kind: 'recipient', recipientIds: hidden }));
  return { filter: { conditions, scope: 'own' }, namesChannel, search };
}

/** How many lists of the index of searches are read for it. */
function countSearched(condition: MessageCondition): number {
  if (condition.kind === 'not') return countSearched(condition.condition);
  if (condition.kind === 'search') return condition.terms.length;
  return condition.kind === 'mentions' ? 1 : 0;
}

/** Whatever is searched for makes one query (messages §7.6). */
function joinSearches(terms: readonly NarrowTerm[]): readonly NarrowTerm[] {
  const isSearch = (term: NarrowTerm) => !term.negated && isOperator(term, 'search');
  const searches = terms.filter(isSearch);
  if (searches.length < 2) return terms;
  const whole = { ...searches[0]!, operand: searches.map(({ operand }) => operand).join(' ') };
  return terms.flatMap((term) => (term === searches[0] ? [whole] : isSearch(term) ? [] : [term]));
}

/** What somebody has received in a channel, or in one topic of it. */
export function receivedMessagesIn(recipientId: RecipientId, key: string | null = null): MessageFilter {
  const inChannel = { kind: 'recipient', recipientIds: [recipientId] } as const;
  const inTopic = key === null ? [] : [{ kind: 'topic', topicKey: key } as const];
  return { conditions: [inChannel, ...inTopic], scope: 'own' };
}

type WithReads = Pick<Repositories | Transaction, 'channels' | 'personal' | 'messages' | 'recipients'>;

/**
 * The terms with `with` replaced by the conversation its message is in now, wherever the rest looked for it (messages
 * §7.5). @throws DomainError INVALID_NARROW
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

/** Channels of which the actor still has messages although they may no longer read them (messages §5.4). */
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

/** Where clients show what is at a place, as the part of an address behind the organization's: `/#narrow/channel/7-general`. */
export const channelUrl = ({ id, name }: { readonly id: ChannelId; readonly name: string }): string =>
  `/#narrow/channel/${id}-${encodeName(name.replaceAll(' ', '-'))}`;

export const topicUrl = (channel: { readonly id: ChannelId; readonly name: string }, topic: string): string =>
  `${channelUrl(channel)}/topic/${encodeName(topic)}`;

/** Of a direct conversation, by the ids of everybody in it. */
export const conversationUrl = (userIds: readonly UserId[]): string => `/#narrow/dm/${userIds.join(',')}-pm`;

/** Of a message at such a place. */
export const messageUrl = (placeUrl: string, id: MessageId | string): string => `${placeUrl}/near/${id}`;

/** Percent encoding with dots for percent signs, as clients read it behind a `#`. */
function encodeName(name: string): string {
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\ufffd'))
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('.', '%2E')
    .replaceAll('%', '.');
}
