import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let general: number;
const { server, people } = organizationPerTest();
beforeEach(async () => {
  general = await server.createChannel('general', [people.hamlet, people.cordelia]);
});

const say = (as: TestUser, to = 'general', topic = 'plans') =>
  server.sendMessage(as, to, { topic, read_by_sender: true });
const change = (as: TestUser, messages: unknown, op: string, flag: string) =>
  server.post('/messages/flags', as, { messages, op, flag });
/** Opens a queue and returns a function that fetches its events. */
const listen = async (as: TestUser) => {
  const queue = (await server.post('/register', as, { event_types: ['update_message_flags'] })).body;
  return async () => {
    const params = { queue_id: queue.queue_id, last_event_id: -1, dont_block: true };
    const { events } = (await server.get('/events', as, params)).body;
    return events.map(({ id: _id, type: _type, operation: _operation, ...event }: Record<string, unknown>) => event);
  };
};

describe('POST /messages/flags', () => {
  it('adds and removes stars and returns the ids in request order', async () => {
    const { hamlet } = people;
    const [one, two] = [await say(hamlet), await say(hamlet)];
    const told = await listen(hamlet);
    expect(fieldsOf(await change(hamlet, [two, one, two], 'add', 'starred'))).toEqual({
      messages: [two, one, two],
      ignored_because_not_subscribed_channels: [],
    });
    expect(await server.flagsOf(one, hamlet)).toEqual(['read', 'starred']);
    await change(hamlet, [one], 'remove', 'starred');
    expect(await server.flagsOf(one, hamlet)).toEqual(['read']);
    expect(await told()).toEqual([
      { op: 'add', flag: 'starred', messages: [one, two], all: false },
      { op: 'remove', flag: 'starred', messages: [one], all: false },
    ]);
  });

  it('marks as read and unread and publishes the location of unread messages', async () => {
    const { hamlet, cordelia } = people;
    const id = await say(hamlet);
    await change(cordelia, [id], 'add', 'read');
    expect(await server.flagsOf(id, cordelia)).toEqual(['read']);
    const told = await listen(cordelia);
    await change(cordelia, [id], 'remove', 'read');
    expect(await server.flagsOf(id, cordelia)).toEqual([]);
    expect(await told()).toEqual([
      {
        op: 'remove',
        flag: 'read',
        messages: [id],
        all: false,
        message_details: { [id]: { type: 'stream', stream_id: general, topic: 'plans', unmuted_stream_msg: true } },
      },
    ]);
  });

  it('ignores unknown and already flagged messages', async () => {
    const told = await listen(people.hamlet);
    for (const [op, flag] of [
      ['add', 'read'],
      ['remove', 'starred'],
    ] as const) {
      expect(fieldsOf(await change(people.hamlet, [99_999_999], op, flag)).messages).toEqual([99_999_999]);
    }
    expect(fieldsOf(await change(people.hamlet, [], 'add', 'starred')).messages).toEqual([]);
    expect((await told()).map(({ messages }: { messages: number[] }) => messages)).toEqual([[], [], []]);
  });

  it("adds a history message to the caller's messages", async () => {
    const id = await say(people.hamlet);
    await change(people.shiva, [id], 'add', 'starred');
    expect(await server.flagsOf(id, people.shiva)).toEqual(['read', 'starred', 'historical']);
  });

  it('skips messages in channels without subscription and names the channels', async () => {
    const { hamlet, shiva } = people;
    const id = await say(hamlet);
    await change(shiva, [id], 'add', 'starred');
    expect(fieldsOf(await change(shiva, [id], 'remove', 'read'))).toEqual({
      messages: [id],
      ignored_because_not_subscribed_channels: [general],
    });
    expect(await server.flagsOf(id, shiva)).toContain('read');
  });

  it('changes nothing if a message is inaccessible', async () => {
    const { hamlet, cordelia } = people;
    await server.createChannel('secret', [hamlet], { invite_only: true });
    const [secret, open] = [await say(hamlet, 'secret'), await say(hamlet)];
    for (const other of [secret, 99_999_999]) {
      expectRefusal(await change(cordelia, [open, other], 'add', 'starred'), 'Invalid message(s)');
      expect(await server.flagsOf(open, cordelia)).toEqual([]);
    }
  });

  it('validates in the order of the contract', async () => {
    const { hamlet } = people;
    const refused = async (params: object, msg: string, more = {}) =>
      expectRefusal(await server.post('/messages/flags', hamlet, { ...params }), msg, more);
    const missing = (name: string) => ({ code: 'REQUEST_VARIABLE_MISSING', var_name: name });
    await refused({}, "Missing 'messages' argument", missing('messages'));
    await refused({ messages: 'x' }, 'messages is not valid JSON');
    await refused({ messages: ['1'] }, 'messages[0] is not an integer');
    await refused({ messages: [] }, "Missing 'op' argument", missing('op'));
    await refused({ messages: [], op: 'x' }, "Missing 'flag' argument", missing('flag'));
    await refused({ messages: [], op: 'x', flag: 'purple' }, "Invalid flag: 'purple'");
    await refused({ messages: [], op: 'x', flag: 'mentioned' }, "Flag not editable: 'mentioned'");
    await refused({ messages: [], op: 'x', flag: 'read' }, "Invalid message flag operation: 'x'");
  });
});

describe('POST /messages/flags/narrow', () => {
  const wide = {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    narrow: [['topic', 'plans']],
    op: 'add',
    flag: 'read',
  };
  const update = (params: object, as: TestUser = people.cordelia) =>
    server.post('/messages/flags/narrow', as, { ...wide, ...params });

  it('marks messages in the range', async () => {
    const { hamlet, cordelia } = people;
    const ids = [await say(hamlet), await say(hamlet), await say(hamlet)];
    const other = await say(hamlet, 'general', 'other');
    await change(cordelia, [ids[0]], 'add', 'read');
    expect(fieldsOf(await update({}))).toEqual({
      processed_count: 3,
      updated_count: 2,
      first_processed_id: ids[0],
      last_processed_id: ids[2],
      found_oldest: true,
      found_newest: true,
      ignored_because_not_subscribed_channels: [],
    });
    expect(await server.flagsOf(other, cordelia)).toEqual([]);
    expect(fieldsOf(await update({ anchor: ids[1], num_before: 0, op: 'remove' }))).toMatchObject({
      processed_count: 1,
      updated_count: 1,
    });
    expect(await server.flagsOf(ids[1]!, cordelia)).toEqual([]);
  });

  it('reports zero messages for an empty narrow', async () => {
    expect(fieldsOf(await update({}))).toMatchObject({
      processed_count: 0,
      first_processed_id: null,
      last_processed_id: null,
    });
  });

  it('limits a range that is too large', async () => {
    expect((await update({ num_before: 100_000, num_after: 100_000 })).status).toBe(200);
  });

  it('rejects invalid requests', async () => {
    const refused = async (params: object, msg: string, more = {}) => expectRefusal(await update(params), msg, more);
    await refused({ anchor: 'abc' }, 'Invalid anchor');
    await refused({ anchor: 'date' }, 'Invalid anchor');
    await refused({ num_before: -1 }, 'num_before is too small');
    await refused({ narrow: [1] }, 'Invalid narrow[0]: Value error, dict or list required');
    await refused({ flag: 'historical' }, "Flag not editable: 'historical'");
    await refused({ flag: 'purple' }, "Invalid flag: 'purple'");
    await refused({ op: 'x' }, "Invalid message flag operation: 'x'");
    await refused(
      { anchor: 5, num_before: 3, num_after: 2, include_anchor: false },
      'The anchor can only be excluded at an end of the range',
    );
    await refused({ flag: 'purple', narrow: [['with', '5']] }, 'Invalid narrow operator: unknown operator with', {
      code: 'BAD_NARROW',
      desc: 'unknown operator with',
    });
    const { anchor: _anchor, ...rest } = wide;
    expectRefusal(await server.post('/messages/flags/narrow', people.hamlet, rest), "Missing 'anchor' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'anchor',
    });
  });
});

describe('legacy endpoint for marking as read', () => {
  it('marks everything', async () => {
    const { hamlet, cordelia } = people;
    const id = await say(hamlet);
    const told = await listen(cordelia);
    expect(fieldsOf(await server.request('POST', '/mark_all_as_read', { as: cordelia }))).toEqual({ complete: true });
    expect(await server.flagsOf(id, cordelia)).toEqual(['read']);
    expect(await told()).toEqual([{ op: 'add', flag: 'read', messages: [], all: true }]);
  });

  it('marks a channel and publishes nothing without changes', async () => {
    const { hamlet, cordelia } = people;
    const id = await say(hamlet);
    await server.post('/mark_stream_as_read', cordelia, { stream_id: general });
    expect(await server.flagsOf(id, cordelia)).toEqual(['read']);
    const told = await listen(cordelia);
    expect(fieldsOf(await server.post('/mark_stream_as_read', cordelia, { stream_id: general }))).toEqual({});
    expect(await told()).toEqual([]);
    expectRefusal(await server.post('/mark_stream_as_read', cordelia, { stream_id: 99_999 }), 'Invalid channel ID');
    expectRefusal(
      await server.post('/mark_stream_as_read', cordelia, { stream_id: 'x' }),
      'stream_id is not valid JSON',
    );
  });

  it('marks a topic, ignoring case', async () => {
    const { hamlet, cordelia } = people;
    const [plans, other, nameless] = [
      await say(hamlet),
      await say(hamlet, 'general', 'x'),
      await say(hamlet, 'general', ''),
    ];
    const mark = (topic_name: string, stream_id = general) =>
      server.post('/mark_topic_as_read', cordelia, { stream_id, topic_name });
    expect(fieldsOf(await mark('PLANS'))).toEqual({});
    expect(await server.flagsOf(plans, cordelia)).toEqual(['read']);
    expect(await server.flagsOf(other, cordelia)).toEqual([]);
    await mark('general chat');
    expect(await server.flagsOf(nameless, cordelia)).toEqual(['read']);
    expect(await server.flagsOf(other, cordelia)).toEqual([]);
    expectRefusal(await mark('nothing here'), "No such topic 'nothing here'");
    expectRefusal(await mark('plans', 99_999), 'Invalid channel ID');
  });

  it('rejects inaccessible channels', async () => {
    const secret = await server.createChannel('secret', [people.hamlet], { invite_only: true });
    for (const path of ['/mark_stream_as_read', '/mark_topic_as_read']) {
      const params = { stream_id: secret, topic_name: 'plans' };
      expectRefusal(await server.post(path, people.cordelia, params), 'Invalid channel ID');
    }
  });
});
