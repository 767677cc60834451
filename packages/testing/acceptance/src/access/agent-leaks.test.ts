import type { Repositories } from '@parley/domain/kernel';
import { type Agent, contextOf, ownerOf, startAgent, textsIn } from '../testing/agent.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { imageFile, postFiles } from '../testing/multipart.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestReply } from '../testing/test-reply.js';
import type { TestUser } from '../testing/test-server.js';

const { server, people } = organizationPerTest({ hasRateLimits: true });
let bot: TestUser;
let room: number;
let general: number;
/** Private channel of which Cordelia, who reads the room, knows nothing. */
let board: number;
let agent: Agent;
beforeEach(async () => {
  const { desdemona, hamlet, cordelia, iago } = people;
  bot = await server.addBot(desdemona, 'helper');
  room = await server.createChannel('room', [hamlet, cordelia, bot], PRIVATE, hamlet);
  general = await server.createChannel('general', [iago, bot], {}, iago);
  board = await server.createChannel('board', [hamlet, iago, bot], PRIVATE, iago);
  await server.sendMessage(hamlet, room, { content: 'alpha in the room' });
  await server.sendMessage(iago, general, { content: 'alpha for everybody' });
  agent = await startAgent(server, bot);
});

const PRIVATE = { invite_only: true, history_public_to_subscribers: true };

const seen = ({ status, body }: TestReply) => ({ status, body });

/** Sends a message as the agent, and returns its text as the readers see it. */
async function said(content: string): Promise<string> {
  const { id } = fieldsOf(await agent.say(room, content));
  return (fieldsOf(await server.get(`/messages/${id}`, people.hamlet)).message as Wire).content;
}

const search = (operand: string) => agent.read('new', { narrow: [{ operator: 'search', operand }] }).then(seen);
const ask = (method: string, path: string, params = {}) => agent.request(method, path, params, 'new').then(seen);
const secret = (content: string) => server.sendMessage(people.iago, board, { content, topic: 'secret topic' });

/** Hidden changes, and requests of the agent whose replies are equal before and after them. */
const UNCHANGED: readonly (readonly [leak: string, ask: () => Promise<unknown>, plant: () => Promise<unknown>])[] = [
  [
    'the rendered name of a channel',
    () => said('#**cellar** #**cellar>secret topic** #**board>secret topic**'),
    async () => {
      await server.createChannel('cellar', [people.hamlet, bot], PRIVATE, people.hamlet);
      await secret('x');
    },
  ],
  [
    'the rendered name of a person who is no reader',
    () => said('@**Newcomer** @_**Newcomer**'),
    () => server.addUser({ email: 'newcomer@zulip.com', fullName: 'Newcomer' }),
  ],
  [
    'the rendered name and the members of a group',
    async () => [await said('@*crew* @_*crew*'), await ask('GET', '/user_groups')],
    () => server.post('/user_groups/create', people.iago, { name: 'crew', description: '', members: [people.iago.id] }),
  ],
  [
    'subscriber_count and weekly traffic',
    () => ask('GET', '/streams'),
    async () => {
      const channel = { subscriptions: [{ name: 'general' }], principals: [people.shiva.id] };
      fieldsOf(await server.post('/users/me/subscriptions', people.iago, channel));
      await secret('x');
    },
  ],
  [
    'found_oldest and found_newest',
    async () => [
      seen(await agent.read('new', { anchor: 'oldest', num_before: 0, num_after: 2 })),
      seen(await agent.read('new', { num_before: 2 })),
    ],
    () => secret('x'),
  ],
  ['the results of a search', () => search('alpha'), () => secret('alpha')],
  ['proposals for a misspelled word', () => search('secrit'), () => secret('secret')],
  ['topics of a hidden channel', () => ask('GET', `/users/me/${board}/topics`), () => secret('x')],
  ['max_message_id', () => ask('POST', '/register'), () => secret('x')],
  ['a waiting poll', () => ask('GET', '/events', { queue_id: 'x', last_event_id: -1 }), () => secret('x')],
  ['typing', () => ask('POST', '/typing', { op: 'start', to: [people.iago.id] }), () => secret('x')],
  [
    'presence',
    async () => [await ask('GET', `/users/${people.iago.id}/presence`), await ask('GET', '/realm/presence')],
    () => server.post('/users/me/presence', people.iago, { status: 'active' }),
  ],
  ['flags', () => ask('GET', '/messages', { anchor: 'first_unread', num_before: 9, num_after: 9 }), () => secret('x')],
];

it.each(UNCHANGED)('an agent does not see %s', async (_leak, request, plant) => {
  const before = await request();
  await plant();
  expect(await request()).toEqual(before);
});

it('an agent sees no files, edits, emails and flags that its readers do not see', async () => {
  const { hamlet, iago } = people;
  fieldsOf(await server.patch('/settings', iago, { email_address_visibility: 5 }));
  const moved = await secret('was secret');
  const place = { stream_id: general, topic: 'open', propagate_mode: 'change_one' };
  const notices = { send_notification_to_old_thread: false, send_notification_to_new_thread: false };
  fieldsOf(await server.patch(`/messages/${moved}`, iago, { ...place, ...notices }));
  const mention = await server.sendMessage(hamlet, room, { content: '@**helper**' });
  fieldsOf(await server.post('/messages/flags', hamlet, { messages: [mention], op: 'add', flag: 'starred' }));
  const page = await agent.read();
  expect(textsIn(page)).toContain('was secret');
  const replies = [page, await agent.request('GET', `/messages/${moved}`), await agent.request('GET', '/streams')];
  const text = JSON.stringify(replies.map(({ body }) => body));
  expect(text).not.toMatch(/edit_history|secret topic|iago@zulip\.com|"flags":\["(?!read"\])/);

  const { url } = fieldsOf(await postFiles(server, '/user_uploads', hamlet, [imageFile()]));
  const unknown = String(url).replace(/[^/]+\/[^/]+$/, 'aa/unknown.png');
  expect(seen(await agent.request('GET', `/${url}`))).toEqual(seen(await agent.request('GET', `/${unknown}`)));
  expect(await said(`[file](${url})`)).not.toContain('<img');
});

it('an agent gets the same errors for hidden and for unknown objects', async () => {
  const hidden = await secret('x');
  const unknown = 4_000_000;
  const narrow = (operator: string, operand: unknown) => ({ narrow: [{ operator, operand }] });
  const requests: readonly ((message: number, channel: number) => Promise<TestReply>)[] = [
    (message) => agent.request('GET', `/messages/${message}`),
    (message) => agent.request('PATCH', `/messages/${message}`, { content: 'x' }, 'new'),
    (message) => agent.request('GET', '/messages/matches_narrow', { msg_ids: [message], narrow: [] }),
    (message) => agent.read('new', narrow('id', message)),
    (message) => agent.read('new', narrow('with', message)),
    (message) => agent.request('DELETE', `/messages/${message}`),
    (_, channel) => agent.request('GET', `/users/me/${channel}/topics`),
    (_, channel) => agent.read('new', narrow('channel', channel)),
    (_, channel) => agent.say(channel, 'x'),
  ];
  const bodyOf = async (reply: Promise<TestReply>) =>
    JSON.stringify(seen(await reply))
      .replaceAll(/\b4000000\b/g, 'id')
      .replaceAll(new RegExp(`\\b(${hidden}|${board})\\b`, 'g'), 'id');
  for (const request of requests) {
    expect(await bodyOf(request(hidden, board))).toEqual(await bodyOf(request(unknown, unknown)));
  }
});

it('an agent cannot quote a message that moved out of the sight of a reader', async () => {
  const id = await server.sendMessage(people.iago, general, { content: 'moves away' });
  const context = contextOf(await agent.read());
  const place = { stream_id: board, propagate_mode: 'change_one' };
  fieldsOf(await server.patch(`/messages/${id}`, people.iago, place));
  expect(await agent.say(room, '```quote\nmoves away\n```', context)).toMatchObject({
    body: { code: 'AUDIENCE_GREW' },
  });
  expect(textsIn(await agent.read('new'))).not.toContain('moves away');
});

it('an agent gets no cached page after a reader with fewer rights joined', async () => {
  expect(textsIn(await agent.read())).toContain('alpha for everybody');
  const channel = { subscriptions: [{ name: 'room' }], principals: [people.polonius.id] };
  fieldsOf(await server.post('/users/me/subscriptions', people.hamlet, channel));
  expect(textsIn(await agent.read())).toEqual(['alpha in the room']);
});

it('rate-limit headers count the calls of one token', async () => {
  const remaining = async () => Number((await agent.read()).headers['x-ratelimit-remaining']);
  const before = await remaining();
  const other = await startAgent(server, bot, { conversations: [{ channel: 'board' }] });
  await other.read();
  await other.read();
  expect(await remaining()).toBe(before - 1);
});

it("pictures, pages and files of an agent's message are not fetched", async () => {
  const settings = { inlineUrlEmbedPreview: true, inlineImagePreview: true };
  await server.changeRealm({ settings });
  const content = 'https://example.com/?data=1 https://example.com/a.png ![x](https://example.com/b.png)';
  const rendered = await said(content);
  expect(rendered).toContain('href="https://example.com/a.png"');
  expect(rendered).not.toMatch(/<img|external_content|message_embed/);
  const count = ({ jobs }: Repositories) => jobs.countWaiting(server.realmId, 'messages.preview_links');
  expect(await server.storage.uow.read(server.realmId, count)).toBe(0);
});

it('mentions of people who do not read a private channel stay text', async () => {
  const rendered = await said("@**Iago** @**Cordelia, Lear's daughter** @**all**");
  expect(rendered).toContain(`data-user-id="${people.cordelia.id}"`);
  expect(rendered).not.toContain(`data-user-id="${people.iago.id}"`);
});

it('contexts end with their token and its bot', async () => {
  const contexts = () =>
    server.storage.uow.read(server.realmId, (r) => r.readContexts.list(server.realmId, bot.id as never));
  await agent.read();
  const other = await startAgent(server, bot, { conversations: [{ channel: 'board' }] });
  await other.read();
  await server.parley.tokens.revoke(ownerOf(server, bot), agent.id);
  expect(await contexts()).toMatchObject([{ tokenId: other.id }]);
  fieldsOf(await server.delete(`/bots/${bot.id}`, people.desdemona));
  expect(await contexts()).toEqual([]);
});
