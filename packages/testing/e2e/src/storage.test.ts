import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from 'zulip-js';
import { encodeMultipart, send } from './conformance/request.js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause } from './testing/pause.js';
import { QueueReader } from './testing/queue-reader.js';
import { connect, type Person, TestOrganization } from './testing/test-organization.js';

/** Server with removed files, a full disk or a locked database. */
describe('server with storage problems', () => {
  let organization: TestOrganization;
  let hamlet: Person;
  let server: ParleyProcess;
  let client: Client;
  const say = (content: string) => client.messages.send({ type: 'direct', to: [hamlet.id], content });
  const data = () => dirname(organization.database);
  const serve = async (...args: Parameters<TestOrganization['serve']>) => {
    server = await organization.serve(...args);
    client = await connect(server, hamlet);
  };
  const everything = async (): Promise<string[]> => {
    const narrow = [{ operator: 'dm', operand: [hamlet.id] }];
    const params = { anchor: 'newest', num_before: 1000, num_after: 0, narrow, apply_markdown: 'false' };
    return (await client.messages.retrieve(params)).messages.map(({ content }: { content: string }) => content);
  };

  beforeEach(async () => {
    organization = await TestOrganization.withOrganization();
    hamlet = await organization.addPerson('Hamlet');
  });
  afterEach(() => organization.close());

  it.each<[string, () => void]>([
    ['the database is deleted', () => rmSync(organization.database)],
    ['the log is deleted', () => rmSync(`${organization.database}-wal`)],
    [
      'a backup replaces the database',
      () => {
        copyFileSync(organization.database, `${organization.database}.backup`);
        renameSync(`${organization.database}.backup`, organization.database);
      },
    ],
  ])('responds 503 when %s and loses no acknowledged message', async (_, harm) => {
    await serve();
    const queue = await QueueReader.open(client, { event_types: ['message'] });
    const acknowledged: string[] = [];
    for (let n = 0; n < 20; n++) {
      expect(await say(`message ${n}`)).toMatchObject({ result: 'success' });
      acknowledged.push(`message ${n}`);
    }
    await queue.next(20);
    // Pending polls end.
    const waiting = queue.poll();
    await pause(1000);
    harm();
    while (!server.output.includes('All acknowledged data is saved in')) await pause(50);
    const refused = { result: 'error', code: 'SERVER_NOT_READY' };
    expect(await client.messages.retrieve({ anchor: 'newest', num_before: 5, num_after: 0 })).toMatchObject(refused);
    expect(await say('into the void')).toMatchObject(refused);
    expect(server.output).toMatch(/parley\.db.* while the database was in use\. All access has stopped\. Stop/);
    await waiting;
    await expect(queue.poll({ dont_block: 'true' })).rejects.toThrow('SERVER_NOT_READY');
    const startedAt = Date.now();
    expect(await server.terminate()).toBe(0);
    expect(Date.now() - startedAt).toBeLessThan(8000);

    // Follows the instructions for operators.
    const rescued = readdirSync(data()).find((name) => name.includes('.rescued-'))!;
    renameSync(join(data(), rescued), organization.database);
    for (const suffix of ['-wal', '-shm']) rmSync(organization.database + suffix, { force: true });
    await serve();
    expect(await everything()).toEqual(acknowledged);
  });

  it('shuts down cleanly on a full disk', async () => {
    await serve([], '0', { maxFileKb: 1500 });
    const queue = await QueueReader.open(client, { event_types: ['message'] });
    const acknowledged: string[] = [];
    for (let n = 0; ; n++) {
      const content = `${n} ${'x'.repeat(9000)}`;
      const answer = await say(content);
      if (answer.result !== 'success') {
        expect(answer).toMatchObject({ code: 'SERVER_NOT_READY' });
        break;
      }
      acknowledged.push(content);
    }
    expect(acknowledged.length).toBeGreaterThan(5);
    await queue.poll({ dont_block: 'true' });
    const waiting = queue.poll();
    await pause(1000);
    const startedAt = Date.now();
    expect(await server.terminate()).toBe(0);
    expect(Date.now() - startedAt).toBeLessThan(8000);
    expect(await waiting).toMatchObject({ result: 'success' });
    expect(server.output).toMatch(/The database cannot be written to: .*All changes are rejected/);

    await serve();
    expect(await everything()).toEqual(acknowledged);
    expect(await say('there is room again')).toMatchObject({ result: 'success' });
  });

  it('removes all traces of an import that does not fit on the disk', async () => {
    await serve();
    const large = { field: 'file', name: 'large.bin', content: randomBytes(4_000_000), type: 'text/plain' };
    const { body, contentType } = await encodeMultipart({}, [large]);
    const authorization = `Basic ${Buffer.from(`${hamlet.email}:${hamlet.apiKey}`).toString('base64')}`;
    const headers = { Authorization: authorization, 'Content-Type': contentType };
    const uploaded = await send({ method: 'POST', url: `${server.url}/api/v1/user_uploads`, headers, body });
    expect(uploaded.status).toBe(200);
    await server.terminate();
    const archive = join(organization.directory, 'elsinore.tar.gz');
    expect(await organization.run(['export', archive])).toMatchObject({ code: 0 });
    const files = () => readdirSync(data(), { recursive: true }).filter((name) => /import|large/.test(String(name)));
    const bytesBefore = bytesIn(join(data(), 'files'));

    const refused = await organization.run(['import', archive, '--as=copy'], { maxFileKb: 2500 });
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(
      /^parley: Not enough space in .*parley-import-\w+: at least \d+ MiB more are needed, \d+ are free\.\n$/,
    );
    expect(files()).toEqual([]);

    const folder = join(organization.directory, 'unpacked');
    mkdirSync(folder);
    execFileSync('tar', ['-xzf', archive, '-C', folder]);
    const alsoRefused = await organization.run(['import', folder, '--as=copy'], { maxFileKb: 2500 });
    expect(alsoRefused).toMatchObject({ code: 1, out: '' });
    expect(alsoRefused.err).toMatch(/^parley: .*\n$/);
    expect(bytesIn(join(data(), 'files'))).toBe(bytesBefore);

    // Succeeds once there is space.
    expect(await organization.run(['import', archive, '--as=copy'])).toMatchObject({ code: 0 });
    expect(bytesIn(join(data(), 'files'))).toBe(bytesBefore + 4_000_000);
  });

  it('survives the loss of its terminal and never exits unasked', async () => {
    await serve();
    server.signal('SIGHUP');
    await pause(300);
    expect(await say('still here')).toMatchObject({ result: 'success' });
    expect(await server.terminate('SIGINT')).toBe(0);
    expect(existsSync(`${organization.database}-wal`)).toBe(false);
  });
});

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
