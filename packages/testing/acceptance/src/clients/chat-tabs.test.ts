import {
  type Arrival,
  Chat,
  type ChatOptions,
  MemoryCache,
  MemoryTabs,
  type Narrow,
  narrowKey,
  present,
  type TabMessage,
  type Tabs,
} from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { until } from '@parley/testkit';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let tabs: MemoryTabs;
const running: Chat[] = [];

afterEach(() => {
  for (const chat of running.splice(0)) chat.stop();
});
const { server } = serverPerTest({ worksInBackground: true });
beforeEach(() => {
  tabs = new MemoryTabs();
});

/** Runs fifty times faster than normal. */
const fast = {
  now: () => Date.now() * 50,
  after: (ms: number, callback: () => void) => {
    const timer = setTimeout(callback, ms / 50);
    return () => clearTimeout(timer);
  },
};

/** Returns API calls by method and path, such as `POST /register`. */
const callsOf = (calls: readonly string[], name: string) => calls.filter((call) => call === name).length;

interface Tab {
  readonly chat: Chat;
  readonly tab: ReturnType<MemoryTabs['open']>;
  readonly calls: string[];
  readonly arrivals: Arrival[];
}

/** Opens a tab and waits for its state. */
async function openTab({ email, apiKey }: TestUser, options: Partial<ChatOptions> = {}): Promise<Tab> {
  const calls: string[] = [];
  const tab = tabs.open();
  const send = (async (url, init) => {
    calls.push(`${init?.method} ${new URL(String(url)).pathname.replace('/api/v1', '')}`);
    const answer = await fetch(url, init);
    await until(() => !tab.isFrozen);
    return answer;
  }) as typeof fetch;
  const credentials = { email, apiKey };
  const onLoggedOut = (code: string) => chat.leave(code);
  const gateway = new ParleyClient({ url: server.url, credentials, fetch: send, maxRetries: 0, onLoggedOut });
  const chat: Chat = new Chat({ gateway, tabs: tab, clock: fast, ...options });
  running.push(chat);
  const arrivals: Arrival[] = [];
  chat.onArrival((arrival) => arrivals.push(arrival));
  void chat.run();
  await until(() => chat.isReady.value);
  return { chat, tab, calls, arrivals };
}

/** Tabs that lose messages selected by the test. */
const lossy = (tab: Tabs, isLost: (message: TabMessage) => boolean): Tabs => ({
  open: (events) =>
    tab.open({
      onLead: () => events.onLead(),
      onLost: () => events.onLost(),
      onMessage: (message) => isLost(message) || events.onMessage(message),
    }),
  steal: () => tab.steal(),
  send: (message) => tab.send(message),
  close: () => tab.close(),
});

const news = (id: number): Narrow => [
  { operator: 'channel', operand: id },
  { operator: 'topic', operand: 'news' },
];

/** State in comparable form, because the order of lists does not matter. */
const stateOf = ({ chat }: Tab) => ({
  unread: [...chat.state.unread.destinations.keys()].sort((a, b) => a - b),
  newest: chat.state.fields.peek('max_message_id'),
  topics: Object.keys(present(chat.state).unread_msgs ?? {}),
});

describe('chat tab', () => {
  it('shares one poll and one queue with other tabs and shows every message', async () => {
    const { hamlet, iago } = server.people;
    const channelId = await server.createChannel('town', [hamlet, iago]);
    const first = await openTab(hamlet);
    const others: Tab[] = [];
    for (let i = 0; i < 9; i++) others.push(await openTab(hamlet));
    const views = [first, ...others].map(({ chat }) => chat.open(news(channelId)));
    await until(() => views.every(({ newer }) => newer.value === 'none'));
    await server.sendMessage(iago, channelId, { topic: 'news', content: 'x' });
    await until(() => views.every(({ keys }) => keys.value.length === 1));
    expect(callsOf(first.calls, 'POST /register')).toBe(1);
    const calls = others.flatMap((tab) => tab.calls);
    expect(calls.filter((call) => /register|events|presence/.test(call))).toEqual([]);
    for (const tab of others) expect(stateOf(tab)).toEqual(stateOf(first));
  });

  it('sends messages through the shared queue, each shown once in every tab', async () => {
    const { hamlet } = server.people;
    const channelId = await server.createChannel('town', [hamlet]);
    const both = [await openTab(hamlet), await openTab(hamlet)];
    const views = both.map(({ chat }) => chat.open(news(channelId)));
    await until(() => views.every(({ newer }) => newer.value === 'none'));
    for (const { chat } of both) chat.send({ kind: 'channel', channelId, topic: 'news' }, 'mine');
    await until(() => views.every(({ keys }) => keys.value.length === 2));
    await until(() => both.every(({ chat }) => chat.outbox.messages.all().size === 0));
    expect(views.map(({ keys }) => keys.value.length)).toEqual([2, 2]);
  });

  it('takes over the queue of a closed leader without losing or repeating events', async () => {
    const { hamlet, iago } = server.people;
    const channelId = await server.createChannel('town', [hamlet, iago]);
    const all = [await openTab(hamlet), await openTab(hamlet), await openTab(hamlet)];
    const views = all.map(({ chat }) => chat.open(news(channelId)));
    await until(() => views.every(({ newer }) => newer.value === 'none'));
    const sending = (async () => {
      for (let i = 0; i < 12; i++) await server.sendMessage(iago, channelId, { topic: 'news', content: String(i) });
    })();
    await until(() => views[0]!.keys.value.length > 2);
    all[0]!.chat.stop();
    await until(() => views[1]!.keys.value.length > 6);
    all[1]!.chat.stop();
    await sending;
    await until(() => views[2]!.keys.value.length === 12);
    const html = views[2]!.keys.value.map((key) => all[2]!.chat.message(key).value?.html);
    expect(html).toEqual(Array.from({ length: 12 }, (_, i) => `<p>${i}</p>`));
    expect(all.flatMap(({ calls }) => calls).filter((call) => call === 'POST /register')).toHaveLength(1);
    expect(stateOf(all[2]!).unread).toHaveLength(13);
  });

  it('takes over from a frozen leader, which becomes a follower when it resumes', async () => {
    const { hamlet, iago } = server.people;
    const channelId = await server.createChannel('town', [hamlet, iago]);
    const [first, second] = [await openTab(hamlet), await openTab(hamlet)];
    const views = [first, second].map(({ chat }) => chat.open(news(channelId)));
    await until(() => views.every(({ newer }) => newer.value === 'none'));
    first.tab.freeze();
    await until(() => callsOf(second.calls, 'GET /events') > 0);
    await server.sendMessage(iago, channelId, { topic: 'news', content: 'while frozen' });
    await until(() => views[1]!.keys.value.length === 1);
    first.tab.thaw();
    await until(() => views[0]!.keys.value.length === 1);
    const polls = callsOf(first.calls, 'GET /events');
    await server.sendMessage(iago, channelId, { topic: 'news', content: 'afterwards' });
    await until(() => views.every(({ keys }) => keys.value.length === 2));
    expect(callsOf(first.calls, 'GET /events')).toBe(polls);
    expect(callsOf(second.calls, 'POST /register')).toBe(0);
  });

  it('refetches the state after missing events', async () => {
    const { hamlet, iago } = server.people;
    const channelId = await server.createChannel('town', [hamlet, iago]);
    const first = await openTab(hamlet);
    let isLossy = false;
    const second = await openTab(hamlet, {
      tabs: lossy(tabs.open(), ({ kind }) => isLossy && kind === 'events'),
    });
    const view = second.chat.open(news(channelId));
    await until(() => view.newer.value === 'none');
    isLossy = true;
    const id = await server.sendMessage(iago, channelId, { topic: 'news', content: 'missed' });
    await until(() => first.chat.state.messages.peek(id) !== undefined);
    isLossy = false;
    await server.sendMessage(iago, channelId, { topic: 'news', content: 'heard' });
    await until(() => view.keys.value.length === 2);
    expect(stateOf(second)).toEqual(stateOf(first));
    expect(callsOf(second.calls, 'POST /register')).toBe(0);
  });

  it('announces a message once, and not while another tab shows its conversation', async () => {
    const { hamlet, iago } = server.people;
    const [first, second] = [await openTab(hamlet), await openTab(hamlet)];
    const write = (content: string) => server.post('/messages', iago, { type: 'direct', to: [hamlet.id], content });
    await write('one');
    await until(() => first.arrivals.length === 1);
    second.chat.watch({ kind: 'direct', userIds: [iago.id] });
    await write('two');
    const view = second.chat.open([{ operator: 'dm', operand: [iago.id] }]);
    await until(() => view.keys.value.length === 2);
    second.chat.watch(null);
    await write('three');
    await until(() => first.arrivals.length === 2);
    expect(first.arrivals.map(({ html }) => html)).toEqual(['<p>one</p>', '<p>three</p>']);
    expect(second.arrivals).toEqual([]);
  });

  it('shares one presence report with the other tabs', async () => {
    const { hamlet } = server.people;
    const first = await openTab(hamlet, { isActive: () => false });
    const second = await openTab(hamlet, { isActive: () => true });
    const status = async () =>
      fieldsOf(await server.get(`/users/${hamlet.id}/presence`, hamlet)).presence.aggregated?.status;
    while ((await status()) !== 'active') await new Promise((resolve) => setTimeout(resolve, 10));
    expect(callsOf(first.calls, 'POST /users/me/presence')).toBeGreaterThan(0);
    expect(callsOf(second.calls, 'POST /users/me/presence')).toBe(0);
  });

  it('closes and discards its data when another tab logs out', async () => {
    const { hamlet } = server.people;
    const cache = new MemoryCache();
    const [first, second] = [await openTab(hamlet, { cache }), await openTab(hamlet, { cache })];
    second.chat.leave();
    await cache.clear();
    await until(() => first.chat.connection.value.state === 'ended');
    expect(second.chat.connection.value.state).toBe('ended');
    expect(await cache.load()).toBeNull();
  });

  it('closes when another user has logged in with the same session', async () => {
    const { hamlet, iago } = server.people;
    const { email, apiKey } = iago;
    const gateway = new ParleyClient({ url: server.url, credentials: { email, apiKey } });
    const chat = new Chat({ gateway, userId: hamlet.id });
    await chat.run();
    expect(chat.connection.value).toMatchObject({ state: 'ended', code: 'UNAUTHORIZED' });
    expect(chat.field('full_name')).toBeUndefined();
  });

  it('closes and keeps unsent messages when a call shows that the log-in has expired', async () => {
    const { hamlet, iago } = server.people;
    const channelId = await server.createChannel('town', [hamlet, iago]);
    const [first, second] = [await openTab(hamlet), await openTab(hamlet)];
    await server.post('/users/me/api_key/regenerate', hamlet);
    const key = second.chat.send({ kind: 'channel', channelId, topic: 'news' }, 'late');
    for (const { chat } of [first, second]) await until(() => chat.connection.value.state === 'ended');
    await until(() => second.chat.outbox.messages.peek(key)?.delivery === 'waiting');
  });

  it('removes stored messages, in every tab, when the log-in has expired', async () => {
    const { hamlet, iago } = server.people;
    const channelId = await server.createChannel('town', [hamlet, iago]);
    await server.sendMessage(iago, channelId, { topic: 'news' });
    const caches = [new MemoryCache(), new MemoryCache()];
    for (const cache of caches) {
      const { chat } = await openTab(hamlet, { cache });
      chat.open(news(channelId));
      await until(() => cache.has(narrowKey(news(channelId))));
    }
    await until(async () => (await caches[0]!.load()) !== null);
    await server.post('/users/me/api_key/regenerate', hamlet);
    for (const cache of caches) await until(() => !cache.has(narrowKey(news(channelId))));
    expect(await caches[0]!.load()).toBeNull();
  });

  it('keeps stored messages after an error that does not end the log-in', async () => {
    const { hamlet, iago } = server.people;
    const channelId = await server.createChannel('town', [hamlet, iago]);
    await server.sendMessage(iago, channelId, { topic: 'news' });
    const cache = new MemoryCache();
    const { chat } = await openTab(hamlet, { cache });
    chat.open(news(channelId));
    await until(() => cache.has(narrowKey(news(channelId))));
    await until(async () => (await cache.load()) !== null);
    chat.stop();
    const refuse = async () => Response.json({ result: 'error', code: 'CSRF_FAILED', msg: '' }, { status: 403 });
    const gateway = new ParleyClient({ url: server.url, credentials: hamlet, fetch: refuse });
    const refused = await openTab(hamlet, { cache, gateway });
    await until(() => refused.chat.connection.value.state === 'ended');
    expect(cache.has(narrowKey(news(channelId)))).toBe(true);
    expect(await cache.load()).not.toBeNull();
  });
});
