import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let general: number;
let secret: number;

/** Hamlet, Cordelia and Polonius (a guest) subscribe to `general`, Desdemona to `secret`. */
const { server, people } = organizationPerTest();
beforeEach(async () => {
  const { hamlet, cordelia, polonius, desdemona } = people;
  general = await server.createChannel('general', [hamlet, cordelia, polonius]);
  secret = await server.createChannel('secret', [desdemona], { invite_only: true });
});

const type = (as: TestUser, params: object) => server.post('/typing', as, { op: 'start', ...params });
const inGeneral = (topic: string | undefined = 'plans') => ({ type: 'stream', stream_id: general, topic });
const open = (who: TestUser, capabilities: object = { stream_typing_notifications: true }) =>
  openQueue(server, who, { client_capabilities: { notification_settings_null: true, ...capabilities } });
const sign = ({ id: user_id, email }: TestUser) => ({ user_id, email });
/** Adds users who, together with `count` others, are 100 participants of a conversation. */
const crowdWith = (count: number) =>
  Promise.all(
    Array.from({ length: 100 - count }, (_, n) => server.addUser({ email: `p${n}@zulip.com`, fullName: `P ${n}` })),
  );
const disable = (who: TestUser, ...names: readonly string[]) =>
  server.patch('/settings', who, Object.fromEntries(names.map((name) => [name, false])));

describe('POST /typing (users §9.1)', () => {
  it('notifies the sender and interested participants of a direct conversation', async () => {
    const { hamlet, cordelia, iago } = people;
    fieldsOf(await disable(iago, 'receives_typing_notifications'));
    const queues = await Promise.all([hamlet, cordelia, iago, people.shiva].map((who) => open(who)));
    expect(fieldsOf(await type(hamlet, { to: [cordelia.id, iago.id] }))).toEqual({});
    fieldsOf(await type(hamlet, { to: [hamlet.id, iago.id, cordelia.id], op: 'stop', type: 'direct' }));
    const heard = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    const event = { type: 'typing', message_type: 'direct', sender: sign(hamlet) };
    const told = [
      { ...event, op: 'start', recipients: [cordelia, iago, hamlet].map(sign) },
      { ...event, op: 'stop', recipients: [hamlet, iago, cordelia].map(sign) },
    ];
    expect(heard).toEqual([told, told, [], []]);
  });

  it('notifies subscribers with clients that show typing', async () => {
    const { hamlet, cordelia, polonius, iago } = people;
    const queues = [await open(cordelia), await open(cordelia, {}), await open(polonius), await open(iago)];
    fieldsOf(await type(hamlet, inGeneral()));
    fieldsOf(await type(hamlet, { ...inGeneral('(no topic)'), type: 'channel', op: 'stop' }));
    const heard = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    const event = { type: 'typing', message_type: 'stream', sender: sign(hamlet), stream_id: general };
    const told = [
      { ...event, op: 'start', topic: 'plans' },
      { ...event, op: 'stop', topic: 'general chat' },
    ];
    expect(heard).toEqual([told, [], told, []]);
  });

  it('notifies nobody in a direct conversation with more than 100 participants', async () => {
    const { hamlet, cordelia, iago } = people;
    const most = [cordelia, ...(await crowdWith(2))].map(({ id }) => id);
    const queue = await open(cordelia);
    fieldsOf(await type(hamlet, { to: most }));
    fieldsOf(await type(hamlet, { to: [...most, iago.id] }));
    expect(await eventsAfter(server, queue)).toHaveLength(1);
  });

  it('reveals no hidden emails', async () => {
    const { hamlet, cordelia } = people;
    fieldsOf(await server.patch('/settings', hamlet, { email_address_visibility: 4 }));
    const queue = await open(cordelia);
    fieldsOf(await type(hamlet, { to: [cordelia.id] }));
    const [{ sender }] = (await eventsAfter(server, queue)) as [{ sender: { email: string } }];
    expect(sender.email).toMatch(new RegExp(`^user${hamlet.id}@`));
  });

  it('hides inaccessible emails from limited guests and rejects such emails from them', async () => {
    const { hamlet, cordelia, polonius } = people;
    await server.limitGuests();
    // User without a shared channel with the guest.
    const far = await server.addUser({ email: 'far@zulip.com', fullName: 'Far' });
    const queue = await open(polonius);
    expectRefusal(await type(polonius, { to: [far.id] }), `Invalid user ID ${far.id}`);
    fieldsOf(await type(far, { to: [polonius.id] }));
    fieldsOf(await type(hamlet, { to: [polonius.id, far.id, cordelia.id] }));
    const hidden = { user_id: far.id, email: `user${far.id}@parley.invalid` };
    const event = { type: 'typing', op: 'start', message_type: 'direct' };
    expect(await eventsAfter(server, queue)).toEqual([
      { ...event, sender: hidden, recipients: [sign(polonius), hidden] },
      { ...event, sender: sign(hamlet), recipients: [sign(polonius), hidden, sign(cordelia), sign(hamlet)] },
    ]);
  });

  it('rejects missing recipients, channels or topics and callers who may not post', async () => {
    const { hamlet, cordelia, polonius } = people;
    expectRefusal(await server.post('/typing', hamlet, { to: [cordelia.id] }), "Missing 'op' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'op',
    });
    expectRefusal(await type(hamlet, { op: 'begin', to: [cordelia.id] }), 'Invalid op');
    expectRefusal(await type(hamlet, { type: 'private', to: [cordelia.id] }), 'Invalid type');
    expectRefusal(await type(hamlet, {}), "Missing 'to' argument");
    expectRefusal(await type(hamlet, { to: 'x' }), 'to is not valid JSON');
    expectRefusal(await type(hamlet, { to: [] }), "Empty 'to' list");
    expectRefusal(await type(hamlet, { to: [cordelia.id, 99999999] }), 'Invalid user ID 99999999');
    expectRefusal(await type(hamlet, { type: 'stream' }), "Missing 'stream_id' argument");
    expectRefusal(await type(hamlet, { type: 'stream', stream_id: general }), 'Missing topic');
    expectRefusal(await type(hamlet, { ...inGeneral(), stream_id: 99999999 }), 'Invalid channel ID');
    expectRefusal(await type(hamlet, { ...inGeneral(), stream_id: secret }), 'Invalid channel ID');
    const closed = await server.createChannel('closed', [hamlet], {
      can_send_message_group: { direct_members: [], direct_subgroups: [] },
    });
    expectRefusal(
      await type(hamlet, { ...inGeneral(), stream_id: closed }),
      'You do not have permission to post in this channel.',
    );
    const elsewhere = await server.createChannel('elsewhere', []);
    expectRefusal(await type(polonius, { ...inGeneral(), stream_id: elsewhere }), 'Invalid channel ID');
    const realmId = await server.addRealm('other');
    const far = await server.addUser({ email: 'far@example.com', fullName: 'Far', realmId });
    expectRefusal(await type(hamlet, { to: [far.id] }), `Invalid user ID ${far.id}`);
    expectRefusal(
      await server.post('/typing', null, {}),
      'Not logged in: API authentication or user session required',
      {
        status: 401,
        code: 'UNAUTHORIZED',
      },
    );
  });

  it('rejects senders who disabled typing before validating recipients', async () => {
    const { hamlet } = people;
    fieldsOf(await disable(hamlet, 'send_private_typing_notifications', 'send_stream_typing_notifications'));
    expectRefusal(
      await type(hamlet, { ...inGeneral(), stream_id: 99999999 }),
      'User has disabled typing notifications for channel messages',
    );
    expectRefusal(await type(hamlet, { to: [99999999] }), 'User has disabled typing notifications for direct messages');
  });
});

describe('POST /messages/{message_id}/typing (users §9.2)', () => {
  const edit = (as: TestUser, id: number, op = 'start') => server.post(`/messages/${id}/typing`, as, { op });

  it('notifies nobody in a direct conversation with more than 100 participants', async () => {
    const { hamlet, cordelia, iago } = people;
    const most = [cordelia, ...(await crowdWith(2))];
    const ids = [await server.sendMessage(hamlet, most), await server.sendMessage(hamlet, [...most, iago])];
    const queue = await open(cordelia);
    for (const id of ids) fieldsOf(await edit(hamlet, id));
    expect((await eventsAfter(server, queue)).map(({ message_id }) => message_id)).toEqual([ids[0]]);
  });

  it('notifies users with access to the message', async () => {
    const { hamlet, cordelia, iago } = people;
    const inChannel = await server.sendMessage(hamlet, general, { topic: '' });
    const direct = await server.sendMessage(hamlet, [cordelia]);
    const queues = [await open(cordelia), await open(cordelia, { empty_topic_name: true }), await open(iago)];
    expect(fieldsOf(await edit(hamlet, inChannel))).toEqual({});
    fieldsOf(await edit(hamlet, direct, 'stop'));
    const heard = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    const event = { type: 'typing_edit_message', sender_id: hamlet.id };
    const toTwo = {
      ...event,
      op: 'stop',
      message_id: direct,
      recipient: { type: 'direct', user_ids: [hamlet.id, cordelia.id].sort((a, b) => a - b) },
    };
    const toMany = { ...event, op: 'start', message_id: inChannel };
    const recipient = { type: 'channel', channel_id: general, topic: 'general chat' };
    expect(heard).toEqual([[{ ...toMany, recipient }, toTwo], [toTwo], []]);
  });

  it('rejects callers who cannot read or edit the message', async () => {
    const { hamlet, cordelia } = people;
    const id = await server.sendMessage(hamlet, general, { topic: 'plans' });
    const direct = await server.sendMessage(hamlet, [cordelia]);
    expectRefusal(await edit(hamlet, 99999999), 'Invalid message(s)');
    expectRefusal(await edit(people.iago, direct), 'Invalid message(s)');
    expectRefusal(await edit(cordelia, id), "You don't have permission to edit this message");
    expectRefusal(await edit(hamlet, id, 'x'), 'Invalid op');
    fieldsOf(await disable(hamlet, 'send_private_typing_notifications', 'send_stream_typing_notifications'));
    expectRefusal(await edit(hamlet, id), 'User has disabled typing notifications for channel messages');
    expectRefusal(await edit(hamlet, direct), 'User has disabled typing notifications for direct messages');
  });
});
