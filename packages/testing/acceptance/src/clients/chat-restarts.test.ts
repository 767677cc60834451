import { Chat, type ConversationView, MemoryCache, type Narrow, narrowKey } from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { until } from '@parley/testkit';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let hamlet: TestUser;
let iago: TestUser;
let town: number;
let cache: MemoryCache;
const running: Chat[] = [];

afterEach(() => {
  for (const chat of running.splice(0)) chat.stop();
});
const { server } = serverPerTest({ worksInBackground: true });
beforeEach(async () => {
  ({ hamlet, iago } = server.people);
  town = await server.createChannel('town', [hamlet, iago]);
  cache = new MemoryCache();
});

const clientOf = ({ email, apiKey }: TestUser, send = fetch) =>
  new ParleyClient({ url: server.url, credentials: { email, apiKey }, fetch: send, maxRetries: 0 });

const news = (): Narrow => [
  { operator: 'channel', operand: town },
  { operator: 'topic', operand: 'news' },
];

const say = (content: string, topic = 'news') => server.sendMessage(iago, town, { topic, content });

/** Saves messages without delay. */
const clock = {
  now: Date.now,
  after: (ms: number, callback: () => void) => {
    const timer = setTimeout(callback, ms === 1000 ? 0 : ms);
    return () => clearTimeout(timer);
  },
};

const rows = (chat: Chat, view: ConversationView) =>
  view.keys.value.map((key) => chat.message(key).value).map((row) => ({ ...row, key: '' }));

const texts = (chat: Chat, view: ConversationView): string =>
  rows(chat, view)
    .map(({ html }) => html)
    .join();

/** Creates a chat that opens the conversation before loading its state. */
function open(near: number | null = null) {
  const calls: string[] = [];
  const counting = (async (url, init) => {
    calls.push(`${init?.method} ${new URL(String(url)).pathname.replace('/api/v1', '')}`);
    return fetch(url, init);
  }) as typeof fetch;
  const chat = new Chat({ gateway: clientOf(hamlet, counting), cache, clock, userId: hamlet.id });
  running.push(chat);
  const view = chat.open(news(), near);
  return { chat, view, calls };
}

/** Shows the conversation once to fill the cache. Returns the chat. */
async function firstRun(): Promise<Chat> {
  const { chat, view } = open();
  void chat.run();
  await until(() => chat.isReady.value && view.newer.value === 'none' && view.older.value !== 'loading');
  await until(() => cache.has(narrowKey(view.narrow)));
  await until(async () => (await cache.loadMessages(narrowKey(view.narrow)))?.position !== undefined);
  return chat;
}

/** Opens the conversation again and compares it with a chat without a cache. */
async function restart(expected: string, near: number | null = null) {
  const next = open(near);
  await until(() => texts(next.chat, next.view) !== '');
  void next.chat.run();
  await until(() => texts(next.chat, next.view) === expected && next.view.older.value !== 'loading');
  const fresh = new Chat({ gateway: clientOf(hamlet) });
  running.push(fresh);
  void fresh.run();
  await until(() => fresh.isReady.value);
  const view = fresh.open(news());
  await until(() => texts(fresh, view) === expected);
  expect(rows(next.chat, next.view)).toEqual(rows(fresh, view));
  return next;
}

describe('cached conversation', () => {
  it('applies missed events without fetching messages', async () => {
    const edited = await say('one');
    const removed = await say('two');
    const moved = await say('three');
    (await firstRun()).stop();
    await clientOf(iago).patch('/messages/{message_id}', { message_id: edited, content: 'changed' });
    await clientOf(iago).post('/messages/{message_id}/reactions', { message_id: edited, emoji_name: 'smile' });
    await clientOf(hamlet).post('/messages/flags', { messages: [edited], op: 'add', flag: 'starred' });
    await clientOf(iago).delete('/messages/{message_id}', { message_id: removed });
    await clientOf(iago).patch('/messages/{message_id}', { message_id: moved, topic: 'elsewhere' });
    await say('four');
    const { calls } = await restart('<p>changed</p>,<p>four</p>');
    expect(calls).not.toContain('GET /messages');
    expect(calls).not.toContain('POST /register');
  });

  it('applies events that arrived after it was saved in the last run', async () => {
    const id = await say('one');
    const chat = await firstRun();
    await clientOf(iago).patch('/messages/{message_id}', { message_id: id, content: 'changed' });
    await until(() => cache.eventCount > 0);
    chat.stop();
    const { calls } = await restart('<p>changed</p>');
    expect(calls).not.toContain('GET /messages');
  });

  it('is shown as current if there are no new events', async () => {
    await say('one');
    (await firstRun()).stop();
    const { calls } = await restart('<p>one</p>');
    expect(calls.filter((call) => call.startsWith('GET /events'))).toEqual(['GET /events', 'GET /events/stream']);
    expect(calls).not.toContain('GET /messages');
  });

  it('shows messages that were moved into it', async () => {
    const moved = await say('moved', 'gossip');
    await say('one');
    (await firstRun()).stop();
    await clientOf(iago).patch('/messages/{message_id}', {
      ...{ message_id: moved, topic: 'news', send_notification_to_new_thread: false },
    });
    await restart('<p>moved</p>,<p>one</p>');
  });

  it('redirects to the topic to which it was moved completely', async () => {
    const id = await say('one');
    (await firstRun()).stop();
    await clientOf(iago).patch('/messages/{message_id}', {
      ...{ message_id: id, topic: 'olds', propagate_mode: 'change_all' },
    });
    const { chat, view } = open();
    void chat.run();
    await until(() => view.movedTo.value !== null);
    expect(view.movedTo.value).toMatchObject({ topic: 'olds' });
  });

  it('opens at the first missed message', async () => {
    await say('one');
    await clientOf(hamlet).post('/mark_all_as_read', {});
    (await firstRun()).stop();
    const missed = await say('two');
    await say('three');
    const { view, calls } = await restart('<p>one</p>,<p>two</p>,<p>three</p>');
    expect([view.anchor.value, view.firstUnread.value]).toEqual([missed, missed]);
    expect(calls).not.toContain('GET /messages');
  });

  it('opens at the message where the user left it', async () => {
    const left = await say('one');
    await say('two');
    (await firstRun()).stop();
    await say('three');
    const { view, calls } = await restart('<p>one</p>,<p>two</p>,<p>three</p>', left);
    expect(view.anchor.value).toBe(left);
    expect(calls).not.toContain('GET /messages');
  });

  it('appears immediately even without the message where the user left it', async () => {
    await say('one');
    (await firstRun()).stop();
    const { chat, view } = open(await say('two'));
    await until(() => texts(chat, view) === '<p>one</p>');
    void chat.run();
    await until(() => texts(chat, view) === '<p>one</p>,<p>two</p>');
  });

  it('shows a message as unread if marking it as read never reached the server', async () => {
    const id = await say('one');
    const chat = await firstRun();
    const key = narrowKey(news());
    const { messages, ...rest } = (await cache.loadMessages(key))!;
    chat.stop();
    await cache.saveMessages(key, { messages: messages.map((each) => ({ ...each, flags: ['read'] })), ...rest });
    const { view } = await restart('<p>one</p>');
    expect(view.firstUnread.value).toBe(id);
  });

  it('is fetched when the queue is gone', async () => {
    const id = await say('one');
    const chat = await firstRun();
    const { queueId } = (await cache.load())!.position;
    chat.stop();
    fieldsOf(await server.delete('/events', hamlet, { queue_id: queueId }));
    await clientOf(iago).patch('/messages/{message_id}', { message_id: id, content: 'changed' });
    await say('two');
    const { calls } = await restart('<p>changed</p>,<p>two</p>');
    expect(calls).toEqual(expect.arrayContaining(['POST /register', 'GET /messages']));
  });

  it('is fetched when events do not arrive in time', async () => {
    await say('one');
    (await firstRun()).stop();
    await say('two');
    const stuck = (async (url, init) =>
      String(url).includes('/events')
        ? new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal!.reason)))
        : fetch(url, init)) as typeof fetch;
    const chat = new Chat({ gateway: clientOf(hamlet, stuck), cache, userId: hamlet.id });
    running.push(chat);
    const view = chat.open(news());
    void chat.run();
    await until(() => texts(chat, view) === '<p>one</p>,<p>two</p>');
  });

  it('begins at the first unread message if it is reopened before its first page arrives', async () => {
    await say('one');
    const chat = await firstRun();
    const { queueId } = (await cache.load())!.position;
    chat.stop();
    fieldsOf(await server.delete('/events', hamlet, { queue_id: queueId }));
    const id = await say('unread', 'fresh');
    const fresh = [...news().slice(0, 1), { operator: 'topic', operand: 'fresh' }] as Narrow;
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = (async (url, init) => {
      if (String(url).includes('/messages?')) await isReleased;
      return fetch(url, init);
    }) as typeof fetch;
    const next = new Chat({ gateway: clientOf(hamlet, slow), cache, clock, userId: hamlet.id });
    running.push(next);
    const early = next.open(fresh);
    void next.run();
    await until(() => next.state.unread.destinations.has(id));
    early.close();
    const view = next.open(fresh);
    release();
    await until(() => view.firstUnread.value === id);
  });

  it('is fetched when it was saved for another queue', async () => {
    await say('one');
    const chat = await firstRun();
    const { queueId } = (await cache.load())!.position;
    const kept = (await cache.loadMessages(narrowKey(news())))!;
    fieldsOf(await server.delete('/events', hamlet, { queue_id: queueId }));
    await until(async () => (await cache.load())!.position.queueId !== queueId);
    chat.stop();
    await say('two');
    await cache.saveMessages(narrowKey(news()), kept);
    const { calls } = await restart('<p>one</p>,<p>two</p>');
    expect(calls).toContain('GET /messages');
  });

  it('is fetched when all its cached messages were deleted', async () => {
    const ids = [];
    for (let n = 0; n < 70; n++) ids.push(await say(`${n}`));
    await clientOf(hamlet).post('/mark_all_as_read', {});
    (await firstRun()).stop();
    for (const id of ids.slice(5)) await clientOf(iago).delete('/messages/{message_id}', { message_id: id });
    const { calls } = await restart('<p>0</p>,<p>1</p>,<p>2</p>,<p>3</p>,<p>4</p>');
    expect(calls).toContain('GET /messages');
  });

  it('is fetched when it opens at the newest message but another part is cached', async () => {
    const ids = [];
    for (let n = 0; n < 70; n++) ids.push(await say(`${n}`));
    await clientOf(hamlet).post('/mark_all_as_read', {});
    const { chat, view } = open(ids[0]);
    void chat.run();
    await until(() => chat.isReady.value && view.newer.value === 'more');
    await until(async () => (await cache.loadMessages(narrowKey(view.narrow)))?.position !== undefined);
    chat.stop();
    const next = open();
    void next.chat.run();
    await until(() => next.chat.isReady.value && next.view.newer.value === 'none');
    expect(texts(next.chat, next.view)).toMatch(/<p>69<\/p>$/);
    expect(next.calls).toContain('GET /messages');
  });

  it('has the messages from a period without a subscription', async () => {
    await say('one');
    (await firstRun()).stop();
    await clientOf(hamlet).delete('/users/me/subscriptions', { subscriptions: ['town'] });
    await say('two');
    await clientOf(hamlet).post('/users/me/subscriptions', { subscriptions: [{ name: 'town' }] });
    await say('three');
    await restart('<p>one</p>,<p>two</p>,<p>three</p>');
  });

  it('has the messages from a period without a subscription even if it stays open', async () => {
    await say('one');
    const { chat, view } = open();
    void chat.run();
    await until(() => texts(chat, view) === '<p>one</p>' && chat.isReady.value);
    await clientOf(hamlet).delete('/users/me/subscriptions', { subscriptions: ['town'] });
    await say('two');
    await clientOf(hamlet).post('/users/me/subscriptions', { subscriptions: [{ name: 'town' }] });
    await say('three');
    await until(() => texts(chat, view) === '<p>one</p>,<p>two</p>,<p>three</p>');
  });
});
