import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let hamlet: TestUser;
let count = 0;
const { server, people } = serverPerSuite();
beforeEach(async () => {
  hamlet = await server.addUser({ email: `hamlet${++count}@zulip.com`, fullName: `Hamlet ${count}` });
});

const change = (params: object, as = hamlet) => server.post('/users/me/status', as, { ...params });
const statusOf = async (who = hamlet, as = people.cordelia): Promise<Wire> =>
  (fieldsOf(await server.get(`/users/${who.id}/status`, as)) as Wire).status;
const statuses = async (as = people.cordelia): Promise<Wire> =>
  (fieldsOf(await server.post('/register', as, { fetch_event_types: ['user_status'] })) as Wire).user_status;
const OCTOPUS = { emoji_name: 'octopus', emoji_code: '1f419', reaction_type: 'unicode_emoji' };
const CLEARED = { emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' };

describe('POST /users/me/status (users §7)', () => {
  it('changes the given properties and publishes them', async () => {
    const queue = await openQueue(server, people.cordelia, { event_types: ['user_status'] });
    expect(await statusOf()).toEqual({});
    expect(fieldsOf(await change({ status_text: '  in a meeting  ' }))).toEqual({});
    expect(await statusOf()).toEqual({ status_text: 'in a meeting' });
    fieldsOf(await change({ emoji_name: 'octopus' }));
    expect(await statusOf()).toEqual({ status_text: 'in a meeting', ...OCTOPUS });
    expect((await statuses())[hamlet.id]).toEqual({ status_text: 'in a meeting', ...OCTOPUS });
    fieldsOf(await change({ status_text: '' }));
    fieldsOf(await change({ emoji_name: '', emoji_code: '', reaction_type: '' }));
    expect(await statusOf()).toEqual({});
    expect(await statuses()).not.toHaveProperty(String(hamlet.id));
    const about = { type: 'user_status', user_id: hamlet.id };
    expect(await eventsAfter(server, queue)).toEqual([
      { ...about, status_text: 'in a meeting' },
      { ...about, ...OCTOPUS },
      { ...about, status_text: '' },
      { ...about, ...CLEARED },
    ]);
  });

  it.each([
    [{ emoji_name: 'car', emoji_code: '1f697', reaction_type: 'unicode_emoji' }, '1f697'],
    [{ emoji_name: 'octopus', emoji_code: '1f419' }, '1f419'],
    [{ emoji_name: 'octopus', reaction_type: 'unicode_emoji' }, '1f419'],
  ])('accepts %j', async (params, emoji_code) => {
    fieldsOf(await change({ status_text: 'x', ...params }));
    expect(await statusOf()).toMatchObject({ emoji_code, reaction_type: 'unicode_emoji' });
  });

  it('uses the name of the extra emoji that the client supports', async () => {
    fieldsOf(await change({ emoji_name: 'zulip' }));
    expect((await statusOf()).reaction_type).toBe('service_extra_emoji');
    const headers = { 'User-Agent': 'ZulipFlutter/30.0' };
    const reply = await server.request('GET', `/users/${hamlet.id}/status`, { as: people.cordelia, headers });
    expect((fieldsOf(reply) as Wire).status.reaction_type).toBe('zulip_extra_emoji');
  });

  it('hides presence while the user is away', async () => {
    const queue = await openQueue(server, hamlet, { event_types: ['user_settings', 'presence', 'user_status'] });
    fieldsOf(await change({ away: true }));
    expect(await statusOf()).toEqual({ away: true });
    expect((await statuses())[hamlet.id]).toEqual({ away: true });
    fieldsOf(await change({ away: true, status_text: 'gone' }));
    fieldsOf(await change({ away: false }));
    expect(await statusOf()).toEqual({ status_text: 'gone' });
    const events = (await eventsAfter(server, queue)).map(({ type, value, away }) => [type, value ?? away]);
    expect(events).toEqual([
      ['user_settings', false],
      ['presence', undefined],
      ['user_status', true],
      ['user_status', true],
      ['user_settings', true],
      ['presence', undefined],
      ['user_status', false],
    ]);
  });

  it.each([
    [{}, 'Client did not pass any new values.'],
    [{ emoji_code: '1f419' }, 'Client did not pass any new values.'],
    [
      { status_text: 'x', emoji_code: '1f419' },
      'Client must pass emoji_name if they pass either emoji_code or reaction_type.',
    ],
    [
      { away: true, reaction_type: 'unicode_emoji' },
      'Client must pass emoji_name if they pass either emoji_code or reaction_type.',
    ],
    [{ emoji_name: 'nothing' }, "Emoji 'nothing' does not exist"],
    [{ ...OCTOPUS, emoji_code: 'x' }, 'Invalid emoji code.'],
    [{ ...OCTOPUS, emoji_name: 'car' }, 'Invalid emoji name.'],
    [{ ...OCTOPUS, reaction_type: 'realm_emoji' }, 'Invalid custom emoji.'],
    [{ ...OCTOPUS, reaction_type: 'x' }, 'Invalid emoji type.'],
    [{ ...OCTOPUS, reaction_type: '' }, 'Invalid emoji type.'],
    [{ status_text: 'x'.repeat(61) }, 'status_text is too long (limit: 60 characters)'],
    [{ away: 1 }, 'away is not a boolean'],
  ])('rejects %j without changing anything', async (params, msg) => {
    expectRefusal(await change(params), msg);
    expect(await statusOf()).toEqual({});
  });

  it('limits the length in characters, not bytes', async () => {
    const status_text = ` ${'😀'.repeat(60)} `;
    fieldsOf(await change({ status_text }));
    expect((await statusOf()).status_text).toBe(status_text.trim());
  });

  it('rejects bots', async () => {
    const bot = await server.addBot(hamlet, `helper${count}`);
    expectRefusal(await change({ status_text: 'beep' }, bot), 'This endpoint does not accept bot requests.');
  });
});

describe('status of another user', () => {
  const changeOf = (who: { readonly id: number }, params: object, as: TestUser) =>
    server.post(`/users/${who.id}/status`, as, { ...params });

  it('accepts changes by administrators including bots', async () => {
    const bot = await server.addBot(people.iago, `helper${count}`);
    await server.changeUser(bot, { role: 'administrator' });
    for (const as of [people.iago, people.desdemona, bot]) {
      fieldsOf(await changeOf(hamlet, { status_text: `as ${as.id} says`, emoji_name: 'octopus' }, as));
      expect(await statusOf()).toEqual({ status_text: `as ${as.id} says`, ...OCTOPUS });
    }
    expectRefusal(await changeOf(hamlet, {}, people.iago), 'Client did not pass any new values.');
    const ignored = await changeOf(hamlet, { status_text: 'x', away: true }, people.iago);
    expect(fieldsOf(ignored)).toEqual({ ignored_parameters_unsupported: ['away'] });
  });

  it('rejects changes by other callers', async () => {
    for (const as of [people.shiva, people.cordelia, people.polonius, hamlet]) {
      expectRefusal(await changeOf(hamlet, {}, as), 'Must be an organization administrator', {
        code: 'UNAUTHORIZED_PRINCIPAL',
      });
    }
  });

  it('rejects bots, deactivated users and users of other organizations', async () => {
    const bot = await server.addBot(hamlet, `helper${count}`);
    const realmId = await server.addRealm(`other${count}`);
    const outsider = await server.addUser({ email: 'outsider@zulip.com', fullName: 'Outsider', realmId });
    for (const who of [bot, outsider, { id: 99_999 }]) {
      expectRefusal(await changeOf(who, { status_text: 'x' }, people.iago), 'No such user');
      expectRefusal(await server.get(`/users/${who.id}/status`, people.iago), 'No such user');
    }
    await server.changeUser(hamlet, { isActive: false });
    expectRefusal(await changeOf(hamlet, { status_text: 'x' }, people.iago), 'User is deactivated');
    expectRefusal(await server.get(`/users/${hamlet.id}/status`, people.iago), 'User is deactivated');
  });

  it('appears to bots, and to guests for accessible users', async () => {
    fieldsOf(await change({ status_text: 'busy' }));
    const bot = await server.addBot(people.cordelia, `helper${count}`);
    expect(await statusOf(hamlet, bot)).toEqual({ status_text: 'busy' });
    await server.limitGuests();
    const queue = await openQueue(server, people.polonius, { event_types: ['user_status'] });
    expectRefusal(await server.get(`/users/${hamlet.id}/status`, people.polonius), 'Insufficient permission');
    expect(await statuses(people.polonius)).not.toHaveProperty(String(hamlet.id));
    fieldsOf(await change({ status_text: 'busier' }));
    expect(await eventsAfter(server, queue)).toEqual([]);
    await server.post('/messages', hamlet, { type: 'direct', to: [people.polonius.id], content: 'hello' });
    expect(await statuses(people.polonius)).toHaveProperty(String(hamlet.id));
  });
});
