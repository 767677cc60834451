import { PurgeArchive } from '@parley/domain/messages';
import { fieldsOf, type Wire } from './testing/expectations.js';
import { TestServer } from './testing/test-server.js';
import { isOnPostgres } from './testing/test-storage.js';

let server: TestServer;
let people: TestServer['people'];
let town: number;

beforeEach(async () => {
  server = await TestServer.start();
  ({ people } = server);
  town = await server.createChannel('town', [people.hamlet, people.iago]);
});
afterEach(() => server.close());

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

(isOnPostgres ? describe.skip : describe)('the SQLite file', () => {
  it('contains no deleted word after the server has stopped', async () => {
    await deleteMessage();
    await passDay();
    const contents = server.storage.keepContents();
    await server.close();
    expect((await contents).toString('latin1').match(REST)).toBeNull();
  });
});
