import { topicKey } from '@parley/domain/channels';
import type { Repositories } from '@parley/domain/kernel';
import { CHANNELS, EVERYBODY, type Narrow, type Person, TOPICS } from './history.js';
import { describe, resolve } from './narrows.js';
import { recipientOf, sentIds, type World } from './world.js';

/** Results of a storage, by a description of the query. */
export type Answers = Map<string, unknown>;

const ALL = 1000;
const EVERYTHING: Narrow = { scope: 'own', terms: [] };

export function answersOf(world: World, narrows: readonly Narrow[]): Promise<Answers> {
  return world.fixture.uow.read(world.fixture.realm.id, async (repositories) => {
    const answers: Answers = new Map();
    await askAboutMessages(world, repositories, answers);
    for (const name of EVERYBODY) {
      await askPerson(world, repositories, name, answers);
      for (const narrow of [EVERYTHING, ...narrows]) await askNarrow(world, repositories, name, narrow, answers);
    }
    return answers;
  });
}

async function askAboutMessages(world: World, r: Repositories, answers: Answers): Promise<void> {
  const { realm, users } = world.fixture;
  const ids = sentIds(world);
  const userIds = [...users.values()].map(({ id }) => id);
  answers.set('messages', await r.messages.list(realm.id, ids));
  for (const [id, holders] of await r.personal.filterHolders(realm.id, ids, userIds)) {
    answers.set(`holders of ${id}`, holders);
  }
  answers.set('flags of everybody', await r.personal.listFlagsOf(realm.id, userIds, ids));
  for (const name of CHANNELS) {
    const recipientId = recipientOf(world, name);
    answers.set(`topics of ${name}`, await r.topics.listTopics(realm.id, recipientId));
    const newest = await r.topics.listNewestInTopics(realm.id, recipientId, TOPICS.map(topicKey));
    answers.set(`newest in topics of ${name}`, [...newest].sort());
    for (const topic of TOPICS) {
      const key = topicKey(topic);
      answers.set(`senders of ${name}/${topic}`, await r.topics.listTopicSenders(realm.id, recipientId, key));
    }
  }
}

async function askPerson(world: World, r: Repositories, name: Person, answers: Answers): Promise<void> {
  const viewer = world.fixture.viewer(name);
  const ids = sentIds(world);
  const isActive = (await r.users.find(viewer.realmId, viewer.userId))!.isActive;
  const flags = await r.personal.listFlags(viewer, ids);
  for (const id of ids) answers.set(`flags of ${id} for ${name}`, flags.get(id) ?? null);
  answers.set(`heads for ${name}`, await r.pages.listEntries(viewer, ids));
  answers.set(`starred by ${name}`, await r.personal.listStarred(viewer));
  answers.set(`newest of ${name}`, await r.personal.newestId(viewer));
  // Deactivated users are never queried.
  if (isActive)
    answers.set(`former channels of ${name}`, await r.personal.listUnsubscribedChannelIdsWithMessages(viewer));
  const spans = await r.personal.listSubscribedSpans(viewer);
  answers.set(
    `spans of ${name}`,
    [...spans].sort((a, b) => a.channelId - b.channelId || a.fromSeq - b.fromSeq),
  );
  answers.set(`conversations of ${name}`, await r.recipients.listRecentDirect(viewer.realmId, viewer.userId, ALL));
  for (const channel of CHANNELS) {
    const topics = await r.topics.listOwnTopics(viewer, recipientOf(world, channel));
    answers.set(`topics of ${channel} for ${name}`, topics);
    const keys = TOPICS.map(topicKey);
    const newest = await r.topics.listNewestOwnInTopics(viewer, recipientOf(world, channel), keys);
    answers.set(`newest in topics of ${channel} for ${name}`, [...newest].sort());
  }
}

async function askNarrow(world: World, r: Repositories, name: Person, narrow: Narrow, answers: Answers): Promise<void> {
  const viewer = world.fixture.viewer(name);
  const filter = await resolve(world, r, narrow);
  const where = `for ${name} ${describe(narrow)}`;
  const ids = sentIds(world);
  const middle = ids[Math.floor(ids.length / 2)] ?? 0;
  const upTo = async (atMost: number | null, limit: number) =>
    answers.set(
      `newest ${limit} up to ${atMost} ${where}`,
      await r.pages.listEntriesUpTo(viewer, filter, atMost, limit),
    );
  const from = async (atLeast: number, limit: number) =>
    answers.set(
      `oldest ${limit} from ${atLeast} ${where}`,
      await r.pages.listEntriesFrom(viewer, filter, atLeast, limit),
    );
  await upTo(null, ALL);
  await upTo(null, 2);
  await upTo(middle, 3);
  await from(0, ALL);
  await from(middle, 3);
  const among = ids.filter((_, index) => index % 2 === 0);
  answers.set(`every second one ${where}`, await r.pages.listEntries(viewer, among, filter.conditions));
  answers.set(`unread ${where}`, await r.personal.listUnread(viewer, ALL, filter));
  answers.set(`newest 2 unread ${where}`, await r.personal.listUnread(viewer, 2, filter));
  answers.set(`unread of ${name} by conversation`, await r.personal.overviewUnread(viewer, ALL));
  answers.set(`newest 3 unread of ${name} by conversation`, await r.personal.overviewUnread(viewer, 3));
  answers.set(`first unread ${where}`, await r.personal.findFirstUnread(viewer, filter));
}
