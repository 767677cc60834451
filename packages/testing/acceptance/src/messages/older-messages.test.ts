import type { UnixSeconds } from '@parley/domain/kernel';
import { SendMessage } from '@parley/domain/writing';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const DAY = 86_400;
let ann: TestUser;
const { server } = serverPerTest();
beforeEach(() => {
  ann = server.people.iago;
});

async function send(content: string, daysAgo?: number): Promise<void> {
  const sentAt = daysAgo === undefined ? {} : { sentAt: (server.clock.now() - daysAgo * DAY) as UnixSeconds };
  await server.parley
    .useCase(SendMessage)
    .execute(
      { realmId: server.realmId, userId: ann.id, clientName: 'test' },
      { to: { kind: 'userIds', ids: [ann.id] }, topic: null, content, isReadBySender: true, echo: null, ...sentAt },
    );
}

/** Returns the messages after the day that was so many days ago. */
async function after(days: number): Promise<readonly string[]> {
  const day = new Date((server.clock.now() - days * DAY) * 1000).toISOString().slice(0, 10);
  const narrow = [{ operator: 'after', operand: day }];
  const params = { anchor: 'newest', num_before: 100, num_after: 0, narrow };
  const found = fieldsOf(await server.request('GET', '/messages', { as: ann, params })) as Wire;
  return found.messages.map(({ content }: Wire) => content.replace(/<[^>]*>/g, ''));
}

it('searches by time find messages that an application sent with a time in the past', async () => {
  await send('today');
  for (const days of [30, 20, 10]) await send(`${days} days ago`, days);
  await send('also today');
  await send('25 days ago', 25);
  await send('still today');
  expect(await after(2)).toEqual(['today', 'also today', 'still today']);
  expect(await after(15)).toEqual(['today', '10 days ago', 'also today', 'still today']);
  expect(await after(27)).toEqual(['today', '20 days ago', '10 days ago', 'also today', '25 days ago', 'still today']);
});

it('ignores a time and an external id in requests', async () => {
  const params = {
    type: 'direct',
    to: [ann.id],
    content: 'hi',
    sent_at: 5,
    sentAt: 5,
    external_id: 'a',
    externalId: 'a',
  };
  const ids = [];
  for (let n = 0; n < 2; n++)
    ids.push((fieldsOf(await server.request('POST', '/messages', { as: ann, params })) as Wire).id);
  expect(ids[0]).not.toBe(ids[1]);
  const { message } = fieldsOf(await server.request('GET', `/messages/${ids[0]}`, { as: ann })) as Wire;
  expect(message.timestamp).toBe(server.clock.now());
});
