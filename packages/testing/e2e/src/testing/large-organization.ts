import { randomBytes } from 'node:crypto';
import { CreateChannel, DEFAULT_CHANNEL_OPTIONS } from '@parley/domain/channels';
import type { ChannelId } from '@parley/domain/kernel';
import { CreateRealm } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import { SendMessage } from '@parley/domain/writing';
import { createParley, type Parley } from '@parley/server';
import type { ParleyProcess } from './parley-process.js';
import { pause } from './pause.js';

export interface OrganizationSize {
  /** Owners with all permissions; see `LargeOrganization.owners`. */
  readonly owners: number;
  readonly members: number;
  readonly channels: number;
  readonly messages: number;
  /** Number of concurrent requests; with 1, ids are the same in every run. */
  readonly atATime?: number;
}

export interface Account {
  readonly id: number;
  readonly email: string;
  /** HTTP authorization header. */
  readonly authorization: string;
}

/** Database contents. All users subscribe to the first channel, owners to all channels. */
export interface LargeOrganization {
  readonly size: OrganizationSize;
  /** Subscribers of all channels who have read nothing. The first one has a password. */
  readonly owners: readonly Omit<Account, 'authorization'>[];
  readonly members: readonly Omit<Account, 'authorization'>[];
  readonly password: string;
  /** One bot per owner. */
  readonly bots: readonly Omit<Account, 'authorization'>[];
  readonly channelIds: readonly number[];
  readonly channelNames: readonly string[];
}

/** Concurrent transactions share a commit. */
const AT_A_TIME = 250;
/** Every nth message has the maximum length. */
const LONG_EVERY = 4;
const LONG_TEXT = 'All work and no play. '.repeat(500).slice(0, 10_000);

/** Created with the regular use cases in this process; no server may use the database concurrently. */
export async function createLargeOrganization(database: string, size: OrganizationSize): Promise<LargeOrganization> {
  const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
  try {
    return await fill(parley, size);
  } finally {
    await parley.close();
  }
}

async function fill(parley: Parley, size: OrganizationSize): Promise<LargeOrganization> {
  const { id: realmId } = await parley.useCase(CreateRealm).execute({ stringId: '', name: 'Elsinore' });
  const password = randomBytes(12).toString('hex');
  const { atATime } = size;
  const people = await inTurns(
    size.owners + size.members,
    async (n) => {
      const isOwner = n < size.owners;
      const { id, email } = await parley.useCase(RegisterUser).execute({
        realmId,
        email: `person${n}@elsinore.example`,
        fullName: `Person Number ${n}`,
        role: isOwner ? 'owner' : 'member',
        password: n === 0 ? password : null,
        specialPermissions: isOwner ? ['canCreateUsers'] : [],
      });
      return { id, email };
    },
    atATime,
  );
  const owners = people.slice(0, size.owners);
  const bots = await inTurns(
    size.owners,
    async (n) => {
      const { id, email } = await parley.useCase(RegisterUser).execute({
        realmId,
        email: `helper${n}-bot@elsinore.example`,
        fullName: `Helper Number ${n}`,
        role: 'member',
        password: null,
        bot: { kind: 'generic', ownerId: owners[n]!.id, isSystem: false, defaultSendingChannelId: null },
      });
      return { id, email };
    },
    atATime,
  );
  const caller = { realmId, userId: owners[0]!.id, clientName: 'website' };
  const channelNames = Array.from({ length: size.channels }, (_, n) => `Channel number ${n}`);
  const channelIds = await inTurns(
    size.channels,
    (n) =>
      parley.useCase(CreateChannel).execute(caller, {
        ...DEFAULT_CHANNEL_OPTIONS,
        name: channelNames[n]!,
        description: `What channel ${n} is about`,
        subscriberIds: (n === 0 ? people : owners).map(({ id }) => id),
        announce: false,
      }),
    atATime,
  );
  await inTurns(
    size.messages,
    (n) =>
      parley.useCase(SendMessage).execute(caller, {
        to: { kind: 'channelId', id: channelIds[n % 3 === 0 ? n % channelIds.length : 0] as ChannelId },
        topic: `topic ${n % 100}`,
        content: n % LONG_EVERY === 0 ? `${n} ${LONG_TEXT}` : `Message number ${n}`,
        isReadBySender: false,
        echo: null,
      }),
    atATime,
  );
  return { size, owners, members: people.slice(size.owners), bots, password, channelIds, channelNames };
}

async function inTurns<T>(count: number, task: (n: number) => Promise<T>, atATime = AT_A_TIME): Promise<readonly T[]> {
  const results: T[] = [];
  for (let from = 0; from < count; from += atATime) {
    const numbers = Array.from({ length: Math.min(atATime, count - from) }, (_, n) => from + n);
    results.push(...(await Promise.all(numbers.map(task))));
  }
  return results;
}

/** Fetches API keys of users without passwords from a server in dev mode. */
export function signIn({ url }: ParleyProcess, people: LargeOrganization['owners']): Promise<readonly Account[]> {
  return inTurns(people.length, async (n) => {
    const person = people[n]!;
    const key = await fetchKey(url, person.email);
    return { ...person, authorization: `Basic ${Buffer.from(`${person.email}:${key}`).toString('base64')}` };
  });
}

/** Retries when a busy server requests it. */
async function fetchKey(url: string, email: string): Promise<string> {
  const body = new URLSearchParams({ username: email });
  const response = await fetch(`${url}/api/v1/dev_fetch_api_key`, { method: 'POST', body });
  if (response.status === 503) {
    await pause(Number(response.headers.get('retry-after') ?? 1) * 1000);
    return fetchKey(url, email);
  }
  const answer = (await response.json()) as { api_key: string; msg: string };
  if (response.status !== 200) throw new Error(`No key for ${email}: ${response.status} ${answer.msg}`);
  return answer.api_key;
}
