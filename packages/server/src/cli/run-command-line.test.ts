import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '@parley/testkit';
import Database from 'better-sqlite3';
import { runCommand } from '../testing/run-command.js';
import { runCommandLine } from './run-command-line.js';

describe('parley command line', () => {
  let directory: string;
  let database: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-cli-'));
    database = join(directory, 'data', 'parley.db');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Runs a command to its end with `input` as standard input. */
  async function run(args: readonly string[], { input = '', environment = {} } = {}) {
    return runCommand([...args, `--database=sqlite:${database}`], { environment, input });
  }

  /** Runs a server during `work`. It sheds no load, since other processes may delay its event loop. */
  async function whileServing(args: readonly string[], work: (url: string, out: readonly string[]) => Promise<void>) {
    const out: string[] = [];
    let stop = () => {};
    let fail = (_error: Error) => {};
    const interrupted = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const started = new Promise<string>((resolve, reject) => {
      fail = reject;
      const terminal = {
        out: (line: string) => {
          out.push(line);
          const url = /^Parley is at (.*)$/.exec(line)?.[1];
          // Later lines of the same tick are included.
          if (url) setImmediate(() => resolve(url));
        },
        err: (line: string) => fail(new Error(line)),
        readInput: async () => '',
        interrupted: () => interrupted,
        comeAfterServer: () => {},
      };
      void runCommandLine(
        [
          'serve',
          '--new-database',
          '--port=0',
          '--log-level=silent',
          '--shed-load=off',
          `--database=sqlite:${database}`,
          ...args,
        ],
        terminal,
        {},
      ).then((code) => (code === 0 ? finish() : fail(new Error(`exit code ${code}`))));
    });
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    try {
      await work(await started, out);
    } finally {
      stop();
    }
    await finished;
  }

  const fetchKey = async (url: string, username: string, password: string) => {
    const body = new URLSearchParams({ username, password });
    return (await fetch(`${url}/api/v1/fetch_api_key`, { method: 'POST', body })).json();
  };

  it('prints usage', async () => {
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    for (const word of [
      'parley serve',
      'realm create',
      'user create',
      'user grant',
      'search rebuild',
      '--port N',
      'PARLEY_SECRET',
    ]) {
      expect(out).toContain(word);
    }
    expect(existsSync(database)).toBe(false);
  });

  it('sets up an organization and serves it', async () => {
    expect(await run(['realm', 'create', '--new-database', 'lear', 'King Lear'])).toMatchObject({
      code: 0,
      out: 'Created organization lear (King Lear) at http://localhost:9991',
    });
    const created = await run(['user', 'create', 'fool@lear.com', 'The Fool', '--role=owner', '--password-stdin'], {
      input: 'nothing will come of nothing\n',
    });
    expect(created).toMatchObject({ code: 0, err: '' });
    const apiKey = /API key: (\w{32})$/.exec(created.out)?.[1];
    await whileServing([], async (url) => {
      const issued = await fetchKey(url, 'fool@lear.com', 'nothing will come of nothing');
      expect(issued).toMatchObject({ result: 'success', api_key: apiKey });
    });
  });

  it('grants special permissions', async () => {
    await run(['realm', 'create', '--new-database', '', 'Root']);
    await run(['user', 'create', 'kent@lear.com', 'Earl of Kent', '--role=administrator']);
    expect(await run(['user', 'grant', 'kent@lear.com', 'can_create_users'])).toEqual({
      code: 0,
      out: 'Granted can_create_users to Earl of Kent of Root',
      err: '',
    });
    expect(await run(['user', 'grant', 'nobody@lear.com', 'can_create_users'])).toMatchObject({
      code: 1,
      err: 'parley: There is no user nobody@lear.com in Root; see parley user list.',
    });
  });

  it('lists sessions of a user and ends them while the server runs', async () => {
    await run(['realm', 'create', '--new-database', '', 'King Lear']);
    const [email, password] = ['fool@lear.com', 'nothing will come of nothing'];
    await run(['user', 'create', email, 'The Fool', '--password-stdin'], { input: password });
    expect((await run(['user', 'sessions', email])).out).toBe(`${email} has no browser sessions`);
    for (const flags of [[], ['--remove']]) {
      expect((await run(['user', 'second-factor', email, ...flags])).out).toBe(`${email} has no second factor`);
    }
    await whileServing([], async (url) => {
      const logIn = async () => {
        const anonymous = { Cookie: 'csrftoken=mine', 'X-CSRFToken': 'mine', 'User-Agent': 'Lynx/2.9\u009b' };
        const body = new URLSearchParams({ username: email, password });
        const response = await fetch(`${url}/accounts/login/`, { method: 'POST', headers: anonymous, body });
        return response.headers.getSetCookie()[0]!.split(';')[0]!;
      };
      const statusWith = async (Cookie: string) =>
        (await fetch(`${url}/json/users/me`, { headers: { Cookie } })).status;
      const cookies = [await logIn(), await logIn()] as const;
      const lines = (await run(['user', 'sessions', email])).out.split('\n');
      expect(lines).toEqual(Array(2).fill(expect.stringMatching(/^\d\t20[\d-]{8}T[\d:.]+Z\t20\S+Z\tLynx\/2\.9$/)));
      expect(await run(['user', 'sessions', email, '--end', '--session=1'])).toEqual({
        code: 0,
        out: `Ended 1 session of ${email}`,
        err: '',
      });
      await until(async () => (await statusWith(cookies[0])) === 401);
      expect(await statusWith(cookies[1])).toBe(200);
      expect((await run(['user', 'sessions', email, '--end'])).out).toBe(`Ended 1 session of ${email}`);
      await until(async () => (await statusWith(cookies[1])) === 401);
    });
    expect(await run(['user', 'sessions', 'nobody@lear.com', '--end'])).toMatchObject({ code: 1 });
    for (const flags of [['--end', '--session=x'], ['--session=1']]) {
      expect(await run(['user', 'sessions', email, ...flags])).toMatchObject({ code: 2 });
    }
  });

  it('unlinks accounts at services and releases addresses of deactivated users', async () => {
    await run(['realm', 'create', '--new-database', '', 'King Lear']);
    const email = 'fool@lear.com';
    await run(['user', 'create', email, 'The Fool']);
    const accounts = (...flags: string[]) => run(['user', 'linked-accounts', email, ...flags]);
    expect((await accounts()).out).toBe(`${email} has no linked accounts`);
    const connection = new Database(database);
    connection
      .prepare(
        "INSERT INTO linked_account (realm_id, method, subject, user_id, linked_at) VALUES (1, 'ldap-x', 's1', ?, 0)",
      )
      .run((connection.prepare('SELECT id FROM user WHERE email = ?').get(email) as { id: number }).id);
    connection.close();
    expect((await accounts()).out).toBe('ldap-x\ts1\t1970-01-01T00:00:00.000Z');
    expect(await accounts('--unlink=keycloak')).toMatchObject({ code: 1, err: expect.stringMatching(/: ldap-x\.$/) });
    expect(await accounts('--unlink=ldap-x')).toEqual({ code: 0, out: `Unlinked ${email} from ldap-x`, err: '' });
    expect((await accounts()).out).toBe(`${email} has no linked accounts`);
    const release = () => run(['user', 'release-address', email]);
    expect(await release()).toMatchObject({ code: 1, err: expect.stringContaining(`${email} is active`) });
    await run(['user', 'deactivate', email]);
    expect((await release()).out).toMatch(
      /^Released fool@lear\.com; The Fool now has user\d+@released\.parley\.invalid$/,
    );
    expect(await run(['user', 'create', email, 'Another Fool'])).toMatchObject({ code: 0 });
  });

  it('reports in one line why a directory cannot be synchronized', async () => {
    await run(['realm', 'create', '--new-database', '', 'King Lear']);
    // LDAP bind response with result invalidCredentials for the request with this id.
    const refusalOf = (id: number) => Buffer.from([48, 12, 2, 1, id, 97, 7, 10, 1, 49, 4, 0, 4, 0]);
    const ldap = createServer((socket) => {
      socket.once('data', (request) => socket.write(refusalOf(request[4]!)));
    }).listen(0, '127.0.0.1');
    await once(ldap, 'listening');
    const url = `ldap://127.0.0.1:${(ldap.address() as AddressInfo).port}`;
    const sync = (directory: object) =>
      run(['directory', 'sync'], {
        environment: { PARLEY_LDAP: JSON.stringify([{ name: 'company', url, baseDn: 'dc=x', ...directory }]) },
      });
    try {
      expect(await sync({ bindDn: 'cn=x', bindPassword: 'wrong' })).toEqual({
        code: 1,
        out: 'company: nothing was changed. The directory failed: it rejects bindDn with its password.',
        err: '',
      });
      expect(await sync({ url: 'ldap://localhost:1' })).toMatchObject({
        code: 1,
        out: expect.stringMatching(
          /^company: nothing was changed\. The directory failed: connect ECONNREFUSED \S+:1\.$/,
        ),
      });
    } finally {
      ldap.close();
    }
  });

  it('restores deleted messages while a server runs', async () => {
    await run(['realm', 'create', '--new-database', '', 'Root']);
    const created = await run(['user', 'create', 'kent@lear.com', 'Earl of Kent', '--role=owner']);
    const key = /API key: (\w{32})$/.exec(created.out)![1];
    const authorization = `Basic ${Buffer.from(`kent@lear.com:${key}`).toString('base64')}`;
    await whileServing([], async (url) => {
      const call = async (method: string, path: string, params: Record<string, string> = {}) => {
        const body = method === 'GET' ? null : new URLSearchParams(params);
        return (await fetch(`${url}/api/v1${path}`, { method, headers: { authorization }, body })).json();
      };
      const { user_id: userId } = await call('GET', '/users/me');
      await call('POST', '/channels/create', { name: 'heath', subscribers: `[${userId}]` });
      const { id } = await call('POST', '/messages', { type: 'channel', to: 'heath', topic: 'storm', content: 'blow' });
      await call('DELETE', `/messages/${id}`);
      expect(await call('GET', `/messages/${id}`)).toMatchObject({ msg: 'Invalid message(s)' });
      const restore = (...args: string[]) => run(['message', 'restore', '--channel=Heath', ...args]);
      expect(await restore('--topic=STORM', '--dry-run')).toMatchObject({
        out: 'Would restore 1 deleted messages in Root',
      });
      expect(await restore('--topic=other')).toMatchObject({ code: 0, out: 'Restored 0 deleted messages in Root' });
      expect(await restore(`--message=${id}`, '--since=2020-01-01')).toMatchObject({
        code: 0,
        out: 'Restored 1 deleted messages in Root',
      });
      expect(await call('GET', `/messages/${id}`)).toMatchObject({ result: 'success', message: { subject: 'storm' } });
    });
  });

  it.each`
    args                            | err
    ${[]}                           | ${'Select messages with --channel, --message or --since.'}
    ${['--topic=x', '--message=7']} | ${'--topic needs --channel.'}
    ${['--message=x']}              | ${'--message must be an id.'}
    ${['--since=yesterday']}        | ${'--since must be a date such as 2026-07-31 or 2026-07-31T12:00Z.'}
    ${['--channel=heath']}          | ${'There is no channel heath.'}
  `('rejects $args as a message selection', async ({ args, err }) => {
    await run(['realm', 'create', '--new-database', '', 'Root']);
    expect(await run(['message', 'restore', ...args])).toMatchObject({ err: `parley: ${err}` });
  });

  it('removes unreferenced bytes, or lists them in a dry run', async () => {
    expect(await run(['file', 'sweep'])).toMatchObject({ code: 1 });
    await run(['realm', 'create', '--new-database', '', 'Lear']);
    const folder = join(directory, 'data', 'files', 'ab');
    mkdirSync(folder, { recursive: true });
    const [old, young] = ['ab'.padEnd(32, '0'), 'ab'.padEnd(32, '1')].map((key) => join(folder, key)) as [
      string,
      string,
    ];
    for (const path of [old, young]) writeFileSync(path, 'x');
    utimesSync(old, 1000, 1000);
    const would = 'Would remove 0 files, 0 unfinished uploads and 1 blob (files and uploads are counted up to 500)';
    expect(await run(['file', 'sweep', '--dry-run'])).toEqual({ code: 0, out: would, err: '' });
    expect(existsSync(old)).toBe(true);
    const removed = 'Removed 0 files, 0 unfinished uploads and 1 blob';
    expect(await run(['file', 'sweep'])).toEqual({ code: 0, out: removed, err: '' });
    expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
  });

  it('rebuilds the search index', async () => {
    expect(await run(['search', 'rebuild'])).toMatchObject({ code: 1 });
    await whileServing(['--demo', '--dev'], async () => {});
    /** Runs SQL in a separate process and returns the numbers of messages and indexed messages. */
    const look = (sql = '') => {
      const counts = 'SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM message_search_docsize)';
      const script = `const file = require(${JSON.stringify(require.resolve('better-sqlite3'))})(${JSON.stringify(database)});
        file.exec(${JSON.stringify(sql)}); console.log(JSON.stringify(file.prepare(${JSON.stringify(counts)}).raw().get()))`;
      return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) as [number, number];
    };
    const [messages] = look();
    expect(messages).toBeGreaterThan(0);
    expect(look("INSERT INTO message_search (message_search) VALUES ('delete-all')")).toEqual([messages, 0]);
    expect(await run(['search', 'rebuild'])).toEqual({ code: 0, out: 'The search index is complete.', err: '' });
    expect(look()).toEqual([messages, messages]);
  });

  it('requires the organization if there are several', async () => {
    await run(['realm', 'create', '--new-database', 'a', 'First']);
    await run(['realm', 'create', '--new-database', 'b', 'Second']);
    const command = ['user', 'create', 'x@example.com', 'Somebody'];
    expect(await run(command)).toMatchObject({ code: 1, err: "parley: --realm must be one of 'a', 'b'." });
    expect(await run([...command, '--realm=b'])).toMatchObject({ code: 0 });
  });

  it('uses the organization of the setting if there are several', async () => {
    await run(['realm', 'create', '--new-database', 'a', 'First']);
    await run(['realm', 'create', '--new-database', 'b', 'Second']);
    const create = ['user', 'create', 'x@example.com', 'Somebody'];
    const show = ['user', 'show', 'x@example.com', '--json'];
    expect(await run([...create, '--default-realm=c'])).toMatchObject({
      err: expect.stringContaining('must be one of'),
    });
    expect(await run([...create, '--default-realm=b'])).toMatchObject({ code: 0 });
    expect(await run([...create, '--realm=a', '--default-realm=b'])).toMatchObject({ code: 0 });
    expect(await run(show)).toMatchObject({ code: 1, err: expect.stringContaining("must be one of 'a', 'b'") });
    const shown = await Promise.all(['a', 'b'].map(async (realm) => (await run([...show, `--realm=${realm}`])).out));
    expect((await run([...show, '--default-realm=b'])).out).toBe(shown[1]);
    expect(shown[0]).not.toBe(shown[1]);
  });

  it('serves the demo and reuses it the next time', async () => {
    const args = ['--demo', '--dev'];
    let key = '';
    await whileServing(args, async (url, out) => {
      const text = out.join('\n');
      expect(text).toContain(join(directory, 'data', 'zuliprc'));
      const [, credentials, address] = /curl -u '(.*)' '(.*)'/.exec(text)!;
      key = credentials!.split(':')[1]!;
      const authorization = `Basic ${Buffer.from(credentials!).toString('base64')}`;
      const page = await (await fetch(address!, { headers: { authorization } })).json();
      expect(page.messages).toHaveLength(5);
      expect(readFileSync(join(directory, 'data/zuliprc/hamlet'), 'utf8')).toBe(
        `[api]\nemail=hamlet@zulip.com\nkey=${key}\nsite=${url}\n`,
      );
      expect(await fetchKey(url, 'hamlet@zulip.com', 'pw-hamlet@zulip.com')).toMatchObject({ api_key: key });
    });
    await whileServing(args, async (_url, out) => {
      expect(out.join('\n')).toContain(key);
      expect(out.join('\n')).not.toContain('just created');
    });
  });

  it('writes audit lines for commands that change or reveal something', async () => {
    await run(['user', 'list']);
    expect(existsSync(`${directory}/data`)).toBe(false);
    await run(['realm', 'create', '--new-database', 'lear', 'King Lear']);
    await run(['user', 'create', 'kent@example.com', 'Kent', '--password-stdin'], { input: 'a long enough password' });
    await run(['user', 'set-role', 'kent@example.com', 'owner', '--port=1234']);
    await run(['realm', 'set', 'lear', 'inviteRequired', 'off']);
    await run(['user', 'rename', 'nobody@example.com', 'Nobody']);
    await run(['user', 'api-key', 'kent@example.com', '--rotate', '--json']);
    for (const reading of [
      ['realm', 'show', 'lear'],
      ['user', 'show', 'kent@example.com'],
      ['doctor'],
      ['user', 'sessions', 'kent@example.com'],
    ]) {
      await run(reading);
    }
    const path = `${database}.commands.log`;
    const text = readFileSync(path, 'utf8');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const head = { level: 'warn', audit: 'command', time: expect.any(String), operator: expect.any(String) };
    expect(lines).toEqual([
      {
        ...head,
        command: 'realm create',
        target: ['lear', 'King Lear'],
        options: { 'new-database': 'on' },
        result: 'done',
      },
      {
        ...head,
        command: 'user create',
        target: ['kent@example.com', 'Kent'],
        options: { 'password-stdin': 'on' },
        result: 'done',
      },
      {
        ...head,
        command: 'user set-role',
        target: ['kent@example.com', 'owner'],
        options: {},
        changes: { role: { from: 'member', to: 'owner' } },
        result: 'done',
      },
      {
        ...head,
        command: 'realm set',
        target: ['lear', 'inviteRequired', 'off'],
        options: {},
        changes: { inviteRequired: { from: true, to: false } },
        result: 'done',
      },
      { ...head, command: 'user rename', target: ['nobody@example.com', 'Nobody'], options: {}, result: 'REFUSED' },
      { ...head, command: 'user api-key', target: ['kent@example.com'], options: { rotate: 'on' }, result: 'done' },
    ]);
    expect(text).not.toMatch(/long enough|1234/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('adds commands to the audit log of the organization, verifies it and exports it as CSV', async () => {
    await run(['realm', 'create', '--new-database', 'lear', 'King Lear']);
    await run(['user', 'create', 'kent@example.com', 'Kent']);
    await run(['user', 'set-role', 'kent@example.com', 'owner']);
    await run(['user', 'set-role', 'nobody@example.com', 'owner']);
    await run(['user', 'api-key', 'kent@example.com']);
    await run(['realm', 'set', 'lear', 'inviteRequired', 'off']);
    await run(['realm', 'show', 'lear']);
    const file = join(directory, 'audit.csv');
    expect((await run(['audit', 'export', file])).out).toBe(`Exported 4 entries of lear (King Lear) to ${file}`);
    const [heading, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\r\n');
    expect(heading).toBe('id,time,actor_id,program,action,user_id,target,changes,details,erased,hash');
    const shown = JSON.parse((await run(['user', 'show', 'kent@example.com', '--json'])).out);
    const change = (text: string) => `"${text.replaceAll('"', '""')}"`;
    expect(lines.map((line) => line.split(',').slice(3, 6).join())).toEqual([
      `command,parley user create,${shown.id}`,
      `command,parley user set-role,${shown.id}`,
      `command,parley user api-key,${shown.id}`,
      'command,parley realm set,',
    ]);
    expect(lines[1]).toContain(change('{"role":{"from":"member","to":"owner"}}'));
    expect(lines[3]).toContain(change('{"inviteRequired":{"from":true,"to":false}}'));
    const { code, out } = await run(['audit', 'verify']);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^lear \(King Lear\): 5 entries, unchanged\nLast entry: 5:[0-9a-f]{64}$/),
    ]);
    const known = out.split(' ').at(-1)!;
    expect((await run(['audit', 'verify', '--known', known])).code).toBe(0);
    const other = await run(['audit', 'verify', '--known', `2:${'0'.repeat(64)}`]);
    expect([other.code, other.out]).toEqual([3, expect.stringMatching(/^2: the entry was changed/)]);
    expect((await run(['audit', 'verify', '--known', '2'])).code).toBe(2);
  });

  it('keeps one previous audit file and rotates at 10 MB', async () => {
    await run(['realm', 'create', '--new-database', 'lear', 'King Lear']);
    const path = `${database}.commands.log`;
    const sizes = () => [path, `${path}.1`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    for (const letter of ['a', 'b']) {
      writeFileSync(path, letter.repeat(9_999_990));
      await run(['realm', 'rename', 'lear', 'Lear']);
      expect(sizes()[0]).toBeGreaterThan(10_000_000);
      await run(['realm', 'rename', 'lear', 'Lear']);
      expect(sizes()[0]).toBeLessThan(1000);
      expect(readFileSync(`${path}.1`, 'utf8').startsWith(letter)).toBe(true);
    }
    expect(readdirSync(dirname(path)).filter((name) => name.includes('commands.log'))).toHaveLength(2);
  });

  it('succeeds and reports the problem if its audit line cannot be written', async () => {
    await run(['realm', 'create', '--new-database', 'lear', 'King Lear']);
    rmSync(`${database}.commands.log`);
    mkdirSync(`${database}.commands.log`);
    const { code, err } = await run(['realm', 'rename', 'lear', 'Lear']);
    expect(code).toBe(0);
    expect(err).toMatch(/^parley: The audit line of this command could not be written to .*\.commands\.log: /);
  });

  it('emails links for setting a password to imported users without a password', async () => {
    await run(['realm', 'create', '--new-database', 'lear', 'King Lear']);
    const file = join(directory, 'people.csv');
    writeFileSync(file, 'email,name,password\nkent@example.com,Kent,\nfool@example.com,Fool,a long enough password\n');
    const dry = await run(['user', 'import', file, '--invite', '--dry-run']);
    expect(dry.out).toContain('Would email links for setting a password to 1 of them');
    const { code, out } = await run(['user', 'import', file, '--invite']);
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        'Added 2 users to lear (King Lear); 0 already existed',
        'The server emails links for setting a password to 1 of them',
      ],
    ]);
    const outbox = join(directory, 'data/parley.db.outbox');
    // Unfinished files have a different extension.
    const emails = () => (existsSync(outbox) ? readdirSync(outbox).filter((name) => name.endsWith('.eml')) : []);
    await whileServing([], async () => {
      await until(() => emails().length > 0);
      const letters = emails().map((name) => readFileSync(join(outbox, name), 'utf8'));
      expect(letters).toHaveLength(1);
      expect(letters[0]).toContain('To: kent@example.com');
      expect(letters[0]).toContain('Subject: Your account at King Lear');
      expect(letters[0]).toMatch(/accounts\/password\/reset\/\w+/);
    });
  });

  it('leaves only the database, its history, its secret and the folder of files behind after it has stopped', async () => {
    await whileServing([], async () => {});
    const left = ['files', 'parley.db', 'parley.db.history', 'parley.db.secret'];
    expect(readdirSync(join(directory, 'data')).sort()).toEqual(left);
  });

  it('rejects a port in use without touching anything', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    expect(await run(['serve', '--new-database', `--port=${port}`])).toEqual({
      code: 1,
      out: '',
      err: `parley: Port ${port} of 127.0.0.1 is in use by another program; choose another one with --port.`,
    });
    expect(readdirSync(directory)).toEqual([]);
    other.close();
  });

  it('creates a database in an empty file only with --new-database', async () => {
    mkdirSync(join(directory, 'data'));
    writeFileSync(database, '');
    for (const args of [['user', 'list'], ['serve', '--port=0'], ['doctor']]) {
      const { code, err } = await run(args);
      expect([args, code, err]).toEqual([args, 1, expect.stringMatching(/^parley: There is no database at /)]);
    }
    expect(readdirSync(join(directory, 'data'))).toEqual(['parley.db']);
    expect(statSync(database).size).toBe(0);
    expect(await run(['realm', 'create', '--new-database', '', 'King Lear'])).toMatchObject({ code: 0 });
  });

  it('rejects a file of another program and leaves it unchanged', async () => {
    mkdirSync(join(directory, 'data'));
    writeFileSync(database, 'Dear diary, today I wrote a database. '.repeat(10));
    const before = readFileSync(database);
    const { code, err } = await run(['serve', '--new-database', '--port=0']);
    expect(code).toBe(1);
    expect(err).toMatch(/^parley: Cannot open database .*parley\.db: it belongs to another program$/);
    expect(readFileSync(database).equals(before)).toBe(true);
    expect(readdirSync(join(directory, 'data'))).toEqual(['parley.db']);
  });

  it('rejects a database from a newer version and leaves it unchanged', async () => {
    await run(['realm', 'create', '--new-database', 'lear', 'King Lear']);
    const newer = readFileSync(database);
    newer.writeUInt32BE(4711, 60); // offset of the application version in an SQLite file
    writeFileSync(database, newer);
    const before = readdirSync(join(directory, 'data'));
    const { code, err } = await run(['serve', '--new-database', '--port=0']);
    expect(code).toBe(1);
    expect(err).toMatch(/^parley: Cannot open database [^\n]*newer version of Parley[^\n]*$/);
    expect(readFileSync(database).equals(newer)).toBe(true);
    expect(readdirSync(join(directory, 'data'))).toEqual(before);
  });

  it('accepts long requests and responds to malformed ones in JSON', async () => {
    await run(['realm', 'create', '--new-database', '', 'A']);
    await whileServing([], async (url) => {
      const ids = JSON.stringify(Array.from({ length: 5000 }, (_, n) => 10_000_000 + n));
      const long = await fetch(`${url}/api/v1/messages?message_ids=${encodeURIComponent(ids)}`);
      expect(long.status).toBe(401);
      const longer = await fetch(`${url}/api/v1/messages?x=${'y'.repeat(200_000)}`);
      expect([longer.status, await longer.json()]).toEqual([431, expect.objectContaining({ result: 'error' })]);

      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write('GET /api/v1/users/\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n', 'latin1');
      const [bytes] = (await once(socket, 'data')) as [Buffer];
      expect(bytes.toString('latin1')).toMatch(/^HTTP\/1.1 400 Bad Request\r\nContent-Type: application\/json\r\n/);
      socket.destroy();
    });
  });

  it('prints its address for each loopback address', async () => {
    await run(['realm', 'create', '--new-database', '', 'A']);
    await whileServing(['--host=127.0.0.2'], async (url) => {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
      expect((await fetch(`${url}/api/v1/server_settings`)).status).toBe(200);
    });
  });

  it('rejects the names of Object.prototype members as commands', async () => {
    for (const name of ['constructor', 'toString', '__proto__']) {
      expect(await run([name])).toMatchObject({
        code: 2,
        err: `parley: There is no command ${name}; see parley --help.`,
      });
    }
  });

  it('fails if the folder cannot be created', async () => {
    database = '/proc/parley/x.db';
    const { code, err } = await run(['serve', '--new-database', '--port=0']);
    expect(code).toBe(1);
    expect(err).toMatch(/^parley: Cannot create the folder of the database [^\n]*$/);
  });

  it('rejects a path without write permission', async () => {
    writeFileSync(join(directory, 'data'), 'a file where the folder should be');
    const { code, err } = await run(['serve', '--new-database', '--port=0']);
    expect(code).toBe(1);
    expect(err).toMatch(/^parley: Cannot create the folder of the database [^\n]*$/);
    expect(readdirSync(directory)).toEqual(['data']);
  });

  /**
   * Returns all files in the folder with their contents, except the command log, which also records rejected commands.
   */
  const look = () =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.endsWith('.commands.log'))
      .sort()
      .map((name) => [name, statSync(join(directory, name)).isFile() && readFileSync(join(directory, name), 'latin1')]);

  it.each([
    ['serve', '--new-database', '--port=0'],
    ['realm', 'create', '--new-database', 'b', 'Second'],
    ['user', 'create', 'fool@lear.com', 'The Fool'],
  ])("rejects a secret that differs from the database's secret: %s", async (...command) => {
    const known = { environment: { PARLEY_SECRET: 'the secret of the server' } };
    expect(await run(['realm', 'create', '--new-database', 'lear', 'King Lear'], known)).toMatchObject({ code: 0 });
    const before = look();
    expect(await run(command)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^parley: The secret file [^\n]*parley\.db\.secret of the database is missing: /),
    });
    const other = { environment: { PARLEY_SECRET: 'the secret of another server' } };
    expect(await run(command, other)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^parley: PARLEY_SECRET is not the secret of the database; /),
    });
    expect(look()).toEqual(before);
  });

  it('accepts another secret with --accept-new-secret, which changes every API key', async () => {
    await run(['realm', 'create', '--new-database', '', 'Root']);
    const command = ['user', 'create', 'fool@lear.com', 'The Fool', '--password-stdin'];
    const input = 'nothing will come of nothing';
    const apiKey = /API key: (\w{32})$/.exec((await run(command, { input })).out)?.[1];
    rmSync(`${database}.secret`);
    await whileServing(['--accept-new-secret'], async (url) => {
      const issued = await fetchKey(url, 'fool@lear.com', input);
      expect(issued.api_key).toMatch(/^\w{32}$/);
      expect(issued.api_key).not.toBe(apiKey);
    });
    expect(await run(['user', 'create', 'kent@lear.com', 'Earl of Kent'])).toMatchObject({ code: 0 });
  });

  it('does not accept a new secret for a command that fails', async () => {
    await run(['realm', 'create', '--new-database', '', 'Root']);
    await run(['user', 'create', 'fool@lear.com', 'The Fool']);
    const secret = readFileSync(`${database}.secret`);
    rmSync(`${database}.secret`);
    const before = look();
    expect(await run(['user', 'show', 'nobody@lear.com', '--accept-new-secret'])).toMatchObject({ code: 1 });
    const other = { environment: { PARLEY_SECRET: 'the secret of another server' } };
    expect(await run(['user', 'show', 'nobody@lear.com', '--accept-new-secret'], other)).toMatchObject({ code: 1 });
    expect(look()).toEqual(before);
    expect(await run(['migrate', '--status'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\nThe server will reject the secret: The secret file .* of the database is missing/),
    });
    expect(await run(['migrate', '--check'])).toMatchObject({ code: 3 });
    expect(await run(['doctor'])).toMatchObject({
      code: 3,
      out: expect.stringMatching(/PROBLEM {2}secret: The secret file .* of the database is missing/),
    });
    writeFileSync(`${database}.secret`, secret, { mode: 0o600 });
    expect(await run(['user', 'show', 'fool@lear.com'])).toMatchObject({ code: 0 });
    expect(await run(['user', 'api-key', 'fool@lear.com', '--accept-new-secret'], other)).toMatchObject({ code: 0 });
    expect(await run(['user', 'show', 'fool@lear.com'])).toMatchObject({ code: 1 });
    expect(await run(['user', 'show', 'fool@lear.com'], other)).toMatchObject({ code: 0 });
  });

  it('config check names ports that only other users may use', async () => {
    const listen = jest.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
      process.nextTick(() => this.emit('error', Object.assign(new Error('listen'), { code: 'EACCES' })));
      return this;
    });
    const environment = { PARLEY_SMTP_IN: '127.0.0.1:25', PARLEY_MAIL_GATEWAY_PATTERN: 'chat+%s@example.com' };
    const { code, out } = await run(['config', 'check'], { environment });
    expect([code, listen.mock.calls.length]).toEqual([0, 1]);
    expect(out).toContain('This user may not listen on port 25 (docs/deploy/around-parley.md#port-25).');
    listen.mockRestore();
  });

  it('does not mention the secret of a database that it cannot read', async () => {
    await run(['realm', 'create', '--new-database', '', 'Root']);
    writeFileSync(database, 'no database any more '.repeat(10));
    const { out } = await run(['doctor']);
    expect(out).toMatch(/PROBLEM {2}database: /);
    expect(out).not.toMatch(/secret: /);
  });

  it.each([
    ['10.0.0.0/8,0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['128.0.0.0/1', '128.0.0.0/1'],
    ['private,loopback', null],
  ])('the doctor names a network of strangers in --trust-proxy %s', async (networks, named) => {
    await run(['realm', 'create', '--new-database', '', 'Root']);
    const { code, out } = await run(['doctor', '--trust-proxy', networks]);
    const [, network = null] = /PROBLEM {2}proxy: --trust-proxy (\S+) trusts strangers/.exec(out) ?? [];
    expect([code, network]).toEqual([named === null ? 0 : 3, named]);
  });

  it('rejects a damaged secret file and creates no database', async () => {
    mkdirSync(join(directory, 'data'));
    writeFileSync(`${database}.secret`, '', { mode: 0o600 });
    const { code, err } = await run(['serve', '--new-database', '--port=0']);
    expect(code).toBe(1);
    expect(err).toMatch(/^parley: The secret file [^\n]*parley\.db\.secret is empty\. [^\n]*$/);
    expect(readdirSync(join(directory, 'data'))).toEqual(['parley.db.secret']);
  });

  it.each`
    args                                                                                                 | err
    ${['user', 'create', 'a@b.example', 'Name']}                                                         | ${/There is no database at /}
    ${['user', 'grant', 'a@b.example', 'can_create_users']}                                              | ${/There is no database at /}
    ${['realm', 'create', '--new-database', 'A!', 'First']}                                              | ${/An organization is named by lower-case letters/}
    ${['realm', 'create', '--new-database', 'a', ' ']}                                                   | ${/An organization needs a name\.$/}
    ${['realm', 'create', '--new-database', 'a', 'First', '--default-realm=b', '--url=http://10.0.0.7']} | ${/no host for another organization/}
  `('leaves no database, secret or folder behind when it rejects $args', async ({ args, err }) => {
    const result = await run(args);
    expect(result).toMatchObject({ code: 1, out: '' });
    expect(result.err).toMatch(err);
    expect(look()).toEqual([]);
  });

  it.each([
    [['backup', '/nowhere/x.tar'], 'Cannot write to the folder of /nowhere/x.tar: no such file or directory.'],
    [['user', 'import', '/nowhere.csv'], 'Cannot read /nowhere.csv: no such file or directory.'],
    [['import', '/nowhere.zip', '--dry-run'], '/nowhere.zip does not exist.'],
    [['user', 'list', '--env-file=/nowhere'], '--env-file: /nowhere cannot be read: no such file or directory.'],
  ])('names a missing file in plain words: %j', async (args, message) => {
    await run(['realm', 'create', '--new-database', '', 'Root']);
    expect(await run(args)).toMatchObject({ out: '', err: `parley: ${message}` });
  });

  it('keeps an organization at its address when another one is created', async () => {
    await run(['realm', 'create', '--new-database', 'first', 'First']);
    await whileServing([], async (url) => {
      const nameAt = async (headers = {}) =>
        (await (await fetch(`${url}/api/v1/server_settings`, { headers })).json()).realm_name;
      expect(await nameAt()).toBe('First');
      expect(await run(['realm', 'create', '--new-database', 'second', 'Second'])).toMatchObject({
        code: 0,
        out: 'Created organization second (Second) at http://second.localhost:9991',
      });
      expect(await run(['realm', 'create', '--new-database', '', 'Third'])).toMatchObject({
        code: 1,
        err: expect.stringMatching(
          /^parley: The address of this server is that of "First"; another organization needs/,
        ),
      });
      expect(
        await run(['realm', 'create', '--new-database', 'third', 'Third', '--url=http://192.0.2.7']),
      ).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^parley: The address of this server is an IP address, /),
      });
      // Longer than the cache lifetime of the realm list.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      expect(await nameAt()).toBe('First');
    });
  });

  it.each`
    args                                                             | err
    ${['dance']}                                                     | ${'parley: There is no command dance; see parley --help.'}
    ${['usr', 'list']}                                               | ${'parley: There is no command usr; did you mean parley user?'}
    ${['serve', '--new-database', 'now']}                            | ${'parley: Usage: parley serve'}
    ${['user', 'create', 'a@b.example']}                             | ${/^parley: Usage: parley user create EMAIL NAME/}
    ${['user', 'create', 'a@b.example', 'Name', '--role=king']}      | ${/^parley: The role must be one of owner, /}
    ${['user', 'create', 'a@b.example', 'Name', '--password-stdin']} | ${/^parley: There is no database at /}
    ${['user', 'grant', 'a@b.example', 'can_fly']}                   | ${/^parley: PERMISSION must be one of can_create_users, /}
    ${['serve', '--new-database', '--port=x']}                       | ${/^parley: --port must be an integer/}
    ${['serve', '--new-database', '--demo', '--host=0.0.0.0']}       | ${/^parley: Demo data is refused on 0\.0\.0\.0/}
    ${['serve', '--new-database', '--host=203.0.113.7', '--port=0']} | ${/^parley: 203\.0\.113\.7 is not an address of this machine/}
  `('rejects $args with a one-line message', async ({ args, err }) => {
    const result = await run(args);
    expect(result.out).toBe('');
    expect(result.err).toMatch(err);
    expect(result.err).not.toContain('\n');
    expect(existsSync(database)).toBe(false);
  });

  it('reports missing organizations and users in a database that has neither', async () => {
    await whileServing([], async () => {});
    expect(await run(['user', 'create', 'a@b.example', 'Name'])).toMatchObject({
      code: 1,
      err: 'parley: There is no organization yet; see parley realm create --help.',
    });
  });

  it('exports an organization and imports it on another server', async () => {
    await run(['realm', 'create', '--new-database', '--bare', 'acme', 'Acme']);
    await run(['user', 'create', 'ann@example.com', 'Ann', '--realm=acme', '--role=owner']);
    const file = join(directory, 'acme.tar.gz');
    expect(await run(['export', file, '--realm=acme'])).toEqual({
      code: 0,
      out: `Exported acme (Acme) with 0 messages to ${file}`,
      err: '',
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await run(['export', file])).err).toContain('already exists');
    expect((await run(['import', file])).err).toMatch(
      /Subdomain is already in use\. .* choose another name by --realm/,
    );
    const copied = await run(['import', file, '--as=copy']);
    expect([copied.code, copied.out]).toEqual([
      0,
      expect.stringContaining('Imported copy (Acme): 4 users, 0 channels'),
    ]);
    writeFileSync(file, 'nothing');
    expect(await run(['import', file])).toMatchObject({ code: 1, err: expect.stringContaining('is damaged') });
    expect(readdirSync(join(directory, 'data')).filter((name) => name.startsWith('parley-import'))).toEqual([]);
  });
});
