import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PasswordHasher } from '@parley/domain/access';
import { CreateChannel, DEFAULT_CHANNEL_OPTIONS } from '@parley/domain/channels';
import type { Ports } from '@parley/domain/composition';
import {
  type ChannelId,
  type Clock,
  firstOf,
  getOrThrow,
  type RealmId,
  type Transaction,
  type UnitOfWork,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import { CreateRealm } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import { MarkRead } from '@parley/domain/messages';
import { AddProfileField, ChangeOwnProfile } from '@parley/domain/users';
import { SendMessage } from '@parley/domain/writing';
import { compose } from '../composition/container.js';
import type { Resolve } from '../kernel/resolve.js';
import { StartupError, systemReasonOf } from '../kernel/startup-error.js';
import { type DemoMessage, demoMessages, OPENING, OPENING_SECONDS, PERIOD_SECONDS } from './conversations.js';
import {
  addDemoEmoji,
  DEMO_ADMINISTRATOR,
  DEMO_ANNOUNCEMENTS_CHANNEL,
  DEMO_CHANNELS,
  DEMO_EMAIL_VISIBILITY,
  DEMO_EMOJI,
  DEMO_EMOJI_AUTHOR,
  DEMO_ICON,
  DEMO_LOOK,
  DEMO_PEOPLE,
  DEMO_PRESENCES,
  DEMO_PROFILE_FIELDS,
  DEMO_REALM,
  DEMO_SETTINGS,
  type DemoChannel,
  passwordOf,
  type StoredImage,
  storeDemoImage,
} from './organization.js';
import { SeededRandom } from './seeded-random.js';

/** Clock set to the time of each past event in the demo. */
export class DemoClock implements Clock {
  constructor(private seconds: UnixSeconds) {}

  set(seconds: UnixSeconds): void {
    this.seconds = seconds;
  }

  now(): UnixSeconds {
    return this.seconds;
  }

  nowMs(): number {
    return this.seconds * 1000;
  }
}

export interface DemoAccess {
  readonly email: string;
  readonly apiKey: string;
  /** File name without extension: `hamlet`. */
  readonly name: string;
}

/** Returns the credentials of all demo users who still exist. */
export function listDemoAccess({
  unitOfWork,
  apiKeyMint,
}: Pick<Ports, 'unitOfWork' | 'apiKeyMint'>): Promise<DemoAccess[]> {
  return unitOfWork.readAcross(async ({ realms, users, apiKeys }) => {
    const realm = await realms.findByStringId(DEMO_REALM.stringId);
    const access: DemoAccess[] = [];
    for (const { email } of realm ? DEMO_PEOPLE : []) {
      const user = await users.findByEmail(realm!.id, email);
      const record = user && (await apiKeys.find(realm!.id, user.id as UserId));
      if (record)
        access.push({ email, apiKey: apiKeyMint.derive(record), name: firstOf(email.split('@')).toLowerCase() });
    }
    return access;
  });
}

/** Returns the lines of the configuration file used by Zulip clients and libraries. */
export const zuliprcOf = ({ email, apiKey, site }: Record<'email' | 'apiKey' | 'site', string>): readonly string[] => [
  '[api]',
  `email=${email}`,
  `key=${apiKey}`,
  `site=${site}`,
];

/**
 * Writes one configuration file per user for Zulip clients and libraries, readable by the process owner only.
 * @throws StartupError if a file cannot be written
 */
export function writeZuliprcFiles(directory: string, site: string, people: readonly DemoAccess[]): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const { email, apiKey, name } of people) {
      const path = join(directory, name);
      writeFileSync(path, `${zuliprcOf({ email, apiKey, site }).join('\n')}\n`, { mode: 0o600 });
      chmodSync(path, 0o600); // an existing file may have another mode
    }
  } catch (error) {
    throw new StartupError(`Cannot write the demo users' zuliprc files: ${systemReasonOf(error)}`);
  }
}

const SEED = 1599;

interface Stage {
  readonly useCase: Resolve;
  readonly realmId: RealmId;
  readonly people: ReadonlyMap<string, UserId>;
  readonly channels: ReadonlyMap<string, ChannelId>;
}

/**
 * Creates the demo organization unless it exists; returns true if created. The content is deterministic. If it is
 * `forVisitors`, it has another name and an icon, and everybody has an hour of unread messages. Runs in one
 * transaction, so that a crash leaves nothing incomplete.
 */
export async function createDemo(ports: Ports, { forVisitors = false } = {}): Promise<boolean> {
  const isThere = await ports.unitOfWork.readAcross(({ realms }) => realms.findByStringId(DEMO_REALM.stringId));
  if (isThere) return false;
  const passwordHasher = await hashBeforehand(ports.passwordHasher, DEMO_PEOPLE.map(passwordOf));
  const store = (png: Uint8Array) => storeDemoImage(ports.blobStore, ports.randomness, png);
  const emoji = await store(DEMO_EMOJI);
  const icon = forVisitors ? await store(DEMO_ICON) : null;
  const now = ports.clock.now();

  await ports.unitOfWork.writeAcross(async (tx) => {
    const random = new SeededRandom(SEED);
    const clock = new DemoClock(now - PERIOD_SECONDS - 1);
    // The server's quota reads counts of other servers in a separate unit, which would wait for this one.
    const channelQuota = { refresh: async () => {}, spend() {}, refund() {} };
    const own = { unitOfWork: within(tx), clock, randomness: random, passwordHasher, channelQuota };
    const useCase = compose({ ...ports, ...own });
    const realmId = await addRealm(tx, useCase);
    const people = await addPeople(useCase, realmId);
    await addDemoEmoji(tx, realmId, getOrThrow(people, DEMO_EMOJI_AUTHOR), emoji);
    await addProfiles(useCase, realmId, people);
    const channels = await addChannels(useCase, realmId, people);
    await announceNewChannelsIn(tx, realmId, getOrThrow(channels, DEMO_ANNOUNCEMENTS_CHANNEL));
    const sendAll = async (all: readonly DemoMessage[]) => {
      for (const message of all) {
        clock.set(now - message.secondsAgo);
        await send({ useCase, realmId, people, channels }, message);
      }
    };
    const since = forVisitors ? OPENING_SECONDS : 0;
    await sendAll(demoMessages(random).filter(({ secondsAgo }) => secondsAgo > since));
    await addPresences(tx, realmId, people, now);
    for (const userId of people.values()) {
      await useCase(MarkRead).execute({ realmId, userId, clientName: CLIENT_NAME }, { scope: { kind: 'everything' } });
    }
    if (icon) await showToVisitors(tx, realmId, icon);
    if (forVisitors) await sendAll(OPENING);
  });
  return true;
}

/** Runs use cases inside an open transaction instead of their own. */
const within = (tx: Transaction): UnitOfWork => ({
  read: (_, work) => work(tx),
  readAcross: (work) => work(tx),
  write: (_, work) => work(tx),
  writeAcross: (work) => work(tx),
});

/** Hashes the passwords in advance, since hashing is too slow for a transaction. */
async function hashBeforehand(hasher: PasswordHasher, passwords: readonly string[]): Promise<PasswordHasher> {
  // Sequential, since each hash takes 32 MB while it runs.
  const hashes: string[] = [];
  for (const password of passwords) hashes.push(await hasher.hash(password));
  return {
    hash: async (password) => hashes[passwords.indexOf(password)]!,
    verify: (password, hash) => hasher.verify(password, hash),
  };
}

async function addRealm(tx: Transaction, useCase: Resolve): Promise<RealmId> {
  const { stringId, name, description } = DEMO_REALM;
  const realm = await useCase(CreateRealm).execute({ stringId, name });
  await tx.realms.update({
    ...realm,
    settings: { ...realm.settings, ...DEMO_SETTINGS, description },
    renderedDescription: `<p>${description}</p>`,
    userDefaults: { ...realm.userDefaults, emailAddressVisibility: DEMO_EMAIL_VISIBILITY },
  });
  await tx.allowedDomains.add({ realmId: realm.id, domain: 'zulip.com', allowsSubdomains: false });
  return realm.id;
}

/** Replaces the name that client suites expect. */
async function showToVisitors(tx: Transaction, realmId: RealmId, icon: StoredImage): Promise<void> {
  const { name, description } = DEMO_LOOK;
  const realm = await tx.realms.get(realmId);
  await tx.pictures.put(realmId, { ...icon, name: 'icon' });
  await tx.realms.update({
    ...realm,
    name,
    settings: { ...realm.settings, description },
    renderedDescription: `<p>${description}</p>`,
    images: { ...realm.images, icon: { isUploaded: true, version: realm.images.icon.version + 1 } },
  });
}

/**
 * Sets the announcement channel for new channels only; new users are not announced, as in the recorded organization.
 */
async function announceNewChannelsIn(tx: Transaction, realmId: RealmId, id: ChannelId): Promise<void> {
  const realm = await tx.realms.get(realmId);
  await tx.realms.update({ ...realm, settings: { ...realm.settings, newChannelAnnouncementsChannelId: id } });
}

async function addPeople(useCase: Resolve, realmId: RealmId): Promise<ReadonlyMap<string, UserId>> {
  const people = new Map<string, UserId>();
  for (const { timezone = '', ...person } of DEMO_PEOPLE) {
    const password = passwordOf(person);
    const settings = { timezone };
    const input = { ...person, realmId, password, settings, allowsWeakPassword: true };
    const user = await useCase(RegisterUser).execute(input);
    people.set(person.email, user.id);
  }
  return people;
}

async function addProfiles(useCase: Resolve, realmId: RealmId, people: ReadonlyMap<string, UserId>): Promise<void> {
  const by = (email: string) => ({ realmId, userId: getOrThrow(people, email), clientName: CLIENT_NAME });
  for (const { values, hint = '', data = {}, isInSummary = false, ...field } of DEMO_PROFILE_FIELDS) {
    const settings = { hint, data, isInSummary, isRequired: false, isEditableByUser: true, isForMatching: false };
    const fieldId = await useCase(AddProfileField).execute(by(DEMO_ADMINISTRATOR), { ...field, ...settings });
    for (const [email, value] of Object.entries(values)) {
      const stored = typeof value === 'string' ? value : value.map((each) => getOrThrow(people, each));
      await useCase(ChangeOwnProfile).execute(by(email), [{ fieldId, value: stored }]);
    }
  }
}

async function addPresences(
  tx: Transaction,
  realmId: RealmId,
  people: ReadonlyMap<string, UserId>,
  now: UnixSeconds,
): Promise<void> {
  const entries = Object.entries(DEMO_PRESENCES);
  const first = await tx.presence.reserveIds(realmId, entries.length);
  const presences = entries.map(([email, secondsAgo], index) => {
    const at = now - secondsAgo;
    return { userId: getOrThrow(people, email), lastActive: at, lastConnected: at, updateId: first + index };
  });
  await tx.presence.put(realmId, presences);
}

async function addChannels(
  useCase: Resolve,
  realmId: RealmId,
  people: ReadonlyMap<string, UserId>,
): Promise<ReadonlyMap<string, ChannelId>> {
  const channels = new Map<string, ChannelId>();
  for (const channel of DEMO_CHANNELS) {
    channels.set(channel.name, await useCase(CreateChannel).execute(callerOf(channel), inputOf(channel)));
  }
  return channels;

  function callerOf({ subscribers }: DemoChannel) {
    return { realmId, userId: getOrThrow(people, firstOf(subscribers)), clientName: CLIENT_NAME };
  }

  function inputOf({ name, description, isPrivate = false, isDefault = false, subscribers }: DemoChannel) {
    return {
      ...DEFAULT_CHANNEL_OPTIONS,
      name,
      description,
      isPrivate,
      isDefault,
      sharesHistory: isPrivate ? true : null,
      subscriberIds: subscribers.map((email) => getOrThrow(people, email)),
      announce: false,
    };
  }
}

export const CLIENT_NAME = 'website';

async function send({ useCase, realmId, people, channels }: Stage, message: DemoMessage): Promise<void> {
  const { to, content } = message;
  const sender = getOrThrow(people, message.sender);
  await useCase(SendMessage).execute(
    { realmId, userId: sender, clientName: CLIENT_NAME },
    {
      to:
        to.kind === 'channel'
          ? { kind: 'channelId', id: getOrThrow(channels, to.channel) }
          : {
              kind: 'userIds',
              ids: to.others.length === 0 ? [sender] : to.others.map((email) => getOrThrow(people, email)),
            },
      topic: to.kind === 'channel' ? to.topic : null,
      content,
      isReadBySender: true,
      echo: null,
    },
  );
}
