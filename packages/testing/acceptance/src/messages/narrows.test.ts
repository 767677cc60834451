import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { type ServerSnapshot, TestServer, type TestUser } from '../testing/test-server.js';

let server: TestServer;
let people: TestServer['people'];
/** Message ids by content. */
let ids: Map<string, number>;

/** Initial data: Hamlet and Cordelia subscribe to `general`; only Desdemona subscribes to `elsewhere`. */
let scene: ServerSnapshot;

/** Most tests only read, from one server. */
beforeAll(async () => {
  server = await TestServer.start();
  ({ people } = server);
  ids = new Map();
  const { hamlet, cordelia, desdemona } = people;
  await server.createChannel('general', [hamlet, cordelia]);
  await server.createChannel('elsewhere', [desdemona]);
  await server.createChannel('secret', [desdemona], { invite_only: true });
  await send(cordelia, 'general', 'lunch', 'soup');
  await send(cordelia, 'general', '✔ lunch', 'eaten');
  await send(cordelia, 'general', 'links', 'see https://example.com/');
  await send(cordelia, 'general', 'lunch', '@**King Hamlet** come');
  await send(cordelia, 'general', 'lunch', '@**all** come');
  await send(hamlet, 'general', 'lunch', 'coming');
  await send(desdemona, 'elsewhere', 'news', 'far away');
  await send(cordelia, [hamlet], '', 'psst');
  await send(hamlet, [cordelia, desdemona], '', 'we three');
  scene = await server.closeAsSnapshot();
  server = await TestServer.start({ snapshot: scene });
});
afterAll(() => server.close());

async function send(as: TestUser, to: string | readonly TestUser[], topic: string, content: string): Promise<void> {
  ids.set(content, await server.sendMessage(as, to, { topic, content, read_by_sender: true }));
}
const newest = { anchor: 'newest', num_before: 100, num_after: 0 };
const get = (narrow: readonly unknown[], more: object = newest, as = people.hamlet) =>
  server.get('/messages', as, { narrow, ...more });
/** Returns the contents of test messages in a narrow. */
async function said(narrow: readonly unknown[], more: object = newest, as = people.hamlet): Promise<string[]> {
  const { messages } = fieldsOf(await get(narrow, more, as)) as Wire;
  const names = new Map([...ids].map(([content, id]) => [id, content]));
  return messages.flatMap(({ id }: Wire) => names.get(id) ?? []);
}
const not = (operator: string, operand: unknown) => ({ operator, operand, negated: true });

const LUNCH = ['soup', '@**King Hamlet** come', '@**all** come', 'coming'];
const GENERAL = ['soup', 'eaten', 'see https://example.com/', '@**King Hamlet** come', '@**all** come', 'coming'];

describe('message narrow (messages §7.2, §7.3)', () => {
  it.each<[string, () => readonly unknown[], readonly string[]]>([
    ['all public channels, received or not', () => [['channels', 'public']], [...GENERAL, 'far away']],
    ['the same messages by the older operator name', () => [['streams', 'public']], [...GENERAL, 'far away']],
    ['web-public channels', () => [['channels', 'web-public']], []],
    ['none of the public channels', () => [not('channels', 'public')], ['psst', 'we three']],
    ['conversations with a user', () => [['dm-including', 'desdemona@zulip.com']], ['we three']],
    [
      'conversations with a user by id',
      () => [{ operator: 'dm-including', operand: people.cordelia.id }],
      ['psst', 'we three'],
    ],
    ['all direct messages', () => [{ operator: 'dm-including', operand: people.hamlet.id }], ['psst', 'we three']],
    ['group conversations', () => [{ operator: 'group-pm-with', operand: people.cordelia.id }], ['we three']],
    ['direct messages', () => [['is', 'dm']], ['psst', 'we three']],
    ['direct messages by the older operator name', () => [['is', 'private']], ['psst', 'we three']],
    ['no direct messages', () => [not('is', 'dm')], GENERAL],
    [
      'unread messages',
      () => [
        ['is', 'unread'],
        ['topic', 'lunch'],
      ],
      LUNCH.slice(0, 3),
    ],
    ['read messages', () => [not('is', 'unread')], ['coming', 'we three']],
    ['mentions including wildcards', () => [['is', 'mentioned']], ['@**King Hamlet** come', '@**all** come']],
    ['no mentions', () => [not('is', 'mentioned'), ['topic', 'lunch']], ['soup', 'coming']],
    ['messages with alert words', () => [['is', 'alerted']], []],
    ['resolved topics', () => [['is', 'resolved']], ['eaten']],
    [
      'resolved topics of a channel',
      () => [
        ['channel', 'elsewhere'],
        ['is', 'resolved'],
      ],
      [],
    ],
    [
      'unresolved topics',
      () => [['channel', 'general'], not('is', 'resolved')],
      GENERAL.filter((one) => one !== 'eaten'),
    ],
    ['links', () => [['has', 'link']], ['see https://example.com/']],
    ['images', () => [['has', 'image']], []],
    ['attachments', () => [['has', 'attachment']], []],
    ['everything', () => [['in', 'all']], [...GENERAL, 'psst', 'we three']],
    [
      'everything but what is muted, of which there is nothing',
      () => [['in', 'home']],
      [...GENERAL, 'psst', 'we three'],
    ],
    ['muted messages without a match', () => [['is', 'muted']], []],
    ['received messages for a personal term', () => [['channels', 'public'], not('is', 'starred')], GENERAL],
  ])('returns %s', async (_, narrow, expected) => {
    expect(await said(narrow())).toEqual(expected);
    const messageIds = [...ids.values()];
    // Messages requested by id need not be received.
    const readable = await said(narrow(), { message_ids: messageIds });
    expect(readable.filter((content) => content !== 'far away')).toEqual(expected.filter((one) => one !== 'far away'));
  });
});

describe('message narrow after a change (messages §7.2, §7.3)', () => {
  let forReading: TestServer;
  beforeEach(async () => {
    forReading = server;
    server = await TestServer.start({ snapshot: scene });
  });
  afterEach(async () => {
    await server.close();
    server = forReading;
  });

  it('finds only messages that the caller starred', async () => {
    const messages = [ids.get('soup'), ids.get('far away')];
    fieldsOf(await server.post('/messages/flags', people.hamlet, { messages, op: 'add', flag: 'starred' }));
    expect(await said([['is', 'starred']])).toEqual(['soup', 'far away']);
    expect(
      await said([
        ['is', 'starred'],
        ['channel', 'general'],
      ]),
    ).toEqual(['soup']);
    expect(await said([['is', 'starred']], newest, people.cordelia)).toEqual([]);
    const { anchor } = fieldsOf(await get([['is', 'starred']], { ...newest, anchor: 'first_unread' })) as Wire;
    expect(anchor).toBe(ids.get('soup'));
  });

  it('highlights matches', async () => {
    const params = { ...newest, narrow: [['has', 'link']], op: 'add', flag: 'read' };
    const { processed_count, updated_count } = fieldsOf(
      await server.post('/messages/flags/narrow', people.hamlet, params),
    ) as Wire;
    expect([processed_count, updated_count]).toEqual([1, 1]);
    expect(
      await said([
        ['is', 'unread'],
        ['has', 'link'],
      ]),
    ).toEqual([]);
  });

  it('hides private channels, and from guests also public channels without a subscription', async () => {
    await send(people.desdemona, 'secret', 'x', 'hush');
    expect(await said([['channels', 'public']], newest, people.polonius)).toEqual([]);
    expect(await said([['channels', 'public']])).not.toContain('hush');
    expect(
      await said([{ operator: 'with', operand: ids.get('hush') }, ['channel', 'general'], ['topic', 'lunch']]),
    ).toEqual(LUNCH);
  });
});

describe('`with` operator (messages §7.5)', () => {
  it('finds the conversation of a message', async () => {
    expect(await said([{ operator: 'with', operand: ids.get('soup') }])).toEqual(LUNCH);
    expect(
      await said([
        ['with', String(ids.get('soup'))],
        ['channel', 'elsewhere'],
        ['topic', 'x'],
      ]),
    ).toEqual(LUNCH);
    expect(await said([{ operator: 'with', operand: ids.get('psst') }])).toEqual(['psst']);
  });

  it('rejects the operator outside of message pages', async () => {
    const params = { ...newest, narrow: [['with', '1']], op: 'add', flag: 'read' };
    expectRefusal(
      await server.post('/messages/flags/narrow', people.hamlet, params),
      'Invalid narrow operator: unknown operator with',
      { code: 'BAD_NARROW', desc: 'unknown operator with' },
    );
  });

  it('rejects an invalid operand before the page size', async () => {
    const reply = await get([['with', '99999999']], { ...newest, num_before: 6000 });
    expectRefusal(reply, "Invalid narrow operator: Invalid 'with' operator", {
      code: 'BAD_NARROW',
      desc: "Invalid 'with' operator",
    });
    expectRefusal(
      await get([
        ['with', '1'],
        ['with', '1'],
      ]),
      "Invalid narrow operator combination: Duplicate 'with' operators.",
      { code: 'BAD_NARROW', desc: "Duplicate 'with' operators." },
    );
  });
});

it.each<[readonly unknown[], string]>([
  [[['channels', 'private']], 'unknown channels operand private'],
  [[['is', 'dull']], "unknown 'is' operand dull"],
  [[['has', 'links']], "unknown 'has' operand links"],
  [[['in', 'office']], "unknown 'in' operand office"],
  [[{ operator: 'dm-including', operand: 99999999 }], 'unknown user 99999999'],
  [[['group-pm-with', 'nobody@zulip.com']], 'unknown user nobody@zulip.com'],
  [[['dm_including', 'x']], 'unknown operator dm_including'],
  [
    [
      ['is', 'dm'],
      ['channels', 'public'],
    ],
    'No message can be both a channel message and direct message',
  ],
  [[not('is', 'dm'), { operator: 'dm', operand: [] }], 'No message can be both a channel message and direct message'],
])('narrow rejects %j', async (narrow, desc) => {
  expectRefusal(await get(narrow), `Invalid narrow operator: ${desc}`, { code: 'BAD_NARROW', desc });
  expectRefusal(
    await server.post('/messages/flags/narrow', people.hamlet, { ...newest, narrow, op: 'add', flag: 'read' }),
    `Invalid narrow operator: ${desc}`,
    { code: 'BAD_NARROW', desc },
  );
});
