import { IndexMessages } from '@parley/domain/messages';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/** Message ids by content. */
let ids: Map<string, number>;
let general: number;

/** Hamlet and Cordelia subscribe to `general`; only Desdemona subscribes to `elsewhere`. */
const { server, people } = serverPerSuite();
beforeAll(async () => {
  ids = new Map();
  const { hamlet, cordelia, desdemona } = people;
  general = await server.createChannel('general', [hamlet, cordelia]);
  await server.createChannel('elsewhere', [desdemona]);
  await send(cordelia, 'general', 'lunch plans', 'Nothing for me');
  await send(cordelia, 'general', 'bread & butter', 'The *meetings* are at https://example.com/menu');
  await send(hamlet, 'general', '', 'running <to> "the meeting" & **lunch**');
  await send(cordelia, 'general', 'lunch plans', '@**King Hamlet** and @_**King Hamlet** eat');
  await send(desdemona, 'elsewhere', 'news', 'far lunch');
  await send(cordelia, [hamlet], '', 'lunch of two');
  await send(cordelia, 'general', '国家', '我家在上海东边 Café');
});

async function send(as: TestUser, to: string | readonly TestUser[], topic: string, content: string): Promise<void> {
  ids.set(content, await server.sendMessage(as, to, { topic, content, read_by_sender: true }));
}
const newest = { anchor: 'newest', num_before: 100, num_after: 0 };
const get = (narrow: readonly unknown[], range: object = newest, as = people.hamlet) =>
  server.get('/messages', as, { narrow, ...range });
async function find(narrow: readonly unknown[], range: object = newest, as = people.hamlet): Promise<Wire[]> {
  return (fieldsOf(await get(narrow, range, as)) as Wire).messages;
}
const said = async (narrow: readonly unknown[], range: object = newest, as = people.hamlet): Promise<string[]> => {
  const names = new Map([...ids].map(([content, id]) => [id, content]));
  return (await find(narrow, range, as)).map(({ id }) => names.get(id)!);
};
const search = (operand: string, negated = false) => ({ operator: 'search', operand, negated });
const [NOTHING, MEETINGS, RUNNING, MENTION, FAR, DIRECT, SHANGHAI] = [
  'Nothing for me',
  'The *meetings* are at https://example.com/menu',
  'running <to> "the meeting" & **lunch**',
  '@**King Hamlet** and @_**King Hamlet** eat',
  'far lunch',
  'lunch of two',
  '我家在上海东边 Café',
];
const hit = (text: string) => `<span class="highlight">${text}</span>`;

describe('search (messages §7.6)', () => {
  it.each<[string, readonly unknown[], readonly string[]]>([
    ['a word in texts and topics', [['search', 'LUNCH']], [NOTHING, RUNNING, MENTION, DIRECT]],
    ['words in any inflected form', [['search', 'meet lunches']], [RUNNING]],
    ['no other message with one of the words', [search('lunch', true), ['topic', 'lunch plans']], []],
    ['words from text and topic together', [['search', 'eat plans']], [MENTION]],
    ['words from several terms', [search('eat'), search('plan')], [MENTION]],
    ['a phrase in the Markdown', [['search', '"THE *meet"']], [MEETINGS]],
    ['a phrase with matching words', [['search', '"the meeting"']], [RUNNING]],
    ['an address', [['search', 'https://example.com/menu']], [MEETINGS]],
    ['a part of an address', [['search', 'menu']], [MEETINGS]],
    ['a part of a text without spaces', [['search', '上海']], [SHANGHAI]],
    ['a single letter of a text without spaces', [['search', '海']], [SHANGHAI]],
    ['a word with diacritics by plain letters and in the other script', [['search', '國家 CAFE']], [SHANGHAI]],
    ['no text with other pairs of the same letters', [['search', '海上']], []],
    ['a word by its beginning at the end of the query', [['search', 'eat pla']], [MENTION]],
    ['no word by its beginning elsewhere', [['search', 'pla eat']], []],
    ['no word by its beginning before a space', [['search', 'lun ']], []],
    [
      'all messages except those with an excluded word, but not its beginnings',
      [search('lun', true), ['is', 'dm']],
      [DIRECT],
    ],
    ['other words together with stop words', [['search', 'what is lunch']], [NOTHING, RUNNING, MENTION, DIRECT]],
    ['no message for stop words', [['search', 'what is']], []],
    ['no message for punctuation', [['search', '"*" OR (']], []],
    ['all messages except excluded ones', [search('lunch', true), ['topic', 'bread & butter']], [MEETINGS]],
    ['a word in a topic', [search('eat'), ['topic', 'lunch plans']], [MENTION]],
    ['a word in direct messages', [search('lunch'), ['is', 'dm']], [DIRECT]],
    ["a word in a sender's messages", [search('lunch'), ['sender', 'hamlet@zulip.com']], [RUNNING]],
    ['a word in unread messages', [search('lunch'), ['is', 'unread']], [NOTHING, MENTION, DIRECT]],
    ['a word in history that was never received', [search('lunch'), ['channel', 'elsewhere']], [FAR]],
    ['a word in all public channels', [search('lunch'), ['channels', 'public']], [NOTHING, RUNNING, MENTION, FAR]],
    ['messages that mention a user by name', [['mentions', 'hamlet@zulip.com']], [MENTION]],
    [
      'all messages that do not mention the user',
      [{ operator: 'mentions', operand: 'hamlet@zulip.com', negated: true }, ['is', 'dm']],
      [DIRECT],
    ],
    ['no message for an unmentioned user', [['mentions', 'iago@zulip.com']], []],
  ])('returns %s', async (_, narrow, expected) => {
    expect(await said(narrow)).toEqual(expected);
    expect(await said(narrow, { anchor: 'oldest', num_before: 0, num_after: 100 })).toEqual(expected);
    const readable = await said(narrow, { message_ids: [...ids.values()] });
    expect(readable.filter((one) => one !== FAR)).toEqual(expected.filter((one) => one !== FAR));
  });

  it('highlights matches in each content format', async () => {
    const [message] = await find([search('meet lunch')], { ...newest, apply_markdown: false });
    expect(message).toMatchObject({ content: RUNNING, content_type: 'text/x-markdown', subject: 'general chat' });
    expect(message).toMatchObject({
      match_content: `<p>running &lt;to&gt; "the ${hit('meeting')}" &amp; <strong>${hit('lunch')}</strong></p>`,
      match_subject: '',
    });
    expect((await find([search('海东 cafe 國家')]))[0]).toMatchObject({
      match_content: `<p>我家在上${hit('海东')}边 ${hit('Café')}</p>`,
      match_subject: hit('国家'),
    });
    expect((await find([search('butter')]))[0]).toMatchObject({ match_subject: `bread &amp; ${hit('butter')}` });
    expect((await find([search('lunch'), ['is', 'dm']]))[0]).toMatchObject({ match_subject: '' });
    expect((await find([search('butter exam')]))[0]).toMatchObject({
      match_content: expect.stringContaining(`https://${hit('example.com/menu')}`),
    });
    expect((await find([search('nothing')]))[0]).toMatchObject({
      match_content: `<p>${hit('Nothing')} for me</p>`,
      match_subject: 'lunch plans',
    });
    for (const message of await find([search('x', true), ['mentions', 'hamlet@zulip.com']])) {
      expect(message).not.toHaveProperty('match_content');
      expect(message).not.toHaveProperty('match_subject');
    }
  });

  it('selects the most relevant hits on request (extensions §9)', async () => {
    const relevant = { ...newest, order: 'relevance' };
    const read = async (narrow: readonly unknown[], range: object) => {
      const { messages, ranking, ...page } = fieldsOf(await get(narrow, range)) as Wire;
      expect([...(ranking ?? [])].sort((a, b) => a - b)).toEqual(ranking ? messages.map(({ id }: Wire) => id) : []);
      const names = new Map([...ids].map(([content, id]) => [id, content]));
      return { best: ranking?.map((id: number) => names.get(id)) as readonly string[], messages, page };
    };
    const { best, messages, page } = await read([search('meetings lunch')], relevant);
    expect(best).toEqual([RUNNING]);
    expect(messages[0].match_content).toContain(hit('lunch'));
    expect(page).toMatchObject({ found_newest: true, found_oldest: true });
    expect((await read([search('lunch')], relevant)).best).toEqual([DIRECT, RUNNING, MENTION, NOTHING]);
    const two = await read([search('lunch')], { ...relevant, num_before: 2 });
    expect(two.best).toHaveLength(2);
    expect(two.page).toMatchObject({ found_oldest: false });
    expect((await read([['is', 'dm']], relevant)).best).toBeUndefined();
    expectRefusal(await get([search('lunch')], { ...newest, order: 'x' }), 'Invalid order');
  });

  it('reports that older messages are being indexed', async () => {
    const index = server.parley.useCase(IndexMessages);
    await index.reset();
    expect(fieldsOf(await get([search('lunch')]))).toMatchObject({ search_incomplete: true, messages: [] });
    expect(fieldsOf(await get([['is', 'dm']]))).not.toHaveProperty('search_incomplete');
    while (await index.execute());
    const complete = fieldsOf(await get([search('lunch')])) as Wire;
    expect(complete).not.toHaveProperty('search_incomplete');
    expect(complete.messages).toHaveLength(4);
  });

  it('finds and marks a name with an ampersand', async () => {
    const id = await server.sendMessage(people.hamlet, general, { content: 'the R&D contract of *A&B*' });
    const [message] = await find([search('r&d')]);
    expect(message).toMatchObject({
      id,
      match_content: `<p>the ${hit('R&amp;D')} contract of <em>A&amp;B</em></p>`,
    });
    expect(await find([search('amp')])).toEqual([]);
    fieldsOf(await server.delete(`/messages/${id}`, people.iago));
  });

  it('indexes messages again if the languages of the organization change', async () => {
    const index = server.parley.useCase(IndexMessages);
    const id = await server.sendMessage(people.hamlet, general, { topic: 'Wartung Server', content: 'verschoben' });
    const isFound = async () => (await find([search('Wartungen')])).some((message) => message.id === id);
    expect(await isFound()).toBe(false);
    fieldsOf(await server.patch('/realm', people.iago, { search_languages: 'de' }));
    expect(fieldsOf(await get([search('Wartungen')]))).toMatchObject({ search_incomplete: true, messages: [] });
    while (await index.execute());
    expect(await isFound()).toBe(true);
    expect(fieldsOf(await get([search('Wartungen')]))).not.toHaveProperty('search_incomplete');
    await server.patch('/realm', people.iago, { search_languages: '' });
    while (await index.execute());
    expect(await isFound()).toBe(false);
    fieldsOf(await server.delete(`/messages/${id}`, people.iago));
  });

  it('finds the first unread message', async () => {
    const { anchor } = fieldsOf(
      await get([search('lunch')], { anchor: 'first_unread', num_before: 0, num_after: 1 }),
    ) as Wire;
    expect(anchor).toBe(ids.get(NOTHING));
    expect(fieldsOf(await get([search('butter running')], { ...newest, anchor: 'first_unread' }))).toMatchObject({
      anchor: 10 ** 16,
    });
  });

  it('rejects empty searches, too many words and unknown users', async () => {
    expectRefusal(await get([['search', ' ']]), 'operand cannot be blank.');
    expectRefusal(await get([{ operator: 'search', operand: 5 }]), 'operand is not a string');
    expectRefusal(await get([{ operator: 'mentions', operand: [5] }]), 'operand is not a string or integer');
    for (const [narrow, desc] of [
      [[search(Array.from({ length: 51 }, (_, n) => `w${n}`).join(' '))], 'more than 50 words are searched for'],
      [[['mentions', 'nobody@zulip.com']], 'unknown user nobody@zulip.com'],
    ] as const) {
      expectRefusal(await get(narrow), `Invalid narrow operator: ${desc}`, { code: 'BAD_NARROW', desc });
    }
  });
});

describe('GET /messages/matches_narrow (messages §8)', () => {
  const match = async (narrow: unknown, msg_ids: readonly unknown[] = [...ids.values()], as = people.hamlet) =>
    server.get('/messages/matches_narrow', as, { narrow, msg_ids });
  const matches = async (...args: Parameters<typeof match>) =>
    (fieldsOf(await match(...args)) as Wire).messages as Record<string, Wire>;

  it('returns received messages in the narrow with highlighted matches', async () => {
    expect(await matches([search('meet lunch')])).toEqual({
      [String(ids.get(RUNNING))]: {
        match_content: `<p>running &lt;to&gt; "the ${hit('meeting')}" &amp; <strong>${hit('lunch')}</strong></p>`,
        match_subject: '',
      },
    });
    expect(Object.keys(await matches([search('lunch meeti')]))).toEqual([String(ids.get(RUNNING))]);
    expect(await matches([['has', 'link']])).toEqual({
      [String(ids.get(MEETINGS))]: {
        match_content: expect.stringMatching(/^<p>The <em>meetings<\/em> are at <a href="[^"]*">[^<]*<\/a><\/p>$/),
        match_subject: 'bread &amp; butter',
      },
    });
    expect(Object.keys(await matches([['is', 'dm']]))).toEqual([String(ids.get(DIRECT))]);
    const all = [NOTHING, MEETINGS, RUNNING, MENTION, DIRECT, SHANGHAI].map((one) => String(ids.get(one!)));
    expect(Object.keys(await matches([]))).toEqual(all);
    expect(Object.keys(await matches([], [ids.get(DIRECT), 99999, ids.get(DIRECT)]))).toEqual([
      String(ids.get(DIRECT)),
    ]);
  });

  it('ignores unreceived history', async () => {
    expect(await matches([['channel', 'elsewhere']])).toEqual({});
    expect(await matches([['channels', 'public']], [ids.get(FAR)])).toEqual({});
    expect(await matches([], [...ids.values()], people.iago)).toEqual({});
    const params = { messages: [ids.get(FAR)], op: 'add', flag: 'starred' };
    fieldsOf(await server.post('/messages/flags', people.shiva, params));
    expect(Object.keys(await matches([['channel', 'elsewhere']], [ids.get(FAR)], people.shiva))).toHaveLength(1);
  });

  it('rejects invalid narrows even without messages', async () => {
    for (const [narrow, desc] of [
      [[['channel', 'nowhere']], 'unknown channel nowhere'],
      [[['with', '1']], 'unknown operator with'],
    ] as const) {
      expectRefusal(await match(narrow, []), `Invalid narrow operator: ${desc}`, { code: 'BAD_NARROW', desc });
    }
    const path = '/messages/matches_narrow';
    const missing = (var_name: string) => ({ code: 'REQUEST_VARIABLE_MISSING', var_name });
    const { hamlet } = people;
    expectRefusal(await server.get(path, hamlet, { narrow: [] }), "Missing 'msg_ids' argument", missing('msg_ids'));
    expectRefusal(await server.get(path, hamlet, { msg_ids: [] }), "Missing 'narrow' argument", missing('narrow'));
    expectRefusal(await match([], ['x']), 'msg_ids[0] is not an integer');
    expectRefusal(await match({}), 'narrow is not a list');
    expectRefusal(
      await server.get(path, null, { narrow: [], msg_ids: [] }),
      'Not logged in: API authentication or user session required',
      { status: 401, code: 'UNAUTHORIZED' },
    );
  });

  it('streams long messages in parts', async () => {
    const content = `meeting ${'word '.repeat(800)}`.trim();
    const sent = await Promise.all(
      Array.from({ length: 25 }, () => server.sendMessage(people.cordelia, general, { topic: 'long', content })),
    );
    const found = await matches([search('meeting'), ['topic', 'long']], sent);
    expect(Object.keys(found)).toHaveLength(25);
    for (const { match_content } of Object.values(found)) expect(match_content).toContain(hit('meeting'));
    expect(await find([search('meeting'), ['topic', 'long']])).toHaveLength(25);
  });
});

describe('hyphens in searches (extensions §9)', () => {
  it('finds words with soft and non-breaking hyphens by their ordinary spelling', async () => {
    const { cordelia } = people;
    await send(cordelia, 'general', 'Fahr\u00adplan', 'Donau\u00addampfer per E\u2011Mail');
    for (const operand of [
      'Donaudampfer',
      'email',
      'e-mail',
      'Fahrplan',
      '"donaudampfer per e-mail"',
      '"FAHR\u00adPLAN"',
    ]) {
      expect(await find([search(operand)])).toMatchObject([{ content: '<p>Donau\u00addampfer per E\u2011Mail</p>' }]);
    }
    expect((await find([search('Donaudampfer Fahrplan')]))[0]).toMatchObject({
      match_content: `<p>${hit('Donau\u00addampfer')} per E\u2011Mail</p>`,
      match_subject: hit('Fahr\u00adplan'),
    });
    await send(cordelia, 'general', 'office', 'the con\u00adfigura\u00adtion');
    const misspelt = fieldsOf(await get([search('cofnigura\u00adtion')]));
    expect(misspelt).toMatchObject({ messages: [], search_proposal: 'configuration' });
  });
});
