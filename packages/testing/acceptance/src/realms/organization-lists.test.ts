import { GrantSpecialPermission } from '@parley/domain/users';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let otherOwner: TestUser;
const { server, people } = organizationPerTest();
beforeEach(async () => {
  const realmId = await server.addRealm('other');
  otherOwner = await server.addUser({ email: 'o@other.example', fullName: 'Other', role: 'owner', realmId });
});

const FOR_OWNERS = ['Must be an organization owner', { code: 'UNAUTHORIZED_PRINCIPAL' }] as const;
const FOR_ADMINISTRATORS = ['Must be an organization administrator', { code: 'UNAUTHORIZED_PRINCIPAL' }] as const;
const missing = (name: string) =>
  [`Missing '${name}' argument`, { code: 'REQUEST_VARIABLE_MISSING', var_name: name }] as const;
const inOther = (method: string, path: string, params = {}) =>
  server.request(method, path, { as: otherOwner, params, realm: 'other' });
const registered = async (as: TestUser, field: string, capabilities = {}) =>
  (
    fieldsOf(
      await server.post('/register', as, {
        fetch_event_types: [field],
        client_capabilities: { notification_settings_null: false, ...capabilities },
      }),
    ) as Wire
  )[field];

describe('allowed domain', () => {
  const add = (domain: string, allow_subdomains = false, as = people.desdemona) =>
    server.post('/realm/domains', as, { domain, allow_subdomains });
  const list = async (as = people.polonius) => fieldsOf(await server.get('/realm/domains', as)).domains;

  it('is listed once in lower case, in order and for everyone', async () => {
    const queue = await openQueue(server, people.polonius);
    const [[firstId, first], [secondId]] = [
      (fieldsOf(await add(' ACME.com ')) as Wire).new_domain,
      (fieldsOf(await add('x-x.y.3.z', true)) as Wire).new_domain,
    ];
    expect([first, secondId > firstId]).toEqual(['acme.com', true]);
    expectRefusal(await add('Acme.COM'), 'The domain acme.com is already a part of your organization.');
    const domains = [
      { domain: 'acme.com', allow_subdomains: false },
      { domain: 'x-x.y.3.z', allow_subdomains: true },
    ];
    expect(await list()).toEqual(domains);
    expect(await registered(people.polonius, 'realm_domains')).toEqual(domains);
    expect(fieldsOf(await inOther('GET', '/realm/domains')).domains).toEqual([]);
    expect(await eventsAfter(server, queue)).toEqual(
      domains.map((realm_domain) => ({ type: 'realm_domains', op: 'add', realm_domain })),
    );
  });

  it.each`
    domain                      | reason
    ${' '}                      | ${"Domain can't be empty."}
    ${'test'}                   | ${'Domain must have at least one dot (.)'}
    ${'t.'}                     | ${'Domain cannot start or end with a dot (.)'}
    ${'.com'}                   | ${'Domain cannot start or end with a dot (.)'}
    ${'test...com'}             | ${"Consecutive '.' are not allowed."}
    ${'test_domain.com'}        | ${"Domain can only have letters, numbers, '.' and '-'s."}
    ${'test.-domain.com'}       | ${"Subdomains cannot start or end with a '-'."}
    ${`${'a'.repeat(300)}.com`} | ${'Domain is too long'}
  `('rejects $domain: $reason', async ({ domain, reason }) => {
    expectRefusal(await add(domain), `Invalid domain: ${reason}`);
    expect(await list()).toEqual([]);
  });

  it('publishes changes and deletions even without a difference', async () => {
    await add('acme.com');
    const queue = await openQueue(server, people.hamlet);
    const change = (domain: string) =>
      server.patch(`/realm/domains/${domain}`, people.desdemona, { allow_subdomains: true });
    fieldsOf(await change('acme.com'));
    fieldsOf(await change('acme.com'));
    expectRefusal(await change('ACME.com'), 'No entry found for domain ACME.com.');
    expectRefusal(
      await inOther('PATCH', '/realm/domains/acme.com', { allow_subdomains: true }),
      'No entry found for domain acme.com.',
    );
    expectRefusal(await inOther('DELETE', '/realm/domains/acme.com'), 'No entry found for domain acme.com.');
    fieldsOf(await server.delete('/realm/domains/acme.com', people.desdemona));
    expectRefusal(
      await server.delete('/realm/domains/acme.com', people.desdemona),
      'No entry found for domain acme.com.',
    );
    const changed = {
      type: 'realm_domains',
      op: 'change',
      realm_domain: { domain: 'acme.com', allow_subdomains: true },
    };
    expect(await eventsAfter(server, queue)).toEqual([
      changed,
      changed,
      { type: 'realm_domains', op: 'remove', domain: 'acme.com' },
    ]);
  });

  it('lifts the restriction when the last domain is deleted, and publishes the lifting first', async () => {
    await add('acme.com');
    await add('example.com');
    fieldsOf(await server.patch('/realm', people.desdemona, { emails_restricted_to_domains: true }));
    const queue = await openQueue(server, people.hamlet);
    for (const domain of ['acme.com', 'example.com']) {
      fieldsOf(await server.delete(`/realm/domains/${domain}`, people.desdemona));
    }
    expect(await eventsAfter(server, queue)).toEqual([
      { type: 'realm_domains', op: 'remove', domain: 'acme.com' },
      { type: 'realm', op: 'update', property: 'emails_restricted_to_domains', value: false },
      { type: 'realm_domains', op: 'remove', domain: 'example.com' },
    ]);
  });

  it('requires an owner before parameters are validated', async () => {
    for (const as of [people.iago, people.hamlet]) {
      expectRefusal(await server.post('/realm/domains', as), ...FOR_OWNERS);
      expectRefusal(await server.patch('/realm/domains/acme.com', as), ...FOR_OWNERS);
      expectRefusal(await server.delete('/realm/domains/acme.com', as), ...FOR_OWNERS);
    }
    expectRefusal(await server.post('/realm/domains', people.desdemona), ...missing('domain'));
    expectRefusal(
      await server.post('/realm/domains', people.desdemona, { domain: 'a.b' }),
      ...missing('allow_subdomains'),
    );
    expectRefusal(await server.patch('/realm/domains/no.such', people.desdemona), ...missing('allow_subdomains'));
  });

  it('restricts new users and email changes', async () => {
    const { realmId } = server;
    const { desdemona } = people;
    const permission = { realmId, email: desdemona.email, permission: 'canCreateUsers' } as const;
    await server.parley.useCase(GrantSpecialPermission).execute(permission);
    const make = (email: string) =>
      server.post('/users', desdemona, { email, password: 'alas, poor yorick 1601', full_name: 'Yorick' });
    await server.patch('/realm', desdemona, { emails_restricted_to_domains: true });
    const outside = (email: string) => `Email '${email}' not allowed in this organization`;
    expectRefusal(await make('a@test1.com'), outside('a@test1.com'));
    await add('test1.com');
    expectRefusal(await make('a@test2.test1.com'), outside('a@test2.test1.com'));
    expectRefusal(await make('a+b@test1.com'), 'Email addresses containing + are not allowed.');
    fieldsOf(await make('a@TEST1.com'));
    await server.patch('/realm/domains/test1.com', desdemona, { allow_subdomains: true });
    fieldsOf(await make('a@x.test2.test1.com'));
    expectRefusal(await make('a@test2.com'), outside('a@test2.com'));
    // An explicit list overrides the other rules.
    await add('mailinator.com');
    fieldsOf(await make('a@mailinator.com'));
    expectRefusal(await server.patch('/settings', people.hamlet, { email: 'h@test2.com' }), 'Outside your domain.');
  });
});

describe('linkifier', () => {
  const NUMBER = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' };
  const ZULIP = { pattern: 'ZUL-(?P<id>[0-9]+)', url_template: 'https://zulip.example/{id}' };
  const CAN = { linkifier_url_template: true };
  const record = (id: number, fields: object) => ({
    id,
    example_input: null,
    reverse_template: null,
    alternative_url_templates: [],
    ...fields,
  });
  const add = (fields: object, as = people.iago) => server.post('/realm/filters', as, { ...fields });
  const added = async (fields: object): Promise<number> => (fieldsOf(await add(fields)) as Wire).id;
  const change = (id: number, fields: object, as = people.iago) =>
    server.patch(`/realm/filters/${id}`, as, { ...fields });
  const reorder = (ids: readonly number[], as = people.iago) =>
    server.patch('/realm/linkifiers', as, { ordered_linkifier_ids: ids });
  const list = async (as = people.polonius) => fieldsOf(await server.get('/realm/linkifiers', as)).linkifiers as Wire;
  const queueOf = (as: TestUser, capabilities = {}) =>
    openQueue(server, as, { client_capabilities: { notification_settings_null: true, ...capabilities } });

  it('is listed in order with all fields for everyone, and each change publishes the whole list', async () => {
    const [queue, oldQueue] = [await queueOf(people.polonius, CAN), await queueOf(people.hamlet)];
    const a = await added({ ...NUMBER, pattern: ` ${NUMBER.pattern} ` });
    const more = {
      example_input: ' ZUL-1 ',
      reverse_template: 'ZUL-{id}',
      alternative_url_templates: ['https://old.example/{id}'],
    };
    const b = await added({ ...ZULIP, ...more });
    const first = record(a, NUMBER);
    const second = { ...record(b, ZULIP), ...more, example_input: 'ZUL-1' };
    expect(await list()).toEqual([first, second]);
    expect(await registered(people.polonius, 'realm_linkifiers', CAN)).toEqual([first, second]);
    expect(await registered(people.polonius, 'realm_linkifiers')).toEqual([]);
    expect(await registered(people.polonius, 'realm_filters', CAN)).toEqual([]);
    fieldsOf(await reorder([b, a]));
    fieldsOf(await change(a, { ...NUMBER, url_template: 'https://example.org/{id}' }));
    fieldsOf(await server.delete(`/realm/filters/${b}`, people.iago));
    const changed = { ...first, url_template: 'https://example.org/{id}' };
    expect(await list()).toEqual([changed]);
    const told = [[first], [first, second], [second, first], [second, changed], [changed]];
    expect(await eventsAfter(server, queue)).toEqual(
      told.map((realm_linkifiers) => ({ type: 'realm_linkifiers', realm_linkifiers })),
    );
    expect(await eventsAfter(server, oldQueue)).toEqual([]);
  });

  it('keeps omitted properties and clears blank ones', async () => {
    const more = { example_input: '#12', reverse_template: '#{id}', alternative_url_templates: ['https://a/{id}'] };
    const id = await added({ ...NUMBER, ...more });
    fieldsOf(await change(id, NUMBER));
    expect(await list()).toEqual([{ ...record(id, NUMBER), ...more }]);
    fieldsOf(await change(id, { ...NUMBER, reverse_template: '', example_input: '', alternative_url_templates: [] }));
    expect(await list()).toEqual([record(id, NUMBER)]);
  });

  const general = (text: string) => [text, { errors: { __all__: [text] } }] as const;
  const field = (name: string, text: string) => [text, { errors: { [name]: [text] } }] as const;
  it.each([
    [
      { pattern: '', url_template: '' },
      'This field cannot be blank.',
      { errors: { pattern: ['This field cannot be blank.'], url_template: ['This field cannot be blank.'] } },
    ],
    [
      { ...NUMBER, url_template: '' },
      'This field cannot be blank.',
      {
        errors: {
          url_template: ['This field cannot be blank.'],
          __all__: ["Group 'id' in linkifier pattern is not present in URL template."],
        },
      },
    ],
    [{ ...NUMBER, url_template: '{id' }, ...field('url_template', 'Invalid URL template.')],
    [{ ...NUMBER, pattern: '(foo' }, ...general('Bad regular expression: missing ): (foo')],
    [
      { ...NUMBER, pattern: 'ZUL-(?P<id>\\d????)' },
      ...general('Bad regular expression: bad repetition operator: ????'),
    ],
    ...['javascript:alert({id})', ' data:text/html,{id}', '{id}vbscript:x'].map(
      (url_template) => [{ ...NUMBER, url_template }, ...field('url_template', 'Invalid URL template.')] as const,
    ),
    [{ ...NUMBER, alternative_url_templates: ['javascript:alert({id})'] }, ...general('Invalid URL template.')],
    [
      { ...NUMBER, url_template: '$fgfg' },
      ...general("Group 'id' in linkifier pattern is not present in URL template."),
    ],
    [
      { ...NUMBER, url_template: '{hello}' },
      ...general("Group 'hello' in URL template is not present in linkifier pattern."),
    ],
    [
      { ...NUMBER, example_input: '#1234', reverse_template: '!{id}' },
      ...general('Example text does not match auto-conversion field.'),
    ],
    [{ ...NUMBER, example_input: 'x' }, ...general('Example input does not match the linkifier pattern.')],
    [{ url_template: 'x' }, ...missing('pattern')],
    [{ pattern: 'x' }, ...missing('url_template')],
    [{ ...NUMBER, pattern: 'x'.repeat(1001) }, 'pattern is too long (limit: 1000 characters)', {}],
    [{ ...NUMBER, alternative_url_templates: '[1]' }, 'alternative_url_templates[0] is not a string', {}],
  ])('rejects %j: %s', async (fields, message, more) => {
    expectRefusal(await add(fields), message, more);
    const id = await added(ZULIP);
    expectRefusal(await change(id, fields), message, more);
    expect(await list()).toEqual([record(id, ZULIP)]);
  });

  it('requires a unique pattern', async () => {
    const id = await added(NUMBER);
    const text = 'Realm filter with this Realm and Pattern already exists.';
    expectRefusal(await add({ ...NUMBER, url_template: 'https://other/{id}' }), ...general(text));
    fieldsOf(await change(id, { ...NUMBER, url_template: 'https://other/{id}' }));
    expectRefusal(await change(await added(ZULIP), NUMBER), ...general(text));
  });

  it('is reordered together with all others', async () => {
    fieldsOf(await reorder([]));
    const [a, b] = [await added(NUMBER), await added(ZULIP)];
    const duplicate = 'The ordered list must not contain duplicated linkifiers';
    const incomplete = 'The ordered list must enumerate all existing linkifiers exactly once';
    expectRefusal(await reorder([a, b, b]), duplicate);
    expectRefusal(await reorder([a]), incomplete);
    expectRefusal(await reorder([a, b, 99_999]), incomplete);
    expectRefusal(await reorder([a, 99_999]), incomplete);
    fieldsOf(await reorder([b, a]));
    const c = await added({ ...NUMBER, pattern: 'new(?P<id>a)' });
    expect((await list()).map(({ id }: Wire) => id)).toEqual([b, a, c]);
  });

  it('requires an administrator of the organization', async () => {
    const id = await added(NUMBER);
    for (const as of [people.shiva, people.hamlet, people.polonius]) {
      expectRefusal(await server.post('/realm/filters', as), ...FOR_ADMINISTRATORS);
      expectRefusal(await server.patch(`/realm/filters/${id}`, as), ...FOR_ADMINISTRATORS);
      expectRefusal(await server.delete(`/realm/filters/${id}`, as), ...FOR_ADMINISTRATORS);
      expectRefusal(await server.patch('/realm/linkifiers', as), ...FOR_ADMINISTRATORS);
    }
    for (const unknown of [
      await change(id + 1, NUMBER),
      await server.delete(`/realm/filters/${id + 1}`, people.iago),
      await inOther('PATCH', `/realm/filters/${id}`, NUMBER),
      await inOther('DELETE', `/realm/filters/${id}`),
    ]) {
      expectRefusal(unknown, 'Linkifier not found.');
    }
    expect(fieldsOf(await inOther('GET', '/realm/linkifiers')).linkifiers).toEqual([]);
  });

  it('applies to new messages, topics and descriptions only', async () => {
    const { iago } = people;
    await server.createChannel('general', [iago]);
    const send = () =>
      server.sendMessage(iago, 'general', { topic: 'about #7, https://a.example/x', content: 'see (#12)' });
    const shown = async (id: number) => {
      const { message } = fieldsOf(await server.get(`/messages/${id}`, iago)) as Wire;
      return [message.content, message.topic_links];
    };
    const before = await send();
    const id = await added(NUMBER);
    const after = await send();
    const address = { text: 'https://a.example/x', url: 'https://a.example/x' };
    const link = [
      '<p>see (<a href="https://example.com/12">#12</a>)</p>',
      [{ text: '#7', url: 'https://example.com/7' }, address],
    ];
    expect(await shown(before)).toEqual(['<p>see (#12)</p>', [address]]);
    expect(await shown(after)).toEqual(link);
    fieldsOf(await change(id, { ...NUMBER, url_template: 'https://example.org/{id}' }));
    expect(await shown(after)).toEqual(link);
    const rendered = async () =>
      fieldsOf(await server.post('/messages/render', iago, { content: '#1 x#2 `#3`' })).rendered;
    expect(await rendered()).toBe('<p><a href="https://example.org/1">#1</a> x#2 <code>#3</code></p>');
    fieldsOf(await server.delete(`/realm/filters/${id}`, iago));
    expect(await rendered()).toBe('<p>#1 x#2 <code>#3</code></p>');
  });

  it('applies to the topics of moved messages and notices', async () => {
    const { iago } = people;
    await server.createChannel('moves', [iago]);
    await added({ ...NUMBER, pattern: 'MOVE-(?P<id>[0-9]+)' });
    const queue = await openQueue(server, iago, { event_types: ['update_message', 'message'] });
    const id = await server.sendMessage(iago, 'moves', { topic: 'nothing' });
    const links = [{ text: 'MOVE-7', url: 'https://example.com/7' }];
    fieldsOf(await server.patch(`/messages/${id}`, iago, { topic: 'about MOVE-7' }));
    fieldsOf(await server.patch(`/messages/${id}`, iago, { topic: '✔ about MOVE-7' }));
    const messages = await server.messagesFor(iago, { narrow: [['channel', 'moves']], num_before: 10 });
    const there = messages.filter(({ subject }: Wire) => subject.includes('MOVE'));
    expect(there.length).toBeGreaterThan(1);
    for (const message of there) expect(message.topic_links).toEqual(links);
    const updates = (await eventsAfter(server, queue)).filter(({ type }) => type === 'update_message');
    expect(updates.map(({ topic_links }) => topic_links)).toEqual([links, links]);
  });
});

describe('playground', () => {
  const PYTHON = { name: 'Play', pygments_language: 'Python', url_template: 'https://example.com/?c={code}' };
  const add = (fields: object, as = people.iago) => server.post('/realm/playgrounds', as, { ...fields });

  it('publishes the whole list to everyone on each change', async () => {
    const queue = await openQueue(server, people.polonius);
    const { id } = fieldsOf(await add({ ...PYTHON, name: ' Play ' })) as Wire;
    const { id: other } = fieldsOf(await add({ ...PYTHON, pygments_language: 'C++' })) as Wire;
    const [first, second] = [
      { id, ...PYTHON },
      { id: other, ...PYTHON, pygments_language: 'C++' },
    ];
    expect(await registered(people.polonius, 'realm_playgrounds')).toEqual([first, second]);
    fieldsOf(await server.delete(`/realm/playgrounds/${id}`, people.iago));
    expectRefusal(await server.delete(`/realm/playgrounds/${id}`, people.iago), 'Invalid playground');
    expectRefusal(await inOther('DELETE', `/realm/playgrounds/${other}`), 'Invalid playground');
    expect(await eventsAfter(server, queue)).toEqual(
      [[first], [first, second], [second]].map((realm_playgrounds) => ({
        type: 'realm_playgrounds',
        realm_playgrounds,
      })),
    );
  });

  const BAD_TEMPLATE = ['Invalid URL template.', { errors: { url_template: ['Invalid URL template.'] } }] as const;
  const general = (text: string) => [text, { errors: { __all__: [text] } }] as const;
  it.each([
    [{ pygments_language: 'a*b' }, 'Invalid characters in pygments language', {}],
    [{ pygments_language: 'a*b', url_template: '{code' }, 'Invalid characters in pygments language', {}],
    [{ url_template: '{code' }, ...BAD_TEMPLATE],
    [{ url_template: 'javascript:alert({code})' }, ...BAD_TEMPLATE],
    [{ url_template: 'DATA:text/html,{code}' }, ...BAD_TEMPLATE],
    [{ url_template: 'vbscript:{code}' }, ...BAD_TEMPLATE],
    [{ url_template: 'https://a' }, ...general('Missing the required variable "code" in the URL template')],
    [{ url_template: '{code}{x}' }, ...general('"code" should be the only variable present in the URL template')],
    [{ name: 'Play' }, ...general('Realm playground with this Realm, Pygments language and Name already exists.')],
    [{ pygments_language: 'x'.repeat(41) }, 'pygments_language is too long (limit: 40 characters)', {}],
  ])('rejects %j: %s', async (fields, message, more) => {
    fieldsOf(await add(PYTHON));
    expectRefusal(await add({ ...PYTHON, name: 'Other', ...fields }), message, more);
  });

  it('requires an administrator', async () => {
    expectRefusal(await server.post('/realm/playgrounds', people.shiva), ...FOR_ADMINISTRATORS);
    expectRefusal(await server.delete('/realm/playgrounds/1', people.hamlet), ...FOR_ADMINISTRATORS);
    expectRefusal(await server.post('/realm/playgrounds', people.iago), ...missing('name'));
  });
});
