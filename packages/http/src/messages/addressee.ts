import type { Addressee, ChannelId, UserId } from '@parley/domain';
import { badParameter } from '../routing/errors.js';
import { decodeJsonOrText } from '../routing/param-types.js';

/** Whom `to` means (messages §3.1): JSON if it is JSON, else bare text. @throws HttpRefusal */
export function parseAddressee(type: 'channel' | 'direct', to: string | undefined): Addressee {
  return type === 'channel' ? parseChannel(to) : parsePeople(to);
}

function parseChannel(to: string | undefined): Addressee {
  if (to === undefined) return { kind: 'defaultChannel' };
  const value = decodeJsonOrText(to);
  if (Array.isArray(value) && value.length !== 1) throw badParameter('Expected exactly one channel');
  const channel: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof channel === 'string') return { kind: 'channelName', name: channel };
  if (Number.isInteger(channel)) return { kind: 'channelId', id: channel as ChannelId };
  throw badParameter('Invalid data type for channel');
}

function parsePeople(to: string | undefined): Addressee {
  const value = to === undefined ? [] : decodeJsonOrText(to);
  const people: unknown = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(people)) throw badParameter('Invalid data type for recipients');
  if (people.length === 0) return { kind: 'userIds', ids: [] };
  if (typeof people[0] === 'string') {
    if (people.some((person) => typeof person !== 'string')) throw mixed();
    const emails = (people as string[]).map((email) => email.trim()).filter((email) => email !== '');
    return { kind: 'emails', emails: [...new Set(emails)] };
  }
  if (!Number.isInteger(people[0])) throw badParameter('Invalid data type for recipients');
  if (people.some((person) => !Number.isInteger(person))) throw mixed();
  return { kind: 'userIds', ids: [...new Set(people as UserId[])] };
}

const mixed = () => badParameter('Recipient lists may contain emails or user IDs, but not both.');
