import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMANDS, flagsOf, readConfiguration, runCommand, wordCounts } from '@parley/server/testing';
import { TestSmtpServer } from '../testing/test-smtp-server.js';

describe('parley command line', () => {
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'parley-administration-'));
    await run('realm', 'create', '--new-database', '', 'Root');
    await run('user', 'create', 'ann@example.com', 'Ann Lee', '--role=owner');
    await run('user', 'create', 'bob@example.com', 'Bob Roe');
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  let input = '';
  let hasGivenWay = false;
  const run = (...args: readonly string[]) => runIn({}, ...args);
  async function runIn(environment: Readonly<Record<string, string>>, ...args: readonly string[]) {
    const database = { PARLEY_DATABASE: `sqlite:${join(directory, 'parley.db')}` };
    const comeAfterServer = () => {
      hasGivenWay = true;
    };
    return runCommand(args, { environment: { ...database, ...environment }, input, comeAfterServer });
  }
  /** Changes the schema version in the SQLite header. */
  function setSchema(database: string, change: (schema: number) => number): void {
    const bytes = readFileSync(database);
    bytes.writeUInt32BE(change(bytes.readUInt32BE(60)), 60);
    writeFileSync(database, bytes);
  }
  const read = async (...args: readonly string[]) => JSON.parse((await run(...args, '--json')).out);

  describe('user', () => {
    it('lists users as text and as JSON', async () => {
      const { code, out } = await run('user', 'list');
      expect([code, out]).toEqual([0, '4\towner\tann@example.com\tAnn Lee\n5\tmember\tbob@example.com\tBob Roe']);
      expect(await read('user', 'list', '--role=owner')).toEqual({
        users: [{ id: 4, email: 'ann@example.com', name: 'Ann Lee', role: 'owner', active: true, bot: null }],
      });
    });

    it('finds a user by id or case-insensitive email', async () => {
      expect(await read('user', 'show', 'ANN@example.com')).toMatchObject({
        id: 4,
        hasPassword: false,
        groups: expect.arrayContaining(['role:owners']),
      });
      expect(await read('user', 'show', '4')).toMatchObject({ email: 'ann@example.com' });
    });

    it('changes roles and names, deactivates and reactivates users', async () => {
      expect(await run('user', 'set-role', 'bob@example.com', 'moderator')).toMatchObject({
        out: 'Bob Roe <bob@example.com> is now moderator of Root',
      });
      expect(await run('user', 'rename', 'bob@example.com', 'Robert "Rob" Roe')).toMatchObject({
        code: 1,
        err: 'parley: Invalid characters in name: "\\"".',
      });
      expect(await read('user', 'rename', 'bob@example.com', 'Robert Roe')).toMatchObject({
        name: 'Robert Roe',
        role: 'moderator',
      });
      expect(await read('user', 'deactivate', 'bob@example.com')).toMatchObject({ active: false, changed: true });
      expect(await run('user', 'deactivate', 'bob@example.com')).toMatchObject({
        code: 0,
        out: 'Robert Roe <bob@example.com> was already deactivated',
      });
      expect((await read('user', 'list')).users).toHaveLength(1);
      expect((await read('user', 'list', '--deactivated')).users).toHaveLength(2);
      expect(await read('user', 'reactivate', 'bob@example.com')).toMatchObject({ active: true, changed: true });
    });

    it('erases a person after the name was typed, or with --yes, and says whether the work has ended', async () => {
      const { id } = await read('user', 'create', 'zoe@example.com', 'Zoe Moe');
      expect(await run('user', 'erase', 'zoe@example.com')).toMatchObject({ code: 2 });
      input = 'Zoe\n';
      expect(await run('user', 'erase', `${id}`)).toMatchObject({
        code: 1,
        err: expect.stringContaining('Nothing was erased'),
      });
      expect(await read('user', 'show', `${id}`)).toMatchObject({ name: 'Zoe Moe', active: true });
      input = 'Zoe Moe\n';
      expect(await run('user', 'erase', `${id}`)).toMatchObject({ code: 0, out: expect.stringContaining('Erased') });
      expect(await read('user', 'show', `${id}`)).toMatchObject({ name: 'Deleted user', active: false });
      expect(await read('user', 'erase', `${id}`)).toMatchObject({ userId: id, endedAt: null });
      expect(await run('user', 'erase', '4', '--yes')).toMatchObject({
        code: 1,
        err: 'parley: Cannot erase the only organization owner',
      });
      expect((await read('user', 'create', 'zoe@example.com', 'Zoe Moe')).id).toBeGreaterThan(id);
      expect(await run('user', 'erase', `${id + 1}`, '--yes')).toMatchObject({ code: 0 });
    });

    it('changes email addresses', async () => {
      expect(await run('user', 'set-email', '5', 'bob.roe@example.com')).toEqual({
        code: 0,
        out: expect.stringMatching(/^Changed the email of .* from bob@example\.com to bob\.roe@example\.com$/),
        err: '',
      });
      expect(await run('user', 'set-email', '5', 'ann@example.com')).toMatchObject({ code: 1 });
      expect(await run('user', 'set-email', '5', 'ann')).toMatchObject({
        code: 1,
        err: expect.stringMatching(/not an email/),
      });
      expect(await read('user', 'set-email', '5', 'bob@example.com')).toMatchObject({ email: 'bob@example.com' });
    });

    it('prints and regenerates API keys', async () => {
      const { out: key } = await run('user', 'api-key', 'ann@example.com');
      expect(key).toMatch(/^\w{32}$/);
      expect((await run('user', 'api-key', 'ann@example.com')).out).toBe(key);
      const { apiKey } = await read('user', 'api-key', 'ann@example.com', '--rotate');
      expect(apiKey).toMatch(/^\w{32}$/);
      expect(apiKey).not.toBe(key);
      const { out: file } = await run('user', 'api-key', 'ann@example.com', '--zuliprc');
      expect(file).toMatch(/^\[api\]\nemail=ann@example.com\nkey=\w{32}\nsite=http:\/\/\S+$/);
      expect(file).toContain(apiKey);
    });

    it('prints a password reset link', async () => {
      const site = '--url=https://chat.example.com';
      const { code, out } = await run('user', 'password-link', 'bob@example.com', site);
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/^https:\/\/chat\.example\.com\/accounts\/password\/reset\/[a-z2-7]+$/),
      ]);
      const { url, expires } = await read('user', 'password-link', '5', site);
      expect([url, Date.parse(expires) > Date.now() + 86_000_000]).toEqual([out, true]);
      expect(await run('user', 'password-link', 'nobody@example.com')).toMatchObject({ code: 1 });
    });

    it('accepts the same passwords as the API', async () => {
      input = 'sunshine\n';
      expect(await run('user', 'create', 'eve@example.com', 'Eve Moe', '--password-stdin')).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^parley: The password is too weak\. Passwords have 8 to 100 characters and .*\.$/),
      });
      expect(await run('user', 'set-password', 'bob@example.com', '--password-stdin')).toMatchObject({ code: 1 });
      input = 'nothing will come of nothing\n';
      expect(await run('user', 'set-password', 'bob@example.com', '--password-stdin')).toMatchObject({ code: 0 });
      expect(await read('user', 'show', 'bob@example.com')).toMatchObject({ hasPassword: true });
      expect(await run('user', 'set-password', 'bob@example.com', '--clear')).toMatchObject({ code: 0 });
      expect(await read('user', 'show', 'bob@example.com')).toMatchObject({ hasPassword: false });
    });
  });

  describe('user import', () => {
    const file = (text: string): string => {
      const path = join(directory, 'people.csv');
      writeFileSync(path, text);
      return path;
    };

    it('adds missing users with the roles and passwords from the file', async () => {
      const path = file(
        '\ufeffEmail,Name,Role,Password\r\nann@example.com,Ann Lee,,\r\n"carl@example.com","Carl, the Great",administrator,nothing will come of nothing\r\n\r\ndora@example.com,Dora,,\r\n',
      );
      expect(await run('user', 'import', path, '--dry-run')).toMatchObject({
        code: 0,
        out: 'Would add 2 users to Root; 1 already existed',
      });
      const { created, existing } = await read('user', 'import', path);
      expect([created.map(({ email }: { email: string }) => email), existing]).toEqual([
        ['carl@example.com', 'dora@example.com'],
        1,
      ]);
      expect(await read('user', 'show', 'carl@example.com')).toMatchObject({
        name: 'Carl, the Great',
        role: 'administrator',
        hasPassword: true,
      });
      expect(await read('user', 'import', path)).toEqual({ created: [], existing: 3, invited: 0 });
    });

    it('reports every mistake and adds no users', async () => {
      const path = file(
        'email,name,role,password\nfay@example.com,Fay Fox,,\nx,Gus,,\nhal@example.com,H,king,\niris@example.com,Iris,,short\nFAY@example.com,Fay Fox,,\n',
      );
      const { code, err } = await run('user', 'import', path);
      expect(code).toBe(1);
      expect(err.split('\n')).toEqual([
        'parley: No users were added.',
        'line 3 (x): Enter a valid email address.',
        'line 4 (hal@example.com): The role must be one of owner, administrator, moderator, member, guest.',
        expect.stringMatching(/^line 5 \(iris@example\.com\): The password is too weak\. Passwords have 8 to 100 /),
        'line 6 (FAY@example.com): same email as line 2.',
      ]);
      expect(await run('user', 'show', 'fay@example.com')).toMatchObject({ code: 1 });
    });

    it.each`
      text                              | err
      ${'email,nmae\na@b.example,Ann'}  | ${'There is no column nmae; did you mean name?'}
      ${'email\na@b.example'}           | ${'The column name is missing.'}
      ${'email,name\n"a@b.example,Ann'} | ${/is not a valid CSV file: /}
      ${' \r\n'}                        | ${/ is empty; the first line must name the columns/}
    `('rejects $text', async ({ text, err }) => {
      expect((await run('user', 'import', file(text))).err).toMatch(err);
    });

    it.each([';', '\t'])('accepts %j as the delimiter', async (sign) => {
      const path = file(`name${sign}email\nGil, the Tall${sign}gil@example.com\n`);
      expect(await read('user', 'import', path, '--dry-run')).toEqual({
        wouldCreate: [{ email: 'gil@example.com' }],
        existing: 0,
        invited: 0,
      });
    });

    it('strips control characters in the file from the output', async () => {
      const { err } = await run('user', 'import', file('email,name,x\u0000\u001b[2J\n'));
      expect(err).toMatch(/^parley: There is no column x\[2j; /);
    });

    it('rejects text that is not UTF-8', async () => {
      const path = file('');
      writeFileSync(path, Buffer.from('email,name\nj@example.com,Jürgen', 'latin1'));
      expect(await run('user', 'import', path)).toMatchObject({ code: 1, err: expect.stringMatching(/not UTF-8/) });
    });

    it('rejects a missing file', async () => {
      expect(await run('user', 'import', '/nowhere.csv')).toMatchObject({
        code: 1,
        err: 'parley: Cannot read /nowhere.csv: no such file or directory.',
      });
    });
  });

  describe('realm', () => {
    it('lists, shows and renames organizations', async () => {
      await run('realm', 'create', 'lear', 'Lear');
      await run('realm', 'rename', 'lear', 'King Lear');
      expect((await read('realm', 'list')).realms).toMatchObject([
        { stringId: '', name: 'Root', active: true },
        { stringId: 'lear', name: 'King Lear', url: 'http://lear.localhost:9991' },
      ]);
      expect(await run('realm', 'rename', 'lear', ' ')).toMatchObject({ code: 1 });
      expect(await run('user', 'list')).toMatchObject({ code: 1, err: "parley: --realm must be one of '', 'lear'." });
      expect(await run('realm', 'deactivate', 'lear')).toMatchObject({
        out: expect.stringContaining('is now deactivated'),
      });
      expect(await read('realm', 'show', 'lear')).toMatchObject({ active: false });
      expect(await run('realm', 'reactivate', 'lear')).toMatchObject({ out: expect.stringContaining('is now active') });
      expect(await read('realm', 'reactivate', 'lear')).toMatchObject({ active: true, changed: false });
    });

    it.each`
      setting                     | given          | value
      ${'inviteRequired'}         | ${'off'}       | ${false}
      ${'message-retention-days'} | ${'30'}        | ${30}
      ${'message_retention_days'} | ${'none'}      | ${null}
      ${'digestWeekday'}          | ${'3'}         | ${3}
      ${'organizationType'}       | ${'education'} | ${'education'}
      ${'description'}            | ${'**Bold**'}  | ${'**Bold**'}
      ${'ownerFullContentAccess'} | ${'on'}        | ${true}
    `('sets $setting to $given', async ({ setting, given, value }) => {
      expect(await read('realm', 'set', '', setting, given)).toMatchObject({ value, changed: true });
      const { settings } = await read('realm', 'show', '');
      const name = setting.replace(/[-_](.)/g, (_: string, letter: string) => letter.toUpperCase());
      expect(settings[name]).toBe(value);
    });

    it('finds the organization of a user by an address that is unique on the server', async () => {
      await run('user', 'create', 'kent@example.com', 'Kent', '--realm=lear');
      expect(await read('user', 'show', 'kent@example.com')).toMatchObject({ name: 'Kent' });
      expect(await run('limits', 'forget', 'kent@example.com')).toMatchObject({ code: 0, err: '' });
      await run('user', 'create', 'kent@example.com', 'Clark', '--realm=');
      expect(await run('user', 'show', 'kent@example.com')).toMatchObject({
        code: 1,
        err: "parley: --realm must be one of '', 'lear', which all have a user kent@example.com.",
      });
      expect(await read('user', 'show', 'kent@example.com', '--realm=lear')).toMatchObject({ name: 'Kent' });
      expect(await run('user', 'show', 'cordelia@example.com')).toMatchObject({
        code: 1,
        err: "parley: There is no user cordelia@example.com in '', 'lear'; see parley user list.",
      });
    });

    it('gives a permission to a group by name', async () => {
      const set = (group: string) => run('realm', 'set', '', 'can-invite-users', group);
      expect(await set('role:moderators')).toMatchObject({ out: 'canInviteUsers of Root is role:moderators' });
      expect(await set('role:moderators')).toMatchObject({ out: 'canInviteUsers of Root was already role:moderators' });
      expect((await read('realm', 'show', '')).permissions).toMatchObject({ canInviteUsers: 'role:moderators' });
      expect(await set('moderators')).toMatchObject({
        code: 1,
        err: "parley: There is no group 'moderators'; did you mean role:moderators?",
      });
      expect(await set('role:everyone')).toMatchObject({
        code: 1,
        err: "parley: 'canInviteUsers' cannot be given to the group 'role:everyone'.",
      });
    });

    it.each`
      setting                           | value        | code | err
      ${'inviteRequird'}                | ${'on'}      | ${2} | ${'There is no setting inviteRequird; did you mean inviteRequired?'}
      ${'inviteRequired'}               | ${'maybe'}   | ${2} | ${'inviteRequired must be on or off, not "maybe".'}
      ${'messageRetentionDays'}         | ${'0'}       | ${2} | ${'messageRetentionDays must be a number above 0 or none, not "0".'}
      ${'defaultLanguage'}              | ${'deutsch'} | ${2} | ${'defaultLanguage must be a language code such as de or pt-br, not "deutsch".'}
      ${'digestWeekday'}                | ${'9'}       | ${2} | ${'digestWeekday must be one of 0, 1, 2, 3, 4, 5, 6, not "9".'}
      ${'signupAnnouncementsChannelId'} | ${'x'}       | ${1} | ${'There is no channel x in Root.'}
    `('rejects $setting = $value', async ({ setting, value, code, err }) => {
      expect(await run('realm', 'set', '', setting, value)).toMatchObject({ code, err: `parley: ${err}` });
    });

    it('changes the log-in methods but keeps at least one', async () => {
      expect(await run('realm', 'set', '', 'authentication', 'openid connect=on, SAML=off')).toMatchObject({
        out: 'authentication of Root is openid connect=on, SAML=off',
      });
      const { authentication } = await read('realm', 'show', '');
      expect(authentication).toBe(
        'Dev=on,Email=on,LDAP=off,GitHub=off,GitLab=off,Google=off,Apple=off,SAML=off,OpenID Connect=on',
      );
      const { out } = await run('realm', 'set', '', 'authentication', 'Dev=off,Email=off');
      expect(out).toContain('\nWarning: no enabled method is configured here, so nobody can log in');
      expect((await run('realm', 'set', '', 'authentication', 'Dev=on,Email=on')).out).not.toContain('Warning');
      for (const [value, code, err] of [
        ['Dev=off,Email=off,OpenID Connect=off', 1, 'At least one authentication method must be enabled.'],
        ['Facebook=on', 2, 'authentication must be METHOD=on or METHOD=off, not "Facebook=on".'],
        ['Email', 2, 'authentication must be METHOD=on or METHOD=off, not "Email".'],
      ] as const) {
        const refused = await run('realm', 'set', '', 'authentication', value);
        expect(refused).toMatchObject({ code, err: expect.stringContaining(err) });
      }
    });

    it('prints untrusted text on one line without control characters', async () => {
      await run('realm', 'set', '', 'description', 'One\nrealm: \u001b[2Jtwo');
      const { out } = await run('realm', 'show', '');
      expect(out.split('\n')).toContain('description: One realm:  [2Jtwo');
      await run('realm', 'set', '', 'description', 'Two');
    });

    it('prints settings in the format that it accepts', async () => {
      await run('realm', 'set', '', 'inviteRequired', 'off');
      await run('realm', 'set', '', 'messageRetentionDays', 'none');
      const lines = (await run('realm', 'show', '')).out.split('\n').slice(1);
      expect(lines).toEqual(expect.arrayContaining(['inviteRequired: off', 'messageRetentionDays: none']));
      for (const line of lines) {
        const [setting, value] = line.split(': ') as [string, string];
        expect(await run('realm', 'set', '', setting, value)).toMatchObject({
          code: 0,
          out: `${setting} of Root was already ${value}`,
        });
      }
    });

    it('rejects an unknown organization', async () => {
      expect(await run('realm', 'set', 'hamlet', 'inviteRequired', 'on')).toMatchObject({
        code: 1,
        err: "parley: There is no organization 'hamlet'; see parley realm list.",
      });
    });
  });

  it.each`
    args                                                     | code | err
    ${['limits', 'forget']}                                  | ${2} | ${/^parley: Pass a user, --ip ADDRESS or --all/}
    ${['limits', 'forget', '--ip=x']}                        | ${2} | ${/^parley: --ip must be an address/}
    ${['limits', 'forget', '--all', '--ip=::1']}             | ${2} | ${/^parley: Pass a user, --ip ADDRESS or --all/}
    ${['limits', 'forget', '--all']}                         | ${0} | ${/^$/}
    ${['limits', 'forget', '--ip=::1']}                      | ${0} | ${/^$/}
    ${['limits', 'forget', '4', '--realm=']}                 | ${0} | ${/^$/}
    ${['user', 'craete', 'x']}                               | ${2} | ${'parley: There is no command user craete; did you mean parley user create?'}
    ${['create-user', 'x']}                                  | ${2} | ${'parley: There is no command create-user; did you mean parley user create?'}
    ${['user']}                                              | ${2} | ${/^parley: parley user needs a subcommand: list, show, /}
    ${['--json', 'serve', 'now']}                            | ${2} | ${/"code":"USAGE"/}
    ${['--port', 'serve']}                                   | ${2} | ${/^parley: The command must come first/}
    ${['user', 'list', '--realn=x']}                         | ${2} | ${'parley: There is no option --realn; did you mean --realm?'}
    ${['user', 'show', 'x@y.example', '--json', '--realm=']} | ${1} | ${/^\{"error":\{"code":"REFUSED","message":"There is no user x@y.example/}
  `('exits with $code for $args', async ({ args, code, err }) => {
    const result = await run(...args);
    expect(result.code).toBe(code);
    expect(result.err).toMatch(err);
  });

  it.each([
    [['--version'], /^\d+\.\d+\.\d+(-dev)?$/],
    [['--version', '--json'], /^\{"version":"\d/],
    [['user', '--help'], /parley user set-role EMAIL ROLE/],
    [['help', 'backup'], /^Usage: parley backup FILE/],
    [['user', 'create', '--help'], /Examples:\n {2}parley user create /],
  ])('prints %j', async (args, out) => {
    expect(await run(...args)).toMatchObject({ code: 0, out: expect.stringMatching(out) });
  });

  describe('mail', () => {
    it('sends an email through the mail server and prints its response', async () => {
      const smtp = new TestSmtpServer();
      await smtp.listen();
      const environment = { PARLEY_SMTP_URL: smtp.url };
      expect(await runIn(environment, 'mail', 'test', 'me@example.com')).toMatchObject({ code: 0, err: '' });
      expect(smtp.emails).toEqual([expect.stringMatching(/^To: .*me@example\.com/m)]);
      expect((await runIn(environment, 'doctor', '--thorough')).out).toContain('the mail server accepts our login');
      smtp.refuses = true;
      expect(await runIn(environment, 'mail', 'test', 'me@example.com')).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^parley: The mail server does not take the email at the moment: .*451 later$/s),
      });
      smtp.refusal = '554 never';
      expect((await runIn(environment, 'mail', 'test', 'me@example.com')).err).toMatch(
        /^parley: The mail server rejected the email: .*554 never$/s,
      );
      const { host } = new URL(smtp.url);
      await smtp.close();
      expect(await runIn(environment, 'mail', 'test', 'me@example.com')).toEqual({
        code: 1,
        out: '',
        err: expect.stringMatching(new RegExp(`^parley: No mail server answered at ${host}: .*ECONNREFUSED`)),
      });
      expect(await runIn(environment, 'doctor', '--thorough')).toMatchObject({
        code: 3,
        out: expect.stringMatching(/PROBLEM {2}mail: the mail server cannot be used: .*ECONNREFUSED/),
      });
      const quiet = await runIn({ ...environment, PARLEY_QUIET: 'on' }, 'doctor', '--thorough');
      expect([quiet.code, quiet.out]).toEqual([0, expect.not.stringContaining('mail server')]);
    });

    it('reports a missing mail server and an invalid email address', async () => {
      expect(await run('mail', 'test', 'me@example.com')).toMatchObject({
        code: 1,
        err: expect.stringContaining('PARLEY_SMTP_URL is not set'),
      });
      expect(await run('mail', 'test', 'me')).toMatchObject({ code: 2 });
    });
  });

  // Only the superuser can change the owner of a file.
  (process.getuid?.() === 0 ? it : it.skip)(
    'reports files that belong to a different user than the database',
    async () => {
      const secret = join(directory, 'parley.db.secret');
      chownSync(secret, 65_534, 65_534);
      const { code, out } = await run('doctor');
      chownSync(secret, 0, 0);
      expect([code, out]).toEqual([3, expect.stringContaining(`PROBLEM  rights: ${secret} belongs to user 65534`)]);
    },
  );

  it('reports an unreachable file bucket', async () => {
    const files = '--files=s3:bucket?endpoint=http://127.0.0.1:9';
    expect(await run('doctor', '--thorough', files)).toMatchObject({
      code: 3,
      out: expect.stringMatching(/PROBLEM {2}files: The bucket bucket cannot be used: \S/),
    });
  });

  it.each(COMMANDS.flatMap(({ examples }) => examples))('accepts its own example: %s', async (example) => {
    // Splits arguments like a shell, without pipes and redirections.
    const words = [
      ...example
        .replace(/ (?:[<>]|&&) .*$/, '')
        .replace(/\$\([^)]*\)/, 'x')
        .matchAll(/'([^']*)'|\S+/g),
    ];
    const args = words.map(([word, quoted]) => quoted ?? word).filter((word) => !/^PARLEY_\w+=/.test(word));
    expect(args[0]).toBe('parley');
    const line = args.slice(1).join(' ');
    const named = COMMANDS.filter(({ name }) => `${line} `.startsWith(`${name} `));
    // Names of commands may begin like others.
    const command = named.sort((a, b) => b.name.length - a.name.length)[0]!;
    const rest = args.slice(1 + command.name.split(' ').length);
    const { positionals } = readConfiguration(rest, {}, flagsOf(command));
    const [least, most] = wordCounts(command);
    expect([least <= positionals.length, positionals.length <= most]).toEqual([true, true]);
  });

  it('prints the effective configuration', async () => {
    const { code, out } = await run('config', 'check', '--port=80');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^The configuration is valid\.\n {2}--port=80\n {2}PARLEY_DATABASE=sqlite:/),
    ]);
  });

  it('creates, verifies and restores a backup', async () => {
    const backup = join(directory, 'backup.tar');
    hasGivenWay = false;
    const priority = getPriority();
    expect(await read('backup', backup)).toMatchObject({ path: backup, files: 0, missingFiles: [] });
    // The calling process keeps its own priority.
    expect([hasGivenWay, getPriority()]).toEqual([true, priority]);
    expect(await run('backup', backup)).toMatchObject({ code: 1, err: expect.stringContaining('already exists') });
    expect(await run('backup', join(directory, 'no/folder.tar'))).toMatchObject({ code: 1 });
    expect(await run('migrate', '--check')).toMatchObject({ code: 0 });
    expect(await read('migrate')).toMatchObject({ done: [], pendingSteps: [] });
    expect(await read('doctor', '--thorough')).toMatchObject({
      healthy: true,
      findings: expect.arrayContaining([{ level: 'good', subject: 'files', text: 'the content of 0 files exists' }]),
    });
    const restored = `--database=sqlite:${join(directory, 'restored', 'parley.db')}`;
    expect(await run('restore', backup, restored)).toMatchObject({ code: 0 });
    expect((await read('realm', 'list', restored)).realms).toHaveLength(2);
    expect(readdirSync(join(directory, 'restored')).sort()).toEqual([
      'files',
      'parley.db',
      'parley.db.commands.log',
      'parley.db.secret',
    ]);
    setSchema(join(directory, 'restored', 'parley.db'), (schema) => schema - 1);
    expect(await run('migrate', '--check', restored)).toMatchObject({
      code: 3,
      out: expect.stringContaining('pending: '),
    });
    expect(await run('migrate', '--status', restored)).toMatchObject({ code: 0 });
    setSchema(join(directory, 'restored', 'parley.db'), (schema) => schema + 2);
    expect(await run('migrate', '--check', restored)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/newer version of Parley/),
    });
    setSchema(join(directory, 'restored', 'parley.db'), (schema) => schema - 1);
    rmSync(join(directory, 'restored', 'parley.db.secret'));
    expect(await run('doctor', restored)).toMatchObject({ code: 3, out: expect.stringContaining('PROBLEM  secret') });
  });
});
