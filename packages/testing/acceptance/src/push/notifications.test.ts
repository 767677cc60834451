import type { UnixSeconds } from '@parley/domain/kernel';
import { SendMessage } from '@parley/domain/writing';
import type { ParleyEvent } from '@parley/server';
import { until } from '@parley/testkit';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let sender: TestUser;
let reader: TestUser;
let channel: string;
let channelId: number;
let count = 0;
const due: ParleyEvent<'notification.due'>[] = [];
const { server } = serverPerSuite({ worksInBackground: true });
beforeAll(() => {
  server.parley.on('notification.due', (event) => due.push(event));
});
beforeEach(async () => {
  count++;
  sender = await server.addUser({ email: `sender${count}@zulip.com`, fullName: `Sender ${count}` });
  reader = await server.addUser({ email: `reader${count}@zulip.com`, fullName: `Reader ${count}` });
  channel = `channel ${count}`;
  channelId = await server.createChannel(channel, [sender, reader]);
  due.length = 0;
});

/**
 * Returns the notifications due to the reader and their reasons, once a later message to another user has been
 * processed.
 */
async function judged(): Promise<readonly (readonly [number, string])[]> {
  const marker = await server.sendMessage(sender, [server.people.iago]);
  await until(() => due.some(({ message }) => message.id === marker));
  return due.flatMap(({ message, people }) =>
    people.filter(({ user }) => user.id === reader.id).map(({ reason }) => [message.id, reason] as const),
  );
}

const edit = (id: number, content: string) => server.patch(`/messages/${id}`, sender, { content });
const mention = () => `hi @**${reader.user.fullName}**`;

it('due notification is published with its recipients and texts', async () => {
  const id = await server.sendMessage(sender, channel, { topic: 'lunch', content: `${mention()} :pizza: **now**` });
  await judged();
  expect(due[0]).toMatchObject({
    type: 'notification.due',
    realm: 'zulip',
    message: { id, channel: { id: channelId, name: channel }, topic: 'lunch', sender: { id: sender.id } },
    people: [
      {
        user: { id: reader.id, externalId: null, name: reader.user.fullName },
        ...{ reason: 'mentioned', isPushDue: true, isEmailDue: true },
        title: `#${channel} > lunch`,
        subtitle: `${sender.user.fullName} mentioned you:`,
        content: `hi @${reader.user.fullName} 🍕 now`,
      },
    ],
  });
});

it('due notification is published for direct messages, group mentions, wildcards, followed topics and notified channels', async () => {
  const owner = server.people.desdemona;
  const group = `group ${count}`;
  fieldsOf(await server.post('/user_groups/create', owner, { name: group, description: '', members: [reader.id] }));
  const direct = await server.sendMessage(sender, [reader]);
  const grouped = await server.sendMessage(sender, channel, { content: `@*${group}*` });
  const wildcard = await server.sendMessage(sender, channel, { topic: 'wild', content: '@**all**' });
  await server.post('/user_topics', reader, { stream_id: channelId, topic: 'Followed', visibility_policy: 3 });
  const followed = await server.sendMessage(sender, channel, { topic: 'followed' });
  await server.sendMessage(sender, channel, { topic: 'other' });
  await judged();
  const data = [{ stream_id: channelId, property: 'push_notifications', value: true }];
  fieldsOf(await server.post('/users/me/subscriptions/properties', reader, { subscription_data: data }));
  const notified = await server.sendMessage(sender, channel, { topic: 'other' });
  expect(await judged()).toEqual([
    [direct, 'directMessage'],
    [grouped, 'mentioned'],
    [wildcard, 'channelWildcard'],
    [followed, 'followedTopic'],
    [notified, 'channel'],
  ]);
  const subtitle = due.find(({ message }) => message.id === grouped)!.people[0]!.subtitle;
  expect(subtitle).toBe(`${sender.user.fullName} mentioned @${group}:`);
});

it("due notification has texts in the recipient's language if supported, else in English", async () => {
  const texts: string[][] = [];
  for (const language of ['de', 'sv']) {
    fieldsOf(await server.patch('/settings', reader, { default_language: language }));
    const id = await server.sendMessage(sender, channel, { topic: '', content: mention() });
    await judged();
    const { title, subtitle } = due.find(({ message }) => message.id === id)!.people[0]!;
    texts.push([title, subtitle]);
  }
  const name = sender.user.fullName;
  expect(texts).toEqual([
    [`#${channel} > Allgemeiner Chat`, `${name} hat dich erwähnt:`],
    [`#${channel} > general chat`, `${name} mentioned you:`],
  ]);
});

it('due notification is published for mentions that an edit adds, but not for existing mentions', async () => {
  const id = await server.sendMessage(sender, channel);
  expect(await judged()).toEqual([]);
  fieldsOf(await edit(id, mention()));
  expect(await judged()).toEqual([[id, 'mentioned']]);
  due.length = 0;
  fieldsOf(await edit(id, `${mention()} again`));
  expect(await judged()).toEqual([]);
});

it.each([
  ['followedTopic', '/user_topics', () => ({ stream_id: channelId, topic: 'plans', visibility_policy: 3 })],
  [
    'channel',
    '/users/me/subscriptions/properties',
    () => ({ subscription_data: [{ stream_id: channelId, property: 'push_notifications', value: true }] }),
  ],
] as const)(
  'due notification is not repeated for users mentioned by an edit if the message was already due as %s',
  async (reason, path, params) => {
    // Emails would also be due to the mentioned user.
    fieldsOf(await server.patch('/settings', reader, { enable_offline_email_notifications: false }));
    // Processes the notice of the new channel under the earlier settings.
    await judged();
    due.length = 0;
    fieldsOf(await server.post(path, reader, params()));
    const id = await server.sendMessage(sender, channel);
    expect(await judged()).toEqual([[id, reason]]);
    due.length = 0;
    fieldsOf(await edit(id, mention()));
    expect(await judged()).toEqual([]);
  },
);

it('due notification is not published for muted users, deleted messages and messages to bots', async () => {
  const bot = await server.addBot(reader, `bot${count}`);
  fieldsOf(await server.post(`/users/me/muted_users/${sender.id}`, reader));
  await server.sendMessage(sender, [reader]);
  await server.sendMessage(sender, [bot]);
  expect(await judged()).toEqual([]);
});

it('due notification is not published when an edit mentions a user in a direct message', async () => {
  const setting = (value: boolean) =>
    server.patch('/settings', reader, {
      enable_offline_push_notifications: value,
      enable_offline_email_notifications: value,
    });
  fieldsOf(await setting(false));
  const id = await server.sendMessage(sender, [reader]);
  expect(await judged()).toEqual([]);
  fieldsOf(await setting(true));
  fieldsOf(await edit(id, mention()));
  expect(await judged()).toEqual([]);
});

it('due notification for a reminder equals that of a direct message', async () => {
  const message_id = await server.sendMessage(reader, channel);
  const scheduled_delivery_timestamp = server.clock.now() + 1;
  // The worker waits for the rest of the second in real time.
  server.clock.advanceMs(999);
  fieldsOf(await server.post('/reminders', reader, { message_id, scheduled_delivery_timestamp }));
  server.clock.advanceMs(1);
  await until(() => due.some(({ people }) => people.some(({ user }) => user.id === reader.id)));
  expect((await judged()).map(([, reason]) => reason)).toEqual(['directMessage']);
});

it("due notification for a topic mention reaches only the topic's participants", async () => {
  const topic = 'guests';
  await server.sendMessage(reader, channel, { topic });
  const id = await server.sendMessage(sender, channel, { topic, content: '@**topic** look' });
  const elsewhere = await server.sendMessage(sender, channel, { topic: 'elsewhere', content: '@**topic** look' });
  // The reader follows the topic after taking part in it.
  expect(await judged()).toEqual([[id, 'topicWildcardInFollowedTopic']]);
  expect(due.some(({ message }) => message.id === elsewhere)).toBe(false);
});

it('due notification names the smallest of several mentioned groups', async () => {
  const create = (name: string, members: readonly TestUser[]) => {
    const params = { name, description: '', members: members.map(({ id }) => id) };
    return server.post('/user_groups/create', server.people.desdemona, params);
  };
  const [large, small] = [`large ${count}`, `small ${count}`];
  fieldsOf(await create(large, [reader, sender, server.people.iago]));
  fieldsOf(await create(small, [reader, sender]));
  const id = await server.sendMessage(sender, channel, { content: `@*${large}* @*${small}*` });
  await judged();
  const people = due.flatMap(({ message, people }) => (message.id === id ? people : []));
  const { subtitle } = people.find(({ user }) => user.id === reader.id)!;
  expect(subtitle).toBe(`${sender.user.fullName} mentioned @${small}:`);
});

describe('mention that makes its topic followed', () => {
  const withoutMentions = { enable_offline_push_notifications: false, enable_offline_email_notifications: false };

  it('causes no notification for users who disabled mention notifications', async () => {
    fieldsOf(await server.patch('/settings', reader, withoutMentions));
    const mentioned = await server.sendMessage(sender, channel, { topic: 'new', content: mention() });
    const later = await server.sendMessage(sender, channel, { topic: 'new' });
    const judgements = await judged();
    expect(judgements).toContainEqual([later, 'followedTopic']);
    expect(judgements).not.toContainEqual([mentioned, expect.anything()]);
  });

  it('causes no notification for such a user among more than 100 mentioned users', async () => {
    const crowd: TestUser[] = [];
    for (let n = 0; n < 100; n++) {
      crowd.push(await server.addUser({ email: `crowd${count}.${n}@zulip.com`, fullName: `Crowd ${count} ${n}` }));
    }
    const last = await server.addUser({ email: `last${count}@zulip.com`, fullName: `Last ${count}` });
    fieldsOf(await server.patch('/settings', last, withoutMentions));
    const members = [...crowd, last];
    const crowded = `crowded ${count}`;
    await server.createChannel(crowded, [sender, ...members]);
    const group = { name: `crowd ${count}`, description: '', members: members.map(({ id }) => id) };
    fieldsOf(await server.post('/user_groups/create', server.people.desdemona, group));
    const id = await server.sendMessage(sender, crowded, { topic: 'new', content: `@*crowd ${count}*` });
    const dueTo = () =>
      new Set(due.flatMap(({ message, people }) => (message.id === id ? people : [])).map((p) => p.user.id));
    await until(() => dueTo().size >= 100);
    await judged();
    expect(dueTo()).toEqual(new Set(crowd.map((person) => person.id)));
  });

  it('causes a topic notification if the topic was unmuted before', async () => {
    fieldsOf(await server.patch('/settings', reader, withoutMentions));
    await judged();
    due.length = 0;
    const property = (name: string) => ({ stream_id: channelId, property: name, value: true });
    const subscription_data = [property('is_muted'), property('push_notifications')];
    fieldsOf(await server.post('/users/me/subscriptions/properties', reader, { subscription_data }));
    fieldsOf(await server.post('/user_topics', reader, { stream_id: channelId, topic: 'new', visibility_policy: 2 }));
    const id = await server.sendMessage(sender, channel, { topic: 'new', content: mention() });
    expect(await judged()).toEqual([[id, 'channel']]);
  });
});

describe('push notification setting (users §6)', () => {
  const set = async (settings: object) => fieldsOf(await server.patch('/settings', reader, { ...settings }));
  const follow = async () => {
    const policy = { stream_id: channelId, topic: 'plans', visibility_policy: 3 };
    fieldsOf(await server.post('/user_topics', reader, policy));
  };
  const toChannel = (content = 'hello') => server.sendMessage(sender, channel, { content });

  it.each([
    ['enable_offline_push_notifications', false, () => server.sendMessage(sender, [reader])],
    ['enable_offline_push_notifications', false, () => toChannel(mention())],
    ['wildcard_mentions_notify', false, () => toChannel('@**all** look')],
    ['enable_followed_topic_push_notifications', false, () => follow().then(() => toChannel())],
    ['enable_stream_push_notifications', true, () => toChannel()],
  ] as const)('takes effect: %s', async (setting, changed, send) => {
    const isPushDue = async () => {
      due.length = 0;
      const id = await send();
      await judged();
      const people = due.flatMap(({ message, people }) => (message.id === id ? people : []));
      return people.some(({ user, isPushDue }) => user.id === reader.id && isPushDue);
    };
    // A followed topic would be a separate reason.
    await set({ automatically_follow_topics_where_mentioned: false });
    expect(await isPushDue()).toBe(!changed);
    await set({ [setting]: changed });
    expect(await isPushDue()).toBe(changed);
  });

  it('takes effect: enable_followed_topic_wildcard_mentions_notify', async () => {
    await follow();
    await set({ enable_followed_topic_push_notifications: false, wildcard_mentions_notify: false });
    const id = await toChannel('@**all** look');
    expect(await judged()).toEqual([[id, 'channelWildcardInFollowedTopic']]);
    due.length = 0;
    const settings = { enable_followed_topic_email_notifications: false };
    await set({ ...settings, enable_followed_topic_wildcard_mentions_notify: false });
    await toChannel('@**all** look');
    expect(await judged()).toEqual([]);
  });
});

describe('active user', () => {
  let queueId: string;
  beforeEach(async () => {
    ({ queue_id: queueId } = fieldsOf(await server.post('/register', reader, { event_types: ['message'] })) as Wire);
    fieldsOf(await server.post('/users/me/presence', reader, { status: 'active' }));
  });

  it('gets pushes according to the setting, and no emails', async () => {
    await server.sendMessage(sender, [reader]);
    await judged();
    expect(due[0]!.people).toMatchObject([{ isPushDue: true, isEmailDue: false }]);
    due.length = 0;
    fieldsOf(await server.patch('/settings', reader, { enable_online_push_notifications: false }));
    await server.sendMessage(sender, [reader]);
    expect(await judged()).toEqual([]);
  });

  const expireQueues = async () => {
    const sweep = server.parley.workers.find(({ name }) => name === 'removing expired event queues');
    await until(() => {
      server.clock.advance(600);
      (sweep as unknown as { wakeIn(ms: number): void }).wakeIn(0);
      return due.length > 0;
    });
  };

  /** Other readers' queues expire at the same time. */
  const dueOf = (id: number) => due.find(({ message }) => message.id === id)!;

  it('gets no second push for a message pushed before the last queue expired', async () => {
    const id = await server.sendMessage(sender, [reader]);
    await judged();
    expect(dueOf(id).people).toMatchObject([{ isPushDue: true, isEmailDue: false }]);
    due.length = 0;
    await expireQueues();
    expect(await judged()).toEqual([[id, 'directMessage']]);
    expect(dueOf(id).people).toMatchObject([{ isPushDue: false, isEmailDue: true }]);
  });

  it('gets notifications for unread messages when the last queue expires', async () => {
    fieldsOf(await server.patch('/settings', reader, { enable_online_push_notifications: false }));
    const read = await server.sendMessage(sender, [reader]);
    const missed = await server.sendMessage(sender, [reader]);
    fieldsOf(await server.post('/messages/flags', reader, { messages: [read], op: 'add', flag: 'read' }));
    expect(await judged()).toEqual([]);
    due.length = 0;
    await expireQueues();
    expect(await judged()).toEqual([[missed, 'directMessage']]);
    expect(dueOf(missed).people).toMatchObject([{ isPushDue: true, isEmailDue: true }]);
  });

  it.each([
    ['is deleted', (queue_id: string) => server.delete('/events', reader, { queue_id })],
    ['ends after two seconds', () => server.clock.advance(2)],
  ] as const)('gets notifications for unread messages when the last queue with messages %s', async (_, end) => {
    fieldsOf(await server.patch('/settings', reader, { enable_online_push_notifications: false }));
    const params = { event_types: ['message'], idle_queue_timeout: 2 };
    const short: Wire = fieldsOf(await server.post('/register', reader, params));
    fieldsOf(await server.delete('/events', reader, { queue_id: queueId }));
    fieldsOf(await server.post('/register', reader, { event_types: ['typing'] }));
    const missed = await server.sendMessage(sender, [reader]);
    expect(await judged()).toEqual([]);
    await end(short.queue_id);
    await until(() => due.some(({ message }) => message.id === missed));
    expect(dueOf(missed).people).toMatchObject([{ isPushDue: true, isEmailDue: true }]);
  });

  it('gets no email about a missed mention that made its topic followed if mention emails are disabled', async () => {
    fieldsOf(await server.patch('/settings', reader, { enable_offline_email_notifications: false }));
    await judged();
    due.length = 0;
    const mentioned = await server.sendMessage(sender, channel, { topic: 'new', content: mention() });
    const missed = await server.sendMessage(sender, channel, { topic: 'new' });
    await judged();
    due.length = 0;
    await expireQueues();
    expect(await judged()).toEqual([[missed, 'followedTopic']]);
    expect(dueOf(mentioned)).toBeUndefined();
  });
});

it('message that an application sent with a time in the past notifies nobody', async () => {
  const send = (to: 'channel' | 'direct') =>
    server.parley.useCase(SendMessage).execute(
      { realmId: server.realmId, userId: sender.id, clientName: 'test' },
      {
        to: to === 'direct' ? { kind: 'userIds', ids: [reader.id] } : { kind: 'channelName', name: channel },
        ...{ topic: 'lunch', content: mention(), isReadBySender: true, echo: null },
        sentAt: (server.clock.now() - 60) as UnixSeconds,
      },
    );
  await send('channel');
  await send('direct');
  const id = await server.sendMessage(sender, channel, { topic: 'lunch', content: mention() });
  expect(await judged()).toEqual([[id, 'mentioned']]);
});
