import type { ChannelId, RealmId } from '@parley/domain/kernel';
import { htmlMessages } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { inTurns } from '../harness/api.js';
import type { BrowserUser } from '../harness/browser.js';
import { ParleyServer } from '../harness/parley-server.js';
import type { WorldBuilder } from '../lab.js';
import { clock, writeHistory } from './history.js';
import { type Person, World } from './world.js';

export interface Team {
  readonly realmId: RealmId;
  readonly people: readonly Person[];
  readonly channelId: ChannelId;
}

/** Organization with a dozen users and a channel to which all subscribe. */
export const team: WorldBuilder<Team> = async function team(database) {
  const world = await World.found(database);
  const people = await world.addPeople(12);
  const channelId = await world.addChannel('general', people);
  await world.close();
  return { realmId: world.realmId, people, channelId };
};

export interface LargeOrganization {
  readonly realmId: RealmId;
  readonly owner: Person;
  readonly people: readonly Person[];
  /** Channel with all users as subscribers. */
  readonly everybody: ChannelId;
  /** Channel with the first ten users as subscribers. */
  readonly few: ChannelId;
}

/** Organization of ten thousand users. */
export const largeOrganization: WorldBuilder<LargeOrganization> = async function largeOrganization(database, lab) {
  const world = await World.found(database);
  const owner = await world.addOwner();
  const people = await world.addPeople(lab.size(10_000, 100));
  const everybody = await world.addChannel('everybody', people);
  const few = await world.addChannel('few', people.slice(0, 10));
  await world.close();
  return { realmId: world.realmId, owner, people, everybody, few };
};

/** Large organization in which users have phones with an older app. */
export const reachableOrganization: WorldBuilder<LargeOrganization> = async function reachableOrganization(
  database,
  lab,
) {
  const organization = await largeOrganization(database, lab);
  const { realmId, people } = organization;
  const storage = openSqliteStorage({ path: database, clock, words: htmlMessages });
  await storage.uow.write(realmId, async (tx) => {
    for (const { id } of people) {
      await tx.pushTokens.add(realmId, id, { kind: 'fcm', token: `phone ${id}`, iosAppId: null });
    }
  });
  await storage.close();
  return organization;
};

export interface ChangingChannel extends LargeOrganization {
  /** Topic in the channel of all users. */
  readonly topic: string;
  readonly messagesInTopic: number;
}

/** Large organization with a long unread conversation in the channel of all users. */
export const changingChannel: WorldBuilder<ChangingChannel> = async function changingChannel(database, lab) {
  const organization = await largeOrganization(database, lab);
  const { realmId, owner, people, everybody } = organization;
  const topic = 'long';
  const messagesInTopic = lab.size(1000, 50);
  const originOf = (n: number) => ({ channelId: everybody, topic, senderId: people[n % 10]!.id });
  await writeHistory(database, { realmId, count: messagesInTopic, readBy: [owner.id], originOf });
  return { ...organization, topic, messagesInTopic };
};

export interface ManyChannels {
  readonly realmId: RealmId;
  readonly owner: Person;
  /** Subscribes to every tenth channel. */
  readonly member: Person;
  readonly channelCount: number;
}

/** Organization with five thousand public channels, old enough to have traffic statistics. */
export const manyChannels: WorldBuilder<ManyChannels> = async function manyChannels(database, lab) {
  const world = await World.found(database);
  const owner = await world.addOwner();
  const [member] = await world.addPeople(1);
  const channelCount = lab.size(5000, 50);
  for (let n = 1; n <= channelCount; n++) {
    await world.addChannel(`channel ${n}`, n % 10 === 0 ? [owner, member!] : [owner]);
  }
  await world.close();
  await ageChannels(database, world.realmId, 60);
  return { realmId: world.realmId, owner, member: member!, channelCount };
};

async function ageChannels(database: string, realmId: RealmId, days: number): Promise<void> {
  const storage = openSqliteStorage({ path: database, clock, words: htmlMessages });
  await storage.uow.write(realmId, async (tx) => {
    for (const channel of await tx.channels.listAll(realmId)) {
      await tx.channels.update({ ...channel, createdAt: channel.createdAt - days * 86_400 });
    }
  });
  await storage.close();
}

export interface ManagedOrganization {
  readonly owner: Person;
  readonly people: readonly Person[];
  readonly channelCount: number;
}

/** Ten thousand users in five hundred public channels: one with all users, the others with two hundred each. */
export const managedOrganization: WorldBuilder<ManagedOrganization> = async function managedOrganization(
  database,
  lab,
) {
  const world = await World.found(database);
  const owner = await world.addOwner();
  const people = await world.addPeople(lab.size(10_000, 100));
  await world.addChannel('everybody', people);
  const channelCount = lab.size(500, 5);
  const subscribers = lab.size(200, 10);
  for (let n = 1; n < channelCount; n++) {
    const first = (n * 19) % (people.length - subscribers);
    await world.addChannel(`channel ${n}`, people.slice(first, first + subscribers));
  }
  await world.close();
  return { owner, people, channelCount };
};

/** Organization of five thousand users and a channel to which all subscribe. */
export const returningCrowd: WorldBuilder<Team> = async function returningCrowd(database, lab) {
  const world = await World.found(database);
  const people = await world.addPeople(lab.size(5000, 50));
  const channelId = await world.addChannel('everybody', people);
  await world.close();
  return { realmId: world.realmId, people, channelId };
};

/** Users who can own queues. */
export const queueOwners: WorldBuilder<QueueOwners> = async function queueOwners(database, lab) {
  const world = await World.found(database);
  const people = await world.addPeople(lab.size(500, 5));
  await world.close();
  return { realmId: world.realmId, people };
};

export interface QueueOwners {
  readonly realmId: RealmId;
  readonly people: readonly Person[];
}

export interface Archive {
  /** Subscribes to none of the channels. */
  readonly owner: Person;
  /** User who has read everything. */
  readonly reader: Person;
  /** User who has read nothing. */
  readonly newcomer: Person;
  readonly channelIds: readonly ChannelId[];
  readonly messages: number;
}

const ARCHIVE_CHANNELS = 50;
const ARCHIVE_TOPICS = 40;

export const smallArchive: WorldBuilder<Archive> = async function smallArchive(database, lab) {
  return buildArchive(database, lab.size(50_000, 1000));
};

export const largeArchive: WorldBuilder<Archive> = async function largeArchive(database, lab) {
  return buildArchive(database, lab.size(1_000_000, 2000));
};

/** Creates an archive with half of the messages in the first channel and the rest spread over the others. */
async function buildArchive(database: string, messages: number): Promise<Archive> {
  const world = await World.found(database);
  const owner = await world.addOwner();
  const people = await world.addPeople(12);
  const channelIds: ChannelId[] = [];
  for (let n = 1; n <= ARCHIVE_CHANNELS; n++) channelIds.push(await world.addChannel(`channel ${n}`, people));
  await world.close();
  await writeHistory(database, {
    realmId: world.realmId,
    count: messages,
    readBy: [people[0]!.id],
    originOf: (n) => ({
      channelId: channelIds[n % 2 === 0 ? 0 : 1 + (((n - 1) / 2) % (ARCHIVE_CHANNELS - 1))]!,
      topic: `topic ${(n * 7) % ARCHIVE_TOPICS}`,
      senderId: people[(n * 5) % people.length]!.id,
    }),
  });
  return { owner, reader: people[0]!, newcomer: people[1]!, channelIds, messages };
}

export interface Backlog {
  readonly reader: Person;
  readonly unread: number;
}

/** Returning user who has read everything before an absence and nothing since. */
export const backlog: WorldBuilder<Backlog> = async function backlog(database, lab) {
  const world = await World.found(database);
  const [reader, ...writers] = await world.addPeople(12);
  const channelIds: ChannelId[] = [];
  for (let n = 1; n <= 20; n++) channelIds.push(await world.addChannel(`channel ${n}`, [reader!, ...writers]));
  await world.close();
  const unread = lab.size(50_000, 500);
  const originOf = (n: number) => ({
    channelId: channelIds[(n * 7) % channelIds.length]!,
    topic: `topic ${(n * 3) % 21}`,
    senderId: writers[n % writers.length]!.id,
  });
  const { realmId } = world;
  await writeHistory(database, { realmId, count: 4 * unread, readBy: [reader!.id], originOf });
  await writeHistory(database, { realmId, count: unread, readBy: [], originOf });
  return { reader: reader!, unread };
};

export interface InterleavedTopics {
  readonly realmId: RealmId;
  /** Users who have read nothing. */
  readonly readers: readonly Person[];
  readonly channelId: ChannelId;
  readonly topics: readonly string[];
  readonly messagesPerTopic: number;
}

/** Twenty interleaved conversations of a thousand messages each in one channel. */
export const interleavedTopics: WorldBuilder<InterleavedTopics> = async function interleavedTopics(database, lab) {
  const world = await World.found(database);
  const [writer, ...readers] = await world.addPeople(1 + lab.size(120, 2));
  const channelId = await world.addChannel('busy', [writer!, ...readers]);
  await world.close();
  const topics = Array.from({ length: 20 }, (_, n) => `topic ${n}`);
  const messagesPerTopic = lab.size(1000, 50);
  await writeHistory(database, {
    realmId: world.realmId,
    count: topics.length * messagesPerTopic,
    readBy: [],
    originOf: (n) => ({ channelId, topic: topics[n % topics.length]!, senderId: writer!.id }),
  });
  return { realmId: world.realmId, readers, channelId, topics, messagesPerTopic };
};

export interface BrowsedOrganization {
  readonly realmId: RealmId;
  readonly reader: BrowserUser & Person;
  /** Sends the messages of a day. */
  readonly writer: Person;
  /** Channel with all users and many messages in each topic, all of them read. */
  readonly busy: ChannelId;
  readonly topics: readonly string[];
}

/** Ten thousand users, five thousand channels and a million messages, which the reader has read. */
export const browsedOrganization: WorldBuilder<BrowsedOrganization> = async function browsedOrganization(
  database,
  lab,
) {
  const world = await World.found(database);
  const password = 'the reader of the bench';
  const owner = await world.addReader(password);
  const people = await world.addPeople(lab.size(10_000, 20));
  const busy = await world.addChannel('busy', [owner, ...people]);
  const numbers = Array.from({ length: lab.size(5000, 10) - 1 }, (_, n) => n + 1);
  // The reader subscribes to every tenth channel.
  const others = await inTurns(numbers, (n) =>
    world.addChannel(`channel ${n}`, n % 10 === 0 ? [people[0]!, owner] : [people[0]!]),
  );
  const channelIds = [busy, ...others];
  await world.close();
  const { realmId } = world;
  const topics = Array.from({ length: ARCHIVE_TOPICS }, (_, n) => `topic ${n}`);
  await writeHistory(database, {
    realmId,
    count: lab.size(1_000_000, 5000),
    readBy: [owner.id],
    originOf: (n) => ({
      channelId: n % 2 === 0 ? busy : channelIds[(n * 7) % channelIds.length]!,
      topic: topics[(n >> 1) % topics.length]!,
      senderId: people[(n * 5) % people.length]!.id,
    }),
  });
  return { realmId, reader: { ...owner, password }, writer: people[1]!, busy, topics };
};

/** Demo organization as created by `npm start`. */
export const demo: WorldBuilder<null> = async function demo(database) {
  const server = await ParleyServer.start(database, ['--demo']);
  await server.stop();
  return null;
};
