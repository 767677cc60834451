import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SeededRandomness } from '@parley/testkit';
import Database from 'better-sqlite3';
import { SEED, size } from './hostile/scale.js';
import { pause } from './testing/pause.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

const KILLS = size(8, 200);
const MESSAGES = 400;

type Fields = Readonly<Record<string, unknown>>;

/** Erasure of everything that a person wrote, in a server that is killed, and in an older backup. */
describe('erased person', () => {
  let organization: TestOrganization;
  let person: Person;
  const words: string[] = [];
  const word = (): string => {
    const next = `zqw${words.length}kanarie`;
    words.push(next);
    return next;
  };
  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    await organization.addPerson('Desdemona', 'owner');
    person = await organization.addPerson('Ophelia', 'administrator');
  });
  afterAll(() => organization.close());

  async function send(url: string, method: string, path: string, body: string, contentType: string): Promise<Fields> {
    const Authorization = `Basic ${Buffer.from(`${person.email}:${person.apiKey}`).toString('base64')}`;
    const headers = { Authorization, 'Content-Type': contentType };
    const response = await fetch(`${url}/api/v1${path}`, { method, body, headers });
    const answer = (await response.json()) as Fields;
    expect(answer).toMatchObject({ result: 'success' });
    return answer;
  }
  function call(url: string, method: string, path: string, fields: Fields): Promise<Fields> {
    const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
    const form = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, text(value)]));
    return send(url, method, path, String(form), 'application/x-www-form-urlencoded');
  }
  const upload = (url: string): Promise<Fields> => {
    const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="${word()}.txt"\r\n\r\n`;
    return send(url, 'POST', '/user_uploads', `${head}${word()}\r\n--b--\r\n`, 'multipart/form-data; boundary=b');
  };

  /** Writes a word wherever the person can, except for topics: events of deletions name them for a week. */
  async function write(url: string): Promise<void> {
    await call(url, 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'rampart' }] });
    const later = Math.floor(Date.now() / 1000) + 100_000;
    const place = { type: 'stream', to: ['rampart'], topic: 'plans' };
    const message = { type: 'stream', to: 'rampart', topic: 'plans' };
    const say = (fields: Fields) => call(url, 'POST', '/messages', { ...message, ...fields });
    const { url: link } = await upload(url);
    const { id } = await say({ content: `${word()} [${word()}](${link})` });
    await call(url, 'PATCH', `/messages/${id}`, { content: `${word()} **${word()}**` });
    const { id: deleted } = await say({ content: word() });
    await call(url, 'DELETE', `/messages/${deleted}`, {});
    await call(url, 'POST', '/messages', { type: 'direct', to: [person.id], content: word() });
    await call(url, 'POST', '/messages', { ...message, content: `/poll ${word()}\n${word()}` });
    await call(url, 'POST', '/drafts', { drafts: [{ ...place, to: [1], content: word(), timestamp: 1 }] });
    await call(url, 'POST', '/saved_snippets', { title: word(), content: word() });
    await call(url, 'POST', '/scheduled_messages', {
      ...{ type: 'direct', to: [person.id], content: word(), scheduled_delivery_timestamp: later },
    });
    await call(url, 'POST', '/reminders', { message_id: id, note: word(), scheduled_delivery_timestamp: later });
    await call(url, 'POST', '/users/me/alert_words', { alert_words: [word(), word()] });
    await call(url, 'POST', '/users/me/status', { status_text: word() });
    await call(url, 'POST', '/navigation_views', { fragment: `narrow/is/${word()}`, is_pinned: true, name: word() });
    await call(url, 'PATCH', '/settings', { full_name: `${word()} ${word()}` });
    for (let n = 0; n < MESSAGES; n++) await say({ topic: `topic ${n % 7}`, content: n % 10 ? 'hello' : word() });
    words.push(person.apiKey);
  }

  async function found(): Promise<readonly string[]> {
    const list = join(organization.directory, 'words.txt');
    writeFileSync(list, words.join('\n'));
    const { code, out } = await organization.run(['erasure', 'verify', `--words=${list}`, '--json']);
    const { places } = JSON.parse(out) as { places: readonly { place: string; line: number }[] };
    expect(code).toBe(places.length === 0 ? 0 : 3);
    return places.map(({ place, line }) => `${words[line - 1]} in ${place}`);
  }

  it('leaves no word after repeated kills, or in an older backup that is restored', async () => {
    const writing = await organization.serve();
    await write(writing.url);
    expect(words.length).toBeGreaterThan(60);
    const archive = join(organization.directory, 'backup.tar');
    expect(await organization.run(['backup', archive])).toMatchObject({ code: 0, err: '' });
    expect(await found()).not.toEqual([]);
    await writing.kill();

    const erase = ['user', 'erase', String(person.id), '--everything-written', '--yes'];
    expect(await organization.run(erase)).toMatchObject({ code: 0, err: '' });
    const rows = new Database(organization.database, { readonly: true });
    const progress = rows.prepare('SELECT removed_rows + changed_texts FROM erasure WHERE ended_at IS NULL').pluck();
    const random = new SeededRandomness(SEED);
    let kills = 0;
    for (; kills < KILLS && progress.get() !== undefined; kills++) {
      const server = await organization.serve();
      for (let units = 1 + Math.floor(4 * random.fraction()); units > 0; units--) {
        const before = progress.get();
        while (before !== undefined && progress.get() === before) await pause(1);
      }
      await server.kill();
    }
    expect(kills).toBeGreaterThan(2);
    const server = await organization.serve();
    while (progress.get() !== undefined) await pause(100);
    rows.close();
    await server.terminate();
    expect(await found()).toEqual([]);

    const former = join(organization.directory, 'former');
    mkdirSync(former);
    renameSync(organization.database, join(former, 'parley.db'));
    expect(await organization.run(['restore', archive])).toMatchObject({ code: 0, err: '' });
    expect(await found()).toEqual([]);
  }, 120_000);
});
