import { destinationOf, type Narrow, type NarrowTerm } from '../kernel/narrow.js';
import { activeFirst, type ChatState, RESOLVED_PREFIX, type StoredMessage, VISITOR_ID } from '../kernel/state.js';
import { destinationOfMessage, directWith, isMuted } from './unread.js';

/** True for a conversation in which all messages arrive as events. */
export function comesAsEvents(state: ChatState, narrow: Narrow): boolean {
  const to = destinationOf(narrow);
  if (to === null || narrow.some(({ operator }) => operator === 'with')) return false;
  return hasJoined(state, to.kind === 'channel' ? to.channelId : undefined);
}

/** True if all changes arrive as events: in subscribed channels, and outside of channels. */
export function hasJoined(state: ChatState, channelId: number | undefined): boolean {
  return channelId === undefined || state.channels.peek(channelId)?.membership === 'subscribed';
}

/** Matches a message against a narrow; null if only the server can decide. */
export function matches(state: ChatState, narrow: Narrow, message: StoredMessage): boolean | null {
  if (narrow.length === 0) return !isMuted(state, destinationOfMessage(state, message));
  let isDecided = true;
  for (const term of narrow) {
    const result = matchesTerm(state, term, message);
    if (result === null) isDecided = false;
    else if (result === (term.negated === true)) return false;
  }
  return isDecided ? true : null;
}

function matchesTerm(
  state: ChatState,
  { operator, operand, negated }: NarrowTerm,
  message: StoredMessage,
): boolean | null {
  const destination = destinationOfMessage(state, message);
  switch (operator) {
    case 'channel':
      return typeof operand === 'number' ? message.stream_id === operand : message.display_recipient === operand;
    case 'topic':
      return destination.kind === 'channel' && destination.topic.toLowerCase() === operand.toLowerCase();
    case 'dm':
      return destination.kind === 'direct' && String(destination.userIds) === String(operand);
    case 'dm-including': {
      if (destination.kind !== 'direct') return false;
      const includes = (id: number) => id === state.selfId || destination.userIds.includes(id);
      // Several people count as separate terms, each of which is negated.
      return negated && operand.length > 0 ? operand.some(includes) : operand.every(includes);
    }
    case 'sender':
      return typeof operand === 'number' ? message.sender_id === operand : null;
    case 'id':
      return message.id === operand;
    case 'with':
      return true;
    case 'is':
      return matchesIs(state, operand, message);
    case 'has':
      return operand === 'reaction' ? message.reactions.length > 0 : null;
    default:
      return null;
  }
}

function matchesIs(state: ChatState, operand: string, message: StoredMessage): boolean | null {
  const { flags } = message;
  switch (operand) {
    case 'dm':
      return message.type === 'private';
    case 'starred':
      return state.starred.get(message.id) === true;
    case 'mentioned':
      return flags.some((flag) => flag === 'mentioned' || flag.endsWith('wildcard_mentioned'));
    case 'alerted':
      return flags.includes('has_alert_word');
    // Messages read while the list is open stay in it.
    case 'unread':
      return true;
    case 'resolved':
      return message.type === 'stream' && message.subject.startsWith(RESOLVED_PREFIX);
    default:
      return null;
  }
}

export type ApiNarrow = readonly { readonly operator: string; readonly operand: string; readonly negated?: boolean }[];

/** Returns the API terms of a narrow. The combined feed excludes muted conversations. */
export function apiNarrow(narrow: Narrow, selfId: number): ApiNarrow {
  const shown = narrow.flatMap(({ operand, ...term }) => {
    // The API represents a conversation with oneself by the own id.
    const people = typeof operand === 'object' && operand.length === 0 ? [selfId] : operand;
    // The server accepts only one person for this operator.
    const operands = term.operator === 'dm-including' ? (people as readonly number[]) : [people];
    return operands.map((each) => ({ ...term, operand: each }));
  });
  // The server requires this term from callers without an account (protocol §9).
  if (selfId === VISITOR_ID) return [{ operator: 'channels', operand: 'web-public' }, ...shown] as ApiNarrow;
  return (narrow.length === 0 ? [{ operator: 'in', operand: 'home' }] : shown) as ApiNarrow;
}

/** Returns the id of the channel with exactly this name or id. */
export function channelNamed(state: ChatState, name: string): number | null {
  const wanted = name.toLowerCase();
  const found = state.channels.values().find(({ channel }) => channel.name.toLowerCase() === wanted);
  return (found ?? state.channels.get(Number(name)))?.channel.stream_id ?? null;
}

/** Returns the id of the person with exactly this name, email address or id. */
export function personNamed(state: ChatState, name: string): number | null {
  const wanted = name.toLowerCase();
  if (wanted === 'me') return state.selfId;
  const found = activeFirst(state).find(({ user }) =>
    [user.full_name, user.email, user.delivery_email].some((it) => it?.toLowerCase() === wanted),
  );
  return (found ?? state.people.get(Number(name)))?.user.user_id ?? null;
}

/** Returns the ids of the other participants. Names are separated by commas, but a single name may contain commas. */
export function peopleNamed(
  state: ChatState,
  names: string,
  idOf: (name: string) => number | null = (name) => personNamed(state, name),
): readonly number[] | null {
  const one = personNamed(state, names);
  const ids = one === null ? names.split(',').map((name) => idOf(name.trim())) : [one];
  if (ids.includes(null)) return null;
  return directWith([...new Set(ids as number[])], state.selfId).userIds;
}
