import { RemoveQuotesFromDrafts, RestoreMessages } from '@parley/domain/writing';
import { FixedClock } from '@parley/testkit';
import { eventsAfter, openQueue, type TestQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const START = new FixedClock().now();
const NOT_FOUND = { status: 404 };

let town: number;
/** Private channel without Hamlet. */
let closet: number;
let queue: TestQueue;
/** User of another organization; her requests go there. */
let regan: TestUser;

const { server, people } = serverPerSuite();
beforeAll(async () => {
  town = await server.createChannel('town', [people.hamlet]);
  closet = await server.createChannel('closet', [people.iago], { invite_only: true });
  const realmId = await server.addRealm('lear');
  regan = await server.addUser({ email: 'regan@lear.com', fullName: 'Regan', realmId });
});
beforeEach(async () => {
  queue = await openQueue(server, people.hamlet);
});
afterEach(async () => {
  for (const { id } of await drafts()) fieldsOf(await server.delete(`/drafts/${id}`, people.hamlet));
  for (const { id } of await snippets()) fieldsOf(await server.delete(`/saved_snippets/${id}`, people.hamlet));
  for (const { fragment } of await views()) fieldsOf(await server.delete(viewPath(fragment), people.hamlet));
});

const get = async (path: string, field: string, as = people.hamlet): Promise<Wire[]> =>
  fieldsOf(await server.get(path, as))[field] as Wire;
const drafts = (as?: TestUser) => get('/drafts', 'drafts', as);
const snippets = (as?: TestUser) => get('/saved_snippets', 'saved_snippets', as);
const views = (as?: TestUser) => get('/navigation_views', 'navigation_views', as);
const viewPath = (fragment: string) => `/navigation_views/${fragment}`;
const inLear = (method: string, path: string, params = {}) =>
  server.request(method, path, { as: regan, realm: 'lear', params });
const registered = async (type: string) =>
  (await openQueue(server, people.hamlet, { fetch_event_types: [type] })).registered;
const heard = () => eventsAfter(server, queue);

describe('draft', () => {
  const toTown = (more: object = {}) => ({ type: 'stream', to: [town], topic: 'plans', content: 'to be', ...more });
  const post = (as: TestUser, ...given: readonly object[]) => server.post('/drafts', as, { drafts: given });
  const keep = async (...given: readonly object[]): Promise<number[]> =>
    fieldsOf(await post(people.hamlet, ...given)).ids;
  const UNKNOWN = 'Draft does not exist';
  const OFF = 'User has disabled synchronizing drafts.';

  it('is listed by edit time and published only to its user', async () => {
    const { hamlet, cordelia, iago } = people;
    const other = await openQueue(server, cordelia);
    const ids = await keep(
      toTown(),
      toTown({ timestamp: 1_700_000_000.7 }),
      { type: 'private', to: [iago.id, hamlet.id, cordelia.id, iago.id], topic: 'x', content: ' a\n' },
      { type: 'private', to: [hamlet.id], topic: '', content: 'a', timestamp: 9 },
      { type: 'private', to: [], topic: 'x', content: 'a', timestamp: 8 },
      { type: '', to: [town], topic: 'x', content: 'a', timestamp: 7 },
    );
    const added = [
      { id: ids[0], ...toTown(), timestamp: START },
      { id: ids[1], ...toTown(), timestamp: 1_700_000_000 },
      { id: ids[2], type: 'private', to: [iago.id, cordelia.id], topic: '', content: ' a', timestamp: START },
      { id: ids[3], type: 'private', to: [hamlet.id], topic: '', content: 'a', timestamp: 9 },
      { id: ids[4], type: '', to: [], topic: '', content: 'a', timestamp: 8 },
      { id: ids[5], type: '', to: [], topic: '', content: 'a', timestamp: 7 },
    ];
    const [one, two, three, four, five, six] = added;
    expect(await heard()).toEqual([{ type: 'drafts', op: 'add', drafts: added }]);
    expect(fieldsOf(await server.get('/drafts', hamlet))).toEqual({
      count: 6,
      drafts: [six, five, four, two, one, three],
    });
    expect((await registered('drafts')).drafts).toEqual([three, one, two, four, five, six]);
    expect([await drafts(cordelia), await eventsAfter(server, other)]).toEqual([[], []]);
  });

  // Java's client writes every number like this.
  it('keeps a time that is written as a float', async () => {
    const { hamlet } = people;
    const json = JSON.stringify([toTown({ timestamp: 'T' })]);
    const { ids } = fieldsOf(await server.post('/drafts', hamlet, { drafts: json.replace('"T"', '1764210000.0') }));
    expect(await drafts()).toMatchObject([{ timestamp: 1_764_210_000 }]);

    const draft = JSON.stringify(toTown({ timestamp: 'T' })).replace('"T"', '1.7e9');
    fieldsOf(await server.patch(`/drafts/${ids[0]}`, hamlet, { draft }));
    expect(await drafts()).toMatchObject([{ timestamp: 1_700_000_000 }]);
  });

  it('accepts an empty list', async () => {
    expect(await keep()).toEqual([]);
    expect(await heard()).toEqual([{ type: 'drafts', op: 'add', drafts: [] }]);
  });

  it('truncates long content', async () => {
    await keep(toTown({ topic: 't'.repeat(61), content: 'c'.repeat(10_001) }));
    const [draft] = await drafts();
    expect(draft.topic).toBe(`${'t'.repeat(57)}...`);
    expect(draft.content).toBe(`${'c'.repeat(10_000 - 20)}\n[message truncated]`);
  });

  it('is replaced completely', async () => {
    const { hamlet } = people;
    const [id] = await keep(toTown({ timestamp: 9 }));
    const draft = { type: 'private', to: [hamlet.id], topic: '', content: 'or not to be', timestamp: 10 };
    expect(fieldsOf(await server.patch(`/drafts/${id}`, hamlet, { draft }))).toEqual({});
    expect(await drafts()).toEqual([{ id, ...draft }]);
    expect((await heard()).at(-1)).toEqual({ type: 'drafts', op: 'update', draft: { id, ...draft } });
    expectRefusal(await server.patch(`/drafts/${id}`, hamlet, { draft: toTown({ to: [] }) }), MANY_CHANNELS);
    expect(await drafts()).toEqual([{ id, ...draft }]);
  });

  it('cannot be deleted twice', async () => {
    const [id] = await keep(toTown());
    expect(fieldsOf(await server.delete(`/drafts/${id}`, people.hamlet))).toEqual({});
    expect(await drafts()).toEqual([]);
    expect((await heard()).at(-1)).toEqual({ type: 'drafts', op: 'remove', draft_id: id });
    expectRefusal(await server.delete(`/drafts/${id}`, people.hamlet), UNKNOWN, NOT_FOUND);
  });

  it('is unknown to other users and organizations', async () => {
    const [id] = await keep(toTown());
    const draft = { type: '', to: [], topic: '', content: 'x' };
    expectRefusal(await server.patch(`/drafts/${id}`, people.iago, { draft }), UNKNOWN, NOT_FOUND);
    expectRefusal(await server.delete(`/drafts/${id}`, people.iago), UNKNOWN, NOT_FOUND);
    expectRefusal(await inLear('PATCH', `/drafts/${id}`, { draft }), UNKNOWN, NOT_FOUND);
    expectRefusal(await inLear('DELETE', `/drafts/${id}`), UNKNOWN, NOT_FOUND);
    expectRefusal(await inLear('POST', '/drafts', { drafts: [toTown()] }), 'Invalid channel ID');
    expect(await drafts()).toHaveLength(1);
  });

  describe('with a quote of a deleted message', () => {
    const say = (content: string) => server.sendMessage(people.iago, town, { topic: 'plans', content });
    const quoting = (id: number, text: string) =>
      toTown({
        content: `@_**Iago|5** [said](${server.url}/#narrow/channel/${town}-town/topic/plans/near/${id}):\n\`\`\`quote\n${text}\n\`\`\`\n\nYes`,
        timestamp: 9,
      });
    const remove = async (id: number) => {
      fieldsOf(await server.delete(`/messages/${id}`, people.iago));
      await runJobs(server, server.parley.useCase(RemoveQuotesFromDrafts));
    };

    it('loses the quoted text, for every user of the organization', async () => {
      const { iago } = people;
      const [id, other] = [await say('bring bread'), await say('bring wine')];
      const [quote, both] = await keep(quoting(id, 'bring bread'), quoting(other, 'bring wine'));
      const { ids: own } = fieldsOf(await post(iago, quoting(id, 'bread')));
      await inLear('POST', '/drafts', { drafts: [{ ...quoting(id, 'bread'), type: '' }] });
      const before = (await heard()).length;
      await remove(id);
      const left = { id: quote, ...quoting(id, '(deleted message)') };
      expect(await drafts()).toEqual([left, { id: both, ...quoting(other, 'bring wine') }]);
      expect((await heard()).slice(before).filter(({ type }) => type === 'drafts')).toEqual([
        { type: 'drafts', op: 'update', draft: left },
      ]);
      expect(await drafts(iago)).toEqual([{ id: own[0], ...quoting(id, '(deleted message)') }]);
      expect(fieldsOf(await inLear('GET', '/drafts')).drafts).toMatchObject([
        { content: quoting(id, 'bread').content },
      ]);
      fieldsOf(await server.delete(`/drafts/${own[0]}`, iago));
    });

    it('is not in earlier events with that text', async () => {
      const id = await say('bring bread');
      const [quote] = await keep(quoting(id, 'bring bread'));
      await remove(id);
      expect((await heard()).filter(({ type }) => type === 'drafts')).toEqual([
        { type: 'drafts', op: 'update', draft: { id: quote, ...quoting(id, '(deleted message)') } },
      ]);
    });

    it('keeps the quoted text after an edit, and loses it although the message is restored', async () => {
      const id = await say('bring bread');
      await keep(quoting(id, 'bring bread'));
      fieldsOf(await server.patch(`/messages/${id}`, people.iago, { content: 'bring wine' }));
      await runJobs(server, server.parley.useCase(RemoveQuotesFromDrafts));
      expect(await drafts()).toMatchObject([quoting(id, 'bring bread')]);
      fieldsOf(await server.delete(`/messages/${id}`, people.iago));
      const selection = { messageId: id as never, channelId: null, topicKey: null, since: null };
      await server.parley.useCase(RestoreMessages).execute({ realmId: server.realmId, selection, isDryRun: false });
      await runJobs(server, server.parley.useCase(RemoveQuotesFromDrafts));
      expect(await drafts()).toMatchObject([quoting(id, '(deleted message)')]);
    });

    it('is changed in units of limited size', async () => {
      const id = await say('bring bread');
      await keep(...Array.from({ length: 41 }, () => quoting(id, 'bring bread')));
      await remove(id);
      expect(await drafts()).toMatchObject(Array.from({ length: 41 }, () => quoting(id, '(deleted message)')));
    });
  });

  const MANY_CHANNELS = 'Must specify exactly 1 channel ID for channel messages';

  it.each<[string, () => object, string]>([
    ['no content', () => ({ content: ' \n' }), 'drafts[1]["content"] cannot be blank'],
    ['a null byte', () => ({ content: 'a\0b' }), 'Message must not contain null bytes'],
    ['a negative time', () => ({ timestamp: -1 }), 'Timestamp must not be negative.'],
    ['a time beyond the calendar', () => ({ timestamp: 1e15 }), 'drafts[1]["timestamp"] is too large'],
    ['no number', () => ({ timestamp: '5' }), 'drafts[1]["timestamp"] is not a float'],
    ['a null byte in the topic', () => ({ topic: 'a\0b' }), 'Topic must not contain null bytes'],
    ['no channel', () => ({ to: [] }), MANY_CHANNELS],
    ['two channels', () => ({ to: [town, town] }), MANY_CHANNELS],
    ['an unknown channel', () => ({ to: [999] }), 'Invalid channel ID'],
    ['a hidden channel', () => ({ to: [closet] }), 'Invalid channel ID'],
    ['an unknown user', () => ({ type: 'private', to: [999] }), 'Invalid user ID 999'],
    ['another kind', () => ({ type: 'group' }), 'Invalid drafts[1]["type"]'],
    ['an id', () => ({ id: 5 }), 'Argument "id" at drafts[1]["id"] is unexpected'],
    ['a name', () => ({ to: ['town'] }), 'drafts[1]["to"][0] is not an integer'],
  ])('rejects all drafts of a request if one has %s', async (_, more, msg) => {
    expectRefusal(await post(people.hamlet, toTown(), toTown(more())), msg);
    expect(await drafts()).toEqual([]);
    expect(await heard()).toEqual([]);
  });

  it.each(['type', 'to', 'topic', 'content'])('requires %s', async (name) => {
    const draft: Wire = toTown();
    delete draft[name];
    expectRefusal(await post(people.hamlet, draft), `${name} key is missing from drafts[0]`);
  });

  it('cannot exceed the total text limit, even when edited', async () => {
    const draft = { type: '', to: [], topic: '', content: 'x'.repeat(9999) };
    const ids = [...(await keep(...Array(90).fill(draft))), ...(await keep(...Array(90).fill(draft)))];
    await keep(...Array(20).fill(draft));
    const refusal = 'Too much text in drafts (limit: 2000000 bytes).';
    const changed = (content: string) =>
      server.patch(`/drafts/${ids[0]}`, people.hamlet, { draft: { ...draft, content } });
    fieldsOf(await changed('y'.repeat(10_000)));
    await keep({ ...draft, content: 'x'.repeat(199) });
    expectRefusal(await post(people.hamlet, { ...draft, content: 'x' }), refusal);
    expectRefusal(await changed(`${'y'.repeat(9999)}é`), refusal);
    fieldsOf(await changed('x'));
    await keep({ ...draft, content: 'x' });
  });

  it('cannot exceed the maximum number', async () => {
    const { hamlet } = people;
    const many = Array(1000).fill({ type: '', to: [], topic: '', content: 'x' });
    await keep(...many);
    await keep(...many.slice(1));
    expectRefusal(await post(hamlet, ...many.slice(0, 2)), 'Too many drafts (limit: 2000).');
    await keep(many[0]);
    expect((await registered('drafts')).drafts).toHaveLength(1000);
    await server.patch('/settings', hamlet, { enable_drafts_synchronization: false });
    await server.patch('/settings', hamlet, { enable_drafts_synchronization: true });
  });

  it('is deleted without events when synchronization is disabled', async () => {
    const { hamlet, iago, desdemona } = people;
    await keep(toTown());
    const before = (await heard()).length;
    fieldsOf(await server.patch('/settings', hamlet, { enable_drafts_synchronization: false }));
    expect((await heard()).slice(before)).toMatchObject([{ type: 'user_settings' }]);
    expect((await registered('drafts')).drafts).toEqual([]);
    const draft = toTown();
    for (const [method, path, params] of [
      ['GET', '/drafts', {}],
      ['POST', '/drafts', { drafts: [draft] }],
      // Checked before parameters.
      ['POST', '/drafts', {}],
      ['PATCH', '/drafts/999', { draft }],
      ['DELETE', '/drafts/999', {}],
    ] as const) {
      expectRefusal(await server.request(method, path, { as: hamlet, params }), OFF);
    }
    fieldsOf(await server.patch('/settings', hamlet, { enable_drafts_synchronization: true }));
    expect(await drafts()).toEqual([]);

    fieldsOf(await post(iago, draft));
    const others = {
      target_users: { user_ids: [iago.id], skip_if_already_edited: false },
      enable_drafts_synchronization: false,
    };
    fieldsOf(await server.patch('/settings', desdemona, others));
    fieldsOf(await server.patch('/settings', iago, { enable_drafts_synchronization: true }));
    expect(await drafts(iago)).toEqual([]);
  });
});

describe('saved snippet', () => {
  const UNKNOWN = 'Saved snippet does not exist.';
  const save = async (as = people.hamlet, title = ' Greeting '): Promise<number> =>
    fieldsOf(await server.post('/saved_snippets', as, { title, content: ' Dear *all* ' })).saved_snippet_id;
  const shown = (id: number, more: object = {}) => ({
    id,
    title: 'Greeting',
    content: 'Dear *all*',
    date_created: START,
    ...more,
  });

  it('is visible only to its user, oldest first', async () => {
    const [first, second] = [await save(), await save(people.hamlet, 'Farewell')];
    const both = [shown(first), shown(second, { title: 'Farewell' })];
    expect(await snippets()).toEqual(both);
    expect((await registered('saved_snippets')).saved_snippets).toEqual(both);
    expect(await heard()).toEqual(both.map((saved_snippet) => ({ type: 'saved_snippets', op: 'add', saved_snippet })));
    expect(await snippets(people.iago)).toEqual([]);
  });

  it('changes only the given properties', async () => {
    const id = await save();
    const before = (await heard()).length;
    const change = async (params: object) =>
      expect(fieldsOf(await server.patch(`/saved_snippets/${id}`, people.hamlet, { ...params }))).toEqual({});
    await change({});
    await change({ title: 'Hi ' });
    await change({ content: 'all' });
    const update = (more: object) => ({ type: 'saved_snippets', op: 'update', saved_snippet: shown(id, more) });
    expect((await heard()).slice(before)).toEqual([update({ title: 'Hi' }), update({ title: 'Hi', content: 'all' })]);
    expect(await snippets()).toEqual([shown(id, { title: 'Hi', content: 'all' })]);
  });

  it('cannot be deleted twice', async () => {
    const id = await save();
    expect(fieldsOf(await server.delete(`/saved_snippets/${id}`, people.hamlet))).toEqual({});
    expect((await heard()).at(-1)).toEqual({ type: 'saved_snippets', op: 'remove', saved_snippet_id: id });
    expectRefusal(await server.delete(`/saved_snippets/${id}`, people.hamlet), UNKNOWN, NOT_FOUND);
    expectRefusal(await server.patch(`/saved_snippets/${id}`, people.hamlet, {}), UNKNOWN, NOT_FOUND);
  });

  it('is unknown to other users and organizations', async () => {
    const id = await save();
    for (const [method, params] of [
      ['PATCH', { title: 'x' }],
      ['DELETE', {}],
    ] as const) {
      const reply = await server.request(method, `/saved_snippets/${id}`, { as: people.iago, params });
      expectRefusal(reply, UNKNOWN, NOT_FOUND);
      expectRefusal(await inLear(method, `/saved_snippets/${id}`, params), UNKNOWN, NOT_FOUND);
    }
    expect(await snippets()).toEqual([shown(id)]);
  });

  it.each([
    [{ title: ' ', content: 'x' }, 'title cannot be blank'],
    [{ title: 'x', content: ' ' }, 'content cannot be blank'],
    [{ title: 'x'.repeat(61), content: 'x' }, 'title is too long (limit: 60 characters)'],
    [{ title: 'x', content: 'x'.repeat(10_001) }, 'content is too long (limit: 10000 characters)'],
  ])('rejects invalid parameters: %#', async (params, msg) => {
    expectRefusal(await server.post('/saved_snippets', people.hamlet, params), msg);
    const id = await save();
    expectRefusal(await server.patch(`/saved_snippets/${id}`, people.hamlet, params), msg);
    expect(await snippets()).toEqual([shown(id)]);
  });

  it.each(['title', 'content'])('requires %s', async (name) => {
    const params: Wire = { title: 'x', content: 'x' };
    delete params[name];
    expectRefusal(await server.post('/saved_snippets', people.hamlet, params), `Missing '${name}' argument`, {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: name,
    });
  });

  it('cannot exceed the maximum number', async () => {
    const { cordelia } = people;
    await server.storage.uow.write(server.realmId, async (tx) => {
      const snippet = { realmId: server.realmId, userId: cordelia.id, title: 'x', content: 'x', createdAt: 1 };
      for (let count = 0; count < 1000; count++) await tx.snippets.add(snippet);
    });
    expectRefusal(
      await server.post('/saved_snippets', cordelia, { title: 'x', content: 'x' }),
      'Too many saved snippets (limit: 1000).',
    );
  });

  it('cannot exceed the total text limit, even when edited', async () => {
    const { iago } = people;
    const content = 'x'.repeat(10_000);
    const ids = await server.storage.uow.write(server.realmId, async (tx) => {
      const snippet = { realmId: server.realmId, userId: iago.id, title: 'x', content, createdAt: 1 };
      return Promise.all(Array.from({ length: 199 }, async () => (await tx.snippets.add(snippet)).id));
    });
    const refusal = 'Too much text in saved snippets (limit: 2000000 bytes).';
    fieldsOf(await server.post('/saved_snippets', iago, { title: 'x', content }));
    expectRefusal(await server.post('/saved_snippets', iago, { title: 'x', content: 'x' }), refusal);
    const path = `/saved_snippets/${ids[0]}`;
    expectRefusal(await server.patch(path, iago, { content: `${content.slice(1)}é` }), refusal);
    fieldsOf(await server.patch(path, iago, { title: 'y' }));
  });
});

describe('navigation view', () => {
  const EXISTS = 'Navigation view already exists.';
  const UNKNOWN = 'Navigation view does not exist.';
  const STARRED = { fragment: 'narrow/is/starred', is_pinned: true };
  const ALERTS = { fragment: 'narrow/is/alerted', is_pinned: false, name: 'Alerts' };
  const add = async (view: object) =>
    expect(fieldsOf(await server.post('/navigation_views', people.hamlet, { ...view }))).toEqual({});
  const refused = async (view: object, msg: string) =>
    expectRefusal(await server.post('/navigation_views', people.hamlet, { ...view }), msg);

  it('is visible only to its user, oldest first', async () => {
    await add(STARRED);
    await add(ALERTS);
    const both = [{ ...STARRED, name: null }, ALERTS];
    expect(await views()).toEqual(both);
    expect((await registered('navigation_views')).navigation_views).toEqual(both);
    expect(await heard()).toEqual(
      both.map((navigation_view) => ({ type: 'navigation_view', op: 'add', navigation_view })),
    );
    expect(await views(people.iago)).toEqual([]);
  });

  it.each([ALERTS.fragment, encodeURIComponent(ALERTS.fragment)])('changes at %s', async (fragment) => {
    const { hamlet } = people;
    await add(ALERTS);
    const before = (await heard()).length;
    fieldsOf(await server.patch(viewPath(fragment), hamlet, { is_pinned: true }));
    fieldsOf(await server.patch(viewPath(fragment), hamlet, { is_pinned: false, name: 'Bells' }));
    fieldsOf(await server.patch(viewPath(fragment), hamlet, {}));
    expect(await views()).toEqual([{ ...ALERTS, name: 'Bells' }]);
    const update = (data: object) => ({ type: 'navigation_view', op: 'update', fragment: ALERTS.fragment, data });
    expect((await heard()).slice(before)).toEqual([
      update({ is_pinned: true }),
      update({ is_pinned: false, name: 'Bells' }),
    ]);
  });

  it('is deleted and no longer listed', async () => {
    await add(STARRED);
    expect(fieldsOf(await server.delete(viewPath(STARRED.fragment), people.hamlet))).toEqual({});
    expect((await heard()).at(-1)).toEqual({ type: 'navigation_view', op: 'remove', fragment: STARRED.fragment });
    expect(await views()).toEqual([]);
  });

  it('rejects invalid names and duplicates', async () => {
    const { hamlet } = people;
    await add(STARRED);
    await add(ALERTS);
    await refused(STARRED, EXISTS);
    await refused({ ...ALERTS, name: 'Others' }, EXISTS);
    await refused({ ...ALERTS, fragment: 'narrow/x' }, EXISTS);
    await refused({ ...ALERTS, fragment: ' ' }, 'fragment cannot be blank');
    await refused({ fragment: 'inbox', is_pinned: true, name: 'In' }, 'Built-in views cannot have a custom name.');
    await refused({ fragment: 'narrow/x', is_pinned: true }, 'Custom views must have a valid name.');
    await refused({ fragment: 'narrow/x', is_pinned: true, name: ' ' }, 'Custom views must have a valid name.');
    await add({ fragment: 'narrow/x', is_pinned: true, name: 'Others' });
    const rename = async (fragment: string, name: string, msg: string) =>
      expectRefusal(await server.patch(viewPath(fragment), hamlet, { name }), msg);
    await rename(ALERTS.fragment, 'Others', EXISTS);
    await rename(ALERTS.fragment, ALERTS.name, EXISTS);
    await rename(ALERTS.fragment, ' ', 'Custom views must have a valid name.');
    await rename(STARRED.fragment, 'Stars', 'Built-in views cannot have a custom name.');
    expect(await views()).toHaveLength(3);
  });

  it.each(['fragment', 'is_pinned'])('requires %s', async (name) => {
    const params: Wire = { ...ALERTS };
    delete params[name];
    expectRefusal(await server.post('/navigation_views', people.hamlet, params), `Missing '${name}' argument`, {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: name,
    });
  });

  it('is reported as unknown if missing or owned by another user', async () => {
    await add(STARRED);
    const path = viewPath(STARRED.fragment);
    const params = { is_pinned: false };
    expectRefusal(await server.patch(viewPath('narrow/is'), people.hamlet, params), UNKNOWN, NOT_FOUND);
    expectRefusal(await server.patch(path, people.iago, params), UNKNOWN, NOT_FOUND);
    expectRefusal(await server.delete(path, people.iago), UNKNOWN, NOT_FOUND);
    expectRefusal(await inLear('PATCH', path, params), UNKNOWN, NOT_FOUND);
    expectRefusal(await inLear('DELETE', path), UNKNOWN, NOT_FOUND);
    expect(await views()).toEqual([{ ...STARRED, name: null }]);
  });

  it('cannot exceed the maximum number', async () => {
    const { cordelia } = people;
    await server.storage.uow.write(server.realmId, async (tx) => {
      for (let n = 0; n < 500; n++) {
        const owner = { realmId: server.realmId, userId: cordelia.id };
        await tx.navigationViews.add({ ...owner, fragment: `narrow/${n}`, isPinned: false, name: `${n}` });
      }
    });
    expectRefusal(await server.post('/navigation_views', cordelia, STARRED), 'Too many navigation views (limit: 500).');
  });
});

describe('onboarding step', () => {
  /** New users get no banner about changes (organization §10.3). */
  const ALL = ['intro_inbox_view_modal', 'intro_recent_view_modal', 'first_stream_created_banner'];
  const notices = (names: readonly string[]) => names.map((name) => ({ type: 'one_time_notice', name }));
  const complete = (onboarding_step: string, as = people.hamlet) =>
    server.post('/users/me/onboarding_steps', as, { onboarding_step });

  it('is shown until done, and again if repeated', async () => {
    expect((await registered('onboarding_steps')).onboarding_steps).toEqual(notices(ALL));
    expect(fieldsOf(await complete(ALL[1]!))).toEqual({});
    fieldsOf(await complete(ALL[1]!));
    const rest = notices(ALL.filter((name) => name !== ALL[1]));
    const event = { type: 'onboarding_steps', onboarding_steps: rest };
    expect(await heard()).toEqual([event, event]);
    expect((await registered('onboarding_steps')).onboarding_steps).toEqual(rest);
    const other = await openQueue(server, people.iago, { fetch_event_types: ['onboarding_steps'] });
    expect(other.registered.onboarding_steps).toEqual(notices(ALL));
  });

  it('rejects unknown steps', async () => {
    expectRefusal(await complete('no_such_step'), 'Unknown onboarding_step: no_such_step');
    expectRefusal(
      await server.post('/users/me/onboarding_steps', people.hamlet, {}),
      "Missing 'onboarding_step' argument",
      {
        code: 'REQUEST_VARIABLE_MISSING',
        var_name: 'onboarding_step',
      },
    );
  });

  it('rejects bots', async () => {
    const helper = await server.addBot(people.hamlet, 'helper');
    expectRefusal(await complete(ALL[0]!, helper), 'This endpoint does not accept bot requests.');
  });
});
