import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { QueueReader } from './testing/queue-reader.js';
import { connect, TestOrganization } from './testing/test-organization.js';

/** Operator actions and mistakes. */
describe('server process', () => {
  let organization: TestOrganization;
  beforeEach(() => {
    organization = new TestOrganization();
  });
  afterEach(() => organization.close());

  /** Returns all files in the folder with content and modification time. */
  const look = () =>
    readdirSync(organization.directory, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const path = join(organization.directory, name);
        const { mtimeMs } = statSync(path);
        const digest = statSync(path).isFile() && createHash('sha256').update(readFileSync(path)).digest('hex');
        return [name, mtimeMs, digest];
      });

  async function expectRefusal(args: readonly string[], reason: RegExp): Promise<void> {
    const before = look();
    const { code, out, err } = await organization.run(['serve', '--new-database', ...args]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^parley: [^\n]+\n$/);
    expect(err).toMatch(reason);
    expect(look()).toEqual(before);
  }

  it('contains the libraries of optional features', async () => {
    await organization.run(['realm', 'create', '--new-database', '--bare', '', 'Elsinore']);
    const [key, certificate] = ['idp.key', 'idp.pem'].map((name) => join(organization.directory, name)) as [
      string,
      string,
    ];
    const subject = ['-subj', '/CN=idp', '-days', '2'];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', key, '-out', certificate];
    execFileSync('openssl', made, { stdio: 'ignore' });
    const account = { name: 'company', entityId: 'urn:idp', entryPoint: 'https://idp.example.com/sso' };
    const { url } = await organization.serve([], '0', {
      environment: { PARLEY_SAML: JSON.stringify([{ ...account, certificateFile: certificate }]) },
    });
    const response = await fetch(`${url}/accounts/login/metadata/company/`);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('EntityDescriptor')]);
  });

  it('rejects a port in use', async () => {
    const other = createServer((_request, response) => response.end('here first'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    try {
      await expectRefusal([`--port=${port}`], /Port \d+ of 127\.0\.0\.1 is in use/);
      expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('here first');
    } finally {
      other.close();
    }
  });

  it('starts once per port and database and stops a second start', async () => {
    await organization.run(['realm', 'create', '--new-database', '--bare', '', 'Elsinore']);
    const server = await organization.serve();
    const before = readdirSync(join(organization.directory, 'data')).sort();
    const { code, err } = await organization.run(['serve', `--port=${server.port}`]);
    expect([code, err]).toEqual([
      1,
      `parley: Port ${server.port} of 127.0.0.1 is in use by another program; choose another one with --port.\n`,
    ]);
    expect(readdirSync(join(organization.directory, 'data')).sort()).toEqual(before);
    expect(await (await fetch(`${server.url}/api/v1/server_settings`)).json()).toMatchObject({ result: 'success' });
  });

  it('rejects a database of a newer version', async () => {
    await organization.run(['realm', 'create', '--new-database', '--bare', '', 'Elsinore']);
    const file = openSync(organization.database, 'r+');
    // Offset of the schema version in SQLite's file format.
    writeSync(file, Buffer.from([0, 0, 0x7f, 0xff]), 0, 4, 60);
    closeSync(file);
    await expectRefusal(['--port=0'], /written by a newer version of Parley/);
  });

  it('rejects a path without write permission', async () => {
    writeFileSync(join(organization.directory, 'data'), 'a file where the folder should be');
    await expectRefusal(['--port=0'], /Cannot create the folder of the database/);
    rmSync(join(organization.directory, 'data'));

    mkdirSync(organization.database, { recursive: true });
    await expectRefusal(['--port=0'], /it is a directory/);
    rmSync(organization.database, { recursive: true });

    // The superuser can write everywhere.
    if (process.getuid?.() === 0) return;
    const folder = join(organization.directory, 'data');
    chmodSync(folder, 0o500);
    try {
      await expectRefusal(['--port=0'], /Cannot open database/);
    } finally {
      chmodSync(folder, 0o700);
    }
  });

  it('responds to pending polls before it stops and keeps their queue', async () => {
    await organization.run(['realm', 'create', '--new-database', '--bare', '', 'Elsinore']);
    const person = await organization.addPerson('Hamlet');
    const server = await organization.serve(['--log-level=info']);
    const hamlet = await connect(server, person);
    const queue = await QueueReader.open(hamlet, { event_types: ['message'] });
    const soliloquy = { type: 'direct', to: [person.id] };
    const first = await hamlet.messages.send({ ...soliloquy, content: 'To be,' });
    expect((await queue.next(1))[0].message.id).toBe(first.id);

    const polls = [queue.poll(), (await QueueReader.open(hamlet, { event_types: ['message'] })).poll()];
    // Allows the polls to arrive, since later ones would be rejected.
    await hamlet.users.me.getProfile();
    const startedAt = Date.now();
    const code = await server.terminate();
    expect(code).toBe(0);
    // Well before connections are cut.
    expect(Date.now() - startedAt).toBeLessThan(8000);
    for (const answer of await Promise.all(polls)) {
      expect(answer).toEqual({ result: 'success', msg: '', events: [], queue_id: expect.any(String) });
    }
    expect(server.output).not.toContain('"level":"error"');
    const said = [...server.output.matchAll(/"msg":"(started|stopping|stopped)"/g)].map(([, message]) => message);
    expect(said).toEqual(['started', 'stopping', 'stopped']);
    expect(readdirSync(join(organization.directory, 'data')).sort()).toEqual([
      'files',
      'parley.db',
      'parley.db.commands.log',
      'parley.db.history',
      'parley.db.secret',
    ]);

    await organization.serve([], server.port);
    const second = await hamlet.messages.send({ ...soliloquy, content: 'or not to be' });
    expect((await queue.next(1)).map(({ message }) => message.id)).toEqual([second.id]);
  });
});
