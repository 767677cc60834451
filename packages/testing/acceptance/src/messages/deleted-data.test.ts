import type { EventSeq, StoredEvent } from '@parley/domain/kernel';
import { DeliverWebhooks } from '@parley/domain/membership';
import { FindDue, SendMissedEmails } from '@parley/domain/push';
import { PurgeArchive, RemoveQuotesFromDrafts, RemoveTextFromReminders } from '@parley/domain/writing';
import { NotificationWorker } from '@parley/server/testing';
import { DrivenTime } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { postFiles } from '../testing/multipart.js';
import { serverPerTest } from '../testing/servers.js';
import { isOnPostgres } from '../testing/test-storage.js';

let town: number;

const { server, people } = serverPerTest();
beforeEach(async () => {
  town = await server.createChannel('town', [people.hamlet, people.iago]);
});

/** Words that occur nowhere else. The index stores words without a common beginning, so that only their rest is searched for. */
const CANARY = { first: 'qzvfirstjxk', edited: 'qzveditedjxk', topic: 'qzvtopicjxk' } as const;
const REST = /v(first|edited|topic)jxk/gi;
const traces = async () => [...new Set((await server.storage.stored()).match(REST) ?? [])];

const search = (word: string) =>
  server.get('/messages', people.hamlet, {
    narrow: [['search', word]],
    anchor: 'newest',
    num_before: 5,
    num_after: 0,
  });

/** Sends, edits and deletes a message between others, and its topic. */
async function deleteMessage(): Promise<void> {
  await server.sendMessage(people.hamlet, town, { content: 'before' });
  const { first, edited, topic } = CANARY;
  const id = await server.sendMessage(people.hamlet, town, { topic, content: `a ${first} word` });
  // Each search adds the terms of new messages to the index.
  expect((fieldsOf(await search(first)) as Wire).messages).toHaveLength(1);
  fieldsOf(await server.patch(`/messages/${id}`, people.hamlet, { content: `an ${edited} word` }));
  expect((fieldsOf(await search(edited)) as Wire).messages).toHaveLength(1);
  await server.sendMessage(people.hamlet, town, { content: 'after' });
  fieldsOf(await server.delete(`/messages/${id}`, people.iago));
  // Its author follows the topic until then.
  fieldsOf(await server.post(`/streams/${town}/delete_topic`, people.iago, { topic_name: topic }));
}

/** Does the work of a day. */
async function passDay(): Promise<void> {
  server.clock.advance(86_400);
  await server.sweepQueues();
  await server.parley.useCase(PurgeArchive).execute({ keepSeconds: 0 });
  await server.storage.eraseDeleted();
}

describe('a deleted message', () => {
  it('leaves no word in the database once it was purged', async () => {
    await deleteMessage();
    // Administrators can restore it until then.
    expect(await traces()).not.toEqual([]);
    await passDay();
    expect(await traces()).toEqual([]);
    expect((fieldsOf(await search('after')) as Wire).messages).toHaveLength(1);
  });

  it('leaves no word when another message is deleted after the index was merged', async () => {
    await deleteMessage();
    await passDay();
    await deleteMessage();
    await passDay();
    expect(await traces()).toEqual([]);
  });
});

describe('a message deleted before it was delivered', () => {
  /** Processes the log like the background worker. */
  async function findDue(): Promise<void> {
    const { isWanted, consume } = server.parley.useCase(FindDue);
    const { realmId, storage } = server;
    const page = await storage.uow.read(realmId, ({ events }) =>
      events.listAfter(realmId, 0 as EventSeq, 10_000, 10_000_000),
    );
    const unit = await consume(
      realmId,
      (page as readonly StoredEvent[]).filter((event) => event.event && isWanted(event)),
    );
    if (unit) await storage.uow.write(realmId, unit);
  }

  it('is neither emailed nor kept for the email', async () => {
    const id = await server.sendMessage(people.iago, [people.hamlet], { content: CANARY.first });
    await findDue();
    fieldsOf(await server.delete(`/messages/${id}`, people.iago));
    server.mailer.emails.length = 0;
    server.clock.advance(86_400);
    await runJobs(server, server.parley.useCase(SendMissedEmails));
    expect(server.mailer.emails).toEqual([]);
    await passDay();
    expect(await traces()).toEqual([]);
  });

  it('is neither passed to an outgoing webhook nor kept for it', async () => {
    // Nobody listens there, so a call would fail.
    const bot = {
      full_name: 'hook',
      short_name: 'hook',
      bot_type: 3,
      payload_url: JSON.stringify('http://127.0.0.1:9/'),
    };
    fieldsOf(await server.post('/bots', people.hamlet, bot));
    const id = await server.sendMessage(people.hamlet, town, { content: `@**hook** ${CANARY.first}` });
    fieldsOf(await server.delete(`/messages/${id}`, people.iago));
    await runJobs(server, server.parley.useCase(DeliverWebhooks));
    await passDay();
    expect(await traces()).toEqual([]);
  });

  it('leaves no word in a reminder', async () => {
    const id = await server.sendMessage(people.iago, town, { topic: CANARY.topic, content: CANARY.first });
    const due = server.clock.now() + 1_000_000;
    fieldsOf(await server.post('/reminders', people.hamlet, { message_id: id, scheduled_delivery_timestamp: due }));
    fieldsOf(await server.delete(`/messages/${id}`, people.iago));
    fieldsOf(await server.post(`/streams/${town}/delete_topic`, people.iago, { topic_name: CANARY.topic }));
    await runJobs(server, server.parley.useCase(RemoveTextFromReminders));
    await passDay();
    expect(await traces()).toEqual([]);
  });
});

it('a deleted message leaves no word in drafts that quote it', async () => {
  const id = await server.sendMessage(people.iago, town, { content: CANARY.first });
  const content = `@_**Iago** [said](#narrow/channel/${town}-town/topic/a/near/${id}):\n\`\`\`quote\n${CANARY.first}\n\`\`\``;
  const draft = { type: 'stream', to: [town], topic: 'a', content };
  const { ids } = fieldsOf(await server.post('/drafts', people.hamlet, { drafts: [draft, draft] }));
  fieldsOf(await server.patch(`/drafts/${ids[0]}`, people.hamlet, { draft: { ...draft, topic: 'b' } }));
  fieldsOf(await server.delete(`/messages/${id}`, people.iago));
  await runJobs(server, server.parley.useCase(RemoveQuotesFromDrafts));
  await passDay();
  expect(await traces()).toEqual([]);
  expect((fieldsOf(await server.get('/drafts', people.hamlet)) as Wire).drafts).toHaveLength(2);
});

it('personal data that a person deletes leave no word in the event log of a quiet organization after 25 hours', async () => {
  const { hamlet } = people;
  const { realmId, storage } = server;
  const { uow } = storage;
  const time = new DrivenTime();
  const worker = new NotificationWorker(server.parley.useCase(FindDue), uow, time, () => {});
  worker.start();
  await time.advance(1);
  // A client that reads, and one that never reads.
  const queue = await openQueue(server, hamlet);
  await openQueue(server, people.iago);
  const draft = { type: 'stream', to: [town], topic: CANARY.topic, content: CANARY.first };
  const { ids } = fieldsOf(await server.post('/drafts', hamlet, { drafts: [draft] }));
  fieldsOf(await server.delete(`/drafts/${ids[0]}`, hamlet));
  const snippet = { title: CANARY.topic, content: CANARY.edited };
  const { saved_snippet_id } = fieldsOf(await server.post('/saved_snippets', hamlet, snippet));
  fieldsOf(await server.delete(`/saved_snippets/${saved_snippet_id}`, hamlet));
  fieldsOf(await server.post('/users/me/status', hamlet, { status_text: CANARY.first }));
  fieldsOf(await server.post('/users/me/status', hamlet, { status_text: '' }));
  fieldsOf(await postFiles(server, '/user_uploads', hamlet, [{ name: `${CANARY.first}.txt`, content: 'text' }]));
  const { attachments } = fieldsOf(await server.get('/attachments', hamlet));
  fieldsOf(await server.delete(`/attachments/${attachments[0].id}`, hamlet));
  expect(await traces()).not.toEqual([]);
  worker.onEvents(
    (await uow.read(realmId, ({ events }) => events.listAfter(realmId, 0 as EventSeq, 1000))) as StoredEvent[],
  );
  for (let hour = 0; hour < 25; hour++) {
    await time.advance(3600);
    server.clock.advance(3600);
    if (hour === 0) await eventsAfter(server, queue);
    await server.sweepQueues();
  }
  await storage.eraseDeleted();
  expect(await traces()).toEqual([]);
  await worker.stop();
});

(isOnPostgres ? describe.skip : describe)('the SQLite file', () => {
  it('contains no deleted word after the server has stopped', async () => {
    await deleteMessage();
    await passDay();
    const contents = server.storage.keepContents();
    await server.close();
    expect((await contents).toString('latin1').match(REST)).toBeNull();
  });
});
