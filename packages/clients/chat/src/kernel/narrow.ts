/** Set of messages, as API search terms (messages §6). All terms must match. */
export type Narrow = readonly NarrowTerm[];

export type NarrowTerm = Negatable &
  (
    | {
        readonly operator: 'channel' /** A name only if the address contained one. */;
        readonly operand: number | string;
      }
    | {
        readonly operator: 'dm' | 'dm-including' /** Ids of the other participants, ascending. */;
        readonly operand: readonly number[];
      }
    | { readonly operator: 'sender' | 'mentions'; readonly operand: number | string }
    | { readonly operator: 'near' | 'with' | 'id'; readonly operand: number }
    | { readonly operator: TextOperator; readonly operand: string }
  );

interface Negatable {
  readonly negated?: true;
}

type TextOperator = 'topic' | 'is' | 'has' | 'search' | 'channels' | 'in' | 'date' | 'before' | 'after' | 'during';

/** Place to send messages: a channel topic or a direct conversation. */
export type Destination =
  | { readonly kind: 'channel'; readonly channelId: number /** Empty: "general chat". */; readonly topic: string }
  | {
      readonly kind: 'direct' /** Ids of the other participants, ascending; empty for notes to oneself. */;
      readonly userIds: readonly number[];
    };

/** Page of the application. */
export type Address =
  | { readonly view: 'inbox' | 'recent' | 'drafts' | 'scheduled' | 'reminders' }
  | {
      readonly view: 'narrow';
      readonly narrow: Narrow /** Message at which the conversation opens. */;
      readonly near: number | null;
    }
  /** Other pages of Zulip's client, such as `#settings/profile`. */
  | { readonly view: 'other'; readonly path: readonly string[] };

/** Names for the human-readable part of addresses. */
export interface NamesForAddresses {
  /** Own user id, used for notes to oneself. */
  readonly selfId: number;
  channel(id: number): string | undefined;
  person(id: number): string | undefined;
}

const SYNONYMS: Readonly<Record<string, string>> = {
  stream: 'channel',
  streams: 'channels',
  subject: 'topic',
  'pm-with': 'dm',
  pm_with: 'dm',
  'pm-including': 'dm-including',
  'group-pm-with': 'dm-including',
  'group-pm': 'dm-including',
  from: 'sender',
};

const IS_SYNONYMS: Readonly<Record<string, string>> = { private: 'dm', pm: 'dm' };

/** Parses the `#…` part of an address; null if it is invalid. */
export function parseAddress(hash: string): Address | null {
  const [first = '', ...rest] = hash.replace(/^#/, '').split('/');
  switch (first) {
    case 'inbox':
      return { view: 'inbox' };
    case 'recent':
    case 'recent_topics':
      return { view: 'recent' };
    case 'drafts':
    case 'scheduled':
    case 'reminders':
      return { view: first };
    case 'feed':
    case 'all_messages':
      return { view: 'narrow', narrow: [], near: null };
    case 'narrow': {
      const terms = parseTerms(rest);
      return terms && addressOf(terms);
    }
    case 'user': {
      const ids = idsOf(rest[0] ?? '');
      return ids && addressOf([{ operator: 'dm', operand: ids }]);
    }
    case 'streams':
    case 'subscriptions':
      return parseAddress(['channels', ...rest].join('/'));
    case 'about-zulip':
      return parseAddress('organization/organization-profile');
    case 'invite':
      return parseAddress('organization/invitations');
    default:
      return first === '' ? null : { view: 'other', path: [first, ...rest.map((part) => decode(part) ?? part)] };
  }
}

/** Removes the user from the participants of direct conversations and replaces `me` with the id. */
export function withoutSelf(address: Address | null, selfId: number): Address | null {
  if (
    address?.view !== 'narrow' ||
    !address.narrow.some(({ operator, operand }) => operator === 'dm' || operand === 'me')
  )
    return address;
  const narrow = address.narrow.map((term) => {
    if (term.operator === 'dm') return { ...term, operand: term.operand.filter((id) => id !== selfId) };
    return term.operator === 'sender' && term.operand === 'me' ? { ...term, operand: selfId } : term;
  });
  return { ...address, narrow };
}

/** Returns the address of a narrow; a `near` term becomes the message at which it opens. */
export function addressOf(terms: Narrow): Address {
  const near = terms.find((term) => term.operator === 'near');
  return {
    view: 'narrow',
    narrow: terms.filter(({ operator }) => operator !== 'near'),
    near: near?.operator === 'near' ? near.operand : null,
  };
}

function parseTerms(parts: readonly string[]): Narrow | null {
  const terms: NarrowTerm[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const operator = decode(parts[i]!);
    // Ignores a trailing slash.
    if (operator === '' && i === parts.length - 1) break;
    const operand = decode(parts[i + 1] ?? '');
    if (!operator || operand === null) return null;
    const term = parseTerm(operator, operand);
    if (term === null) return null;
    terms.push(term);
  }
  return terms;
}

/** Resolves operator synonyms from older addresses. */
export const canonical = (operator: string): string => SYNONYMS[operator] ?? operator;

/** Parses one term of an address; a leading minus sign negates it. Null if it is invalid. */
export function parseTerm(raw: string, operand: string): NarrowTerm | null {
  const isNegated = raw.startsWith('-');
  const operator = canonical(isNegated ? raw.slice(1) : raw);
  const sign = isNegated ? ({ negated: true } as const) : {};
  switch (operator) {
    case 'channel':
    case 'sender':
    case 'mentions':
      return operand === '' ? null : { operator, operand: idOf(operand) ?? operand, ...sign };
    case 'dm':
    case 'dm-including': {
      const ids = idsOf(operand);
      return ids === null ? null : { operator, operand: ids, ...sign };
    }
    case 'near':
    case 'with':
    case 'id':
      return /^\d+$/.test(operand) ? { operator, operand: Number(operand), ...sign } : null;
    case 'is':
      return { operator, operand: IS_SYNONYMS[operand] ?? operand, ...sign };
    case 'topic':
    case 'has':
    case 'search':
    case 'channels':
    case 'in':
    case 'date':
    case 'before':
    case 'after':
    case 'during':
      return { operator, operand, ...sign };
    default:
      return null;
  }
}

/** Parses the number of `9-design`; null for a name. */
function idOf(operand: string): number | null {
  const [, id] = /^(\d+)(-.*)?$/s.exec(operand) ?? [];
  return id === undefined ? null : Number(id);
}

/** Parses the numbers of `9,10-group`. */
function idsOf(operand: string): readonly number[] | null {
  const [, ids] = /^([\d,]+)(-.*)?$/s.exec(operand) ?? [];
  if (ids === undefined) return null;
  const numbers = ids.split(',').filter(Boolean).map(Number);
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** Formats an address as Zulip's client does. */
export function formatAddress(address: Address, names: NamesForAddresses): string {
  switch (address.view) {
    case 'other':
      return `#${address.path.map(encode).join('/')}`;
    case 'narrow': {
      const terms: Narrow =
        address.near === null ? address.narrow : [...address.narrow, { operator: 'near', operand: address.near }];
      if (terms.length === 0) return '#feed';
      return `#narrow/${terms.map((term) => `${term.negated ? '-' : ''}${term.operator}/${operandOf(term, names)}`).join('/')}`;
    }
    default:
      return `#${address.view}`;
  }
}

function operandOf({ operator, operand }: NarrowTerm, names: NamesForAddresses): string {
  if (operator === 'channel' && typeof operand === 'number') {
    const name = names.channel(operand);
    return name === undefined ? String(operand) : encode(`${operand}-${name.replaceAll(' ', '-')}`);
  }
  const others = typeof operand === 'object' ? operand : operator === 'sender' ? [operand] : null;
  const people = others?.length === 0 ? [names.selfId] : others;
  if (people?.every((id) => typeof id === 'number')) {
    const name = people.length === 1 ? names.person(people[0]!) : 'group';
    const slug = name?.replaceAll(/[ "%/<>`\p{C}]+/gu, '-');
    return encode(slug === undefined ? people.join(',') : `${people.join(',')}-${slug}`).replaceAll('.2C', ',');
  }
  return encode(String(operand));
}

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[%().]/g, (sign) =>
    sign === '%' ? '.' : `.${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part.replaceAll('.', '%'));
  } catch {
    return null;
  }
}

/** Narrow that matches exactly the messages of a destination. */
export function narrowOf(destination: Destination): Narrow {
  if (destination.kind === 'direct') return [{ operator: 'dm', operand: destination.userIds }];
  return [
    { operator: 'channel', operand: destination.channelId },
    { operator: 'topic', operand: destination.topic },
  ];
}

/** Destination to which a narrow is limited; null for other narrows. */
export function destinationOf(narrow: Narrow): Destination | null {
  if (narrow.some(({ negated }) => negated)) return null;
  const terms = narrow.filter(({ operator }) => operator !== 'with');
  const [first, second] = terms;
  if (terms.length === 1 && first!.operator === 'dm') return { kind: 'direct', userIds: first!.operand };
  const channel = terms.find((term) => term.operator === 'channel');
  const topic = terms.find((term) => term.operator === 'topic');
  if (!first || !second || terms.length !== 2 || !channel || !topic) return null;
  if (channel.operator !== 'channel' || topic.operator !== 'topic' || typeof channel.operand !== 'number') return null;
  return { kind: 'channel', channelId: channel.operand, topic: topic.operand };
}

/** Message of a `with` term, which follows the message to its current conversation; null without that term. */
export const linkedIn = (narrow: Narrow): number | null =>
  (narrow.find((term) => term.operator === 'with' && !term.negated)?.operand as number) ?? null;

/** Key of a destination; topics ignore case. */
export const destinationKey = (to: Destination): string =>
  to.kind === 'direct' ? `dm:${to.userIds.join(',')}` : `channel:${to.channelId}:${to.topic.toLowerCase()}`;

/** Key of a narrow; topics ignore case. */
export function narrowKey(narrow: Narrow): string {
  const destination = narrow.some(({ operator }) => operator === 'with') ? null : destinationOf(narrow);
  return destination ? destinationKey(destination) : JSON.stringify(narrow);
}

/** True if a narrow shows all messages of a destination: its conversation, its channel, or the combined feed. */
export function covers(narrow: Narrow, to: Destination): boolean {
  const destination = destinationOf(narrow);
  if (destination) return destinationKey(destination) === destinationKey(to);
  const [first] = narrow;
  if (!first) return true;
  return narrow.length === 1 && first.operator === 'channel' && to.kind === 'channel' && first.operand === to.channelId;
}
