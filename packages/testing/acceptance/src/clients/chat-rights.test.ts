import { Chat, type Destination } from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { until } from '@parley/testkit';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const running: Chat[] = [];

afterEach(() => {
  for (const chat of running.splice(0)) chat.stop();
});
const { server } = serverPerTest();

/** Starts a chat and loads the messages of a channel. */
async function start({ email, apiKey }: TestUser, channelId: number): Promise<Chat> {
  const gateway = new ParleyClient({ url: server.url, credentials: { email, apiKey }, maxRetries: 0 });
  const clock = { now: () => server.clock.now() * 1000, after: () => () => {} };
  const chat = new Chat({ gateway, clock });
  running.push(chat);
  void chat.run();
  await until(() => chat.isReady.value);
  const view = chat.open([{ operator: 'channel', operand: channelId }]);
  await until(() => view.newer.value === 'none' || view.failure.value !== null);
  await chat.loadTopics(channelId).catch(() => {});
  return chat;
}

const isAllowed = async (call: Promise<{ readonly status: number }>): Promise<boolean> => (await call).status === 200;

/** Results of the client's rules and of the server, by action. */
async function answers(person: TestUser, channelId: number, otherChannelId: number, messages: Messages) {
  const chat = await start(person, channelId);
  const { rights } = chat;
  const path = (id: number) => `/messages/${id}`;
  const { edited, deleted, renamed, moved, reacted } = messages;
  const offered = {
    edit: rights.canEdit(edited),
    delete: rights.canDelete(deleted),
    rename: rights.canMove(renamed).topic,
    move: rights.canMove(moved).channel,
    react: rights.canReact(reacted),
    resolve: rights.canResolve(channelId, 'plans'),
    sendToTopic: rights.canSend({ kind: 'channel', channelId, topic: 'plans' }) === null,
    sendToNewTopic: rights.canSend({ kind: 'channel', channelId, topic: 'brand new' }) === null,
    sendToNoTopic: rights.canSend({ kind: 'channel', channelId, topic: '' }) === null,
  };
  const send = (topic: string) =>
    server.post('/messages', person, { type: 'channel', to: channelId, topic, content: 'x' });
  const allowed = {
    edit: await isAllowed(server.patch(path(edited), person, { content: 'changed' })),
    delete: await isAllowed(server.delete(path(deleted), person)),
    rename: await isAllowed(server.patch(path(renamed), person, { topic: 'other plans' })),
    move: await isAllowed(server.patch(path(moved), person, { stream_id: otherChannelId })),
    react: await isAllowed(server.post(`${path(reacted)}/reactions`, person, { emoji_name: 'tada' })),
    resolve: await isAllowed(
      server.patch(path(messages.resolved), person, { topic: '✔ plans', propagate_mode: 'change_all' }),
    ),
    sendToNewTopic: await isAllowed(send('brand new')),
    sendToNoTopic: await isAllowed(send('')),
    sendToTopic: await isAllowed(send('other plans')),
  };
  return { offered, allowed };
}

type Messages = Readonly<Record<'edited' | 'deleted' | 'renamed' | 'moved' | 'reacted' | 'resolved', number>>;

async function messagesOf(author: TestUser, channelId: number): Promise<Messages> {
  const send = (topic = 'plans') => server.sendMessage(author, channelId, { topic, content: 'x' });
  const ids = [await send(), await send(), await send(), await send(), await send(), await send()] as const;
  await send('other plans');
  const [edited, deleted, renamed, moved, reacted, resolved] = ids;
  return { edited, deleted, renamed, moved, reacted, resolved };
}

const nobody = { direct_members: [], direct_subgroups: [] };
const only = (...people: readonly TestUser[]) => ({ direct_members: people.map(({ id }) => id), direct_subgroups: [] });

describe('chat permission check', () => {
  const roles = ['polonius', 'hamlet', 'shiva', 'iago', 'desdemona'] as const;
  const channels: readonly [name: string, params: () => object][] = [
    ['an ordinary channel', () => ({})],
    ['a channel in which only hamlet may post', () => ({ can_send_message_group: only(server.people.hamlet) })],
    ['a channel that hamlet administers', () => ({ can_administer_channel_group: only(server.people.hamlet) })],
    ['a channel without new topics', () => ({ can_create_topic_group: nobody })],
    ['a channel in which messages need a topic', () => ({ topics_policy: '"disable_empty_topic"' })],
    [
      'a channel in which only hamlet may delete messages and resolve topics',
      () => ({
        can_delete_any_message_group: only(server.people.hamlet),
        can_resolve_topics_group: only(server.people.hamlet),
      }),
    ],
  ];

  it.each(channels)("matches the server's responses to every role in %s", async (_, params) => {
    const { desdemona } = server.people;
    const everybody = roles.map((role) => server.people[role]);
    const other = await server.createChannel('other', everybody);
    for (const role of roles) {
      const town = await server.createChannel(`town of ${role}`, everybody);
      const messages = await messagesOf(desdemona, town);
      for (const [name, value] of Object.entries(params())) {
        const isGroup = name.endsWith('_group');
        fieldsOf(await server.patch(`/streams/${town}`, desdemona, { [name]: isGroup ? { new: value } : value }));
      }
      const { offered, allowed } = await answers(server.people[role], town, other, messages);
      expect({ role, ...offered }).toEqual({ role, ...allowed });
    }
  });

  it("matches the server's responses about own messages after the time limits", async () => {
    const { hamlet, iago } = server.people;
    await server.changeRealm({
      settings: {
        messageContentEditLimitSeconds: 1,
        messageContentDeleteLimitSeconds: 1,
        moveMessagesWithinChannelLimitSeconds: 1,
        moveMessagesBetweenChannelsLimitSeconds: 1,
      },
    });
    const other = await server.createChannel('other', [hamlet, iago]);
    const town = await server.createChannel('town', [hamlet, iago]);
    for (const person of [hamlet, iago]) {
      const messages = await messagesOf(person, town);
      server.clock.advance(60);
      const { offered, allowed } = await answers(person, town, other, messages);
      expect(offered).toEqual(allowed);
    }
  });

  it('allows marking messages as unread in joined channels', async () => {
    const { hamlet, iago } = server.people;
    const channels = [await server.createChannel('town', [hamlet]), await server.createChannel('abroad', [iago])];
    for (const [index, channelId] of channels.entries()) {
      const messageId = await server.sendMessage(iago, channelId, { topic: 'news', content: 'x' });
      const { rights } = await start(hamlet, channelId);
      expect(rights.canMarkUnread(messageId)).toBe(index === 0);
    }
  });

  it('includes the reason why nothing can be sent', async () => {
    const { hamlet, cordelia, desdemona } = server.people;
    const town = await server.createChannel('town', [hamlet]);
    const chat = await start(hamlet, town);
    const direct = (...userIds: number[]): Destination => ({ kind: 'direct', userIds });
    expect(chat.rights.canSend(direct(cordelia.id))).toBeNull();
    expect(chat.rights.canSend(direct(4_711))).toBe('unknown-person');
    const { nobody: nobodyId } = await server.systemGroups();
    fieldsOf(await server.patch('/realm', desdemona, { direct_message_permission_group: { new: nobodyId } }));
    await until(() => chat.rights.canSend(direct(cordelia.id)) === 'direct-messages-disabled');
    fieldsOf(await server.delete(`/users/${cordelia.id}`, desdemona));
    await until(() => chat.rights.canSend(direct(cordelia.id)) === 'deactivated-person');
    fieldsOf(await server.delete(`/streams/${town}`, desdemona));
    await until(() => chat.rights.canSend({ kind: 'channel', channelId: town, topic: 'x' }) === 'archived');
  });
});
