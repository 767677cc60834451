import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@parley/testkit';
import type { ParleyProcess } from './testing/parley-process.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

const MESSAGES = 10_000;

/** Records of a channel with messages by two people. */
const RECORDS = [
  { kind: 'organization', id: '1', name: 'Acme' },
  { kind: 'person', id: 'ann', name: 'Ann' },
  { kind: 'person', id: 'bob', name: 'Bob' },
  { kind: 'channel', id: 'c', name: 'sales', privacy: 'public', members: ['ann', 'bob'] },
  ...Array.from({ length: MESSAGES }, (_, n) => ({
    ...{ kind: 'message', id: `m${n}`, channel: 'c', sender: n % 2 ? 'ann' : 'bob' },
    ...{ sentAt: 1_700_000_000 + n, content: `message ${n}` },
  })),
].map((record) => JSON.stringify({ source: 'crm', ...record }));

// biome-ignore lint/suspicious/noExplicitAny: responses, checked by assertions.
type Answer = any;

describe('uploaded export', () => {
  let organization: TestOrganization;
  let owner: Person;
  let server: ParleyProcess;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    owner = await organization.addPerson('Hamlet', 'owner');
    server = await organization.serve();
  });
  afterAll(() => organization.close());

  async function call(method: string, path: string, body?: string | URLSearchParams): Promise<Answer> {
    const Authorization = `Basic ${Buffer.from(`${owner.email}:${owner.apiKey}`).toString('base64')}`;
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: {
        Authorization,
        ...(typeof body === 'string' && { 'Content-Type': 'multipart/form-data; boundary=b' }),
      },
      ...(body && { body }),
    });
    const answer = await response.json();
    expect(answer).toMatchObject({ result: 'success' });
    return answer;
  }

  async function check(content: string): Promise<void> {
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="records.jsonl"\r\n\r\n';
    const { url } = await call('POST', '/user_uploads', `${head}${content}\r\n--b--\r\n`);
    await call('POST', '/realm/imports/run', new URLSearchParams({ path_id: url.replace('/user_uploads/', '') }));
  }

  const isIn = async (status: string) => (await call('GET', '/realm/imports')).run.status === status;

  it('is checked and imported by a separate process, and the import continues after kill -9', async () => {
    await check(RECORDS.join('\n'));
    await until(() => isIn('checked'));
    const { imports, run } = await call('GET', '/realm/imports');
    expect(imports).toEqual([]);
    expect(run.report).toMatch(/Nobody gains access to a conversation by the import\.\n$/);

    await call('POST', '/realm/imports/run/start');
    await until(async () => (await call('GET', '/realm/imports')).imports[0]?.message_count > 0);
    await server.kill();
    const folder = join(organization.directory, 'data', 'files', 'imports');
    const leftover = join(folder, 'parley-import-leftover');
    mkdirSync(leftover);
    utimesSync(leftover, 0, 0);
    server = await organization.serve([], server.port);
    expect((await call('GET', '/realm/imports')).run.status).toBe('importing');
    await until(() => isIn('imported'));
    const after = await call('GET', '/realm/imports');
    expect(after.imports).toMatchObject([{ source: 'crm', status: 'complete', message_count: MESSAGES }]);

    const path = join(organization.directory, 'records.jsonl');
    writeFileSync(path, RECORDS.join('\n'));
    const verified = await organization.run(['imports', 'verify', '1', path, '--realm=']);
    expect([verified.code, verified.out]).toEqual([0, expect.stringMatching(/^Unchanged: /)]);
    expect(readdirSync(folder)).toEqual([]);
  }, 300_000);

  it('is rejected with the line of a mistake', async () => {
    await check(`${RECORDS[0]}\n{"source":"crm","kind":"person","id":"x"}`);
    await until(() => isIn('failed'));
    const { run } = await call('GET', '/realm/imports');
    expect(run).toMatchObject({ name: 'records.jsonl', report: null });
    expect(run.problem).toMatch(/^export\.jsonl.*line 2/);
  }, 120_000);

  it('is not offered if the operator turned imports of owners off', async () => {
    await server.kill();
    server = await organization.serve(['--owner-imports=off'], server.port);
    expect(await call('GET', '/realm/imports')).toMatchObject({ accepts_uploads: false });
  }, 120_000);
});
