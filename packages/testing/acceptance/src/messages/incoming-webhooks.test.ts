import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOTHING_NAMED } from '@parley/domain/markdown';
import { escapeText, INTEGRATIONS, Payload } from '@parley/http';
import { ZulipMarkdownRenderer } from '@parley/markdown';
import { MARKDOWN_OPTIONS } from '@parley/testkit';
import fc from 'fast-check';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

interface Recorded {
  readonly title: string;
  readonly header?: string;
  readonly payload: unknown;
  /** Parameters of the URL. */
  readonly options?: Readonly<Record<string, string>>;
  /** True to send the payload in the field `payload` of a form. */
  readonly form?: boolean;
  /** True to send the members of the payload as fields of a form. */
  readonly fields?: boolean;
  readonly topic?: string;
  /** Null if no message is posted. */
  readonly content?: string | null;
  readonly error?: string;
}

const folder = join(__dirname, '../../../../adapters/http/src/integrations/fixtures');
const RECORDED = readdirSync(folder).map(
  (file) => [file.replace('.json', ''), JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recorded[]] as const,
);

let bot: TestUser;
let count = 0;
const { server, people } = serverPerSuite();
beforeAll(async () => {
  await server.createChannel('reports', [people.hamlet, people.iago]);
});
beforeEach(async () => {
  bot = await server.addBot(people.hamlet, `hook${++count}`, 'incomingWebhook');
  server.clock.advance(1000);
});

interface Sent {
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly key?: string | null;
}

function send(integration: string, payload: unknown, { body, headers, query, key = bot.apiKey }: Sent = {}) {
  const search = new URLSearchParams({ ...(key !== null && { api_key: key }), stream: 'reports', ...query });
  return server.request('POST', `/external/${integration}?${search}`, {
    body: body ?? JSON.stringify(payload),
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

const newest = async (as: TestUser, operator: string, operand: string): Promise<Wire> => {
  const params = { narrow: [{ operator, operand }], anchor: 'newest', num_before: 1, num_after: 0 };
  return (fieldsOf(await server.get('/messages', as, { ...params, apply_markdown: false })) as Wire).messages[0];
};
const posted = () => newest(people.iago, 'channel', 'reports');
const toOwner = () => newest(people.hamlet, 'is', 'dm');

const PING = { zen: 'x', hook_id: 1, repository: { name: 'repo' } };
const github = (sent: Sent = {}, event = 'ping') =>
  send('github', PING, { ...sent, headers: { 'X-GitHub-Event': event, ...sent.headers } });

describe('numbers of a payload', () => {
  const NUMBERS = '{"id":653247040368672768,"price":1.10,"rate":1e-7,"small":7,"list":[0.50]}';

  it('are shown as they were sent', async () => {
    fieldsOf(await send('json', null, { body: NUMBERS }));
    expect((await posted()).content).toBe(
      '```json\n{\n  "id": 653247040368672768,\n  "price": 1.10,\n  "rate": 1e-7,\n  "small": 7,\n  "list": [\n    0.50\n  ]\n}\n```',
    );
    const template = '{{id}} {{price}} {{rate}} {{small}} {{list}}';
    fieldsOf(await send('json', null, { body: NUMBERS, query: { template } }));
    expect((await posted()).content).toBe('653247040368672768 1.10 1e-7 7 `[0.50]`');
    fieldsOf(await send('zapier', null, { body: '{"topic": 653247040368672768, "content": 1.10}' }));
    expect(await posted()).toMatchObject({ subject: '653247040368672768', content: '1.10' });
    const field =
      '{"attachments":[{"fields":[{"title":"Id","value":653247040368672768},{"title":"CPU","value":93.50}]}]}';
    fieldsOf(await send('slack_incoming', null, { body: field }));
    expect((await posted()).content).toBe('* **Id**: 653247040368672768\n* **CPU**: 93.50');
  });

  it('are shown for a message that is only a number', async () => {
    fieldsOf(await send('slack_incoming', { text: 42 }));
    expect((await posted()).content).toBe('42');
  });

  it('keep the last of equal keys and replace lone surrogates', async () => {
    fieldsOf(await send('json', null, { body: '{"a":1,"a":1.10,"b":"\\ud800"}' }));
    expect((await posted()).content).toBe('```json\n{\n  "a": 1.10,\n  "b": "\ufffd"\n}\n```');
  });
});

it('finds recorded payloads of every integration', () => {
  expect(RECORDED.map(([name]) => name)).toEqual(INTEGRATIONS.map(({ name }) => name));
});

describe.each(INTEGRATIONS)('integration $name', ({ documentation, events, offByDefault = [], ignored = [] }) => {
  it('links its documentation and switches off only events that it has', () => {
    expect(new URL(documentation).protocol).toBe('https:');
    const names = Object.keys(events);
    expect(offByDefault.filter((event) => !names.includes(event))).toEqual([]);
    expect(ignored.filter((event) => names.includes(event))).toEqual([]);
    expect(names.every((event) => /^[\w:.-]+$/.test(event))).toBe(true);
  });
});

describe.each(RECORDED)('%s recording', (name, cases) => {
  const integration = INTEGRATIONS.find((each) => each.name === name)!;
  const { eventHeader } = integration;

  it('covers every event and a malformed payload', () => {
    const recorded = cases.filter(({ error }) => error === undefined);
    const events = recorded.map(({ header, payload }) => integration.eventOf(new Payload(payload), header ?? ''));
    const supported = Object.keys(integration.events);
    expect(supported.filter((event) => !events.includes(event))).toEqual([]);
    expect(recorded.length).toBeGreaterThanOrEqual(2);
    expect(cases.some(({ error }) => /^(INVALID_JSON|ANOMALOUS_WEBHOOK_PAYLOAD)$/.test(error ?? ''))).toBe(true);
  });

  it.each(cases.map((recorded) => [recorded.title, recorded] as const))(
    'produces the expected message: %s',
    async (_, recorded) => {
      const { header, payload, options, form, fields, topic, content, error } = recorded;
      const before = (await posted())?.id;
      const sendWith = (query: Readonly<Record<string, string>>) =>
        send(name, payload, {
          headers: {
            ...(header !== undefined && { [eventHeader!]: header }),
            ...((form || fields) && { 'Content-Type': 'application/x-www-form-urlencoded' }),
          },
          ...(form && { body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString() }),
          ...(fields && { body: new URLSearchParams(payload as Record<string, string>).toString() }),
          query: { ...query, ...options },
        });
      const event = error === undefined ? integration.eventOf(new Payload(payload), header ?? '') : '';
      const isOff = integration.offByDefault?.includes(event) ?? false;
      if (isOff) {
        fieldsOf(await sendWith({}));
        expect((await posted())?.id).toBe(before);
      }
      const reply = await sendWith(isOff ? { include_events: JSON.stringify([event]) } : {});
      if (error !== undefined) {
        expect(reply.body).toMatchObject({ result: 'error', code: error });
        expect(reply.status).toBe(error === 'UNSUPPORTED_WEBHOOK_EVENT_TYPE' ? 200 : 400);
        expect((await toOwner()).content).toMatch(`Your bot @_**${bot.user.fullName}|${bot.id}** got a request at`);
        expect((await posted())?.id).toBe(before);
        return;
      }
      fieldsOf(reply);
      const message = await posted();
      if (content === null) expect(message?.id).toBe(before);
      else expect({ topic: message.subject, content: message.content }).toEqual({ topic, content });
    },
  );
});

describe('POST /external/:integration (organization §19)', () => {
  it('accepts keys of bots and users, in the query or by basic authentication', async () => {
    fieldsOf(await github());
    expect((await posted()).sender_id).toBe(bot.id);
    fieldsOf(await github({ key: people.iago.apiKey }));
    expect((await posted()).sender_id).toBe(people.iago.id);
    const authorization = `Basic ${Buffer.from(`${bot.email}:${bot.apiKey}`).toString('base64')}`;
    fieldsOf(await github({ key: null, headers: { Authorization: authorization } }));
    expect(await posted()).toMatchObject({ sender_id: bot.id, client: 'ZulipGitHubWebhook' });
  });

  it('rejects wrong keys and keys of other organizations', async () => {
    expectRefusal(await github({ key: 'x'.repeat(32) }), 'Invalid API key', { code: 'INVALID_API_KEY', status: 401 });
    expect((await github({ key: null })).status).toBe(401);
    const realmId = await server.addRealm(`realm${count}`);
    const stranger = await server.addUser({ realmId, email: 'stranger@example.com', fullName: 'Stranger' });
    expect((await github({ key: stranger.apiKey })).status).toBe(401);
  });

  it("sends direct messages to the bot's owner if no channel is given, and to the user for a user's own key", async () => {
    fieldsOf(await github({ query: { stream: '' } }));
    expect(await toOwner()).toMatchObject({ sender_id: bot.id, content: expect.stringContaining('configured') });
    fieldsOf(await github({ key: people.iago.apiKey, query: { stream: '' } }));
    expect(await newest(people.iago, 'is', 'dm')).toMatchObject({ sender_id: people.iago.id });
  });

  it('replaces the topic and finds channels by id', async () => {
    const { stream_id } = fieldsOf(await server.get('/get_stream_id', people.iago, { stream: 'reports' })) as Wire;
    fieldsOf(await github({ query: { stream: String(stream_id), topic: 'all of it' } }));
    expect((await posted()).subject).toBe('all of it');
  });

  it('succeeds for an unknown channel and notifies the owner', async () => {
    fieldsOf(await github({ query: { stream: 'nowhere' } }));
    expect((await toOwner()).content).toContain('tried to send a message to the channel `nowhere`');
  });

  it('passes on errors of the channel', async () => {
    const { administrators } = await server.systemGroups();
    const id = await server.createChannel(`closed ${count}`, [], { can_send_message_group: administrators });
    const reply = await github({ query: { stream: String(id) } });
    expect([reply.status, reply.body]).toEqual([
      400,
      expect.objectContaining({ result: 'error', code: 'BAD_REQUEST' }),
    ]);
  });

  it.each([
    [{ only_events: ['push', 'pi*'] }, true],
    [{ only_events: ['push'] }, false],
    [{ exclude_events: ['pi.g'] }, true],
    [{ exclude_events: ['*ng'] }, false],
    [{ only_events: ['*'], exclude_events: ['ping'] }, false],
    [{ only_events: ['push'], include_events: ['ping'] }, true],
    [{ include_events: ['ping'], exclude_events: ['p*'] }, false],
  ])('filters events by %j', async (filter, isPosted) => {
    const before = (await posted())?.id;
    const query = Object.fromEntries(Object.entries(filter).map(([name, list]) => [name, JSON.stringify(list)]));
    fieldsOf(await github({ query }));
    expect((await posted())?.id !== before).toBe(isPosted);
  });

  it.each([
    [{}, false],
    [{ include_events: ['*.success', 'star'] }, true],
    [{ only_events: ['star'] }, true],
    [{ only_events: ['*'] }, true],
    [{ include_events: ['*'], exclude_events: ['star'] }, false],
  ])('posts an event that is off by default only if %j names it', async (filter, isPosted) => {
    const before = (await posted())?.id;
    const query = Object.fromEntries(Object.entries(filter).map(([name, list]) => [name, JSON.stringify(list)]));
    const payload = { action: 'created', repository: { name: 'repo' }, sender: { login: 'ann' } };
    fieldsOf(await send('github', payload, { query, headers: { 'X-GitHub-Event': 'star' } }));
    expect((await posted())?.id !== before).toBe(isPosted);
  });

  it('filters pushes by branch only', async () => {
    const push = (ref: string) =>
      send(
        'github',
        { ref, commits: [], repository: { name: 'repo' }, sender: { login: 'ann' } },
        { query: { branches: 'main, next' }, headers: { 'X-GitHub-Event': 'push' } },
      );
    fieldsOf(await push('refs/heads/next'));
    const before = await posted();
    expect(before.subject).toBe('repo / next');
    fieldsOf(await push('refs/heads/other'));
    expect((await posted()).id).toBe(before.id);
    fieldsOf(await github({ query: { branches: 'main' } }));
    expect((await posted()).id).not.toBe(before.id);
  });

  it.each([
    ['{', 'INVALID_JSON', 'Malformed JSON'],
    ['', 'INVALID_JSON', 'Malformed JSON'],
    ['"text"', 'INVALID_JSON', 'Malformed JSON'],
    [Buffer.from([0x22, 0xff, 0x22]), 'BAD_REQUEST', 'Malformed payload'],
  ])('rejects the body %j and notifies the owner once', async (body, code, message) => {
    expectRefusal(await github({ body }), message, { code });
    const notice = await toOwner();
    expect(notice.content).toMatch(/got a request at `\/api\/v1\/external\/github` that is/);
    expectRefusal(await github({ body }), message, { code });
    expect((await toOwner()).id).toBe(notice.id);
  });

  it('rejects unknown integrations, and options of other integrations', async () => {
    expectRefusal(await send('toString', {}), 'Unknown integration', { status: 404 });
    expectRefusal(await github({ query: { template: 'x' } }), 'The integration github takes no template.');
    expectRefusal(await github({ query: { name: 'x' } }), 'The integration github takes no name.');
    fieldsOf(await github({ query: { desc: '' } }));
  });

  it.each([
    ['github', 'unknown', '1'],
    ['github', 'integration', 'gitlab'],
    ['gitlab', 'ignore_private_repositories', 'true'],
    ['jira', 'branches', 'main'],
  ])(
    'refuses a request of %s with the parameter %s by its name and notifies the owner',
    async (name, parameter, value) => {
      const before = (await posted())?.id;
      const query = { [parameter]: value };
      expectRefusal(
        await send(name, PING, { query, headers: { 'X-GitHub-Event': 'ping', 'X-Gitlab-Event': 'Push Hook' } }),
        `The integration ${name} takes no ${parameter}.`,
      );
      expect((await toOwner()).content).toMatch(
        `with the parameter \`${parameter}\`, which the integration does not have`,
      );
      expect((await posted())?.id).toBe(before);
      const path = `/external/${name}?api_key=${bot.apiKey}&${new URLSearchParams(query)}`;
      expectRefusal(await server.request('GET', path, {}), `The integration ${name} takes no ${parameter}.`);
    },
  );

  it('rejects a value of an option that is neither true nor false', async () => {
    const reply = await github({ query: { ignore_private_repositories: 'yes' } });
    expect(reply).toMatchObject({ status: 400, body: { msg: expect.stringContaining('ignore_private_repositories') } });
  });

  it('accepts parameters that services add to the URL', async () => {
    const payload = { webhookEvent: 'jira:issue_created', issue: { key: 'POT-8' } };
    fieldsOf(await send('jira', payload, { query: { user_id: 'ann', user_key: 'ann' } }));
    expect((await posted()).content).toBe('Somebody created POT-8.');
  });

  it('reads bodies of any content type', async () => {
    expect(fieldsOf(await github({ headers: { 'Content-Type': 'text/plain' } }))).toEqual({});
  });

  it('prevents Slack messages from mentioning users', async () => {
    const texts = [
      '@*all*',
      '@_*all*',
      '#*reports*',
      '@<!>*all*',
      '<!everyone>',
      '<x|@**all**>',
      '@&lt;*all*',
      '/me *x*',
    ];
    for (const text of texts) {
      fieldsOf(await send('slack_incoming', { text }));
      const { flags } = (fieldsOf(await server.get(`/messages/${(await posted()).id}`, people.iago)) as Wire).message;
      const { content } = (fieldsOf(await server.get(`/messages/${(await posted()).id}`, people.iago)) as Wire).message;
      expect([text, flags, content]).toEqual([
        text,
        [],
        expect.not.stringMatching(/user-mention|class="stream"|me-message/),
      ]);
    }
  });

  it.each([
    ['inline code that is cut', { template: '{{data}}' }, { data: { a: `@**all** ${'x'.repeat(10_000)}` } }],
    ['a quote with lines of backticks', {}, { text: `&gt; ${'`'.repeat(200)}\n${'`'.repeat(100)}\n@**all**` }],
  ])('prevents %s from mentioning users', async (_, query, payload) => {
    fieldsOf(
      await send('data' in payload ? 'json' : 'slack_incoming', payload, { query: query as Record<string, string> }),
    );
    const { flags } = (fieldsOf(await server.get(`/messages/${(await posted()).id}`, people.iago)) as Wire).message;
    expect(flags).toEqual([]);
  });

  it('prevents quoted comments from mentioning users', async () => {
    const body = `x ${'`'.repeat(200)} y\n${'`'.repeat(100)}\n@**all**`;
    const payload = {
      action: 'created',
      repository: { name: 'repo' },
      sender: { login: 'ann' },
      comment: { body, commit_id: 'a1' },
    };
    fieldsOf(await send('github', payload, { headers: { 'X-GitHub-Event': 'commit_comment' } }));
    const { flags } = (fieldsOf(await server.get(`/messages/${(await posted()).id}`, people.iago)) as Wire).message;
    expect(flags).toEqual([]);
  });

  it('succeeds for HEAD and GET with a valid key, as services send them when a webhook is created', async () => {
    const path = `/external/trello?api_key=${bot.apiKey}&stream=reports`;
    const { status, body } = await server.request('HEAD', path, {});
    expect([status, body]).toEqual([200, null]);
    expect(fieldsOf(await server.request('GET', path, {}))).toEqual({});
    expectRefusal(await server.request('GET', path.replace('trello', 'kettle'), {}), 'Unknown integration', {
      status: 404,
    });
    expect((await server.request('HEAD', path.replace(bot.apiKey, 'x'.repeat(32)), {})).status).toBe(401);
  });

  it('reads the fields of a form without the field `payload`', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    fieldsOf(await send('json', null, { headers, body: 'title=The+lid&count=2' }));
    expect((await posted()).content).toBe('```json\n{\n  "title": "The lid",\n  "count": "2"\n}\n```');
    expectRefusal(await send('json', null, { headers, body: '' }), 'Malformed JSON', { code: 'INVALID_JSON' });
  });

  it('is described in register (events §3.2)', async () => {
    const fields = { fetch_event_types: ['realm_incoming_webhook_bots'] };
    const { realm_incoming_webhook_bots } = fieldsOf(await server.post('/register', people.hamlet, fields)) as Wire;
    expect(realm_incoming_webhook_bots.map(({ name }: Wire) => name)).toEqual(INTEGRATIONS.map(({ name }) => name));
    expect(realm_incoming_webhook_bots.find(({ name }: Wire) => name === 'gitea')).toEqual({
      name: 'gitea',
      display_name: 'Gitea',
      all_event_types: expect.arrayContaining(['push', 'issues']),
      config_options: [],
      url_options: [{ key: 'branches', label: expect.any(String), input_type: 'text' }],
    });
    expect(realm_incoming_webhook_bots.find(({ name }: Wire) => name === 'alertmanager').url_options).toEqual([
      { key: 'name', label: expect.any(String), input_type: 'text' },
      { key: 'desc', label: expect.any(String), input_type: 'text' },
    ]);
  });
});

describe('GET /integrations (extensions §8)', () => {
  it('lists integrations with their documentation and events', async () => {
    const { integrations } = fieldsOf(await server.get('/integrations', people.hamlet)) as Wire;
    expect(integrations.map(({ name }: Wire) => name)).toEqual(INTEGRATIONS.map(({ name }) => name));
    expect(integrations.find(({ name }: Wire) => name === 'github')).toEqual({
      name: 'github',
      display_name: 'GitHub',
      documentation_url: 'https://docs.github.com/en/webhooks/webhook-events-and-payloads',
      events: expect.arrayContaining([
        { name: 'push', is_on_by_default: true },
        { name: 'star', is_on_by_default: false },
      ]),
      has_branches: true,
      options: [{ key: 'ignore_private_repositories', label: expect.any(String) }],
      setup: null,
    });
    expect(integrations.find(({ name }: Wire) => name === 'freshdesk').setup).toContain('{{ticket.subject}}');
  });

  it('rejects anonymous callers', async () => {
    expectRefusal(
      await server.get('/integrations', null),
      'Not logged in: API authentication or user session required',
      {
        code: 'UNAUTHORIZED',
        status: 401,
      },
    );
  });
});

describe('escapeText', () => {
  const renderer = new ZulipMarkdownRenderer();
  afterAll(() => renderer.close());
  const mark = fc.constantFrom(
    '*',
    '**',
    '`',
    '```',
    '@',
    '@_',
    '#',
    '[',
    '](',
    ')',
    '~~',
    '$$',
    '!',
    ':smile:',
    '<time:',
    '>',
    '&lt;',
    '&#42;',
    '|',
    '\n',
    '/me ',
    'all',
    'x',
    ' ',
  );

  it('escapes any text as Markdown that shows exactly that text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(mark, { maxLength: 12 }).map((all) => all.join('')),
        async (text) => {
          const { html } = renderer.render(
            await renderer.parse(`x ${escapeText(text)} y`, MARKDOWN_OPTIONS),
            NOTHING_NAMED,
          );
          const shown = html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
          const plain = shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
          expect(html).not.toMatch(/<(?!\/?p>)/);
          expect(plain.replace(/\s+/g, ' ')).toBe(`<p>x ${text.trim()} y</p>`.replace(/\s+/g, ' '));
        },
      ),
      { numRuns: 300 },
    );
  });
});
