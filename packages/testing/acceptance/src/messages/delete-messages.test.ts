import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/** Public channel; Hamlet and Polonius (a guest) subscribe. */
let general: number;

const { server, people } = organizationPerTest();
beforeEach(async () => {
  general = await server.createChannel('general', [people.hamlet, people.polonius]);
});

const say = (to: number | readonly TestUser[], as: TestUser, topic?: string, content?: string) =>
  server.sendMessage(as, to, { topic, content });
const remove = (as: TestUser, id: number | string) => server.delete(`/messages/${id}`, as);
const deleteTopic = (as: TestUser, topic_name: string, channel = general) =>
  server.post(`/streams/${channel}/delete_topic`, as, { topic_name });
const list = async (as: TestUser, narrow: readonly object[] = []): Promise<number[]> => {
  return (await server.messagesFor(as, { narrow, num_before: 1000 })).map(({ id }: Wire) => id);
};
const subscribe = (who: TestUser, name: string) =>
  server.post('/users/me/subscriptions', people.desdemona, { subscriptions: [{ name }], principals: [who.id] });
const patchRealm = async (params: object) => fieldsOf(await server.patch('/realm', people.desdemona, { ...params }));

const HIDDEN = 'Invalid message(s)';
const FORBIDDEN = "You don't have permission to delete this message";
const TOO_LATE = 'The time limit for deleting this message has passed';
const BULK = {
  client_capabilities: { notification_settings_null: true, bulk_message_deletion: true, empty_topic_name: true },
};

describe('DELETE /messages/{message_id}', () => {
  it('removes the message from every read operation', async () => {
    const { hamlet, cordelia } = people;
    const id = await say(general, hamlet);
    await server.post(`/messages/${id}/reactions`, cordelia, { emoji_name: 'smile' });
    await server.post('/messages/flags', cordelia, { messages: [id], op: 'add', flag: 'starred' });
    expect(fieldsOf(await remove(hamlet, id))).toEqual({});
    for (const who of [hamlet, cordelia]) {
      expectRefusal(await server.get(`/messages/${id}`, who), HIDDEN);
      expect(await list(who)).not.toContain(id);
    }
    const registered = fieldsOf(await server.post('/register', cordelia)) as Wire;
    expect(registered.starred_messages).toEqual([]);
    expect(fieldsOf(await server.get(`/users/me/${general}/topics`, hamlet)).topics).not.toContainEqual(
      expect.objectContaining({ name: 'plans' }),
    );
    expectRefusal(await remove(hamlet, id), HIDDEN);
  });

  it('removes the message from unread counts', async () => {
    const unread = async () => {
      const { unread_msgs } = fieldsOf(await server.post('/register', people.hamlet)) as Wire;
      return [unread_msgs.count, unread_msgs.mentions];
    };
    await server.post('/mark_all_as_read', people.hamlet);
    const [first, second] = [
      await say(general, people.iago, 'plans', '@**King Hamlet**'),
      await say(general, people.iago),
    ];
    expect(await unread()).toEqual([2, [first]]);
    await remove(people.iago, first);
    expect(await unread()).toEqual([1, []]);
    await remove(people.iago, second);
    expect(await unread()).toEqual([0, []]);
  });

  it('makes the previous message the newest of its conversation', async () => {
    const { hamlet, cordelia } = people;
    const newest = async () => {
      const { recent_private_conversations } = fieldsOf(await server.post('/register', hamlet)) as Wire;
      return recent_private_conversations.map(({ max_message_id }: Wire) => max_message_id);
    };
    const [first, second] = [await say([cordelia], hamlet), await say([cordelia], hamlet)];
    await remove(hamlet, second);
    expect(await newest()).toEqual([first]);
    await remove(hamlet, first);
    expect(await newest()).toEqual([]);
  });

  it.each`
    who            | whose          | age    | response
    ${'hamlet'}    | ${'hamlet'}    | ${600} | ${null}
    ${'hamlet'}    | ${'hamlet'}    | ${601} | ${TOO_LATE}
    ${'hamlet'}    | ${'desdemona'} | ${0}   | ${FORBIDDEN}
    ${'shiva'}     | ${'hamlet'}    | ${0}   | ${FORBIDDEN}
    ${'iago'}      | ${'hamlet'}    | ${9e9} | ${null}
    ${'desdemona'} | ${'hamlet'}    | ${9e9} | ${null}
    ${'polonius'}  | ${'polonius'}  | ${0}   | ${null}
    ${'polonius'}  | ${'hamlet'}    | ${0}   | ${FORBIDDEN}
  `(
    'responds $response when $who deletes a message of $whose sent $age s ago',
    async ({ who, whose, age, response }) => {
      const id = await say(general, people[whose as keyof typeof people]);
      server.clock.advance(age);
      const reply = await remove(people[who as keyof typeof people], id);
      if (response === null) expect(fieldsOf(reply)).toEqual({});
      else expectRefusal(reply, response);
      expect((await list(people.hamlet)).includes(id)).toBe(response !== null);
    },
  );

  it('requires permission by the organization or the channel', async () => {
    const { hamlet, cordelia, iago, desdemona } = people;
    const { nobody, members } = await server.systemGroups();
    await patchRealm({
      can_delete_own_message_group: { new: nobody },
      can_delete_any_message_group: { new: nobody },
      message_content_delete_limit_seconds: '"unlimited"',
    });
    const own = await say(general, hamlet);
    expectRefusal(await remove(hamlet, own), FORBIDDEN);
    expectRefusal(await remove(desdemona, own), FORBIDDEN);
    const [mine, others] = [
      await server.createChannel('mine', [hamlet], { can_delete_own_message_group: members }),
      await server.createChannel('others', [hamlet], { can_delete_any_message_group: members }),
    ];
    const [inMine, inOthers] = [await say(mine, hamlet), await say(others, hamlet)];
    server.clock.advance(10_000);
    expectRefusal(await remove(iago, inMine), FORBIDDEN);
    fieldsOf(await remove(hamlet, inMine));
    fieldsOf(await remove(cordelia, inOthers));
    // Direct messages have no channel permissions.
    const direct = await say([cordelia], hamlet);
    expectRefusal(await remove(hamlet, direct), FORBIDDEN);
    await patchRealm({ can_delete_any_message_group: { new: members } });
    fieldsOf(await remove(cordelia, direct));
  });

  it('rejects messages the caller cannot access or change', async () => {
    const { hamlet, iago, cordelia, polonius } = people;
    const [direct, secret] = [
      await say([hamlet], cordelia),
      await server.createChannel('secret', [hamlet], { invite_only: true }),
    ];
    const inSecret = await say(secret, hamlet);
    const id = await say(general, hamlet);
    for (const hidden of [direct, inSecret, 999_999]) expectRefusal(await remove(iago, hidden), HIDDEN);
    const open = await server.createChannel('open', []);
    expectRefusal(await remove(polonius, await say(open, cordelia)), HIDDEN);
    const realmId = await server.addRealm('lear');
    const king = await server.addUser({ email: 'king@lear.org', fullName: 'King Lear', role: 'owner', realmId });
    expectRefusal(await server.request('DELETE', `/messages/${id}`, { as: king, realm: 'lear' }), HIDDEN);
    expect((await server.delete('/messages/-1', hamlet)).status).toBe(404);
    expect(await list(hamlet)).toEqual(expect.arrayContaining([direct, inSecret, id]));
    await server.changeChannel('general', { isArchived: true });
    expectRefusal(await remove(iago, id), HIDDEN);
  });

  it('notifies users with access, one event per message for older clients', async () => {
    const { hamlet, cordelia, polonius, iago } = people;
    const id = await say(general, iago, '');
    await server.post('/messages/flags', cordelia, { messages: [id], op: 'add', flag: 'starred' });
    const types = { event_types: ['delete_message'] };
    const queues = await Promise.all([
      openQueue(server, hamlet, { ...types, ...BULK }),
      openQueue(server, cordelia, types),
      openQueue(server, polonius, { ...types, client_capabilities: { notification_settings_null: true } }),
      openQueue(server, people.shiva, types),
      openQueue(server, people.desdemona, types),
    ]);
    fieldsOf(await remove(people.desdemona, id));
    const event = { type: 'delete_message', message_type: 'stream', stream_id: general, topic: '' };
    const told = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    expect(told).toEqual([
      [{ ...event, message_ids: [id] }],
      [{ ...event, message_id: id }],
      [{ ...event, message_id: id, topic: 'general chat' }],
      [],
      // The deleting user is notified even without a subscription.
      [{ ...event, message_id: id }],
    ]);
  });

  it('notifies only the participants of a direct conversation', async () => {
    const { hamlet, cordelia, desdemona } = people;
    const id = await say([hamlet], cordelia);
    const queues = await Promise.all(
      [hamlet, cordelia, desdemona].map((who) => openQueue(server, who, { event_types: ['delete_message'], ...BULK })),
    );
    fieldsOf(await remove(cordelia, id));
    const told = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    const event = { type: 'delete_message', message_type: 'private', message_ids: [id] };
    expect(told).toEqual([[event], [event], []]);
  });

  it('hides the content from a client that was disconnected', async () => {
    const queue = await openQueue(server, people.hamlet, { event_types: ['message', 'delete_message'], ...BULK });
    const id = await say(general, people.iago, 'plans', 'the secret');
    await remove(people.iago, id);
    expect(await eventsAfter(server, queue)).toEqual([expect.objectContaining({ message_ids: [id] })]);
  });

  it('updates the first message of the channel and publishes the change before the deletion', async () => {
    const { hamlet, desdemona } = people;
    const empty = await server.createChannel('empty', [hamlet]);
    fieldsOf(await deleteTopic(desdemona, 'channel events', empty));
    const [first, second, third] = [await say(empty, hamlet), await say(empty, hamlet), await say(empty, hamlet)];
    const queue = await openQueue(server, hamlet, { event_types: ['stream', 'delete_message'], ...BULK });
    await remove(hamlet, third);
    await remove(hamlet, first);
    await remove(hamlet, second);
    const update = { type: 'stream', op: 'update', property: 'first_message_id', stream_id: empty, name: 'empty' };
    expect(await eventsAfter(server, queue)).toMatchObject([
      { type: 'delete_message', message_ids: [third] },
      { ...update, value: second },
      { type: 'delete_message', message_ids: [first] },
      { ...update, value: null },
      { type: 'delete_message', message_ids: [second] },
    ]);
    const { streams } = fieldsOf(await server.get('/streams', hamlet)) as Wire;
    expect(streams.find(({ stream_id }: Wire) => stream_id === empty).first_message_id).toBeNull();
  });
});

describe('POST /streams/{stream_id}/delete_topic', () => {
  it('deletes the topic, ignoring case, together with topic policies', async () => {
    const { hamlet, iago } = people;
    const kept = await say(general, hamlet, 'other');
    const ids = [await say(general, hamlet, 'Plans'), await say(general, people.iago, 'plans')];
    const queue = await openQueue(server, hamlet, { event_types: ['delete_message', 'user_topic'], ...BULK });
    const ofOldClient = await openQueue(server, hamlet, { event_types: ['delete_message'] });
    expect(fieldsOf(await deleteTopic(iago, ' PLANS '))).toEqual({ complete: true });
    const deleted = { type: 'delete_message', message_type: 'stream', stream_id: general, topic: 'plans' };
    expect(await eventsAfter(server, ofOldClient)).toEqual(ids.map((message_id) => ({ ...deleted, message_id })));
    expect(await eventsAfter(server, queue)).toMatchObject([
      { type: 'delete_message', message_type: 'stream', stream_id: general, topic: 'plans', message_ids: ids },
      { type: 'user_topic', stream_id: general, topic_name: 'Plans', visibility_policy: 0 },
    ]);
    const left = await list(hamlet);
    expect(left).toContain(kept);
    for (const id of ids) expect(left).not.toContain(id);
    expect(fieldsOf(await deleteTopic(iago, 'plans'))).toEqual({ complete: true });
  });

  it.each(['', '(no topic)', 'general chat'])('treats %p as the empty topic', async (name) => {
    const id = await say(general, people.hamlet, '');
    fieldsOf(await deleteTopic(people.iago, name));
    expect(await list(people.hamlet)).not.toContain(id);
  });

  it('publishes batches of a hundred messages, newest first', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 250; n++) ids.push(await say(general, people.iago));
    const queue = await openQueue(server, people.hamlet, { event_types: ['delete_message'], ...BULK });
    fieldsOf(await deleteTopic(people.iago, 'plans'));
    const told = (await eventsAfter(server, queue)).map(({ message_ids }) => message_ids);
    expect(told).toEqual([ids.slice(150), ids.slice(50, 150), ids.slice(0, 50)]);
  });

  it('deletes only messages that the caller received in a protected history', async () => {
    const { hamlet, iago, cordelia } = people;
    const vault = await server.createChannel('vault', [hamlet, people.desdemona], {
      invite_only: true,
      history_public_to_subscribers: false,
    });
    const before = await say(vault, hamlet);
    await subscribe(iago, 'vault');
    await subscribe(cordelia, 'vault');
    const after = [await say(vault, hamlet), await say(vault, hamlet)];
    const open = (who: TestUser) => openQueue(server, who, { event_types: ['delete_message', 'user_topic'], ...BULK });
    const [queue, others] = [await open(hamlet), await open(cordelia)];
    expect(fieldsOf(await deleteTopic(iago, 'plans', vault))).toEqual({ complete: true });
    expect(await list(hamlet, [{ operator: 'channel', operand: vault }])).toContain(before);
    // Hamlet still has a message in the topic, so the topic policy remains.
    expect(await eventsAfter(server, queue)).toMatchObject([{ message_ids: after }]);
    expect(await eventsAfter(server, others)).toMatchObject([{ message_ids: after }]);
    // Each user is notified only of their own messages.
    fieldsOf(await deleteTopic(people.desdemona, 'plans', vault));
    expect(await eventsAfter(server, others)).toHaveLength(1);
  });

  it('notifies newcomers of a protected history only about messages that they received', async () => {
    const { hamlet, cordelia, desdemona } = people;
    const vault = await server.createChannel('vault', [hamlet, desdemona], {
      invite_only: true,
      history_public_to_subscribers: false,
    });
    const before = await say(vault, hamlet);
    await subscribe(cordelia, 'vault');
    const after = await say(vault, hamlet);
    const open = (who: TestUser) => openQueue(server, who, { event_types: ['delete_message'], ...BULK });
    const [ofMember, ofNewcomer] = [await open(hamlet), await open(cordelia)];
    fieldsOf(await deleteTopic(desdemona, 'plans', vault));
    expect(await eventsAfter(server, ofMember)).toMatchObject([{ message_ids: [before, after] }]);
    expect(await eventsAfter(server, ofNewcomer)).toMatchObject([{ message_ids: [after] }]);
  });

  it('rejects in the order of the contract', async () => {
    const { hamlet, iago, shiva } = people;
    const principal = { code: 'UNAUTHORIZED_PRINCIPAL' };
    for (const who of [hamlet, shiva]) {
      expectRefusal(await deleteTopic(who, 'plans', 999_999), 'Must be an organization administrator', principal);
      const unnamed = await server.post(`/streams/${general}/delete_topic`, who);
      expectRefusal(unnamed, 'Must be an organization administrator', principal);
    }
    const secret = await server.createChannel('secret', [hamlet], { invite_only: true });
    const id = await say(secret, hamlet);
    for (const channel of [999_999, secret])
      expectRefusal(await deleteTopic(iago, 'plans', channel), 'Invalid channel ID');
    expectRefusal(await server.post(`/streams/${general}/delete_topic`, iago), "Missing 'topic_name' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'topic_name',
    });
    expect(await list(hamlet)).toContain(id);
    const realmId = await server.addRealm('lear');
    const king = await server.addUser({ email: 'king@lear.org', fullName: 'King Lear', role: 'owner', realmId });
    expectRefusal(
      await server.request('POST', `/streams/${general}/delete_topic`, {
        as: king,
        realm: 'lear',
        params: { topic_name: 'plans' },
      }),
      'Invalid channel ID',
    );
  });
});
