import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

// biome-ignore lint/suspicious/noExplicitAny: wire forms, told apart by assertions.
type Wire = any;

let server: TestServer;
let people: TestServer['people'];
/** In the web-public channel `museum`. */
let shown: number;
let other: number;
/** In a public one. */
let hidden: number;

beforeAll(async () => {
  server = await TestServer.start();
  ({ people } = server);
  const { hamlet } = people;
  await allow(true);
  await server.createChannel('museum', [hamlet], { is_web_public: true });
  await server.createChannel('general', [hamlet]);
  shown = await say('museum', 'old paintings');
  other = await say('museum', 'statues', '✔ halls');
  hidden = await say('general', 'old plans');
  fieldsOf(await server.post('/messages/flags', hamlet, { messages: [shown], op: 'add', flag: 'starred' }));
});
afterAll(() => server.close());

const allow = async (enable_spectator_access: boolean) =>
  fieldsOf(await server.patch('/realm', people.desdemona, { enable_spectator_access }));
const say = (to: string, content: string, topic = 'halls', as: TestUser = people.hamlet) =>
  server.sendMessage(as, to, { topic, content });
const WEB_PUBLIC = ['channels', 'web-public'];
const page = (narrow: readonly unknown[], range: object = { anchor: 'newest', num_before: 10, num_after: 0 }) =>
  server.get('//json/messages', null, { narrow, ...range });
const idsOn = async (...args: Parameters<typeof page>) =>
  (fieldsOf(await page(...args)) as Wire).messages.map(({ id }: Wire) => id).filter((id: number) => id >= shown);
const expectUnauthorized = (reply: Awaited<ReturnType<typeof page>>) =>
  expectRefusal(reply, 'Not logged in: API authentication or user session required', {
    status: 401,
    code: 'UNAUTHORIZED',
  });

describe('without logging in (protocol §9)', () => {
  it('reads pages of web-public channels, and nothing of anybody', async () => {
    expect(await idsOn([WEB_PUBLIC])).toEqual([shown, other]);
    expect(
      await idsOn([
        ['streams', 'web-public'],
        ['channel', 'museum'],
        ['topic', 'halls'],
      ]),
    ).toEqual([shown]);
    expect(await idsOn([WEB_PUBLIC, ['channel', 'general']])).toEqual([]);
    expect(await idsOn([WEB_PUBLIC, ['is', 'resolved']])).toEqual([other]);
    expect(await idsOn([WEB_PUBLIC, ['sender', 'hamlet@zulip.com'], ['near', '1']])).toEqual([shown, other]);
    expect(await idsOn([WEB_PUBLIC, ['with', String(other)]])).toEqual([other]);
    expect(await idsOn([WEB_PUBLIC], { message_ids: [shown, hidden] })).toEqual([shown]);
    const { anchor } = fieldsOf(
      await page([WEB_PUBLIC], { anchor: 'first_unread', num_before: 1, num_after: 1 }),
    ) as Wire;
    expect(anchor).toBe(10 ** 16);
    const { messages } = fieldsOf(await page([WEB_PUBLIC, ['search', 'old']])) as Wire;
    expect(messages).toEqual([
      expect.objectContaining({
        id: shown,
        flags: ['read'],
        content: '<p>old paintings</p>',
        match_content: '<p><span class="highlight">old</span> paintings</p>',
      }),
    ]);
  });

  it.each([
    [[]],
    [[['channel', 'museum']]],
    [[{ operator: 'channels', operand: 'web-public', negated: true }]],
    [[WEB_PUBLIC, ['is', 'starred']]],
    [[WEB_PUBLIC, ['in', 'home']]],
    [[WEB_PUBLIC, { operator: 'dm', operand: [1], negated: true }]],
  ])('refuses the narrow %j', async (narrow) => {
    expectUnauthorized(await page(narrow));
  });

  it('reads one message of such a channel', async () => {
    const read = (id: number) => server.get(`//json/messages/${id}`, null);
    const { message, raw_content } = fieldsOf(await read(shown)) as Wire;
    expect(message).toMatchObject({ id: shown, flags: ['read'], sender_email: 'hamlet@zulip.com' });
    expect(raw_content).toBe('old paintings');
    for (const id of [hidden, 99999999]) expectRefusal(await read(id), 'Invalid message(s)');
  });

  it('reads nothing by the API itself', async () => {
    expectUnauthorized(await server.get('/messages', null, { narrow: [WEB_PUBLIC], anchor: 'newest' }));
    expectUnauthorized(await server.get(`/messages/${shown}`, null));
  });

  it('reads nothing where the organization does not want it, or has nothing to read', async () => {
    await allow(false);
    expectUnauthorized(await page([WEB_PUBLIC]));
    expectUnauthorized(await server.get(`//json/messages/${shown}`, null));
    await allow(true);
    await server.addRealm('bare');
    expectUnauthorized(await server.request('GET', `//json/messages/${shown}`, { realm: 'bare' }));
  });
});
