import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/** Message by Desdemona in the public channel `general`, to which Hamlet and Polonius (a guest) subscribe. */
let message: number;

const { server, people } = organizationPerTest();
beforeEach(async () => {
  await server.createChannel('general', [people.hamlet, people.polonius]);
  message = await say('general');
});

const say = (to: string | readonly TestUser[], as = people.desdemona) => server.sendMessage(as, to);
const react = (as: TestUser, params: object, id: number | string = message) =>
  server.post(`/messages/${id}/reactions`, as, { ...params });
const unreact = (as: TestUser, params: object, id: number | string = message) =>
  server.delete(`/messages/${id}/reactions`, as, { ...params });
const wire = ({ id: user_id }: TestUser, emoji_name: string, emoji_code: string, reaction_type = 'unicode_emoji') => ({
  emoji_name,
  emoji_code,
  reaction_type,
  user_id,
});
const shown = async (id = message, as = people.desdemona) =>
  (fieldsOf(await server.get(`/messages/${id}`, as)) as Wire).message.reactions;
/** Reactions on a page assembled from cached texts. */
async function onPage(as: TestUser, headers = {}): Promise<unknown> {
  const params = { message_ids: [message] };
  const { messages } = fieldsOf(await server.request('GET', '/messages', { as, params, headers })) as Wire;
  return messages[0].reactions;
}
const HIDDEN = 'Invalid message(s)';
const ZULIP = { 'User-Agent': 'ZulipFlutter/30.0' };

describe('reaction', () => {
  it('appears with the message, oldest first', async () => {
    const { hamlet, cordelia } = people;
    expect(await shown()).toEqual([]);
    expect(fieldsOf(await react(hamlet, { emoji_name: 'smile' }))).toEqual({});
    expect(fieldsOf(await react(cordelia, { emoji_name: 'thumbs_up', emoji_code: '1f44d' }))).toEqual({});
    const reactions = [wire(hamlet, 'smile', '1f642'), wire(cordelia, 'thumbs_up', '1f44d')];
    expect(await shown()).toEqual(reactions);
    expect(await onPage(hamlet)).toEqual(reactions);
    expect(fieldsOf(await unreact(hamlet, { emoji_name: 'smile' }))).toEqual({});
    expect(await shown()).toEqual(reactions.slice(1));
  });

  it('updates pages cached before it was added or removed', async () => {
    const { hamlet } = people;
    expect(await onPage(hamlet)).toEqual([]);
    await react(hamlet, { emoji_name: 'smile' });
    expect(await onPage(hamlet)).toEqual([wire(hamlet, 'smile', '1f642')]);
    await unreact(hamlet, { emoji_code: '1f642' });
    expect(await onPage(hamlet)).toEqual([]);
  });

  it('does not appear on later messages', async () => {
    const queue = await openQueue(server, people.hamlet, { event_types: ['message'] });
    await react(people.hamlet, { emoji_name: 'smile' });
    await say('general');
    expect(await eventsAfter(server, queue)).toMatchObject([{ message: { reactions: [] } }]);
  });

  it("adds a history message to the user's messages", async () => {
    const { cordelia } = people;
    const flags = async () => (fieldsOf(await server.get(`/messages/${message}`, cordelia)) as Wire).message.flags;
    await react(cordelia, { emoji_name: 'smile' });
    expect(await flags()).toEqual(['read', 'historical']);
    await server.post('/messages/flags', cordelia, { messages: [message], op: 'add', flag: 'starred' });
    await react(cordelia, { emoji_name: '+1' });
    expect(await flags()).toEqual(['read', 'starred', 'historical']);
  });

  it('matches `has:reaction` while it exists', async () => {
    const found = async (negated = false) => {
      const narrow = [{ operator: 'has', operand: 'reaction', negated }];
      const messages = await server.messagesFor(people.hamlet, { narrow, num_before: 10 });
      return messages.map(({ id }: Wire) => id).filter((id: number) => id >= message);
    };
    const other = await say('general');
    await react(people.cordelia, { emoji_name: 'smile' });
    expect([await found(), await found(true)]).toEqual([[message], [other]]);
    await unreact(people.cordelia, { emoji_name: 'smile' });
    expect([await found(), await found(true)]).toEqual([[], [message, other]]);
  });

  it('notifies users with access, including the deprecated user field', async () => {
    const { hamlet, cordelia, polonius, iago } = people;
    await react(cordelia, { emoji_name: 'heart' });
    const queues = await Promise.all(
      [hamlet, cordelia, polonius, iago].map((who) => openQueue(server, who, { event_types: ['reaction'] })),
    );
    await react(hamlet, { emoji_name: 'smile' });
    await unreact(hamlet, { emoji_name: 'smile' });
    const event = {
      type: 'reaction',
      message_id: message,
      ...wire(hamlet, 'smile', '1f642'),
      user: { user_id: hamlet.id, email: hamlet.email, full_name: 'King Hamlet' },
    };
    const told = [
      { ...event, op: 'add' },
      { ...event, op: 'remove' },
    ];
    // Subscriber, recipient without subscription, subscribed guest, and a user with neither.
    for (const queue of queues.slice(0, 3)) expect(await eventsAfter(server, queue)).toEqual(told);
    expect(await eventsAfter(server, queues[3]!)).toEqual([]);
  });

  it('notifies only the participants of a direct conversation', async () => {
    const { hamlet, cordelia, desdemona } = people;
    const secret = await say([hamlet], cordelia);
    const queues = await Promise.all(
      [hamlet, cordelia, desdemona].map((who) => openQueue(server, who, { event_types: ['reaction'] })),
    );
    await react(hamlet, { emoji_name: 'heart' }, secret);
    const counts = await Promise.all(queues.map(async (queue) => (await eventsAfter(server, queue)).length));
    expect(counts).toEqual([1, 1, 0]);
  });

  it('reveals only an id of inaccessible users to limited guests', async () => {
    const { polonius, cordelia, hamlet } = people;
    await server.limitGuests();
    const queue = await openQueue(server, polonius, { event_types: ['reaction'] });
    await react(cordelia, { emoji_name: 'smile' });
    await react(hamlet, { emoji_name: 'smile' });
    const [unknown, known] = await eventsAfter(server, queue);
    expect(unknown).toMatchObject({
      user_id: cordelia.id,
      user: { user_id: cordelia.id, email: `user${cordelia.id}@parley.invalid`, full_name: 'Unknown user' },
    });
    expect(known).toMatchObject({ user: { full_name: 'King Hamlet' } });
  });

  it('follows the topic for participants who want it before the reaction is published', async () => {
    const { hamlet } = people;
    fieldsOf(await server.patch('/settings', hamlet, { automatically_follow_topics_policy: 1 }));
    const queue = await openQueue(server, hamlet, { event_types: ['user_topic', 'reaction'] });
    await react(hamlet, { emoji_name: 'smile' });
    await react(hamlet, { emoji_name: '+1' });
    expect(await eventsAfter(server, queue)).toMatchObject([
      { type: 'user_topic', topic_name: 'plans', visibility_policy: 3 },
      { type: 'reaction' },
      { type: 'reaction' },
    ]);
  });

  it('adds nothing to the register response', async () => {
    const { registered } = await openQueue(server, people.hamlet, { fetch_event_types: ['reaction'] });
    expect(Object.keys(registered).filter((key) => key.includes('reaction'))).toEqual([]);
  });
});

describe('extra emoji (messages §12.4)', () => {
  it('has several names that count as the same reaction', async () => {
    const { hamlet } = people;
    for (const reaction_type of ['zulip_extra_emoji', 'service_extra_emoji']) {
      await react(hamlet, { emoji_name: 'zulip' });
      const params = { emoji_name: 'zulip', emoji_code: 'zulip', reaction_type };
      expectRefusal(await react(hamlet, params), 'Reaction already exists.', { code: 'REACTION_ALREADY_EXISTS' });
      fieldsOf(await unreact(hamlet, { emoji_code: 'zulip', reaction_type }));
      expect(await shown()).toEqual([]);
    }
    await react(hamlet, { emoji_name: 'zulip' });
    fieldsOf(await unreact(hamlet, { emoji_name: 'zulip' }));
    expect(await shown()).toEqual([]);
  });

  it('uses the type name supported by the client on pages and in events', async () => {
    const { hamlet } = people;
    const open = async (headers: Record<string, string>) =>
      (
        fieldsOf(
          await server.request('POST', '/register', { as: hamlet, params: { event_types: ['reaction'] }, headers }),
        ) as Wire
      ).queue_id;
    const queues = [await open({}), await open(ZULIP)];
    await react(hamlet, { emoji_name: 'zulip' });
    const types = [];
    for (const id of queues) {
      const [event] = await eventsAfter(server, { owner: hamlet, id, registered: {} });
      types.push(event.reaction_type);
    }
    expect(types).toEqual(['service_extra_emoji', 'zulip_extra_emoji']);
    for (const _ of [1, 2]) {
      expect(await onPage(hamlet)).toEqual([wire(hamlet, 'zulip', 'zulip', 'service_extra_emoji')]);
      expect(await onPage(hamlet, ZULIP)).toEqual([wire(hamlet, 'zulip', 'zulip', 'zulip_extra_emoji')]);
    }
    const one = await server.request('GET', `/messages/${message}`, { as: hamlet, headers: ZULIP });
    expect(one.body.message.reactions).toEqual([wire(hamlet, 'zulip', 'zulip', 'zulip_extra_emoji')]);
  });
});

describe('POST /messages/{message_id}/reactions', () => {
  it('validates in the order of the contract', async () => {
    const refused = async (params: object, msg: string, more = {}) =>
      expectRefusal(await react(people.hamlet, params), msg, more);
    const exists = { code: 'REACTION_ALREADY_EXISTS' };
    await refused({}, "Missing 'emoji_name' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'emoji_name',
    });
    await refused({ emoji_name: '' }, "Emoji '' does not exist");
    await refused({ emoji_name: 'nothing', reaction_type: 'purple' }, "Emoji 'nothing' does not exist");
    await refused({ emoji_name: 'smile', reaction_type: 'purple' }, 'Invalid emoji type.');
    await refused({ emoji_name: 'smile', emoji_code: '1f642', reaction_type: '' }, 'Invalid emoji type.');
    await refused({ emoji_name: 'smile', reaction_type: 'realm_emoji' }, 'Invalid custom emoji.');
    await refused({ emoji_name: 'x', emoji_code: '7', reaction_type: 'realm_emoji' }, 'Invalid custom emoji.');
    await refused({ emoji_name: 'x', emoji_code: 'y', reaction_type: 'zulip_extra_emoji' }, 'Invalid emoji code.');
    await refused(
      { emoji_name: 'x', emoji_code: 'zulip', reaction_type: 'service_extra_emoji' },
      'Invalid emoji name.',
    );
    await refused({ emoji_name: 'x', emoji_code: 'ffff', reaction_type: 'unicode_emoji' }, 'Invalid emoji code.');
    await refused({ emoji_name: 'heart', emoji_code: '1f642', reaction_type: 'unicode_emoji' }, 'Invalid emoji name.');
    await refused({ emoji_name: 'x'.repeat(10_001) }, 'emoji_name is too long (limit: 10000 characters)');
    expect(await shown()).toEqual([]);
    await react(people.hamlet, { emoji_name: 'smile' });
    await refused({ emoji_name: 'smile' }, 'Reaction already exists.', exists);
    const otherName = { emoji_name: 'heart', emoji_code: '1f642', reaction_type: 'unicode_emoji' };
    await refused(otherName, 'Reaction already exists.', exists);
    // Other users add the same reaction under any name.
    fieldsOf(await react(people.cordelia, otherName));
    expect(await shown()).toEqual([wire(people.hamlet, 'smile', '1f642'), wire(people.cordelia, 'smile', '1f642')]);
  });

  it('limits the number of different emoji on a message', async () => {
    const { desdemona, hamlet, iago } = people;
    const names = Object.values(
      (await server.get('//static/emoji/emoji_api.json', null)).body.code_to_names as Record<string, string[]>,
    ).map(([name]) => name);
    for (const emoji_name of names.slice(0, 100)) fieldsOf(await react(hamlet, { emoji_name }));
    expectRefusal(await react(iago, { emoji_name: names[100] }), 'Too many different reactions (limit: 100).');
    fieldsOf(await react(iago, { emoji_name: names[7] }));
    expect(await shown(message, desdemona)).toHaveLength(101);
  });
});

describe('emoji `zulip`', () => {
  it('has an image at the URL used in messages', async () => {
    const id = await server.sendMessage(people.hamlet, [people.iago], { content: ':zulip:' });
    const { content } = fieldsOf(await server.get(`/messages/${id}`, people.hamlet)).message as Wire;
    const [, path] = /src="([^"]+)"/.exec(content)!;
    const picture = await fetch(`http://localhost:${server.port}${path}`);
    expect(picture.status).toBe(200);
    expect(picture.headers.get('content-type')).toBe('image/png');
  });
});

describe('DELETE /messages/{message_id}/reactions', () => {
  it('validates in the order of the contract', async () => {
    const refused = async (params: object, msg: string, more = {}) =>
      expectRefusal(await unreact(people.hamlet, params), msg, more);
    const none = 'At least one of the following arguments must be present: emoji_name, emoji_code';
    await refused({}, none);
    await refused({ reaction_type: 'unicode_emoji' }, none);
    await refused({ emoji_name: 'nothing' }, "Emoji 'nothing' does not exist");
    await refused({ emoji_code: 'ffff' }, 'Invalid emoji code.');
    await refused({ emoji_code: '1f642', reaction_type: 'purple' }, 'Invalid emoji code.');
    await refused({ emoji_code: '7', reaction_type: 'realm_emoji' }, 'Invalid emoji code.');
    const missing = { code: 'REACTION_DOES_NOT_EXIST' };
    await refused({ emoji_name: 'smile' }, "Reaction doesn't exist.", missing);
    await react(people.cordelia, { emoji_name: 'smile' });
    await refused({ emoji_code: '1f642', reaction_type: 'unicode_emoji' }, "Reaction doesn't exist.", missing);
    expect(await shown()).toHaveLength(1);
  });

  it('requires only the code without a name', async () => {
    await react(people.hamlet, { emoji_name: 'thumbs_up' });
    fieldsOf(await unreact(people.hamlet, { emoji_code: '1f44d' }));
    expect(await shown()).toEqual([]);
  });
});

describe('adding and removing reactions', () => {
  const smile = { emoji_name: 'smile' };
  const both = [react, unreact];

  it('requires access to the message before validating parameters', async () => {
    const { hamlet, iago, polonius, cordelia } = people;
    await server.createChannel('shared', [hamlet], { invite_only: true, history_public_to_subscribers: true });
    await server.createChannel('protected', [hamlet], { invite_only: true, history_public_to_subscribers: false });
    await server.createChannel('open', [hamlet]);
    const before = await say('protected', hamlet);
    await server.post('/users/me/subscriptions', hamlet, {
      subscriptions: [{ name: 'protected' }],
      principals: [cordelia.id],
    });
    const [shared, open, direct] = [
      await say('shared', hamlet),
      await say('open', hamlet),
      await say([cordelia], hamlet),
    ];
    const after = await say('protected', hamlet);
    const may = (who: TestUser) =>
      who === hamlet
        ? [shared, before, after, open, direct]
        : who === cordelia
          ? [after, open, direct]
          : who === iago
            ? [open]
            : [];
    for (const who of [hamlet, cordelia, iago, polonius]) {
      for (const id of [shared, before, after, open, direct]) {
        const replies = [await react(who, smile, id), await unreact(who, smile, id)];
        for (const reply of replies) {
          if (may(who).includes(id)) expect(fieldsOf(reply)).toEqual({});
          else expectRefusal(reply, HIDDEN);
        }
      }
    }
    // Access is checked before the parameters.
    const nothing = { emoji_name: 'nothing' };
    for (const operation of both) expectRefusal(await operation(polonius, nothing, open), HIDDEN);
    expectRefusal(await unreact(polonius, {}, open), HIDDEN);
  });

  it('rejects unknown messages and those of another realm', async () => {
    const realmId = await server.addRealm('lear');
    const king = await server.addUser({ email: 'king@lear.org', fullName: 'King Lear', role: 'owner', realmId });
    for (const method of ['POST', 'DELETE']) {
      const path = `/messages/${message}/reactions`;
      expectRefusal(await server.request(method, path, { as: king, params: smile, realm: 'lear' }), HIDDEN);
    }
    for (const operation of both) {
      expectRefusal(await operation(people.hamlet, smile, 99_999_999), HIDDEN);
      expectRefusal(await operation(people.hamlet, smile, '-1'), 'Not found', { status: 404 });
    }
    expect(await shown()).toEqual([]);
  });

  it('requires credentials', async () => {
    const refusal = { status: 401, code: 'UNAUTHORIZED' };
    const msg = 'Not logged in: API authentication or user session required';
    expectRefusal(await server.post(`/messages/${message}/reactions`, null, smile), msg, refusal);
    expectRefusal(await server.delete(`/messages/${message}/reactions`, null, smile), msg, refusal);
  });

  it('rejects messages in archived channels, which remain readable with their reactions', async () => {
    await react(people.hamlet, smile);
    await server.changeChannel('general', { isArchived: true });
    expectRefusal(await react(people.hamlet, { emoji_name: '+1' }), HIDDEN);
    expectRefusal(await unreact(people.hamlet, smile), HIDDEN);
    expect(await shown(message, people.hamlet)).toEqual([wire(people.hamlet, 'smile', '1f642')]);
  });
});
