import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ParleyProcess } from './testing/parley-process.js';
import { TestOrganization } from './testing/test-organization.js';

interface ReleasedPerson {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
}

/** Facts about the data, written by `scripts/write-release-data.mjs`. */
interface ReleasedData {
  readonly hamlet: ReleasedPerson;
  readonly gertrude: ReleasedPerson;
  /** Path of an uploaded file. */
  readonly file: string;
  /** Message that was edited once. */
  readonly edited: number;
  readonly scheduled: number;
  /** Queue that missed one message. */
  readonly queue: string;
  readonly lastEventId: number;
  readonly missed: number;
}

const FIXTURES = join(import.meta.dirname, 'fixtures');
const RELEASES = readdirSync(FIXTURES).flatMap((name) => /^release-(.*)\.json$/.exec(name)?.[1] ?? []);

// biome-ignore lint/suspicious/noExplicitAny: responses, distinguished by assertions.
type Wire = any;

describe.each(RELEASES)('upgrade from %s', (version) => {
  const data: ReleasedData = JSON.parse(readFileSync(join(FIXTURES, `release-${version}.json`), 'utf8'));
  const { hamlet, gertrude } = data;
  let organization: TestOrganization;
  let server: ParleyProcess;
  const commands: Record<'before' | 'check' | 'after', { code: number | null; err: string }> = {} as never;
  beforeAll(async () => {
    organization = new TestOrganization();
    // Folder of the stopped server.
    const folder = join(organization.directory, 'data');
    mkdirSync(folder);
    execFileSync('tar', ['-xzf', join(FIXTURES, `release-${version}.tar.gz`), '-C', folder]);
    commands.before = await organization.run(['user', 'list']);
    commands.check = await organization.run(['migrate', '--check']);
    server = await organization.serve();
    commands.after = await organization.run(['migrate', '--check']);
  });
  afterAll(() => organization.close());

  const call = async (person: ReleasedPerson | null, method: string, path: string, params: object = {}) => {
    const form = new URLSearchParams(
      Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    );
    const isGet = method === 'GET';
    const key = person && Buffer.from(`${person.email}:${person.apiKey}`).toString('base64');
    const response = await fetch(`${server.url}/api/v1${path}${isGet ? `?${form}` : ''}`, {
      method,
      headers: key ? { authorization: `Basic ${key}` } : {},
      ...(!isGet && { body: form }),
    });
    return (await response.json()) as Wire;
  };
  const get = (person: ReleasedPerson, path: string, params?: object) => call(person, 'GET', path, params);
  const newest = { anchor: 'newest', num_before: 100, num_after: 0, apply_markdown: false };
  const contents = async (person: ReleasedPerson, ...narrow: readonly (readonly [string, string])[]) =>
    (await get(person, '/messages', { ...newest, narrow })).messages.map(({ content }: Wire) => content);

  it('changes the schema by the start of the server, and by no other command', () => {
    expect(commands).toMatchObject({
      before: { code: 1, err: expect.stringContaining('The database has an older schema') },
      check: { code: 3 },
      after: { code: 0 },
    });
  });

  it('keeps passwords and API keys', async () => {
    for (const { email, password, apiKey, id } of [hamlet, gertrude]) {
      const params = { username: email, password };
      expect(await call(null, 'POST', '/fetch_api_key', params)).toMatchObject({ api_key: apiKey, user_id: id });
    }
    expect(await get(hamlet, '/users/me')).toMatchObject({ full_name: 'Prince Hamlet', is_owner: true });
  });

  it('delivers the missed event to a waiting client, and later ones', async () => {
    const events = async (last_event_id: number) =>
      (await get(gertrude, '/events', { queue_id: data.queue, last_event_id, dont_block: true })).events as Wire[];
    const [missed, ...others] = await events(data.lastEventId);
    expect(missed).toMatchObject({ type: 'message', message: { id: data.missed } });
    expect(others).toEqual([]);
    const to = { type: 'direct', to: [gertrude.id] };
    const { id } = await call(hamlet, 'POST', '/messages', { ...to, content: 'Mother, good night.' });
    expect(await events(missed.id)).toMatchObject([{ message: { id } }]);
  });

  it('keeps messages with their edits, reactions, flags and files', async () => {
    expect(await contents(gertrude, ['channel', 'rampart'], ['topic', 'the ghost'])).toEqual([
      'Angels and ministers of grace, **defend** us!',
      'Alas, how is it with you?',
      'Get thee to a nunnery',
      `[the letter](${data.file})`,
      'Rest, rest, perturbed spirit!',
      'The time is out of joint.',
    ]);
    expect(await contents(gertrude, ['channel', 'closet'])).toEqual([]);
    expect(await contents(hamlet, ['channel', 'closet'], ['topic', 'arras'])).toEqual(['How now! A rat?']);
    const { messages } = await get(gertrude, '/messages', { ...newest, narrow: [['is', 'starred']] });
    expect(messages).toMatchObject([{ reactions: [{ emoji_name: 'ghost', user_id: gertrude.id }] }]);
    const { message_history: history } = await get(hamlet, `/messages/${data.edited}/history`);
    expect(history).toMatchObject([{ content: 'Get thee to a nunery' }, { content: 'Get thee to a nunnery' }]);
    const { url } = await get(gertrude, data.file);
    expect(await (await fetch(`${server.url}${url}`)).text()).toBe('Doubt thou the stars are fire');
  });

  it('finds earlier messages by other forms of their words', async () => {
    const find = () => contents(hamlet, ['search', 'spirits']);
    let found = await find();
    // They are indexed again in the background.
    for (let attempt = 0; attempt < 100 && found.length === 0; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      found = await find();
    }
    expect(found).toEqual(['Rest, rest, perturbed spirit!']);
  });

  it('keeps drafts, snippets, scheduled messages, groups, linkifiers and statuses', async () => {
    expect(await get(hamlet, '/drafts')).toMatchObject({ drafts: [{ content: 'I must be cruel' }] });
    expect(await get(hamlet, '/saved_snippets')).toMatchObject({ saved_snippets: [{ title: 'Oath' }] });
    expect(await get(hamlet, '/scheduled_messages')).toMatchObject({
      scheduled_messages: [{ scheduled_message_id: data.scheduled, content: 'Good night, mother' }],
    });
    const { user_groups: groups } = await get(hamlet, '/user_groups');
    expect(groups).toContainEqual(expect.objectContaining({ name: 'guard', members: [hamlet.id] }));
    expect(await get(hamlet, '/realm/linkifiers')).toMatchObject({ linkifiers: [{ pattern: 'act(?P<id>[0-9]+)' }] });
    expect(await get(hamlet, `/users/${hamlet.id}/status`)).toMatchObject({
      status: { status_text: 'antic disposition' },
    });
  });

  it('leaves a database without problems', async () => {
    expect(await organization.run(['doctor', '--thorough'])).toMatchObject({ code: 0 });
  });
});
