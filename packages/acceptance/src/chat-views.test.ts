import { Chat, type ConversationView, type Narrow } from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { TestServer, type TestUser } from './testing/test-server.js';

let server: TestServer;
const running: Chat[] = [];

beforeEach(async () => {
  server = await TestServer.start({ worksInBackground: true });
});

afterEach(async () => {
  for (const chat of running.splice(0)) chat.stop();
  await server.close();
});

/** A chat that has registered. */
async function start({ email, apiKey }: TestUser): Promise<Chat> {
  const chat = new Chat({ gateway: new ParleyClient({ url: server.url, credentials: { email, apiKey } }) });
  running.push(chat);
  void chat.run();
  await until(() => chat.isReady.value);
  return chat;
}

async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; !holds(); i++) {
    if (i > 500) throw new Error('This does not become true');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const contents = (chat: Chat, view: ConversationView): (string | null | undefined)[] =>
  view.keys.value.map((key) => chat.message(key).value).map((row) => row?.html ?? row?.markdown);

const news = (id: number): Narrow => [
  { operator: 'channel', operand: id },
  { operator: 'topic', operand: 'news' },
];

describe('chat views', () => {
  it('show channels, topics and messages of others as they arrive', async () => {
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

  it('show an own message at once, under the same key when the server has it', async () => {
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
});
