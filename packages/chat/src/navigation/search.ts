import {
  type Address,
  addressOf,
  canonical,
  destinationOf,
  type Narrow,
  type NarrowTerm,
  parseTerm,
} from '../kernel/narrow.js';
import type { ChatState } from '../kernel/state.js';

/** An operator with its operand, or a word; an operand with spaces is in quotation marks. */
const PART = /(?:(-?)([a-z-]+):)?("[^"]*"?|\S+)/gi;
/** Operators that name a place. */
const PLACES = new Set(['channel', 'channels', 'topic', 'dm', 'dm-including']);

/**
 * Parses what was typed to search, such as `from:iago topic:"act two" -has:link curtain`. Channels and people have their
 * names, email addresses or ids; `me` is the user. Unknown operators and names are words to search.
 * @param scope Narrow in which is searched unless the text names a place
 */
export function parseSearch(state: ChatState, text: string, scope: Narrow = []): Address {
  const terms: NarrowTerm[] = [];
  const words: string[] = [];
  for (const [part, sign, operator, operand] of text.matchAll(PART)) {
    const term = operator ? termOf(state, canonical(operator.toLowerCase()), operand!.replaceAll('"', '')) : null;
    if (term) terms.push(sign ? { ...term, negated: true } : term);
    else words.push(part);
  }
  const namesPlace = terms.some(({ operator }) => PLACES.has(operator));
  const search: Narrow = words.length > 0 ? [{ operator: 'search', operand: words.join(' ') }] : [];
  return addressOf([...(namesPlace ? [] : scope), ...terms, ...search]);
}

function termOf(state: ChatState, operator: string, operand: string): NarrowTerm | null {
  switch (operator) {
    case 'channel': {
      const id = channelNamed(state, operand);
      return id === null ? null : { operator, operand: id };
    }
    case 'sender':
    case 'mentions': {
      const id = personNamed(state, operand);
      return id === null ? null : { operator, operand: id };
    }
    case 'dm':
    case 'dm-including': {
      const ids = peopleNamed(state, operand);
      return ids && { operator, operand: ids };
    }
    // The server has no such operator (messages §6).
    case 'date':
      return null;
    default:
      return parseTerm(operator, operand);
  }
}

function channelNamed(state: ChatState, name: string): number | null {
  const wanted = name.toLowerCase();
  const found = state.channels.values().find(({ channel }) => channel.name.toLowerCase() === wanted);
  if (found) return found.channel.stream_id;
  return state.channels.get(Number(name)) ? Number(name) : null;
}

function personNamed(state: ChatState, name: string): number | null {
  const wanted = name.toLowerCase();
  if (wanted === 'me') return state.selfId;
  const found = state.people
    .values()
    .find(({ user }) => [user.full_name, user.email, user.delivery_email].some((it) => it?.toLowerCase() === wanted));
  if (found) return found.user.user_id;
  return state.people.get(Number(name)) ? Number(name) : null;
}

/** Ids of the others; names are separated by commas, which one name may contain. */
function peopleNamed(state: ChatState, names: string): readonly number[] | null {
  const one = personNamed(state, names);
  const ids = one === null ? names.split(',').map((name) => personNamed(state, name.trim())) : [one];
  if (ids.includes(null)) return null;
  return [...new Set(ids as number[])].filter((id) => id !== state.selfId).sort((a, b) => a - b);
}

/** Text that `parseSearch` turns into a narrow. Observed inside computations. */
export function formatSearch(state: ChatState, narrow: Narrow): string {
  return narrow
    .map((term) => {
      if (term.operator === 'search' && !term.negated) return term.operand;
      const operand = operandOf(state, term);
      const isPlain = /^[^\s"]+$/.test(operand);
      return `${term.negated ? '-' : ''}${term.operator}:${isPlain ? operand : `"${operand.replaceAll('"', '')}"`}`;
    })
    .join(' ');
}

function operandOf(state: ChatState, { operator, operand }: NarrowTerm): string {
  if (typeof operand === 'string') return operand;
  if (operator === 'channel') return state.channels.get(operand as number)?.channel.name ?? String(operand);
  if (operator === 'near' || operator === 'with' || operator === 'id') return String(operand);
  const ids = typeof operand === 'number' ? [operand] : operand;
  if (ids.length === 0 || ids[0] === state.selfId) return 'me';
  const names = ids.map((id) => state.people.get(id)?.user.full_name ?? String(id)).join(',');
  // Several people may have the same name.
  return peopleNamed(state, names)?.join() === ids.join() ? names : ids.join();
}

/** True if a narrow is the result of a search rather than a place. */
export function isSearch(narrow: Narrow): boolean {
  const [first, ...others] = narrow;
  if (!first || destinationOf(narrow)) return false;
  return others.length > 0 || first.negated === true || !['channel', 'is'].includes(first.operator);
}
