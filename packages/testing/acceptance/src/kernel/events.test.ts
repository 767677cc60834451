import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestReply } from '../testing/test-reply.js';
import type { TestUser } from '../testing/test-server.js';

describe('GET /events', () => {
  let general: number;
  const { server, people } = organizationPerTest();
  beforeEach(async () => {
    general = await server.createChannel('general', [people.hamlet, people.cordelia], {}, people.iago);
  });

  const open = async (as: TestUser, params: object = {}): Promise<string> =>
    fieldsOf(await server.post('/register', as, { event_types: ['message'], ...params })).queue_id!;
  const poll = (as: TestUser, queue_id: string, last_event_id: number | string = -1, more = {}) =>
    server.get('/events', as, { queue_id, last_event_id, dont_block: true, ...more });
  const wait = (as: TestUser, queue_id: string, last_event_id = -1) =>
    server.get('/events', as, { queue_id, last_event_id });
  /** Resolves once the poll is pending, to a function that awaits its response. */
  const startWaiting = async (as: TestUser, queue_id: string) => {
    const response = wait(as, queue_id);
    const { servedQueues } = server.parley.ports;
    while (servedQueues.lastPolled(as.id).get(queue_id) !== Number.POSITIVE_INFINITY) await nextTick();
    return () => response;
  };
  const nextTick = () => new Promise((resolve) => setTimeout(resolve, 1));
  const say = (content: string, as: TestUser = people.cordelia, more = {}) =>
    server.sendMessage(as, general, { content, ...more });
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  const events = (reply: TestReply): any[] => fieldsOf(reply).events as never;

  it('returns events in order with increasing ids', async () => {
    const queue = await open(people.hamlet);
    const [one, two] = [await say('one'), await say('two')];
    const got = events(await poll(people.hamlet, queue));
    expect(got.map(({ message }) => message.id)).toEqual([one, two]);
    expect(got[0]).toMatchObject({
      type: 'message',
      flags: [],
      message: {
        content: 'one',
        content_type: 'text/x-markdown',
        type: 'stream',
        stream_id: general,
        subject: 'plans',
      },
    });
    expect(got[0].message).not.toHaveProperty('flags');
    expect(got[1].id).toBeGreaterThan(got[0].id);
  });

  it('returns the queue id only after waiting', async () => {
    const queue = await open(people.hamlet);
    expect(fieldsOf(await poll(people.hamlet, queue))).toEqual({ events: [] });
    const waiting = await startWaiting(people.hamlet, queue);
    await say('hello');
    const fields = fieldsOf(await waiting());
    expect(fields).toMatchObject({ queue_id: queue, events: [{ message: { content: 'hello' } }] });
    expect(Object.keys(fields).sort()).toEqual(['events', 'queue_id']);
  });

  it('repeats events for the same id and drops events before a later one', async () => {
    const queue = await open(people.hamlet);
    await say('one');
    await say('two');
    const first = await poll(people.hamlet, queue);
    const again = await poll(people.hamlet, queue);
    expect(again.body).toEqual(first.body);
    const [one, two] = events(first);
    expect(events(await poll(people.hamlet, queue, one.id))).toEqual([two]);
    expect(events(await poll(people.hamlet, queue, two.id))).toEqual([]);
    expectRefusal(await poll(people.hamlet, queue, one.id), `An event newer than ${one.id} has already been pruned!`);
  });

  it('ends a pending poll when another one begins', async () => {
    const queue = await open(people.hamlet);
    const first = await startWaiting(people.hamlet, queue);
    const second = wait(people.hamlet, queue);
    expect(fieldsOf(await first())).toEqual({ events: [], queue_id: queue });
    await say('hello');
    expect(events(await second)).toHaveLength(1);
  });

  it('returns Markdown or HTML and the empty topic in the format that the queue requested', async () => {
    const raw = await open(people.hamlet, {
      client_capabilities: { notification_settings_null: true, empty_topic_name: true },
    });
    const html = await open(people.hamlet, { apply_markdown: true });
    await say('*hello*', people.cordelia, { topic: '' });
    expect(events(await poll(people.hamlet, raw))[0].message).toMatchObject({ content: '*hello*', subject: '' });
    expect(events(await poll(people.hamlet, html))[0].message).toMatchObject({
      content: '<p><em>hello</em></p>',
      content_type: 'text/html',
      subject: 'general chat',
    });
  });

  it('returns local_message_id only to the queue that sent the message', async () => {
    const [mine, other] = [await open(people.hamlet), await open(people.hamlet)];
    await say('hello', people.hamlet, { queue_id: mine, local_id: '17.5' });
    expect(events(await poll(people.hamlet, mine))[0]).toHaveProperty('local_message_id', '17.5');
    expect(events(await poll(people.hamlet, other))[0]).not.toHaveProperty('local_message_id');
  });

  it('reports mentions and messages read by the sender', async () => {
    const [hamlet, cordelia] = [await open(people.hamlet), await open(people.cordelia)];
    await say('@**King Hamlet** and @**all**', people.cordelia, { read_by_sender: true });
    expect(events(await poll(people.hamlet, hamlet))[0].flags).toEqual([
      'mentioned',
      'stream_wildcard_mentioned',
      'wildcard_mentioned',
    ]);
    expect(events(await poll(people.cordelia, cordelia))[0].flags).toEqual([
      'read',
      'stream_wildcard_mentioned',
      'wildcard_mentioned',
    ]);
  });

  it('applies the narrow only to messages', async () => {
    const queue = await open(people.hamlet, { event_types: null, narrow: [['topic', 'PLANS']] });
    await say('in', people.cordelia);
    await say('out', people.cordelia, { topic: 'other' });
    await server.post('/mark_all_as_read', people.hamlet, {});
    const got = events(await poll(people.hamlet, queue));
    expect(got.map((event) => event.message?.content ?? event.type)).toEqual(['in', 'update_message_flags']);
  });

  it('delivers public channels without a subscription to queues for all public channels, without flags', async () => {
    const all = await open(people.shiva, { all_public_streams: true });
    const own = await open(people.shiva);
    await say('hello');
    expect(events(await poll(people.shiva, all))).toMatchObject([{ message: { content: 'hello' }, flags: [] }]);
    expect(events(await poll(people.shiva, own))).toEqual([]);
  });

  it('delivers direct messages to participants only', async () => {
    const [hamlet, iago] = [await open(people.hamlet), await open(people.iago, { all_public_streams: true })];
    await server.post('/messages', people.cordelia, { type: 'direct', to: [people.hamlet.id], content: 'psst' });
    const [{ message }] = events(await poll(people.hamlet, hamlet));
    expect(message).toMatchObject({ type: 'private', subject: '', content: 'psst' });
    expect(message.display_recipient.map((person: { id: number }) => person.id)).toEqual(
      [people.hamlet.id, people.cordelia.id].sort((a, b) => a - b),
    );
    expect(events(await poll(people.iago, iago))).toEqual([]);
  });

  it('notifies subscribers of new and former subscribers, and new subscribers of their channels', async () => {
    const types = { event_types: ['stream', 'subscription'] };
    const [hamlet, polonius] = [await open(people.hamlet, types), await open(people.polonius, types)];
    await server.post('/users/me/subscriptions', people.iago, {
      subscriptions: [{ name: 'general' }],
      principals: [people.polonius.id],
    });
    expect(events(await poll(people.polonius, polonius)).map(({ type, op }) => `${type}/${op}`)).toEqual([
      'stream/create',
      'subscription/add',
    ]);
    const [added] = events(await poll(people.hamlet, hamlet));
    expect(added).toMatchObject({ op: 'peer_add', stream_ids: [general], user_ids: [people.polonius.id] });
  });

  it('includes details of messages marked unread but not of those marked read', async () => {
    const queue = await open(people.hamlet, { event_types: ['update_message_flags'] });
    const id = await say('hello');
    const mark = (op: string) => server.post('/messages/flags', people.hamlet, { messages: [id], op, flag: 'read' });
    await mark('add');
    await mark('remove');
    const [read, unread] = events(await poll(people.hamlet, queue));
    expect(read).toEqual({
      type: 'update_message_flags',
      op: 'add',
      operation: 'add',
      flag: 'read',
      messages: [id],
      all: false,
      id: read.id,
    });
    expect(unread.message_details).toEqual({
      [id]: { type: 'stream', stream_id: general, topic: 'plans', unmuted_stream_msg: true },
    });
  });

  it('opens a queue without registering for older clients', async () => {
    const fields = fieldsOf(await server.get('/events', people.hamlet, { dont_block: true }));
    expect(fields).toEqual({ queue_id: expect.any(String), events: [], idle_queue_timeout_secs: 600 });
    await say('hello');
    expect(events(await poll(people.hamlet, fields.queue_id!))).not.toEqual([]);
  });

  describe('rejected poll', () => {
    it('reports a missing queue or event id', async () => {
      expectRefusal(await server.get('/events', people.hamlet, {}), "Missing 'queue_id' argument");
      const queue_id = await open(people.hamlet);
      expectRefusal(await server.get('/events', people.hamlet, { queue_id }), "Missing 'last_event_id' argument");
    });

    it("reports an unknown queue or another user's queue", async () => {
      const queue = await open(people.hamlet);
      for (const [as, id] of [
        [people.hamlet, 'nope:1'],
        [people.cordelia, queue],
      ] as const) {
        const refusal = { code: 'BAD_EVENT_QUEUE_ID', queue_id: id };
        expectRefusal(await poll(as, id), `Bad event queue ID: ${id}`, refusal);
      }
    });

    it('has the error text expected by the terminal client', async () => {
      const reply = await server.request('GET', '/events', {
        as: people.hamlet,
        params: { queue_id: 'x', last_event_id: -1 },
        headers: { 'User-Agent': 'ZulipTerminal/0.7.0' },
      });
      expect(reply.body.msg).toBe('Bad event queue id: x');
    });

    it('reports event ids that were never issued', async () => {
      const queue = await open(people.hamlet);
      expectRefusal(await poll(people.hamlet, queue, 0), 'Event 0 was not in this queue');
      expectRefusal(await poll(people.hamlet, queue, 10 ** 9), 'Event 1000000000 was not in this queue');
      expectRefusal(await poll(people.hamlet, queue, -5), 'An event newer than -5 has already been pruned!');
      expectRefusal(await poll(people.hamlet, queue, 'x'), 'last_event_id is not valid JSON');
      expectRefusal(await poll(people.hamlet, queue, -1, { dont_block: 'yes' }), 'dont_block is not valid JSON');
    });

    it('forbids guests to open a queue for all public channels', async () => {
      const reply = await server.get('/events', people.polonius, { dont_block: true, all_public_streams: true });
      expectRefusal(reply, 'User not authorized for this query');
    });

    it('forbids anonymous callers', async () => {
      expect((await server.request('GET', '/events', { as: null })).status).toBe(401);
    });
  });

  describe('DELETE /events', () => {
    const remove = (as: TestUser, queue_id?: string) => server.delete('/events', as, queue_id ? { queue_id } : {});

    it('ends the queue after responding to a pending poll', async () => {
      const queue = await open(people.hamlet);
      const waiting = await startWaiting(people.hamlet, queue);
      expect(fieldsOf(await remove(people.hamlet, queue))).toEqual({});
      expect(fieldsOf(await waiting())).toEqual({ events: [], queue_id: queue });
      const refusal = { code: 'BAD_EVENT_QUEUE_ID', queue_id: queue };
      expectRefusal(await poll(people.hamlet, queue), `Bad event queue ID: ${queue}`, refusal);
      expectRefusal(await remove(people.hamlet, queue), `Bad event queue ID: ${queue}`, refusal);
    });

    it('rejects queues of other users', async () => {
      const queue = await open(people.hamlet);
      const refusal = { code: 'BAD_EVENT_QUEUE_ID', queue_id: queue };
      expectRefusal(await remove(people.cordelia, queue), `Bad event queue ID: ${queue}`, refusal);
      expect(events(await poll(people.hamlet, queue))).toEqual([]);
    });

    it('requires a queue id', async () => {
      const refusal = { code: 'REQUEST_VARIABLE_MISSING', var_name: 'queue_id' };
      expectRefusal(await remove(people.hamlet), "Missing 'queue_id' argument", refusal);
    });
  });
});
