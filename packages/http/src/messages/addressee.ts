import type { ChannelId, UserId } from '@parley/domain/kernel';
import type { Addressee } from '@parley/domain/messages';
import { badParameter } from '../kernel/errors.js';
import { MAX_IDS, MAX_NAMES, MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { TooLong } from '../kernel/param-error.js';
import { anyOf, checkMember, integer, jsonOrText, listOf, type ParamType, text } from '../kernel/param-types.js';

/** The use case refuses what is too long for a channel's name, or is nobody's address, in its own words. */
const name = text({ max: MAX_TEXT_LENGTH });
const forms = anyOf([name, integer(), listOf(anyOf([name, integer()]), { max: MAX_IDS })]);

/** JSON if it is JSON, else bare text (messages §3.1). Bounded here; which form fits is asked by `parseAddressee`. */
export const addressee: ParamType<unknown> = jsonOrText({
  ...forms,
  check(value) {
    if (value instanceof TooLong) throw value;
    if (typeof value === 'string') return name.check(value);
    if (!Array.isArray(value)) return value;
    if (value.length > MAX_IDS) throw new TooLong(MAX_IDS, 'items');
    for (let index = 0; index < value.length; index++) {
      if (typeof value[index] === 'string') checkMember(name, value, index);
    }
    return value;
  },
});

/** Whom a value of `addressee` means (messages §3.1). @throws HttpRefusal */
export function parseAddressee(type: 'channel' | 'direct', to: unknown): Addressee {
  return type === 'channel' ? parseChannel(to) : parsePeople(to);
}

function parseChannel(to: unknown): Addressee {
  if (to === undefined) return { kind: 'defaultChannel' };
  if (Array.isArray(to) && to.length !== 1) throw badParameter('Expected exactly one channel');
  const channel: unknown = Array.isArray(to) ? to[0] : to;
  if (typeof channel === 'string') return { kind: 'channelName', name: channel };
  if (Number.isInteger(channel)) return { kind: 'channelId', id: channel as ChannelId };
  throw badParameter('Invalid data type for channel');
}

function parsePeople(to: unknown = []): Addressee {
  const people: unknown = typeof to === 'string' ? to.split(',') : to;
  if (!Array.isArray(people)) throw badParameter('Invalid data type for recipients');
  if (people.length === 0) return { kind: 'userIds', ids: [] };
  if (typeof people[0] === 'string') {
    if (people.length > MAX_NAMES) throw badParameter(new TooLong(MAX_NAMES, 'items').messageFor('to'));
    if (people.some((person) => typeof person !== 'string')) throw mixed();
    const emails = (people as string[]).map((email) => email.trim()).filter((email) => email !== '');
    return { kind: 'emails', emails: [...new Set(emails)] };
  }
  if (!Number.isInteger(people[0])) throw badParameter('Invalid data type for recipients');
  if (people.some((person) => !Number.isInteger(person))) throw mixed();
  return { kind: 'userIds', ids: [...new Set(people as UserId[])] };
}

const mixed = () => badParameter('Recipient lists may contain emails or user IDs, but not both.');
