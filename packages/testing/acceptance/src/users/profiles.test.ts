import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const { server, people } = organizationPerTest();

const FIELDS = '/realm/profile_fields';
const OWN = '/users/me/profile_data';
const list = async (as = people.hamlet): Promise<Wire[]> =>
  fieldsOf(await server.get(FIELDS, as)).custom_fields as Wire;
async function add(field_type: number, name: string, params: object = {}): Promise<number> {
  const fields = { field_type, name, ...params };
  return fieldsOf(await server.post(FIELDS, people.iago, fields)).id;
}
const say = (as: TestUser, ...data: readonly [id: number, value: unknown][]) =>
  server.patch(OWN, as, { data: data.map(([id, value]) => ({ id, value })) });
const profileOf = async (who: TestUser, as = people.cordelia): Promise<Wire> => {
  const params = { include_custom_profile_fields: true };
  return (fieldsOf(await server.get(`/users/${who.id}`, as, params)) as Wire).user.profile_data;
};
const UNAUTHORIZED = { code: 'UNAUTHORIZED_PRINCIPAL' };
const CHOICES = { vim: { text: 'VIM', order: '1' }, emacs: { text: 'Emacs', order: '2' } };
const PATTERN = 'https://example.com/%(username)s';
const realmUser = { event_types: ['realm_user'] };

describe('profile field (users §13.3, §13.4)', () => {
  it('is listed for each type in order, included in register and published to everyone', async () => {
    const old = await server.request('POST', '/register', {
      as: people.polonius,
      params: { event_types: ['custom_profile_fields'] },
      headers: { 'User-Agent': 'ZulipMobile/27.190 (Android 12)' },
    });
    const queue = await openQueue(server, people.polonius, { event_types: ['custom_profile_fields'] });
    const base = { hint: '', field_data: '', required: false, editable_by_user: true };
    const expected = [
      { name: 'Motto', type: 1, hint: 'a hint', display_in_profile_summary: true, required: true },
      { name: 'About', type: 2 },
      { name: 'Editor', type: 3, field_data: JSON.stringify(CHOICES) },
      { name: 'Birthday', type: 4, editable_by_user: false },
      { name: 'Site', type: 5, use_for_user_matching: true },
      { name: 'Mentors', type: 6 },
      { name: 'Handle', type: 7, field_data: JSON.stringify({ subtype: 'custom', url_pattern: PATTERN }) },
      { name: 'Pronouns', type: 8 },
    ];
    const ids: number[] = [];
    for (const { name, type, field_data, ...more } of expected) {
      ids.push(await add(type, ` ${name} `, { ...more, ...(field_data && { field_data }) }));
    }
    const fields = expected.map((field, index) => ({ ...base, ...field, id: ids[index], order: ids[index] }));
    expect(await list()).toEqual(fields);
    const registered = fieldsOf(
      await server.post('/register', people.hamlet, { fetch_event_types: ['custom_profile_fields'] }),
    ) as Wire;
    expect(registered.custom_profile_fields).toEqual(fields);
    expect(registered.custom_profile_field_types).toMatchObject({ SHORT_TEXT: { id: 1, name: 'Text (short)' } });
    const events = await eventsAfter(server, queue);
    expect(events).toHaveLength(8);
    expect(events.at(-1)).toEqual({ type: 'custom_profile_fields', fields });
    const told = await eventsAfter(server, { owner: people.polonius, id: old.body.queue_id, registered: {} });
    expect(told.at(-1).fields.at(-1)).toMatchObject({ name: 'Pronouns', type: 1 });
  });

  it('gets name and hint of external services from the server and allows only flag changes', async () => {
    const id = await add(7, 'whatever', { hint: 'x', field_data: { subtype: 'github' } });
    const field = { id, name: 'GitHub username', hint: '', field_data: '{"subtype":"github"}' };
    expect(await list()).toMatchObject([field]);
    const patch = (params: object) => server.patch(`${FIELDS}/${id}`, people.iago, { ...params });
    for (const params of [{ name: 'Hub' }, { hint: 'h' }, { field_data: { subtype: 'twitter' } }]) {
      expectRefusal(await patch(params), 'Default custom field cannot be updated.');
    }
    fieldsOf(await patch({ required: true, name: 'GitHub username', field_data: { subtype: 'github' } }));
    expect(await list()).toMatchObject([{ ...field, required: true }]);
    expectRefusal(
      await server.post(FIELDS, people.iago, { field_type: 7, field_data: { subtype: 'github' } }),
      'A field with that label already exists.',
    );
  });

  it.each<[string, object, string]>([
    ['no type', { field_type: undefined }, "Missing 'field_type' argument"],
    ['a blank name', { name: '  ' }, 'Label cannot be blank.'],
    ['a long name', { name: 'x'.repeat(41) }, 'name is too long (limit: 40 characters)'],
    ['a long hint', { hint: 'x'.repeat(81) }, 'hint is too long (limit: 80 characters)'],
    [
      'a long hint before a long name',
      { name: 'x'.repeat(41), hint: 'x'.repeat(81) },
      'hint is too long (limit: 80 characters)',
    ],
    ['an unknown type', { field_type: 9 }, 'Invalid field type.'],
    ['a blank name before an unknown type', { field_type: 9, name: '' }, 'Label cannot be blank.'],
    ['a name in use', { name: 'Taken' }, 'A field with that label already exists.'],
    ['no choices', { field_type: 3 }, 'Field must have at least one choice.'],
    ['a blank key', { field_type: 3, field_data: { ' ': { text: 'a', order: '1' } } }, "'value' cannot be blank."],
    ['no text', { field_type: 3, field_data: { a: { order: '1' } } }, 'text key is missing from field_data'],
    ['no order', { field_type: 3, field_data: { a: { text: 'a' } } }, 'order key is missing from field_data'],
    [
      'a blank order',
      { field_type: 3, field_data: { a: { text: 'a', order: '' } } },
      'field_data["order"] cannot be blank.',
    ],
    [
      'the same text twice',
      { field_type: 3, field_data: { a: { text: 'a', order: '1' }, b: { text: 'a', order: '2' } } },
      'Field must not have duplicate choices.',
    ],
    [
      'text of a wrong type',
      { field_type: 3, field_data: { a: { text: 5, order: '1' } } },
      'field_data contains a value that is not an allowed_type',
    ],
    ['data of a wrong type', { field_type: 3, field_data: [] }, 'field_data is not a dict'],
    ['no service', { field_type: 7 }, 'subtype key is missing from field_data'],
    ['a blank service', { field_type: 7, field_data: { subtype: '' } }, 'field_data["subtype"] cannot be blank.'],
    ['an unknown service', { field_type: 7, field_data: { subtype: 'x' } }, 'Invalid external account type'],
    [
      'an account without a pattern',
      { field_type: 7, field_data: { subtype: 'custom' } },
      'Custom external account must define URL pattern',
    ],
    [
      'a pattern without a name',
      { field_type: 7, field_data: { subtype: 'custom', url_pattern: 'https://example.com/' } },
      "URL pattern must contain '%(username)s'.",
    ],
    [
      'a pattern that is not a URL',
      { field_type: 7, field_data: { subtype: 'custom', url_pattern: '%(username)s' } },
      'field_data["url_pattern"] is not a URL',
    ],
    [
      'a user field in the summary',
      { field_type: 6, display_in_profile_summary: true },
      'Field type not supported for display in profile summary.',
    ],
  ])('rejects %s', async (_, params, text) => {
    await add(1, 'Taken');
    const fields = JSON.parse(JSON.stringify({ field_type: 1, name: 'New', ...params }));
    const reply = await server.post(FIELDS, people.iago, fields);
    expect([reply.status, reply.body.msg]).toEqual([400, text]);
    expect(await list()).toHaveLength(1);
  });

  it('is limited to two fields in the summary and fifty in total', async () => {
    const shown = { display_in_profile_summary: true };
    const [, second] = [await add(1, 'one', shown), await add(2, 'two', shown)];
    const text = 'Only 2 custom profile fields can be displayed in the profile summary.';
    expectRefusal(await server.post(FIELDS, people.iago, { field_type: 9, name: '', ...shown }), text);
    const third = await add(1, 'three');
    expectRefusal(await server.patch(`${FIELDS}/${third}`, people.iago, shown), text);
    fieldsOf(await server.patch(`${FIELDS}/${second}`, people.iago, { ...shown, name: 'zwei' }));
    for (let n = 4; n <= 50; n++) await add(1, `field ${n}`);
    expectRefusal(
      await server.post(FIELDS, people.iago, { field_type: 1, name: 'more' }),
      'Too many custom profile fields (limit: 50).',
    );
  });

  it('requires an administrator of the same realm', async () => {
    const id = await add(1, 'one');
    const admin = 'Must be an organization administrator';
    for (const who of [people.shiva, people.hamlet, people.polonius]) {
      expectRefusal(await server.post(FIELDS, who), admin, UNAUTHORIZED);
      expectRefusal(await server.patch(FIELDS, who), admin, UNAUTHORIZED);
      expectRefusal(await server.patch(`${FIELDS}/${id}`, who), admin, UNAUTHORIZED);
      expectRefusal(await server.delete(`${FIELDS}/${id}`, who), admin, UNAUTHORIZED);
    }
    const realmId = await server.addRealm('other');
    const person = { email: 'theirs@other.com', fullName: 'Theirs', role: 'owner' as const, realmId };
    const theirs = await server.addUser(person);
    for (const method of ['PATCH', 'DELETE']) {
      const reply = await server.request(method, `${FIELDS}/${id}`, { as: theirs, params: {}, realm: 'other' });
      expectRefusal(reply, `Field id ${id} not found.`);
      expectRefusal(
        await server.request(method, `${FIELDS}/999`, { as: people.iago, params: {} }),
        'Field id 999 not found.',
      );
    }
    const own = { data: [{ id, value: 'x' }] };
    expectRefusal(
      await server.request('PATCH', OWN, { as: theirs, params: own, realm: 'other' }),
      `Field id ${id} not found.`,
    );
  });

  it('changes order', async () => {
    const [one, two, three] = [await add(1, 'one'), await add(1, 'two'), await add(1, 'three')];
    const order = (ids: readonly number[]) => server.patch(FIELDS, people.iago, { order: ids });
    expectRefusal(await order([one, two]), 'Invalid order mapping.');
    const queue = await openQueue(server, people.polonius, { event_types: ['custom_profile_fields'] });
    for (const _ of ['changed', 'the same']) fieldsOf(await order([one, three, 999, two, one]));
    const fields = await list();
    expect(await eventsAfter(server, queue)).toEqual([1, 2].map(() => ({ type: 'custom_profile_fields', fields })));
    expect((await list()).map(({ id, order: position }) => [id, position])).toEqual([
      [three, 1],
      [two, 3],
      [one, 4],
    ]);
  });

  it('is deleted with its values, and so are the values of a removed option', async () => {
    const { hamlet, cordelia } = people;
    const [motto, editor] = [await add(1, 'Motto'), await add(3, 'Editor', { field_data: CHOICES })];
    fieldsOf(await say(hamlet, [motto, 'x'], [editor, 'vim']));
    fieldsOf(await say(cordelia, [motto, 'y'], [editor, 'emacs']));
    fieldsOf(await server.patch(`${FIELDS}/${editor}`, people.iago, { field_data: { emacs: CHOICES.emacs } }));
    expect(await profileOf(hamlet)).toMatchObject({ [motto]: { value: 'x' } });
    expect(Object.keys(await profileOf(hamlet))).toEqual([String(motto)]);
    fieldsOf(await server.delete(`${FIELDS}/${motto}`, people.iago));
    expect([await profileOf(hamlet), await profileOf(cordelia)]).toEqual([{}, { [editor]: { value: 'emacs' } }]);
    expect((await list()).map(({ id }) => id)).toEqual([editor]);
  });
});

describe('own profile (users §13.5)', () => {
  it('accepts values of each type, publishes each and returns them with the user', async () => {
    const { hamlet, cordelia, iago } = people;
    const ids: number[] = [];
    for (const [type, params] of [
      [1],
      [2],
      [3, { field_data: CHOICES }],
      [4],
      [5],
      [6],
      [7, { field_data: { subtype: 'custom', url_pattern: PATTERN } }],
      [8],
    ] as const) {
      ids.push(await add(type, `field ${type}`, params));
    }
    const given = [
      '*short*',
      'long',
      'vim',
      '1908-02-29',
      'https://example.com/x?y',
      [cordelia.id, iago.id],
      'octo',
      'they',
    ];
    const queue = await openQueue(server, people.polonius, realmUser);
    expect(fieldsOf(await say(hamlet, ...ids.map((id, index): [number, unknown] => [id, given[index]])))).toEqual({});
    const texts = given.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
    const rendered = ['<p><em>short</em></p>', '<p>long</p>'];
    const said = texts.map((value, index) => ({ value, ...(rendered[index] && { rendered_value: rendered[index] }) }));
    expect((await eventsAfter(server, queue)).map(({ person }) => person)).toEqual(
      said.map((value, index) => ({ user_id: hamlet.id, custom_profile_field: { id: ids[index], ...value } })),
    );
    const profile = Object.fromEntries(ids.map((id, index) => [id, said[index]]));
    expect(await profileOf(hamlet)).toEqual(profile);
    expect((fieldsOf(await server.get('/users/me', hamlet)) as Wire).profile_data).toEqual(profile);
    const params = { include_custom_profile_fields: true, user_ids: [hamlet.id] };
    expect((fieldsOf(await server.get('/users', cordelia, params)) as Wire).members[0].profile_data).toEqual(profile);
    const { realm_users } = fieldsOf(
      await server.post('/register', cordelia, { fetch_event_types: ['realm_user'] }),
    ) as Wire;
    expect(realm_users.find(({ user_id }: Wire) => user_id === hamlet.id).profile_data).toEqual(profile);
  });

  it('rejects values of the wrong type and stores nothing', async () => {
    const { hamlet } = people;
    const gone = await server.addUser({ email: 'gone@zulip.com', fullName: 'Gone' });
    await server.changeUser(gone, { isActive: false });
    const helper = await server.addUser({ email: 'helper@zulip.com', fullName: 'Helper' });
    const bot = { kind: 'generic', ownerId: hamlet.id, isSystem: false, defaultSendingChannelId: null } as const;
    await server.changeUser(helper, { bot });
    const short = await add(1, 'Short');
    const long = await add(2, 'Long');
    const choice = await add(3, 'Choice', { field_data: CHOICES });
    const date = await add(4, 'Date');
    const link = await add(5, 'Link');
    const users = await add(6, 'Mentors');
    const locked = await add(1, 'Locked', { editable_by_user: false });
    const notAllowed = 'You are not allowed to change this field. Contact an administrator to update it.';
    const rows: [number, unknown, string][] = [
      [999, 'x', 'Field id 999 not found.'],
      [locked, 'x', notAllowed],
      [locked, null, notAllowed],
      [short, 'x'.repeat(51), 'Short is too long (limit: 50 characters)'],
      [long, 'x'.repeat(501), 'Long is too long (limit: 500 characters)'],
      [short, [1], 'Short is not a string'],
      [short, 5, 'data[1]["value"] is not an allowed_type'],
      [users, ['x'], 'data[1]["value"] is not an allowed_type'],
      [choice, 'ed', "'ed' is not a valid choice for 'Choice'."],
      [choice, '', "'' is not a valid choice for 'Choice'."],
      [choice, '__proto__', "'__proto__' is not a valid choice for 'Choice'."],
      [date, '1909-3-5', 'Date is not a date'],
      [date, '1909-02-29', 'Date is not a date'],
      [date, '', 'Date is not a date'],
      [link, 'example', 'Link is not a URL'],
      [link, 'javascript:alert(1)', 'Link is not a URL'],
      [users, 'x', 'User IDs is not a list'],
      [users, [hamlet.id, 99_999], 'Invalid user ID: 99999'],
      [users, [gone.id], `User with ID ${gone.id} is deactivated`],
      [users, [helper.id], `User with ID ${helper.id} is a bot`],
    ];
    for (const [id, value, text] of rows) {
      const reply = await say(hamlet, [short, 'first'], [id, value]);
      expect([reply.status, reply.body.msg]).toEqual([400, text]);
    }
    expect(await profileOf(hamlet)).toEqual({});
    const shapes: [object, string][] = [
      [{}, "Missing 'data' argument"],
      [{ data: {} }, 'data is not a list'],
      [{ data: [{ id: short }] }, 'value key is missing from data[0]'],
      [{ data: [{ value: 'x' }] }, 'id key is missing from data[0]'],
      [{ data: [{ id: short, value: 'x', colour: 1 }] }, 'Argument "colour" at data[0]["colour"] is unexpected'],
    ];
    for (const [params, text] of shapes) expect((await server.patch(OWN, hamlet, { ...params })).body.msg).toBe(text);
    fieldsOf(await say(people.iago, [locked, 'x']));
    expectRefusal(await say(helper, [short, 'x']), 'This endpoint does not accept bot requests.');
    expectRefusal(await server.delete(OWN, helper, { data: [short] }), 'This endpoint does not accept bot requests.');
  });

  it('changes differing values, keeps empty texts and removes values by null or by id', async () => {
    const { hamlet } = people;
    const [motto, about, locked] = [await add(1, 'Motto'), await add(2, 'About'), await add(1, 'Locked')];
    fieldsOf(await say(hamlet, [motto, 'x'], [about, 'y'], [locked, 'z']));
    fieldsOf(await server.patch(`${FIELDS}/${locked}`, people.iago, { editable_by_user: false }));
    const queue = await openQueue(server, people.cordelia, realmUser);
    fieldsOf(await say(hamlet, [motto, 'x'], [about, '']));
    fieldsOf(await say(hamlet, [motto, null], [about, '']));
    fieldsOf(await say(hamlet, [motto, null]));
    fieldsOf(await server.delete(OWN, hamlet, { data: [motto, about] }));
    expect((await eventsAfter(server, queue)).map(({ person }) => person.custom_profile_field)).toEqual([
      { id: about, value: '' },
      { id: motto, value: null },
      { id: about, value: null },
    ]);
    expectRefusal(await server.delete(OWN, hamlet, { data: [motto, 999] }), 'Field id 999 not found.');
    expectRefusal(
      await server.delete(OWN, hamlet, { data: [locked] }),
      'You are not allowed to change this field. Contact an administrator to update it.',
    );
    expect(await profileOf(hamlet)).toMatchObject({ [locked]: { value: 'z' } });
    expect((await server.delete(OWN, hamlet)).body.msg).toBe("Missing 'data' argument");
  });

  it('notifies only users with access to the user', async () => {
    const { hamlet, cordelia, polonius } = people;
    const motto = await add(1, 'Motto');
    await server.limitGuests();
    await server.createChannel('den', [cordelia, polonius]);
    const queue = await openQueue(server, polonius, realmUser);
    fieldsOf(await say(hamlet, [motto, 'unheard']));
    fieldsOf(await say(cordelia, [motto, 'heard']));
    expect((await eventsAfter(server, queue)).map(({ person }) => person.user_id)).toEqual([cordelia.id]);
  });
});

describe('PATCH /users/{id}, profile_data (users §3.2)', () => {
  const update = (profile_data: object, more = {}) =>
    server.patch(`/users/${people.hamlet.id}`, people.iago, { profile_data, ...more });

  it('sets values including locked fields and removes empty ones', async () => {
    const locked = await add(1, 'Locked', { editable_by_user: false });
    const [mentors, about] = [await add(6, 'Mentors'), await add(2, 'About')];
    fieldsOf(
      await update([
        { id: locked, value: 'x' },
        { id: mentors, value: [people.cordelia.id] },
        { id: about, value: 'y' },
      ]),
    );
    expect(await profileOf(people.hamlet)).toMatchObject({
      [locked]: { value: 'x' },
      [mentors]: { value: `[${people.cordelia.id}]` },
      [about]: { value: 'y' },
    });
    fieldsOf(
      await update([
        { id: locked, value: null },
        { id: mentors, value: [] },
        { id: about, value: '' },
        { id: about, value: '' },
      ]),
    );
    expect(await profileOf(people.hamlet)).toEqual({});
  });

  it('rejects the whole request for one invalid value', async () => {
    const [motto, date] = [await add(1, 'Motto'), await add(4, 'Date')];
    const good = { id: motto, value: 'x' };
    expectRefusal(await update([good, { id: date, value: '1909-3-5' }], { role: 300 }), 'Date is not a date');
    expectRefusal(await update([good, { id: 9001, value: '' }], { role: 300 }), 'Field id 9001 not found.');
    expect((await update({}, { role: 300 })).body.msg).toBe('profile_data is not a list');
    const { user } = fieldsOf(await server.get(`/users/${people.hamlet.id}`, people.iago)) as Wire;
    expect([user.role, await profileOf(people.hamlet)]).toEqual([400, {}]);
  });
});
