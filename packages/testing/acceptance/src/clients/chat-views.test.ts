import {
  Chat,
  type ChatOptions,
  type ConversationView,
  MemoryCache,
  type Narrow,
  narrowKey,
  narrowOf,
  type OutboxStorage,
  type OutgoingMessage,
  type Poll,
  present,
  widgetOf,
} from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { until } from '@parley/testkit';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const running: Chat[] = [];

afterEach(() => {
  for (const chat of running.splice(0)) chat.stop();
});
const { server } = serverPerTest({ worksInBackground: true });

const clientOf = ({ email, apiKey }: TestUser, send = fetch, polls = false) =>
  new ParleyClient({ url: server.url, credentials: { email, apiKey }, fetch: send, maxRetries: 0, polls });

/** Shortens delays. */
const impatient = {
  now: Date.now,
  after: (ms: number, callback: () => void) => {
    const timer = setTimeout(callback, Math.min(ms, 20));
    return () => clearTimeout(timer);
  },
};

/** Starts a chat and waits until it has registered. */
async function start(user: TestUser, options: Partial<ChatOptions> = {}): Promise<Chat> {
  const chat = new Chat({ gateway: clientOf(user), ...options });
  running.push(chat);
  void chat.run();
  await until(() => chat.isReady.value);
  return chat;
}

const contents = (chat: Chat, view: ConversationView): (string | null | undefined)[] =>
  view.keys.value.map((key) => chat.message(key).value).map((row) => row?.html ?? row?.markdown);

const news = (id: number): Narrow => [
  { operator: 'channel', operand: id },
  { operator: 'topic', operand: 'news' },
];

describe('chat view', () => {
  it('has the data of messages from pages and events, and their changes', async () => {
    const { hamlet } = server.people;
    const town = await server.createChannel('town', [hamlet]);
    const { messages } = server.parley.as({ realm: 'zulip', userId: hamlet.id });
    const send = (data?: object) =>
      messages.send({ channel: town, topic: 'news', content: 'Order', ...(data && { data: data as never }) });
    const [first] = [await send({ orderId: 7 }), await send()];
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    const shown = () => view.keys.value.map((key) => chat.message(key).value?.data);
    await until(() => view.keys.value.length === 2);
    expect(shown()).toEqual([{ orderId: 7 }, null]);
    await send({ orderId: 8 });
    await until(() => view.keys.value.length === 3);
    expect(shown()).toEqual([{ orderId: 7 }, null, { orderId: 8 }]);
    await messages.setData(first.id, { orderId: 7, isPaid: true });
    await until(() => shown()[0]?.isPaid === true);
  });

  it('shows channels, topics and messages of others as they arrive', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    await server.sendMessage(iago, town, { topic: 'news', content: 'first' });
    const chat = await start(hamlet);
    expect(chat.sidebar.channelIds.value).toEqual([town]);
    expect(chat.sidebar.channel(town).value).toMatchObject({ name: 'town', unread: { count: 2 } });
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    await server.sendMessage(iago, town, { topic: 'news', content: 'second' });
    await until(() => view.keys.value.length === 2);
    expect(contents(chat, view)).toEqual(['<p>first</p>', '<p>second</p>']);
    expect(chat.sidebar.topics(town).value[0]).toMatchObject({ name: 'news', unread: { count: 2 } });
  });

  it('shows an own message immediately and keeps its key when the server has accepted it', async () => {
    const { hamlet } = server.people;
    const town = await server.createChannel('town', [hamlet]);
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    const key = chat.send({ kind: 'channel', channelId: town, topic: 'news' }, 'mine');
    expect(view.keys.value).toEqual([key]);
    expect(chat.message(key).value).toMatchObject({ markdown: 'mine', html: null });
    await until(() => chat.message(key).value?.delivery === 'sent');
    expect(view.keys.value).toEqual([key]);
    expect(chat.message(key).value).toMatchObject({ html: '<p>mine</p>', isOwn: true, isRead: true });
  });

  it('shows an own message if its event arrives after a call that returned it', async () => {
    const { hamlet } = server.people;
    const town = await server.createChannel('town', [hamlet]);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const late = (async (...request: Parameters<typeof fetch>) => {
      const response = await fetch(...request);
      if (String(request[0]).includes('/events')) await released;
      return response;
    }) as typeof fetch;
    const chat = await start(hamlet, { gateway: clientOf(hamlet, late) });
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    const key = chat.send({ kind: 'channel', channelId: town, topic: 'news' }, 'mine');
    // Observes the row like a page.
    const end = chat.message(key).subscribe(() => {});
    await until(() => chat.outbox.messages.peek(key)?.id != null);
    chat.open([{ operator: 'channel', operand: town }]);
    await until(() => chat.outbox.messages.all().size === 0);
    expect(contents(chat, view)).toEqual(['<p>mine</p>']);
    release();
    await until(() => view.keys.value.includes(key));
    expect(contents(chat, view)).toEqual(['<p>mine</p>']);
    end();
  });

  it('shows an own message to an unjoined channel after messages written by others', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [iago]);
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    await server.sendMessage(iago, town, { topic: 'news', content: 'before' });
    const key = chat.send({ kind: 'channel', channelId: town, topic: 'news' }, 'mine');
    await until(() => view.keys.value.length === 2);
    expect(view.keys.value[1]).toBe(key);
    expect(chat.message(key).value).toMatchObject({ html: '<p>mine</p>', delivery: 'sent', isOwn: true });
    expect(contents(chat, view)).toEqual(['<p>before</p>', '<p>mine</p>']);
    expect(chat.outbox.messages.all().size).toBe(0);
  });

  it('sends a message once although the response was lost', async () => {
    const { hamlet } = server.people;
    const town = await server.createChannel('town', [hamlet]);
    let sends = 0;
    const lossy = (async (...request: Parameters<typeof fetch>) => {
      const [url, init] = request;
      // The message's event is lost too, so only the second send reveals its id.
      if (sends === 1 && String(url).includes('/events')) throw new TypeError('The connection was lost');
      const answer = await fetch(...request);
      if (init?.method === 'POST' && String(url).endsWith('/messages') && ++sends === 1) {
        throw new TypeError('The connection was lost');
      }
      return sends === 1 ? Promise.reject(new TypeError('The connection was lost')) : answer;
    }) as typeof fetch;
    const chat = await start(hamlet, { gateway: clientOf(hamlet, lossy, true), clock: impatient });
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    chat.send({ kind: 'channel', channelId: town, topic: 'news' }, 'once');
    await until(() => sends === 2 && chat.outbox.messages.all().size === 0);
    expect(contents(chat, view)).toEqual(['<p>once</p>']);
  });

  it('shows a message sent while offline in a conversation that was never loaded', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    await server.sendMessage(iago, town, { topic: 'news', content: 'there before' });
    let isOnline = true;
    const broken = (async (...request: Parameters<typeof fetch>) => {
      if (isOnline) return fetch(...request);
      throw new TypeError('There is no connection');
    }) as typeof fetch;
    const chat = await start(hamlet, { gateway: clientOf(hamlet, broken), clock: impatient });
    isOnline = false;
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'failed');
    const key = chat.send({ kind: 'channel', channelId: town, topic: 'news' }, 'waits');
    expect(view.keys.value).toEqual([key]);
    isOnline = true;
    await until(() => view.keys.value.length === 2);
    await until(() => chat.message(key).value?.delivery === 'sent');
    expect(contents(chat, view)).toEqual(['<p>there before</p>', '<p>waits</p>']);
  });

  it('shows a message that arrives after the first of two calls for its conversation', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const before = await server.sendMessage(iago, town, { topic: 'news', content: 'there before' });
    const releases: (() => void)[] = [];
    const late = (async (url, init) => {
      const response = await fetch(url, init);
      if (new URL(String(url)).pathname.endsWith('/messages')) {
        await new Promise<void>((resolve) => releases.push(resolve));
      }
      return response;
    }) as typeof fetch;
    const chat = await start(hamlet, { gateway: clientOf(hamlet, late) });
    const view = chat.open(news(town));
    void view.goTo(before);
    await until(() => releases.length === 2);
    releases[0]!();
    // Completes the first call.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const id = await server.sendMessage(iago, town, { topic: 'news', content: 'arrives' });
    await until(() => chat.message(String(id)).value !== null);
    releases[1]!();
    await until(() => view.older.value === 'none');
    expect(contents(chat, view)).toEqual(['<p>there before</p>', '<p>arrives</p>']);
  });

  it('keeps a rejected message with the reason in its conversation until it is discarded', async () => {
    const { hamlet, polonius } = server.people;
    const town = await server.createChannel('town', [hamlet, polonius], { can_send_message_group: hamletsOnly() });
    const chat = await start(polonius);
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    const key = chat.send({ kind: 'channel', channelId: town, topic: 'news' }, 'may I?');
    await until(() => chat.message(key).value?.delivery === 'failed');
    expect(chat.message(key).value).toMatchObject({
      markdown: 'may I?',
      failure: { message: 'You do not have permission to post in this channel.' },
    });
    expect(view.keys.value).toEqual([key]);
    chat.outbox.discard(key);
    expect(view.keys.value).toEqual([]);
  });

  it('reverts a rejected reaction', async () => {
    const { hamlet } = server.people;
    const town = await server.createChannel('town', [hamlet]);
    const id = await server.sendMessage(hamlet, town, { topic: 'news', content: 'x' });
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.keys.value.length === 1);
    const reactions = () => chat.message(String(id)).value?.reactions.map(({ emojiName }) => emojiName);
    const emoji = { emoji_name: 'no_such_emoji', emoji_code: 'nope', reaction_type: 'unicode_emoji' } as const;
    const refused = chat.commands.react(id, emoji, true);
    expect(reactions()).toEqual(['no_such_emoji']);
    await expect(refused).rejects.toMatchObject({ status: 400 });
    expect(reactions()).toEqual([]);
    const smile = { emoji_name: 'smile', emoji_code: '1f642', reaction_type: 'unicode_emoji' } as const;
    await chat.commands.react(id, smile, true);
    expect(reactions()).toEqual(['smile']);
  });

  it('begins unread messages at the message marked as unread', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const ids: number[] = [];
    for (const content of ['x', 'y']) ids.push(await server.sendMessage(iago, town, { topic: 'news', content }));
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.firstUnread.value === ids[0]);
    view.seen(ids);
    await view.markUnreadFrom(ids[1]!);
    expect(view.firstUnread.value).toBe(ids[1]);
  });

  it('marks seen messages as read, except in starred lists and after marking them as unread', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const id = await server.sendMessage(iago, town, { topic: 'news', content: 'x' });
    const chat = await start(hamlet, { clock: impatient });
    const isRead = () => chat.message(String(id)).value?.isRead;
    const stars = chat.open([{ operator: 'is', operand: 'starred' }]);
    const view = chat.open(news(town));
    await until(() => view.keys.value.length === 1);
    expect(view.firstUnread.value).toBe(id);
    stars.seen([id]);
    expect(isRead()).toBe(false);
    view.seen([id]);
    expect(isRead()).toBe(true);
    let flags: readonly string[] = [];
    const look = async () => {
      ({ flags } = (await clientOf(hamlet).get('/messages/{message_id}', { message_id: id })).message);
    };
    await until(() => {
      void look();
      return flags.includes('read');
    });
    await view.markUnreadFrom(id);
    await until(() => isRead() === false);
    view.seen([id]);
    expect(isRead()).toBe(false);
  });

  it('keeps a message unread if it is marked as unread right after it was seen', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const id = await server.sendMessage(iago, town, { topic: 'news', content: 'x' });
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.keys.value.length === 1);
    view.seen([id]);
    await view.markUnreadFrom(id);
    chat.stop();
    const later = await start(hamlet);
    expect(later.sidebar.unreadIn(news(town)).count).toBe(1);
  });

  it('continues with the next unread message when the first one is moved away', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const [first, second] = [
      await server.sendMessage(iago, town, { topic: 'news', content: 'moved' }),
      await server.sendMessage(iago, town, { topic: 'news', content: 'stays' }),
    ];
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.firstUnread.value === first);
    await clientOf(iago).patch('/messages/{message_id}', { message_id: first, topic: 'olds' });
    await until(() => view.keys.value.length === 1);
    expect(view.firstUnread.value).toBe(second);
  });

  it('keeps the first unread message and the linked message if opened after loading', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const id = await server.sendMessage(iago, town, { topic: 'news', content: 'unread' });
    const moved = await server.sendMessage(iago, town, { topic: 'olds', content: 'elsewhere' });
    const chat = await start(hamlet);
    const early = chat.open(news(town));
    await until(() => early.firstUnread.value === id);
    expect(chat.open(news(town)).firstUnread.value).toBe(id);
    for (const view of [early, early]) view.close();
    const linked = chat.open(news(town), moved);
    await until(() => linked.elsewhere.value !== null);
    expect(chat.open(news(town), moved).elsewhere.value).toMatchObject({ topic: 'olds' });
  });

  it('drops old messages at the end of a long conversation and refetches them', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    const say = async (content: string) => {
      const count = view.keys.value.length;
      await server.sendMessage(iago, town, { topic: 'news', content });
      await until(() => view.keys.value.length === count + 1);
    };
    for (const content of ['one', 'two', 'three']) await say(content);
    await view.goTo(Number(view.keys.value[0]));
    view.keepNewest(2);
    expect(contents(chat, view)).toEqual(['<p>two</p>', '<p>three</p>']);
    expect(view.older.value).toBe('more');
    await say('four');
    expect(contents(chat, view)).toEqual(['<p>two</p>', '<p>three</p>', '<p>four</p>']);
    await view.loadOlder();
    expect(contents(chat, view)).toEqual(['<p>one</p>', '<p>two</p>', '<p>three</p>', '<p>four</p>']);
    // Another part of the page may show the first message.
    const other = chat.open(news(town));
    view.keepNewest(2);
    expect(view.keys.value).toHaveLength(4);
    other.close();
  });

  it('shows own edits, votes and moves in an unjoined channel', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [iago]);
    const chat = await start(hamlet, { clock: impatient });
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    const key = chat.send({ kind: 'channel', channelId: town, topic: 'news' }, 'mine');
    const poll = chat.send({ kind: 'channel', channelId: town, topic: 'news' }, '/poll Which?\nRed\nTea');
    await until(() => chat.message(poll).value?.delivery === 'sent');
    await chat.loadTopics(town);
    await chat.commands.edit(chat.message(key).value!.id!, 'changed');
    expect(contents(chat, view)[0]).toBe('<p>changed</p>');
    expect(view.keys.value).toEqual([key, poll]);
    await chat.commands.act(chat.message(poll).value!.id!, { type: 'vote', key: 'canned,0', vote: 1 });
    expect(chat.message(poll).value!.submessages).toHaveLength(2);
    await chat.commands.resolve({ channelId: town, topic: 'news' }, true);
    expect(view.movedTo.value).toMatchObject({ channelId: town, topic: '✔ news' });
    const moved = chat.open(narrowOf(view.movedTo.value!));
    await until(() => moved.newer.value === 'none');
    await until(() => view.keys.value.length === 0);
    // A notice says that the topic was resolved.
    expect(moved.keys.value.slice(0, 2)).toEqual([key, poll]);
    await until(() => chat.sidebar.topics(town).peek()[0]?.name === '✔ news');
  });

  it('shows new messages of others in an open unjoined channel after a delay', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [iago]);
    const afterMinute: (() => void)[] = [];
    const after = (ms: number, callback: () => void) => {
      if (ms !== 60_000) return impatient.after(ms, callback);
      afterMinute.push(callback);
      return () => {};
    };
    const id = await server.sendMessage(iago, town, { topic: 'news', content: 'first' });
    const chat = await start(hamlet, { clock: { ...impatient, after } });
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    await server.sendMessage(iago, town, { topic: 'news', content: 'second' });
    await clientOf(iago).patch('/messages/{message_id}', { message_id: id, content: 'changed' });
    for (const callback of afterMinute.splice(0)) callback();
    await until(() => view.keys.value.length === 2);
    expect(contents(chat, view)).toEqual(['<p>changed</p>', '<p>second</p>']);
  });

  it('shows the current messages of a channel when it is reopened and when the user joins it', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [iago]);
    const id = await server.sendMessage(iago, town, { topic: 'news', content: 'first' });
    const other = clientOf(iago);
    const edit = (content: string) => other.patch('/messages/{message_id}', { message_id: id, content });
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    await edit('second');
    chat.open(news(town), id + 1);
    await until(() => contents(chat, view).includes('<p>second</p>'));
    await edit('third');
    await clientOf(hamlet).post('/users/me/subscriptions', { subscriptions: [{ name: 'town' }] });
    await until(() => contents(chat, view).includes('<p>third</p>'));
  });

  it('shows topics of an opened channel as they are created, renamed and deleted', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    await server.sendMessage(iago, town, { topic: 'doomed', content: 'first' });
    const chat = await start(hamlet, { clock: impatient });
    await chat.loadTopics(town);
    const names = () =>
      chat.sidebar
        .topics(town)
        .peek()
        .map(({ name }) => name);
    const all: Narrow = [{ operator: 'channel', operand: town }];
    await chat.commands.markNarrowRead(all);
    const id = await server.sendMessage(iago, town, { topic: 'newcomer', content: 'second' });
    await until(() => names()[0] === 'newcomer');
    await chat.commands.markNarrowRead(all);
    const other = clientOf(iago);
    await other.patch('/messages/{message_id}', { message_id: id, topic: 'renamed', propagate_mode: 'change_all' });
    await until(() => names().includes('renamed') && !names().includes('newcomer'));
    expect(names()).toContain('doomed');
    await other.post('/streams/{stream_id}/delete_topic', { stream_id: town, topic_name: 'doomed' });
    await until(() => !names().includes('doomed'));
  });

  it('shows recent topics of unopened channels and continues with new messages', async () => {
    const { hamlet, iago } = server.people;
    const [first, second] = [
      await server.createChannel('first', [hamlet, iago]),
      await server.createChannel('second', [hamlet, iago]),
    ];
    await server.sendMessage(hamlet, first, { topic: 'older', content: 'one' });
    await server.sendMessage(hamlet, first, { topic: 'newer', content: 'two' });
    const chat = await start(hamlet, { clock: impatient });
    const names = () =>
      chat.conversations.recent
        .peek()
        .flatMap(({ destination }) => (destination.kind === 'channel' ? [destination.topic] : []));
    await chat.commands.markNarrowRead([{ operator: 'channel', operand: first }]);
    await until(() => !names().includes('newer'));
    await chat.loadRecentTopics();
    expect(names().slice(0, 2)).toEqual(['newer', 'older']);
    const [newer] = chat.conversations.recent.peek();
    expect(newer!.lastMessageAt).toBeGreaterThan(1_700_000_000);
    await server.sendMessage(hamlet, second, { topic: 'newest', content: 'three' });
    await until(() => names()[0] === 'newest');
    expect(chat.conversations.recent.peek()[0]!.lastMessageAt).toBeGreaterThanOrEqual(newer!.lastMessageAt!);
  });

  it('shows messages that are moved into an open conversation', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const id = await server.sendMessage(iago, town, { topic: 'gossip', content: 'moved' });
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    await clientOf(iago).patch('/messages/{message_id}', { message_id: id, topic: 'news' });
    await until(() => contents(chat, view).includes('<p>moved</p>'));
  });

  it("follows `with` links to the message's current conversation", async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const id = await server.sendMessage(iago, town, { topic: 'news', content: 'linked' });
    const chat = await start(hamlet);
    const link: Narrow = [...news(town), { operator: 'with', operand: id }];
    const view = chat.open(link);
    await until(() => view.newer.value === 'none');
    await view.markUnreadFrom(id);
    expect(view.elsewhere.value).toBeNull();
    await clientOf(iago).patch('/messages/{message_id}', {
      ...{ message_id: id, topic: 'olds', propagate_mode: 'change_all' },
    });
    await until(() => view.movedTo.value !== null);
    view.close();
    const fresh = await start(hamlet);
    for (const later of [chat.open(link), fresh.open(link)]) {
      await until(() => later.elsewhere.value !== null);
      expect(later.elsewhere.value).toMatchObject({ channelId: town, topic: 'olds' });
      expect(later.movedTo.value).toBeNull();
    }
  });

  it.each([
    { of: 'one person', isNegated: false, expected: ['<p>to iago</p>', '<p>to both</p>'], names: ['iago'] },
    { of: 'several people', isNegated: false, expected: ['<p>to both</p>'], names: ['iago', 'cordelia'] },
    {
      of: 'the user',
      isNegated: false,
      expected: ['<p>to iago</p>', '<p>to cordelia</p>', '<p>to both</p>'],
      names: [],
    },
    { of: 'others than several people', isNegated: true, expected: [], names: ['iago', 'cordelia'] },
  ] as const)('shows the direct conversations with $of', async ({ isNegated, expected, names }) => {
    const { hamlet, iago, cordelia } = server.people;
    const chat = await start(hamlet);
    const say = (to: readonly number[], content: string) =>
      clientOf(hamlet).post('/messages', { type: 'direct', to, content });
    const direct = { operator: 'is', operand: 'dm' } as const;
    const operand = names.map((name) => server.people[name].id).sort((a, b) => a - b);
    const narrow: Narrow = [direct, { operator: 'dm-including', operand, ...(isNegated && { negated: true }) }];
    const early = chat.open(narrow);
    await until(() => early.newer.value === 'none');
    await say([iago.id], 'to iago');
    await say([cordelia.id], 'to cordelia');
    await say([iago.id, cordelia.id], 'to both');
    await until(() => chat.state.fields.peek('max_message_id') === 3);
    expect(contents(chat, early)).toEqual(expected);
    const fresh = await start(hamlet);
    const view = fresh.open(narrow);
    await until(() => view.newer.value === 'none');
    expect(contents(fresh, view)).toEqual(expected);
  });

  it('adds poll options one after the other without waiting for the first', async () => {
    const { hamlet } = server.people;
    const town = await server.createChannel('town', [hamlet]);
    const id = await server.sendMessage(hamlet, town, { topic: 'news', content: '/poll Which?' });
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.keys.value.length === 1);
    const add = (option: string) => chat.commands.addTo(id, (idx) => ({ type: 'new_option', option, idx }));
    await Promise.all([add('Red'), add('Tea')]);
    await until(() => chat.message(String(id)).value?.submessages.length === 3);
    const { options } = widgetOf(chat.message(String(id)).value!.submessages) as Poll;
    expect(options.map(({ text }) => text).sort()).toEqual(['Red', 'Tea']);
  });

  it('continues with the cached state and the same queue after a restart', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const cache = new MemoryCache();
    const first = await start(hamlet, { cache });
    await server.sendMessage(iago, town, { topic: 'news', content: 'while open' });
    await until(() => first.sidebar.total.value.count === 2);
    await until(() => cache.eventCount > 0);
    first.stop();
    await server.sendMessage(iago, town, { topic: 'news', content: 'while closed' });
    const calls: string[] = [];
    const counting = ((...request: Parameters<typeof fetch>) => {
      calls.push(new URL(String(request[0])).pathname);
      return fetch(...request);
    }) as typeof fetch;
    const second = await start(hamlet, { cache, gateway: clientOf(hamlet, counting) });
    await until(() => second.sidebar.total.value.count === 3);
    expect(calls).not.toContain('/api/v1/register');
    const fresh = await start(hamlet);
    const { queue_id: _, last_event_id: __, server_timestamp: ___, ...state } = present(fresh.state);
    expect(present(second.state)).toMatchObject({ unread_msgs: state.unread_msgs, subscriptions: state.subscriptions });
  });

  it.each([
    ['lost a part', () => ({ realm_users: undefined })],
    ['has a part of another kind', () => ({ subscriptions: 5 })],
  ])('registers again if the cached state %s', async (_, damage) => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const cache = new MemoryCache();
    const first = await start(hamlet, { cache });
    await server.sendMessage(iago, town, { topic: 'news', content: 'while open' });
    await until(() => cache.eventCount > 0);
    first.stop();
    const cached = (await cache.load())!;
    await cache.save({ ...cached, state: { ...cached.state, ...damage() } as never });
    const second = await start(hamlet, { cache });
    await until(() => second.sidebar.total.value.count === 2);
    expect(second.sidebar.channelIds.value).toEqual([town]);
  });

  it('shows the cached messages of a conversation until the server responds', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const id = await server.sendMessage(iago, town, { topic: 'news', content: 'before' });
    const cache = new MemoryCache();
    const first = await start(hamlet, { cache, clock: impatient });
    const shown = first.open(news(town));
    await until(() => shown.keys.value.length === 1);
    await until(() => cache.has(narrowKey(shown.narrow)));
    first.stop();
    await clientOf(iago).patch('/messages/{message_id}', { message_id: id, content: 'changed' });
    let answer = () => {};
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow = (async (...request: Parameters<typeof fetch>) => {
      if (String(request[0]).includes('/messages?')) await isAnswered;
      return fetch(...request);
    }) as typeof fetch;
    const second = await start(hamlet, { cache, gateway: clientOf(hamlet, slow) });
    const view = second.open(news(town));
    await until(() => contents(second, view).length === 1);
    answer();
    await until(() => contents(second, view).join() === '<p>changed</p>');
  });

  it('sends the unsent messages of an earlier run once', async () => {
    const { hamlet } = server.people;
    const town = await server.createChannel('town', [hamlet]);
    let stored: readonly OutgoingMessage[] = [];
    const outboxStorage: OutboxStorage = {
      takeOver: (found) => found(stored),
      save: (messages) => {
        stored = messages;
      },
      release: () => {},
    };
    const deaf = (async (...request: Parameters<typeof fetch>) => {
      if (String(request[0]).includes('/events')) return new Promise<never>(() => {});
      const answer = await fetch(...request);
      // The server has accepted the message, but this run never learns it.
      if (request[1]?.method === 'POST' && String(request[0]).endsWith('/messages')) throw new TypeError('Lost');
      return answer;
    }) as typeof fetch;
    const cache = new MemoryCache();
    const first = await start(hamlet, { cache, outboxStorage, gateway: clientOf(hamlet, deaf) });
    first.send({ kind: 'channel', channelId: town, topic: 'news' }, 'left behind');
    await until(() => stored[0]?.delivery === 'waiting' && stored[0].queueId !== null);
    const left = stored;
    first.stop();
    stored = left;
    const second = await start(hamlet, { cache, outboxStorage });
    const view = second.open(news(town));
    await until(() => view.newer.value === 'none' && second.outbox.messages.all().size === 0);
    expect(contents(second, view)).toEqual(['<p>left behind</p>']);
    expect(stored).toEqual([]);
  });

  it('shows a message of an earlier run once, even if it appears late among the unsent messages', async () => {
    const { hamlet } = server.people;
    const town = await server.createChannel('town', [hamlet]);
    let stored: readonly OutgoingMessage[] = [];
    let find = () => {};
    const outboxStorage: OutboxStorage = {
      takeOver: (found) => {
        find = () => found(stored);
      },
      save: (messages) => {
        if (messages.length > 0) stored = messages;
      },
      release: () => {},
    };
    const clientThatLoses = (loses: { readonly requests: boolean; readonly events: boolean }) =>
      clientOf(hamlet, (async (...request: Parameters<typeof fetch>) => {
        if (loses.events && String(request[0]).includes('/events')) return new Promise<never>(() => {});
        const isSend = request[1]?.method === 'POST' && String(request[0]).endsWith('/messages');
        if (!isSend) return fetch(...request);
        if (!loses.requests) await fetch(...request);
        throw new TypeError('Lost');
      }) as typeof fetch);
    const cache = new MemoryCache();
    const deaf = clientThatLoses({ requests: false, events: true });
    const first = await start(hamlet, { cache, outboxStorage, gateway: deaf });
    first.send({ kind: 'channel', channelId: town, topic: 'news' }, 'left behind');
    await until(() => stored[0]?.delivery === 'waiting' && stored[0].queueId !== null);
    first.stop();
    const mute = clientThatLoses({ requests: true, events: false });
    const second = await start(hamlet, { cache, outboxStorage, gateway: mute });
    const view = second.open(news(town));
    const before = first.state.fields.peek('max_message_id') ?? 0;
    await until(() => contents(second, view).length === 1 && second.state.fields.peek('max_message_id')! > before);
    find();
    expect(contents(second, view)).toEqual(['<p>left behind</p>']);
    second.stop();
    // Events of a new queue do not include messages sent before.
    const third = await start(hamlet, { outboxStorage });
    find();
    await until(() => [...third.outbox.messages.all().values()].some(({ id }) => id !== null));
    const again = third.open(news(town));
    await until(() => again.newer.value === 'none');
    expect(contents(third, again)).toEqual(['<p>left behind</p>']);
    expect(third.outbox.messages.all().size).toBe(0);
  });

  it('stays unchanged while the state is refetched after losing the queue', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const id = await server.sendMessage(iago, town, { topic: 'news', content: 'before' });
    const chat = await start(hamlet);
    const view = chat.open(news(town));
    await until(() => view.keys.value.length === 1);
    const lengths: number[] = [];
    const end = view.keys.subscribe((keys) => lengths.push(keys.length));
    const { queue_id } = present(chat.state);
    fieldsOf(await server.delete('/events', hamlet, { queue_id }));
    await clientOf(iago).patch('/messages/{message_id}', { message_id: id, content: 'edited' });
    await server.sendMessage(iago, town, { topic: 'news', content: 'missed' });
    await until(() => contents(chat, view).join() === '<p>edited</p>,<p>missed</p>');
    end();
    expect(lengths[0]).toBe(1);
    expect(Math.min(...lengths)).toBe(1);
    expect(chat.sidebar.topics(town).value[0]).toMatchObject({ name: 'news', unread: { count: 2 } });
  });

  it('loads newer and older messages after reconnecting', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const ids: number[] = [];
    for (let n = 0; n < 100; n++) {
      ids.push(await server.sendMessage(iago, town, { topic: 'news', content: String(n) }));
    }
    let isOffline = false;
    const lossy = (async (...request: Parameters<typeof fetch>) => {
      if (isOffline) throw new TypeError('The connection was lost');
      return fetch(...request);
    }) as typeof fetch;
    const chat = await start(hamlet, { gateway: clientOf(hamlet, lossy, true) });
    const view = chat.open(news(town), ids[50]);
    await until(() => view.newer.value === 'more' && view.older.value === 'more');
    for (const side of ['newer', 'older'] as const) {
      isOffline = true;
      await server.sendMessage(iago, town, { topic: 'olds', content: 'the last one of the open poll' });
      await until(() => chat.connection.value.state === 'offline');
      await (side === 'newer' ? view.loadNewer() : view.loadOlder());
      expect(view[side].value).toBe('failed');
      isOffline = false;
      await until(() => view[side].value === 'none');
    }
  });

  it('changes once for all missed messages, with the right unread counts', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    let isOffline = false;
    let sent = () => {};
    const allSent = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const lossy = (async (...request: Parameters<typeof fetch>) => {
      if (isOffline && String(request[0]).includes('/events')) {
        await allSent;
        isOffline = false;
        throw new TypeError('The connection was lost');
      }
      return fetch(...request);
    }) as typeof fetch;
    const chat = await start(hamlet, { gateway: clientOf(hamlet, lossy, true) });
    const view = chat.open(news(town));
    await until(() => view.newer.value === 'none');
    isOffline = true;
    await server.sendMessage(iago, town, { topic: 'news', content: 'the last one of the open poll' });
    await until(() => view.keys.value.length === 1);
    const counts: number[] = [];
    const lengths: number[] = [];
    const endCounting = chat.sidebar.channel(town).subscribe((row) => counts.push(row?.unread.count ?? 0));
    const endMeasuring = view.keys.subscribe(({ length }) => lengths.push(length));
    for (let n = 0; n < 10; n++) {
      const topic = n % 2 === 0 ? 'news' : 'olds';
      await server.sendMessage(iago, town, { topic, content: n === 4 ? '@**King Hamlet**' : `message ${n}` });
    }
    sent();
    await until(() => lengths.at(-1) === 6);
    endCounting();
    endMeasuring();
    expect(lengths).toEqual([1, 6]);
    expect(counts).toEqual([counts[0], counts[0]! + 10]);
    expect(chat.sidebar.topics(town).value.map(({ name, unread }) => [name, unread])).toEqual(
      expect.arrayContaining([
        ['news', { count: 6, hasMention: true }],
        ['olds', { count: 5, hasMention: false }],
      ]),
    );
  });

  it('opens at a linked message after many other conversations', async () => {
    const { hamlet, iago } = server.people;
    const town = await server.createChannel('town', [hamlet, iago]);
    const ids: number[] = [];
    for (let n = 0; n < 70; n++) ids.push(await server.sendMessage(iago, town, { topic: 'news', content: `${n}` }));
    const chat = await start(hamlet);
    const near = ids[35]!;
    const openNear = async () => {
      const view = chat.open(news(town), near);
      await until(() => view.anchor.value === near && view.older.value !== 'loading');
      return view;
    };
    const first = await openNear();
    first.close();
    for (let n = 0; n < 60; n++) chat.open([{ operator: 'dm', operand: [n] }]).close();
    const again = await openNear();
    expect(again).not.toBe(first);
    expect(again.keys.value).toContain(String(near));
    expect(again.keys.value).not.toContain(String(ids.at(-1)));
    expect([again.older.value, again.newer.value]).toEqual(['more', 'more']);
  });

  it('ends with the reason when the organization is deactivated', async () => {
    const chat = await start(server.people.hamlet);
    // The server sends this event only to waiting polls.
    chat.receive({ id: 1, type: 'realm', op: 'deactivated', realm_id: server.realmId });
    expect(chat.connection.value).toMatchObject({ state: 'ended', code: 'REALM_DEACTIVATED' });
  });

  it('recomputes only rows with visible changes', async () => {
    const { hamlet, iago, cordelia } = server.people;
    const chat = await start(hamlet);
    const names = new Map<number, number>();
    const readings = [iago, cordelia].map(({ id }) => {
      names.set(id, 0);
      return chat.people.person(id).subscribe(() => names.set(id, names.get(id)! + 1));
    });
    await clientOf(iago).patch('/settings', { full_name: 'Honest Iago' });
    await until(() => chat.people.person(iago.id).value.name === 'Honest Iago');
    expect([...names.values()]).toEqual([2, 1]);
    for (const end of readings) end();
  });
});

const hamletsOnly = () => ({ direct_members: [server.people.hamlet.id], direct_subgroups: [] });
