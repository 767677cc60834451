import { type Address, addressOf, canonical, type Narrow, type NarrowTerm, parseTerm } from '../kernel/narrow.js';
import { activeFirst, type ChatState, isActive } from '../kernel/state.js';
import { rankOf } from '../messages/completion.js';
import { channelNamed, peopleNamed, personNamed } from '../messages/match.js';
import { formatSearch } from './search.js';

/** An operator with its operand, or a word; operands with spaces are quoted. */
const PART = /(?:(-?)([a-z-]+):)?("[^"]*"?|\S+)/gi;
/** Operators that name a place. */
const PLACES = new Set(['channel', 'channels', 'in', 'topic', 'dm', 'dm-including']);

/** Search operand that matches nothing or several things. */
export class UnclearName extends Error {
  constructor(
    readonly of: 'person' | 'channel',
    readonly operand: string,
    readonly isShared: boolean,
  ) {
    super(`Unclear: ${operand}`);
  }
}

/**
 * Parses search input such as `from:iago topic:"act two" -has:link curtain`. Channels and people are given by full or
 * partial name, email address or id; `me` is the user. Unknown operators become search words.
 * @param scope Narrow to search in unless the text names a place
 * @throws UnclearName
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
    case 'channel':
      return { operator, operand: channelNamed(state, operand) ?? onlyMatch(state, 'channel', operand) };
    case 'sender':
    case 'mentions':
      return { operator, operand: personNamed(state, operand) ?? onlyMatch(state, 'person', operand) };
    case 'dm':
    case 'dm-including': {
      const idOf = (name: string) => personNamed(state, name) ?? onlyMatch(state, 'person', name);
      return { operator, operand: peopleNamed(state, operand, idOf)! };
    }
    // The server has no such operator (messages §6).
    case 'date':
      return null;
    default:
      return parseTerm(operator, operand);
  }
}

/** Returns the id of the only person or channel that matches the name. */
function onlyMatch(state: ChatState, of: 'person' | 'channel', text: string): number {
  const all: readonly (readonly [name: string, id: number, isActive: boolean])[] =
    of === 'person'
      ? activeFirst(state).map((person) => [person.user.full_name, person.user.user_id, isActive(person)])
      : state.channels.values().map(({ channel }) => [channel.name, channel.stream_id, true]);
  const [found, other] = all.filter(([name]) => rankOf(text, name) !== null);
  if (!found || found[2] === other?.[2]) throw new UnclearName(of, text, found !== undefined);
  return found[1];
}

/** Completion of the last part of the search input. */
export interface SearchSuggestion {
  /** Operator with a value such as `is:starred`, or without one such as `channel:`. */
  readonly part: string;
  readonly operator: string;
  /** Name of the person, channel or topic, or another value; may be empty. */
  readonly value: string;
  readonly isNegated: boolean;
  /** Whole input including this part. */
  readonly text: string;
}

type Value = readonly [name: string, term: NarrowTerm];

const MAX_SUGGESTIONS = 11;
/** Last part of the input, possibly with an unclosed quotation mark. */
const LAST_PART = /(?<=^|\s)(-?)(?:([a-z-]+):)?("[^"]*|[^\s"]*)$/i;
const OPERATORS = [
  'channel',
  'topic',
  'sender',
  'dm',
  'dm-including',
  'mentions',
  'is',
  'has',
  'before',
  'after',
  'during',
];
const OTHER_NAMES: Readonly<Record<string, string>> = { sender: 'from', channel: 'stream', topic: 'subject' };
const FIXED = {
  is: ['unread', 'starred', 'mentioned', 'dm', 'followed', 'resolved', 'alerted', 'muted'],
  has: ['link', 'image', 'attachment', 'reaction'],
} as const;

/** Suggests operators and values for the last part of the input. Topics are those of `channelBefore`. */
export function searchSuggestions(state: ChatState, text: string, scope: Narrow = []): readonly SearchSuggestion[] {
  const last = LAST_PART.exec(text);
  if (!last) return [];
  const [, sign = '', name, quoted = ''] = last;
  const typed = quoted.replace('"', '').toLowerCase();
  const before = `${text.slice(0, last.index)}${sign}`;
  const isNegated = sign !== '';
  const values = name
    ? valuesOf(state, canonical(name.toLowerCase()), typed, channelBefore(state, text, scope))
    : ['channel', 'sender'].flatMap((operator) => (typed === '' ? [] : valuesOf(state, operator, typed, null)));
  const operators = name
    ? []
    : OPERATORS.filter((each) => [each, OTHER_NAMES[each]].some((it) => it?.startsWith(typed)));
  return [
    ...operators.map((operator) => ({ operator, value: '', part: `${operator}:` })),
    ...values.map(([value, term]) => ({ operator: term.operator, value, part: formatSearch(state, [term]) })),
  ]
    .slice(0, MAX_SUGGESTIONS)
    .map(({ operator, value, part }) => ({
      part: `${sign}${part}`,
      operator,
      value,
      isNegated,
      text: `${before}${part}`,
    }));
}

function valuesOf(state: ChatState, operator: string, typed: string, channelId: number | null): readonly Value[] {
  switch (operator) {
    case 'channel':
      return ranked(
        state.channels.values().map(({ channel }) => [channel.name, { operator, operand: channel.stream_id }]),
        typed,
      );
    case 'sender':
    case 'mentions':
      return ranked(
        activeFirst(state).map(({ user }) => [user.full_name, { operator, operand: user.user_id }]),
        typed,
      );
    case 'dm':
    case 'dm-including':
      return ranked(
        activeFirst(state).map(({ user: { full_name, user_id } }) => {
          return [full_name, { operator, operand: user_id === state.selfId ? [] : [user_id] }];
        }),
        typed,
      );
    case 'topic': {
      const topics = channelId === null ? undefined : state.topics.get(channelId)?.values();
      return ranked(
        [...(topics ?? [])].map(({ name }) => [name, { operator, operand: name }]),
        typed,
      );
    }
    case 'is':
    case 'has':
      return FIXED[operator]
        .filter((value) => value.startsWith(typed))
        .map((operand) => [operand, { operator, operand }]);
    case 'before':
    case 'after':
    case 'during':
      return recentDates()
        .filter((date) => date.startsWith(typed))
        .map((operand) => [operand, { operator, operand }]);
    default:
      return [];
  }
}

/** Returns today, yesterday and this month in the time zone of the device. */
function recentDates(): readonly string[] {
  const day = new Date();
  // Swedish dates have the format of ISO 8601.
  const today = day.toLocaleDateString('sv');
  day.setDate(day.getDate() - 1);
  return [today, day.toLocaleDateString('sv'), today.slice(0, 7)];
}

/** Returns the last channel named in the input, or the channel of the scope. */
export function channelBefore(state: ChatState, text: string, scope: Narrow): number | null {
  const named = [...text.matchAll(PART)].findLast(([, , operator]) => operator && canonical(operator) === 'channel');
  if (named) return channelNamed(state, named[3]!.replaceAll('"', ''));
  const term = scope.find(({ operator }) => operator === 'channel');
  return typeof term?.operand === 'number' ? term.operand : null;
}

/** Returns matching values, best first. */
function ranked(values: readonly Value[], typed: string): readonly Value[] {
  return values
    .flatMap((value) => {
      const rank = rankOf(typed, value[0]);
      return rank === null ? [] : [{ value, rank }];
    })
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ value }) => value);
}
