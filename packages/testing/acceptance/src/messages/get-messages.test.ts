import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const MAX = 10_000_000_000_000_000;
const { server, people } = organizationPerTest();

const say = (as: TestUser, to: string, topic?: string, content?: string) =>
  server.sendMessage(as, to, { topic, content, read_by_sender: true });
const whisper = (as: TestUser, to: readonly TestUser[], content = 'psst') =>
  server.sendMessage(as, to, { content, read_by_sender: true });
const ask = (params: object, as: TestUser = people.hamlet) => server.get('/messages', as, { ...params });
const page = async (params: object, as?: TestUser): Promise<Wire> => fieldsOf(await ask(params, as));
const newest = { anchor: 'newest', num_before: 100, num_after: 0 };
const idsOf = ({ messages }: Wire): number[] => messages.map(({ id }: Wire) => id);
const inGeneral = { narrow: [['channel', 'general']] };

describe('GET /messages', () => {
  it('streams a page of several megabytes completely', async () => {
    await server.createChannel('general', [people.hamlet]);
    const sent = Array.from({ length: 260 }, (_, n) =>
      say(people.hamlet, 'general', 'long', `${n} ${'x'.repeat(9990)}`),
    );
    const ids = (await Promise.all(sent)).sort((a, b) => a - b);
    const narrow = [...inGeneral.narrow, ['topic', 'long']];
    const reply = await ask({ ...newest, num_before: 1000, narrow });
    const { messages, ...found } = fieldsOf(reply) as Wire;
    expect(idsOf({ messages })).toEqual(ids);
    expect(found).toEqual({
      anchor: MAX,
      found_oldest: true,
      found_newest: true,
      found_anchor: false,
      history_limited: false,
    });
    expect(reply.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
    expect(reply.headers).not.toHaveProperty('content-length');
    expect(idsOf(await page({ message_ids: ids }))).toEqual(ids);
    const head = await server.request('HEAD', '/messages', {
      as: people.hamlet,
      params: { ...newest, num_before: 1000 },
    });
    expect([head.status, head.body]).toEqual([200, null]);
  });

  describe('page of ten messages', () => {
    let ids: number[];
    let notice: number;
    beforeEach(async () => {
      await server.createChannel('general', [people.hamlet, people.cordelia]);
      notice = (await page({ ...newest, ...inGeneral })).messages[0].id;
      ids = [];
      for (let n = 0; n < 9; n++) ids.push(await say(people.hamlet, 'general'));
      ids.unshift(notice);
    });
    const range = async (params: object) => {
      const { messages, ...found } = await page({ ...inGeneral, ...params });
      return { ids: idsOf({ messages }), ...found };
    };
    const found = (anchor: number, oldest: boolean, newestToo: boolean, exact: boolean) => ({
      anchor,
      found_oldest: oldest,
      found_newest: newestToo,
      found_anchor: exact,
      history_limited: false,
    });

    it('contains the newest messages', async () => {
      expect(await range({ anchor: 'newest', num_before: 5, num_after: 0 })).toEqual({
        ids: ids.slice(5),
        ...found(MAX, false, true, false),
      });
      expect(await range({ anchor: 'newest', num_before: 20, num_after: 7 })).toEqual({
        ids,
        ...found(MAX, true, true, false),
      });
      expect((await range({ anchor: '99999999999999999', num_before: 1, num_after: 0 })).anchor).toBe(MAX);
    });

    it('contains the oldest messages', async () => {
      expect(await range({ anchor: 'oldest', num_before: 0, num_after: 3 })).toEqual({
        ids: ids.slice(0, 3),
        ...found(0, true, false, false),
      });
      expect(await range({ anchor: -1, num_before: 0, num_after: 1 })).toMatchObject({ anchor: 0, found_oldest: true });
    });

    it('contains messages around an anchor', async () => {
      const anchor = ids[5]!;
      expect(await range({ anchor, num_before: 5, num_after: 4 })).toEqual({
        ids,
        ...found(anchor, false, false, true),
      });
      expect(await range({ anchor, num_before: 10, num_after: 10 })).toEqual({
        ids,
        ...found(anchor, true, true, true),
      });
      expect(await range({ anchor, num_before: 0, num_after: 0 })).toEqual({
        ids: [anchor],
        ...found(anchor, false, false, true),
      });
      expect(await range({ anchor, num_before: 0, num_after: 0, include_anchor: false })).toEqual({
        ids: [],
        ...found(anchor, false, false, false),
      });
      expect(await range({ anchor, num_before: 3, num_after: 0, include_anchor: false })).toEqual({
        ids: ids.slice(2, 5),
        ...found(anchor, false, false, false),
      });
    });

    it('contains messages around the first unread message', async () => {
      const first = await say(people.cordelia, 'general');
      await say(people.cordelia, 'general');
      await server.post('/messages/flags', people.hamlet, { messages: [notice], op: 'add', flag: 'read' });
      expect(await range({ anchor: 'first_unread', num_before: 1, num_after: 0 })).toMatchObject({
        ids: [ids[9], first],
        anchor: first,
        found_anchor: true,
      });
      const legacy = { use_first_unread_anchor: true, anchor: 0, num_before: 0, num_after: 0 };
      expect((await range(legacy)).ids).toEqual([first]);
      await server.post('/mark_all_as_read', people.hamlet);
      expect((await range(legacy)).anchor).toBe(MAX);
    });

    it('contains messages from a date on', async () => {
      server.clock.advance(86_400);
      const later = await say(people.hamlet, 'general');
      const anchor_date = new Date(server.clock.nowMs()).toISOString();
      const since = { anchor: 'date', num_before: 0, num_after: 5 };
      expect((await range({ ...since, anchor_date })).ids).toEqual([later]);
      expect((await range({ ...since, anchor_date: '2001-01-01' })).ids).toEqual(ids.slice(0, 6));
      expect((await range({ ...since, anchor_date: '2101-01-01' })).anchor).toBe(MAX);
    });

    it('contains messages by id', async () => {
      const { hamlet, cordelia, iago } = people;
      const foreign = await whisper(cordelia, [iago]);
      const fields = await page({ message_ids: [ids[3], ids[1], ids[3], 99_999_999, foreign] }, hamlet);
      expect({ ...fields, messages: idsOf(fields) }).toEqual({
        found_oldest: false,
        found_newest: false,
        found_anchor: false,
        history_limited: false,
        messages: [ids[1], ids[3]],
      });
      const narrowed = await page({ message_ids: ids, narrow: [['topic', 'channel events']] });
      expect(idsOf(narrowed)).toEqual([notice]);
    });

    it('contains messages by id that were never received', async () => {
      const { messages } = await page({ message_ids: [ids[1]] }, people.shiva);
      expect(messages[0].flags).toEqual(['read', 'historical']);
    });

    it('contains every field of the contract', async () => {
      const [message] = (await page({ message_ids: [ids[1]] })).messages;
      expect(message).toEqual({
        id: ids[1],
        sender_id: people.hamlet.id,
        sender_full_name: 'King Hamlet',
        sender_email: 'hamlet@zulip.com',
        sender_realm_str: expect.stringMatching(/^zulip\d+$/),
        avatar_url: `${server.url}/user_avatars/${server.realmId}/${people.hamlet.id}.png?version=1`,
        client: expect.any(String),
        content: '<p>hello</p>',
        content_type: 'text/html',
        type: 'stream',
        display_recipient: 'general',
        recipient_id: expect.any(Number),
        stream_id: expect.any(Number),
        subject: 'plans',
        topic_links: [],
        timestamp: server.clock.now(),
        is_me_message: false,
        reactions: [],
        submessages: [],
        flags: ['read'],
      });
      const raw = (await page({ message_ids: [ids[1]], apply_markdown: false })).messages[0];
      expect(raw).toMatchObject({ content: 'hello', content_type: 'text/x-markdown' });
    });

    it('contains no more messages than the narrow', async () => {
      await say(people.hamlet, 'general', 'Lunch');
      const lunch = await page({
        ...newest,
        narrow: [
          ['stream', 'GENERAL'],
          ['topic', 'lunch'],
        ],
      });
      expect(lunch.messages.map(({ subject }: Wire) => subject)).toEqual(['Lunch']);
    });
  });

  it('omits gravatar URLs for clients that compute them if everyone can access the email', async () => {
    const { hamlet } = people;
    await server.storage.uow.write(hamlet.user.realmId, (tx) =>
      tx.users.update({ ...hamlet.user, avatar: { source: 'gravatar', version: 1 } }),
    );
    await server.createChannel('general', [hamlet]);
    const id = await say(hamlet, 'general');
    const avatar = async (params: object) => (await page({ message_ids: [id], ...params })).messages[0].avatar_url;
    expect(await avatar({})).toBeNull();
    expect(await avatar({ client_gravatar: false })).toContain('https://secure.gravatar.com/avatar/');
    expect(await avatar({ client_extavatar: false })).toContain('https://secure.gravatar.com/avatar/');
    expectRefusal(
      await ask({ message_ids: [id], client_gravatar: true, client_extavatar: true }),
      "Can't decide between 'client_gravatar' and 'client_extavatar' arguments",
      { code: 'REQUEST_CONFUSING_VAR', var_name1: 'client_gravatar', var_name2: 'client_extavatar' },
    );
  });

  it('shows a name for the empty topic unless the client supports the empty topic', async () => {
    await server.createChannel('general', [people.hamlet]);
    const id = await say(people.hamlet, 'general', '');
    const topic = async (params: object) => (await page({ message_ids: [id], ...params })).messages[0].subject;
    expect(await topic({})).toBe('general chat');
    expect(await topic({ allow_empty_topic_name: true })).toBe('');
    expect(idsOf(await page({ ...newest, narrow: [['topic', 'general chat']] }))).toEqual([id]);
  });

  describe('message history', () => {
    it("returns the caller's own messages without a narrow and full history for a readable channel", async () => {
      const { hamlet, shiva } = people;
      await server.createChannel('general', [hamlet]);
      const id = await say(hamlet, 'general');
      expect(idsOf(await page(newest, shiva))).toEqual([]);
      const { messages } = await page({ ...newest, ...inGeneral }, shiva);
      expect(messages.at(-1)).toMatchObject({ id, flags: ['read', 'historical'] });
    });

    it('returns an empty page for an inaccessible channel', async () => {
      const { hamlet, cordelia, iago, polonius } = people;
      const secret = await server.createChannel('secret', [hamlet], { invite_only: true });
      await say(hamlet, 'secret');
      await server.createChannel('general', [hamlet]);
      await say(hamlet, 'general');
      for (const who of [cordelia, iago]) {
        expect(idsOf(await page({ ...newest, narrow: [{ operator: 'channel', operand: secret }] }, who))).toEqual([]);
      }
      expect(idsOf(await page({ ...newest, ...inGeneral }, polonius))).toEqual([]);
    });

    it('returns received messages of a channel with protected history', async () => {
      const { hamlet, cordelia } = people;
      await server.createChannel('secret', [hamlet], { invite_only: true, history_public_to_subscribers: false });
      const before = await say(hamlet, 'secret');
      await server.post('/users/me/subscriptions', hamlet, {
        subscriptions: [{ name: 'secret' }],
        principals: [cordelia.id],
      });
      const after = await say(hamlet, 'secret');
      const seen = idsOf(await page({ ...newest, narrow: [['channel', 'secret']] }, cordelia));
      expect(seen).toContain(after);
      expect(seen).not.toContain(before);
      expect(idsOf(await page({ message_ids: [before, after] }, cordelia))).toEqual([after]);
    });
  });

  describe('narrow to users', () => {
    it('finds conversations by participants', async () => {
      const { hamlet, cordelia, iago } = people;
      const both = await whisper(hamlet, [cordelia]);
      const three = await whisper(hamlet, [cordelia, iago]);
      const alone = await whisper(hamlet, [hamlet]);
      const dm = async (operand: unknown, operator = 'dm') =>
        idsOf(await page({ ...newest, narrow: [{ operator, operand }] }));
      expect(await dm([cordelia.id])).toEqual([both]);
      expect(await dm([cordelia.id, hamlet.id])).toEqual([both]);
      expect(await dm(cordelia.email, 'pm-with')).toEqual([both]);
      expect(await dm(`${iago.email},${cordelia.email}`, 'pm_with')).toEqual([three]);
      expect(await dm([hamlet.id])).toEqual([alone]);
      expect(await dm([])).toEqual([]);
      expect(await dm([people.shiva.id])).toEqual([]);
      expect(idsOf(await page({ ...newest, narrow: [['sender', hamlet.email]] }))).toEqual([both, three, alone]);
      const others = [{ operator: 'dm', operand: [cordelia.id], negated: true }];
      expect(idsOf(await page({ ...newest, narrow: others }))).toEqual([three, alone]);
    });

    it('finds one message by id and ignores near', async () => {
      const id = await whisper(people.hamlet, [people.cordelia]);
      expect(idsOf(await page({ ...newest, narrow: [{ operator: 'id', operand: id }] }))).toEqual([id]);
      expect(idsOf(await page({ ...newest, narrow: [['id', String(id)]] }))).toEqual([id]);
      expect(idsOf(await page({ ...newest, narrow: [['near', String(id)]] }))).toEqual([id]);
    });
  });

  it('hides inaccessible senders from a limited guest', async () => {
    const { hamlet, polonius, desdemona } = people;
    await server.createChannel('lobby', [polonius, desdemona]);
    await server.limitGuests();
    const id = await say(hamlet, 'lobby');
    const known = await say(desdemona, 'lobby');
    const read = async (as: TestUser) => (await page({ message_ids: [id, known] }, as)).messages;
    expect((await read(desdemona)).map(({ sender_full_name }: Wire) => sender_full_name)).toEqual([
      'King Hamlet',
      'Desdemona',
    ]);
    const [hidden, shown] = await read(polonius);
    expect(shown.sender_full_name).toBe('Desdemona');
    const unknown = {
      sender_id: hamlet.id,
      sender_full_name: 'Unknown user',
      sender_email: `user${hamlet.id}@parley.invalid`,
      avatar_url: `${server.url}/user_avatars/${server.realmId}/unknown.png`,
    };
    expect(hidden).toMatchObject(unknown);
    expect(fieldsOf(await server.get(`/messages/${id}`, polonius)).message).toMatchObject(unknown);
  });

  describe('rejected message request', () => {
    const refused = async (params: object, msg: string, more = {}) => expectRefusal(await ask(params), msg, more);
    const narrow = (...terms: unknown[]) => ({ ...newest, narrow: terms });
    const badNarrow = (desc: string) => [`Invalid narrow operator: ${desc}`, { code: 'BAD_NARROW', desc }] as const;

    it('reports parameters in the order of the contract', async () => {
      await refused({ ...newest, narrow: {}, message_ids: [1] }, 'narrow is not a list');
      const combination =
        'num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor' as const;
      await refused({ message_ids: [1], anchor: 'abc' }, `Unsupported parameter combination: ${combination}`, {
        parameters: combination,
      });
      await refused({}, "Missing 'anchor' argument.");
      await refused({ anchor: 'abc' }, 'Invalid anchor');
      await refused({ anchor: 'newest' }, "Missing 'num_before' argument", {
        code: 'REQUEST_VARIABLE_MISSING',
        var_name: 'num_before',
      });
      await refused({ anchor: 'newest', num_before: 1 }, "Missing 'num_after' argument", {
        code: 'REQUEST_VARIABLE_MISSING',
        var_name: 'num_after',
      });
      const tooMany = { anchor: 5, num_before: 5000, num_after: 1, include_anchor: false };
      await refused({ ...tooMany, narrow: [['x', 'y']] }, 'Too many messages requested (maximum 5000).');
      await refused(
        { ...tooMany, num_before: 1, narrow: [['x', 'y']] },
        'The anchor can only be excluded at an end of the range',
      );
      await refused({ ...tooMany, num_after: 0, narrow: [['x', 'y']] }, ...badNarrow('unknown operator x'));
      // A form can override the method with GET.
      const message_ids = Array.from({ length: 5001 }, () => 1);
      const reply = await server.post('/messages', people.hamlet, { method: 'GET', message_ids });
      expectRefusal(reply, 'Too many messages requested (maximum 5000).');
    });

    it('reports invalid narrows', async () => {
      await server.createChannel('general', [people.hamlet]);
      await refused(narrow(['channel', '5']), ...badNarrow('unknown channel 5'));
      await refused(narrow({ operator: 'stream', operand: 99_999 }), ...badNarrow('unknown channel 99999'));
      await refused(narrow(['sender', 'nobody@x.org']), ...badNarrow('unknown user nobody@x.org'));
      await refused(
        narrow({ operator: 'dm', operand: [1e6, 2e6] }),
        ...badNarrow('unknown user in [1000000, 2000000]'),
      );
      await refused(narrow(['pm-with', 'nobody@x.org']), ...badNarrow('unknown user in nobody@x.org'));
      await refused(narrow(['id', '12x']), ...badNarrow('Invalid message ID'));
      await refused(narrow(['', 'x']), ...badNarrow('unknown operator '));
      for (const name of ['constructor', '__proto__', 'toString']) {
        await refused(narrow([name, 'x']), ...badNarrow(`unknown operator ${name}`));
      }
      const two = `${people.hamlet.email},${people.cordelia.email}`;
      await refused(narrow(['sender', two]), ...badNarrow(`unknown user ${two}`));
      await refused(
        narrow({ operator: 'dm', operand: [people.cordelia.id] }, ['channel', 'general']),
        ...badNarrow('No message can be both a channel message and direct message'),
      );
      const exempt = narrow({ operator: 'dm', operand: [people.cordelia.id], negated: true }, ['channel', 'general']);
      expect((await ask(exempt)).status).toBe(200);
    });

    it('reports anonymous callers', async () => {
      expectRefusal(
        await server.get('/messages', null, newest),
        'Not logged in: API authentication or user session required',
        { status: 401, code: 'UNAUTHORIZED' },
      );
    });
  });
});

describe('GET /messages/{id}', () => {
  const get = (id: number | string, as: TestUser, params = {}) => server.get(`/messages/${id}`, as, params);

  it("returns the message with the reader's flags and its Markdown", async () => {
    const { hamlet, cordelia, shiva } = people;
    await server.createChannel('general', [hamlet, cordelia]);
    const id = await say(hamlet, 'general', '');
    expect(fieldsOf(await get(id, hamlet))).toEqual({
      message: expect.objectContaining({ id, content: '<p>hello</p>', subject: 'general chat', flags: ['read'] }),
      raw_content: 'hello',
    });
    expect((await get(id, cordelia)).body.message.flags).toEqual([]);
    expect((await get(id, shiva)).body.message.flags).toEqual(['read', 'historical']);
    const raw = (await get(id, hamlet, { apply_markdown: false, allow_empty_topic_name: true })).body.message;
    expect(raw).toMatchObject({ content: 'hello', content_type: 'text/x-markdown', subject: '' });
  });

  it('reports inaccessible messages as unknown', async () => {
    const { hamlet, cordelia, iago, polonius } = people;
    await server.createChannel('secret', [hamlet], { invite_only: true });
    await server.createChannel('general', [hamlet]);
    const [secret, open, direct] = [
      await say(hamlet, 'secret'),
      await say(hamlet, 'general'),
      await whisper(hamlet, [cordelia]),
    ];
    for (const [id, who] of [
      [99_999_999, hamlet],
      [secret, cordelia],
      [secret, iago],
      [open, polonius],
      [direct, iago],
    ] as const) {
      expectRefusal(await get(id, who), 'Invalid message(s)');
    }
    expectRefusal(await get(open, hamlet, { apply_markdown: 'maybe' }), 'apply_markdown is not valid JSON');
    expectRefusal(await get('-1', hamlet), 'Not found', { status: 404 });
  });
});
