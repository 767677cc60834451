import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Person, TestOrganization } from './testing/test-organization.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const GENERATOR = join(root, 'packages/e2e/node_modules/openapi-typescript/bin/cli.js');
const COMPILER = join(root, 'node_modules/typescript/bin/tsc');

const STORY = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

type Event = components['schemas']['Event'];

const [baseUrl = '', email, apiKey] = process.argv.slice(2);
const { GET, POST, PATCH } = createClient<paths>({
  baseUrl,
  headers: { Authorization: 'Basic ' + btoa(email + ':' + apiKey), 'Content-Type': 'application/x-www-form-urlencoded' },
  bodySerializer: (body: object | undefined) =>
    new URLSearchParams(
      Object.entries(body ?? {}).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
});

const describe = (event: Event): string => {
  switch (event.type) {
    case 'message':
      return 'message ' + event.message.content + ' ' + event.flags.length;
    case 'update_message':
      return 'update ' + event.rendered_content + ' ' + event.message_ids.length;
    default:
      return event.type;
  }
};

const me = await GET('/api/v1/users/me');
await POST('/api/v1/users/me/subscriptions', { body: { subscriptions: [{ name: 'orders' }] } });
const queue = await POST('/api/v1/register', { body: { event_types: ['message', 'update_message'], apply_markdown: true } });
const sent = await POST('/api/v1/messages', { body: { type: 'channel', to: 'orders', topic: '7', content: 'Paid' } });
if (!me.data || !queue.data || !sent.data) throw new Error('refused');
const path = { message_id: sent.data.id };
await PATCH('/api/v1/messages/{message_id}', { params: { path }, body: { content: 'Paid *twice*' } });
const page = await GET('/api/v1/messages', { params: { query: { anchor: sent.data.id, num_before: 0, num_after: 0 } } });
const heard: Event[] = [];
while (heard.length < 2) {
  const query = { queue_id: queue.data.queue_id, last_event_id: heard.at(-1)?.id ?? -1 };
  heard.push(...((await GET('/api/v1/events', { params: { query } })).data?.events ?? []));
}
const { error, response } = await GET('/api/v1/streams/{stream_id}', { params: { path: { stream_id: 999_999 } } });
const { messages = [] } = page.data ?? {};
console.log(
  JSON.stringify([
    me.data.full_name,
    messages.map(({ id, content, sender_id }) => [id === path.message_id, content, sender_id === me.data.user_id]),
    heard.map(describe),
    [response.status, error?.code],
  ]),
);
// @ts-expect-error: a message needs a content.
void (() => POST('/api/v1/messages', { body: { type: 'channel', to: 'orders' } }));
// @ts-expect-error: there is no such operation.
void (() => GET('/api/v1/pigeons'));
`;

const CONFIG = {
  compilerOptions: { target: 'es2022', module: 'nodenext', strict: true, types: ['node'], outDir: 'out' },
  include: ['*.ts'],
};

describe('a client that openapi-typescript has generated', () => {
  let organization: TestOrganization;
  let ann: Person;
  let directory: string;
  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    ann = await organization.addPerson('Ann', 'owner');
    directory = mkdtempSync(join(tmpdir(), 'parley-generated-'));
    mkdirSync(join(directory, 'node_modules/@types'), { recursive: true });
    for (const name of ['openapi-fetch', '@types/node']) {
      symlinkSync(join(root, 'node_modules', name), join(directory, 'node_modules', name));
    }
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true });
    await organization.close();
  });

  it('compiles, and sends, reads and hears messages', async () => {
    const { url } = await organization.serve();
    const write = (name: string, content: string) => writeFileSync(join(directory, name), content);
    write('openapi.json', await (await fetch(`${url}/api/v1/openapi.json`)).text());
    write('story.ts', STORY);
    write('package.json', '{ "type": "module" }');
    write('tsconfig.json', JSON.stringify(CONFIG));
    const node = (...args: string[]) => run(process.execPath, args, { cwd: directory });
    await node(GENERATOR, 'openapi.json', '-o', 'api.ts');
    const complaints = await node(COMPILER, '-p', '.').then(
      () => '',
      ({ stdout }) => stdout,
    );
    expect(complaints).toBe('');
    const { stdout } = await node('out/story.js', url, ann.email, ann.apiKey);
    expect(JSON.parse(stdout)).toEqual([
      'Ann',
      [[true, '<p>Paid <em>twice</em></p>', true]],
      ['message <p>Paid</p> 0', 'update <p>Paid <em>twice</em></p> 1'],
      [400, 'BAD_REQUEST'],
    ]);
  });
});
