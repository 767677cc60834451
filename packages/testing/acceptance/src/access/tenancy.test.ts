import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/** Ids of another realm must behave like unknown ids (architecture §2). Each kind is tried with each operation. */
describe('user of another realm', () => {
  let king: TestUser;
  let secretChannel: number;
  let secretMessage: number;
  let hamlet: TestUser;
  const { server } = serverPerSuite();
  beforeAll(async () => {
    hamlet = server.people.hamlet;
    const realmId = await server.addRealm('lear');
    king = await server.addUser({ email: 'king@lear.org', fullName: 'King Lear', role: 'owner', realmId });
    secretChannel = await server.createChannel('denmark', [hamlet], {}, hamlet);
    secretMessage = await server.sendMessage(hamlet, secretChannel);
  });

  const as = (who: TestUser, method: string, path: string, params: Record<string, unknown> = {}) =>
    server.request(method, path, { as: who, params, ...(who === king && { realm: 'lear' }) });

  it('authenticates only on the host of the same realm', async () => {
    expect((await as(king, 'GET', '/users/me')).body.user_id).toBe(king.id);
    expectRefusal(await server.get('/users/me', king), 'Account is not associated with this subdomain', {
      status: 401,
      code: 'UNAUTHORIZED',
    });
  });

  it('cannot send to our channels and users', async () => {
    const message = { topic: 'x', content: 'y' };
    const code = 'STREAM_DOES_NOT_EXIST';
    expectRefusal(
      await as(king, 'POST', '/messages', { ...message, type: 'channel', to: secretChannel }),
      `Channel with ID '${secretChannel}' does not exist`,
      { code, stream_id: secretChannel },
    );
    expectRefusal(
      await as(king, 'POST', '/messages', { ...message, type: 'channel', to: 'denmark' }),
      "Channel 'denmark' does not exist",
      { code, stream: 'denmark' },
    );
    expectRefusal(
      await as(king, 'POST', '/messages', { ...message, type: 'direct', to: [hamlet.id] }),
      `Invalid user ID ${hamlet.id}`,
    );
    expectRefusal(
      await as(king, 'POST', '/messages', { ...message, type: 'direct', to: [hamlet.email] }),
      `Invalid email '${hamlet.email}'`,
    );
  });

  it('cannot read our messages', async () => {
    expectRefusal(await as(king, 'GET', `/messages/${secretMessage}`), 'Invalid message(s)');
    expect((await as(king, 'GET', '/messages', { message_ids: [secretMessage] })).body.messages).toEqual([]);
    const around = { anchor: secretMessage, num_before: 5, num_after: 5 };
    expect((await as(king, 'GET', '/messages', around)).body.messages).toEqual([]);
    for (const [term, desc] of [
      [{ operator: 'channel', operand: secretChannel }, `unknown channel ${secretChannel}`],
      [['channel', 'denmark'], 'unknown channel denmark'],
      [{ operator: 'sender', operand: hamlet.id }, `unknown user ${hamlet.id}`],
      [{ operator: 'dm', operand: [hamlet.id] }, `unknown user in [${hamlet.id}]`],
    ] as const) {
      expectRefusal(
        await as(king, 'GET', '/messages', { ...around, narrow: [term] }),
        `Invalid narrow operator: ${desc}`,
        { code: 'BAD_NARROW', desc },
      );
    }
    const byId = { ...around, narrow: [{ operator: 'id', operand: secretMessage }] };
    expect((await as(king, 'GET', '/messages', byId)).body.messages).toEqual([]);
  });

  it('cannot flag our messages', async () => {
    const star = { messages: [secretMessage], op: 'add', flag: 'starred' };
    expectRefusal(await as(king, 'POST', '/messages/flags', star), 'Invalid message(s)');
    const params = { stream_id: secretChannel, topic_name: 'x' };
    expectRefusal(await as(king, 'POST', '/mark_stream_as_read', params), 'Invalid channel ID');
    expectRefusal(await as(king, 'POST', '/mark_topic_as_read', params), 'Invalid channel ID');
    await as(king, 'POST', '/mark_all_as_read');
    expect((await as(hamlet, 'GET', `/messages/${secretMessage}`)).body.message.flags).toEqual([]);
  });

  it('cannot access our channels but can reuse their names', async () => {
    expect((await as(king, 'GET', '/streams', { include_all: true })).body.streams).toEqual([]);
    expectRefusal(await as(king, 'GET', '/get_stream_id', { stream: 'denmark' }), "Invalid channel name 'denmark'");
    expectRefusal(await as(king, 'GET', `/users/me/${secretChannel}/topics`), 'Invalid channel ID');
    expectRefusal(
      await as(king, 'DELETE', '/users/me/subscriptions', { subscriptions: ['denmark'] }),
      'Channel(s) (denmark) do not exist',
    );
    const own = fieldsOf(await as(king, 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'Denmark' }] }));
    expect(own.subscribed).toEqual({ [king.id]: ['Denmark'] });
    const { streams } = (await as(king, 'GET', '/streams')).body;
    expect(streams[0].stream_id).not.toBe(secretChannel);
    const ours = (await as(hamlet, 'GET', '/users/me/subscriptions', { include_subscribers: true })).body;
    expect(ours.subscriptions.map(({ subscribers }: { subscribers: number[] }) => subscribers)).toEqual([[hamlet.id]]);
  });

  it('cannot subscribe our users or grant permissions to our users and groups', async () => {
    const lunch = { subscriptions: [{ name: 'lunch' }], name: 'lunch', subscribers: [] };
    expectRefusal(
      await as(king, 'POST', '/users/me/subscriptions', { ...lunch, principals: [hamlet.id] }),
      'No such user',
    );
    expectRefusal(
      await as(king, 'POST', '/users/me/subscriptions', { ...lunch, principals: [hamlet.email] }),
      'No such user',
    );
    expectRefusal(await as(king, 'POST', '/channels/create', { ...lunch, subscribers: [hamlet.id] }), 'No such user');
    const { everyone } = await server.systemGroups();
    expectRefusal(
      await as(king, 'POST', '/channels/create', { ...lunch, can_send_message_group: everyone }),
      'Invalid user group',
    );
    expectRefusal(
      await as(king, 'POST', '/channels/create', {
        ...lunch,
        can_send_message_group: { direct_members: [hamlet.id], direct_subgroups: [] },
      }),
      `Invalid user ID: ${hamlet.id}`,
    );
  });

  it('cannot find our users', async () => {
    expectRefusal(await as(king, 'GET', `/users/${hamlet.id}`), 'No such user');
    expectRefusal(await as(king, 'GET', `/users/${hamlet.email}`), 'No such user');
    const { members } = (await as(king, 'GET', '/users', { user_ids: [hamlet.id, king.id] })).body;
    expect(members.map(({ user_id }: { user_id: number }) => user_id)).toEqual([king.id]);
  });
});
