import { writeFileSync } from 'node:fs';
import { type DirectoryReport, FetchLogInPictures, SyncDirectory } from '@parley/domain/log-in';
import { SharpImageProcessor } from '@parley/images';
import { type LdapAccount, ldapDirectories } from '@parley/node-adapters';
import { Attribute, Change } from 'ldapts';
import { generate } from 'otplib';
import sharp from 'sharp';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { TestBrowser } from '../testing/test-browser.js';
import { ADMIN, ADMIN_PASSWORD, BASE, dnOf, hasLdapServer, TestLdapServer } from '../testing/test-ldap-server.js';
import type { TestReply } from '../testing/test-reply.js';
import { TestServer } from '../testing/test-server.js';

(hasLdapServer ? describe : describe.skip)('LDAP directory (OpenLDAP)', () => {
  let ldap: TestLdapServer;
  let server: TestServer;
  let account: LdapAccount;
  beforeAll(async () => {
    ldap = await TestLdapServer.start();
    account = {
      name: 'company',
      realm: 'zulip',
      url: ldap.url,
      startTls: false,
      caFile: null,
      bindDn: ADMIN,
      bindPassword: ADMIN_PASSWORD,
      bindPasswordFile: null,
      baseDn: `ou=people,${BASE}`,
      userFilter: '(objectClass=inetOrgPerson)',
      attributes: { id: 'entryUUID', email: 'mail', name: 'cn', picture: 'jpegPhoto' },
      groups: {
        baseDn: `ou=groups,${BASE}`,
        filter: '(objectClass=groupOfNames)',
        memberAttribute: 'member',
        nameAttribute: 'cn',
        required: ['chat'],
        roles: new Map([['chiefs', 'moderator']]),
        defaultRole: 'member',
      },
      createsPeople: true,
      syncMinutes: 60,
    };
    const uids = Array.from({ length: 12 }, (_, index) => `person${index}`);
    await ldap.add(
      { uid: 'hamlet', cn: 'Prince Hamlet' },
      { uid: 'outsider' },
      { uid: 'guildenstern', cn: 'Guildenstern' },
      { uid: 'o*(x)\\, é', mail: "o'brien+x@zulip.com", cn: "O'Brien" },
      ...uids.map((uid) => ({ uid })),
    );
    await ldap.addGroup('chat', ['hamlet', 'guildenstern', 'o*(x)\\, é', ...uids]);
    await ldap.addGroup('chiefs', ['guildenstern', 'outsider']);
  });
  afterAll(() => ldap.stop());

  const start = async (change: Partial<LdapAccount> = {}) => {
    server = await TestServer.start({ directories: await ldapDirectories([{ ...account, ...change }]) });
    await server.changeRealm({ settings: { ldapAuthentication: true } });
  };
  afterEach(() => server.close());

  const fetchKey = (username: string, password: string): Promise<TestReply> =>
    server.post('/fetch_api_key', null, { username, password });
  const userWith = async (email: string): Promise<Wire> =>
    fieldsOf(await server.get('/users', server.people.desdemona)).members.find(
      ({ delivery_email }: Wire) => delivery_email === email,
    );
  const sync = (options: { isDryRun?: boolean; acceptsDeactivations?: boolean } = {}): Promise<DirectoryReport> => {
    const [directory] = server.parley.ports.peopleDirectories;
    return server.parley.useCase(SyncDirectory).execute({ directory: directory!, isDryRun: false, ...options });
  };
  const countsOf = ({ counts, stopped }: DirectoryReport) => ({ ...counts, stopped });
  const NOTHING = { created: 0, linked: 0, changed: 0, reactivated: 0, deactivated: 0, stopped: null };

  describe('log-in', () => {
    beforeEach(() => start());

    it("verifies directory passwords in addition to the organization's passwords", async () => {
      const { hamlet } = server.people;
      expect(fieldsOf(await fetchKey('hamlet@zulip.com', 'pw-hamlet'))).toMatchObject({ user_id: hamlet.id });
      expect(await userWith('hamlet@zulip.com')).toMatchObject({ user_id: hamlet.id, full_name: 'Prince Hamlet' });
      expect(fieldsOf(await fetchKey('HAMLET@zulip.com', hamlet.password))).toMatchObject({ user_id: hamlet.id });
      expectRefusal(await fetchKey('hamlet@zulip.com', 'pw-person1'), 'Your username or password is incorrect', {
        status: 401,
        code: 'AUTHENTICATION_FAILED',
      });
    });

    it("creates accounts with the directory's name and role, also by the browser form", async () => {
      const browser = new TestBrowser(server);
      await browser.get('/login/');
      const csrfmiddlewaretoken = browser.cookies.get('csrftoken')!;
      const form = { username: 'guildenstern@zulip.com', password: 'pw-guildenstern', csrfmiddlewaretoken };
      expect((await browser.post('/login/', form)).status).toBe(303);
      expect(fieldsOf(await browser.get('/json/users/me'))).toMatchObject({ full_name: 'Guildenstern', role: 300 });
    });

    it('works in organizations that disabled Parley passwords, and reports this to clients', async () => {
      await server.changeRealm({ settings: { emailAuthentication: false } });
      const { hamlet } = server.people;
      expect((await fetchKey('hamlet@zulip.com', hamlet.password)).body.code).toBe('AUTHENTICATION_FAILED');
      fieldsOf(await fetchKey('hamlet@zulip.com', 'pw-hamlet'));
      const { authentication_methods } = fieldsOf(await server.get('/server_settings', null));
      expect(authentication_methods).toMatchObject({ password: true, ldap: true, email: false });
      const page = (await new TestBrowser(server).get('/login/')).body;
      expect(page).toContain('name="password"');
      expect(page).not.toContain('/accounts/password/reset/');
    });

    it('rejects users outside the required groups, empty passwords and filter syntax', async () => {
      const attempts: [string, string][] = [
        ['outsider@zulip.com', 'pw-outsider'],
        ['person1@zulip.com', ''],
        ['person*@zulip.com', 'pw-person1'],
        ['*@zulip.com', 'pw-person1'],
        ['nobody@zulip.com', 'pw-person1'],
      ];
      for (const [email, password] of attempts) {
        expect((await fetchKey(email, password)).body).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
      }
      const [directory] = server.parley.ports.peopleDirectories;
      for (const email of [
        '*',
        'person1@zulip.com)(objectClass=*',
        '*)(mail=person1@zulip.com',
        'x\\2a',
        'person1@zulip.com\0',
      ]) {
        expect(await directory!.authenticate(email, 'pw-person1')).toBeNull();
      }
      expect(await directory!.authenticate("o'brien+x@zulip.com", 'pw-o*(x)\\, é')).toMatchObject({
        fullName: "O'Brien",
      });
    });

    it('reveals the API key to a browser that repeats the password', async () => {
      const browser = new TestBrowser(server);
      await browser.logIn({ email: 'person9@zulip.com', password: 'pw-person9' });
      const keyFor = (password: string) => browser.post('/json/fetch_api_key', { password });
      expect(fieldsOf(await keyFor('pw-person9'))).toMatchObject({ api_key: expect.stringMatching(/^\w{32}$/) });
      for (const password of ['pw-person8', '']) {
        expectRefusal(await keyFor(password), 'Password is incorrect.');
      }
      await server.changeRealm({ settings: { emailAuthentication: false } });
      expect((await keyFor('wrong')).status).toBe(400);
    });

    it('can be turned on and off by owners', async () => {
      const { desdemona, iago } = server.people;
      const shown = async () => {
        const { realm_authentication_methods: methods, realm_password_auth_enabled: hasPasswords } = fieldsOf(
          await server.post('/register', iago, { fetch_event_types: ['realm'] }),
        );
        const { authentication_methods } = fieldsOf(await server.get('/server_settings', null));
        return { LDAP: methods.LDAP, hasPasswords, ldap: authentication_methods.ldap };
      };
      const set = (LDAP: boolean, as = desdemona) =>
        server.patch('/realm', as, { authentication_methods: { LDAP, Email: false, Dev: true } });
      expectRefusal(await set(false, iago), 'Must be an organization owner', { code: 'UNAUTHORIZED_PRINCIPAL' });
      fieldsOf(await set(true));
      expect(await shown()).toEqual({ LDAP: { enabled: true, available: true }, hasPasswords: true, ldap: true });
      fieldsOf(await fetchKey('person1@zulip.com', 'pw-person1'));
      fieldsOf(await set(false));
      expect(await shown()).toEqual({ LDAP: { enabled: false, available: true }, hasPasswords: false, ldap: false });
      expect((await fetchKey('person1@zulip.com', 'pw-person1')).body.code).toBe('PASSWORD_AUTH_DISABLED');
      expect((await new TestBrowser(server).get('/login/')).body).not.toContain('name="password"');
    });

    it('requires the second factor after the directory password', async () => {
      const browser = new TestBrowser(server);
      const logIn = async (other: TestBrowser): Promise<string> => {
        await other.get('/login/');
        const csrfmiddlewaretoken = other.cookies.get('csrftoken')!;
        const form = { username: 'person10@zulip.com', password: 'pw-person10', csrfmiddlewaretoken };
        return (await other.post('/login/', form)).headers.location as string;
      };
      expect(await logIn(browser)).toBe('/');
      const page = '/accounts/second-factor/';
      expect((await browser.post(page, { password: 'wrong' })).body).toContain('Password is incorrect.');
      const proven = await browser.post(page, { password: 'pw-person10' });
      const state = new URL(proven.headers.location as string, server.url).searchParams.get('state')!;
      const form = String((await browser.get(`${page}app/`, { state })).body);
      const token = /name="token" value="([^"]+)"/.exec(form)![1];
      const secret = /<code class="code">([A-Z2-7 ]+)<\/code>/.exec(form)![1]!.replaceAll(' ', '');
      const code = () => generate({ secret, epoch: server.clock.now() });
      expect((await browser.post(`${page}app/`, { state, token, code: await code() })).status).toBe(200);
      expect((await fetchKey('person10@zulip.com', 'pw-person10')).body.code).toBe('PASSWORD_AUTH_DISABLED');
      const other = new TestBrowser(server);
      const step = await logIn(other);
      expect(step).toMatch(/^\/login\/second-factor\/\?state=/);
      expect((await other.get('/json/users/me')).status).toBe(401);
      server.clock.advance(60);
      const asked = new URL(step, server.url).searchParams.get('state')!;
      expect((await other.post('/login/second-factor/', { state: asked, code: await code() })).status).toBe(303);
      expect(fieldsOf(await other.get('/json/users/me'))).toMatchObject({ email: 'person10@zulip.com' });
    });

    it('rejects deactivated users', async () => {
      const { hamlet, desdemona } = server.people;
      fieldsOf(await fetchKey('hamlet@zulip.com', 'pw-hamlet'));
      fieldsOf(await server.delete(`/users/${hamlet.id}`, desdemona));
      expect((await fetchKey('hamlet@zulip.com', 'pw-hamlet')).body.code).toBe('USER_DEACTIVATED');
    });

    it('limits attempts like those for other passwords', async () => {
      await server.close();
      server = await TestServer.start({ directories: await ldapDirectories([account]), hasRateLimits: true });
      await server.changeRealm({ settings: { ldapAuthentication: true } });
      for (let attempt = 0; attempt < 5; attempt++) await fetchKey('person2@zulip.com', 'wrong');
      expect((await fetchKey('person2@zulip.com', 'pw-person2')).status).toBe(429);
    });
  });

  describe('invitation', () => {
    const invite = async (email: string): Promise<void> => {
      const { desdemona } = server.people;
      fieldsOf(await server.post('/invites', desdemona, { invitee_emails: email, stream_ids: [], invite_as: 600 }));
    };
    const openInvitations = async (): Promise<string[]> =>
      fieldsOf(await server.get('/invites', server.people.desdemona)).invites.map(({ email }: Wire) => email);

    it('is accepted at log-in if the directory creates no accounts', async () => {
      await start({ createsPeople: false });
      expect((await fetchKey('person1@zulip.com', 'pw-person1')).status).toBe(401);
      await invite('person1@zulip.com');
      expect((await sync()).counts.created).toBe(0);
      fieldsOf(await fetchKey('person1@zulip.com', 'pw-person1'));
      expect(await userWith('person1@zulip.com')).toMatchObject({ role: 600 });
      expect(await openInvitations()).toEqual([]);
    });

    it('determines the role of accounts created by a sync, unless groups do', async () => {
      await start();
      await invite('person1@zulip.com, guildenstern@zulip.com');
      await sync();
      expect(await userWith('person1@zulip.com')).toMatchObject({ role: 600 });
      expect(await userWith('guildenstern@zulip.com')).toMatchObject({ role: 300 });
      expect(await openInvitations()).toEqual([]);
    });
  });

  describe('encrypted connection', () => {
    it.each([
      ['ldaps', () => ({ url: ldap.secureUrl })],
      ['StartTLS', () => ({ url: ldap.url, startTls: true })],
    ])('trusts only the certificate of the configured authority (%s)', async (_, change) => {
      const bindPasswordFile = ldap.path('password');
      writeFileSync(bindPasswordFile, `${ADMIN_PASSWORD}\n`);
      await start({ ...change(), caFile: ldap.caFile, bindPassword: null, bindPasswordFile });
      fieldsOf(await fetchKey('person3@zulip.com', 'pw-person3'));
      const [untrusting] = await ldapDirectories([{ ...account, ...change() }]);
      await expect(untrusting!.check()).rejects.toThrow(/self-signed|certificate/i);
    });
  });

  describe('picture', () => {
    const replacePhoto = (uid: string, ...values: Buffer[]) =>
      ldap.change((client) =>
        client.modify(
          dnOf(uid),
          new Change({ operation: 'replace', modification: new Attribute({ type: 'jpegPhoto', values }) }),
        ),
      );
    const jpeg = (background: string) =>
      sharp({ create: { width: 20, height: 20, channels: 3, background } })
        .jpeg()
        .toBuffer();
    const UPLOADED = /\/[0-9a-f]{32}\.png\?version=\d+$/;
    const avatarOf = async (email: string) => {
      await runJobs(server, server.parley.useCase(FetchLogInPictures));
      return String((await userWith(email)).avatar_url);
    };
    beforeEach(async () => {
      const directories = await ldapDirectories([account]);
      server = await TestServer.start({ directories, images: new SharpImageProcessor() });
      await server.changeRealm({ settings: { ldapAuthentication: true } });
    });

    it('becomes the avatar at log-in and when a sync creates the user, and follows changes', async () => {
      const [email, other] = ['person11@zulip.com', 'person10@zulip.com'];
      await replacePhoto('person11', await jpeg('red'));
      try {
        await sync();
        expect(await avatarOf(other)).not.toMatch(UPLOADED);
        const first = await avatarOf(email);
        expect(first).toMatch(UPLOADED);
        fieldsOf(await fetchKey(email, 'pw-person11'));
        expect(await avatarOf(email)).toBe(first);
        await replacePhoto('person11', await jpeg('blue'));
        fieldsOf(await fetchKey(email, 'pw-person11'));
        const second = await avatarOf(email);
        expect(second).toMatch(UPLOADED);
        expect(second).not.toBe(first);
      } finally {
        await replacePhoto('person11');
      }
    });
  });

  describe('wrong configuration', () => {
    it('fails log-ins with the reason in the log and without counting them', async () => {
      await start({ url: 'ldap://localhost:1' });
      expectRefusal(
        await fetchKey('person1@zulip.com', 'pw-person1'),
        'The directory does not respond. Try again later.',
      );
      fieldsOf(await fetchKey('hamlet@zulip.com', server.people.hamlet.password));
    });

    it('keeps roles if groups cannot be read, and allows log-in if no group is required', async () => {
      const problems: Wire[] = [];
      const logger = { info: () => {}, warn: () => {}, error: (fields: object) => void problems.push(fields) };
      const email = 'guildenstern@zulip.com';
      const startWith = async (groups: Partial<LdapAccount['groups']>) => {
        const changed = { ...account, groups: { ...account.groups!, required: [], ...groups } };
        server = await TestServer.start({ directories: await ldapDirectories([changed]), logger });
        await server.changeRealm({ settings: { ldapAuthentication: true } });
        await server.addUser({ email, fullName: 'Guildenstern', role: 'administrator' });
      };
      await startWith({ baseDn: `ou=nowhere,${BASE}` });
      fieldsOf(await fetchKey(email, 'pw-guildenstern'));
      expect(await userWith(email)).toMatchObject({ role: 200 });
      expect(problems).toContainEqual(
        expect.objectContaining({ problem: expect.stringContaining('The groups cannot be read: ') }),
      );
      expect(await sync()).toMatchObject({ stopped: expect.stringContaining('The directory failed: ') });
      await server.close();
      await startWith({ filter: '(objectClass=group)' });
      fieldsOf(await fetchKey(email, 'pw-guildenstern'));
      expect(await userWith(email)).toMatchObject({ role: 200 });
      expect(await sync()).toMatchObject({ stopped: expect.stringContaining('groups.filter') });
    });

    it('is reported with its cause', async () => {
      await start();
      const check = async (change: Partial<LdapAccount>) =>
        (await ldapDirectories([{ ...account, ...change }]))[0]!.check();
      expect(await check({})).toBe('15 people');
      await expect(check({ url: 'ldap://localhost:1' })).rejects.toThrow(/ECONNREFUSED/);
      await expect(check({ bindPassword: 'wrong' })).rejects.toThrow('it rejects bindDn');
      await expect(check({ baseDn: 'dc=elsewhere' })).rejects.toThrow('baseDn does not exist');
      const groups = account.groups!;
      await expect(check({ groups: { ...groups, baseDn: 'dc=elsewhere' } })).rejects.toThrow(
        'groups.baseDn does not exist, or bindDn may not read it',
      );
      await expect(check({ groups: { ...groups, required: ['chats'] } })).rejects.toThrow(
        'no group chats with members is below groups.baseDn; check groups',
      );
      await expect(check({ userFilter: '(mail=*' })).rejects.toThrow();
      await expect(check({ userFilter: '(objectClass=device)' })).rejects.toThrow('no entry matches');
    });
  });

  describe('sync', () => {
    beforeEach(() => start());

    it('makes exactly the changes reported by the dry run', async () => {
      const first = { created: 14, linked: 1, changed: 0, reactivated: 0, deactivated: 0, stopped: null };
      const dry = await sync({ isDryRun: true });
      expect(countsOf(dry)).toEqual(first);
      expect(dry.changes).toContainEqual({ email: 'hamlet@zulip.com', change: 'linked' });
      expect(await userWith('person1@zulip.com')).toBeUndefined();
      expect(countsOf(await sync())).toEqual(first);
      expect(await userWith('guildenstern@zulip.com')).toMatchObject({ role: 300, full_name: 'Guildenstern' });
      expect(await userWith('hamlet@zulip.com')).toMatchObject({ full_name: 'Prince Hamlet' });
      expect(await userWith('outsider@zulip.com')).toBeUndefined();
      expect(countsOf(await sync())).toEqual(NOTHING);
    });

    it('applies changes of name, address, role and membership', async () => {
      await sync();
      const replace = (type: string, ...values: string[]) =>
        new Change({ operation: 'replace', modification: new Attribute({ type, values }) });
      const before = await userWith('person4@zulip.com');
      await ldap.change((client) =>
        client.modify(dnOf('person4'), [replace('cn', 'Renamed'), replace('mail', 'renamed@zulip.com')]),
      );
      await ldap.change((client) => client.modify(`cn=chiefs,ou=groups,${BASE}`, [replace('member', dnOf('person4'))]));
      try {
        expect(countsOf(await sync())).toMatchObject({ changed: 2, deactivated: 0 });
        const after = await userWith('renamed@zulip.com');
        expect(after).toMatchObject({ user_id: before.user_id, full_name: 'Renamed', role: 300 });
        expect(await userWith('guildenstern@zulip.com')).toMatchObject({ role: 400 });
      } finally {
        await ldap.change((client) =>
          client.modify(dnOf('person4'), [replace('cn', 'person4'), replace('mail', 'person4@zulip.com')]),
        );
        await ldap.change((client) =>
          client.modify(`cn=chiefs,ou=groups,${BASE}`, [replace('member', dnOf('guildenstern'), dnOf('outsider'))]),
        );
      }
    });

    it('deactivates users who left and ends their keys, and reactivates them when they return', async () => {
      await sync();
      const { api_key, user_id } = fieldsOf(await fetchKey('person5@zulip.com', 'pw-person5'));
      const change = (operation: 'add' | 'delete') => {
        const modification = new Attribute({ type: 'member', values: [dnOf('person5')] });
        return ldap.change((client) =>
          client.modify(`cn=chat,ou=groups,${BASE}`, new Change({ operation, modification })),
        );
      };
      await change('delete');
      try {
        expect(countsOf(await sync())).toEqual({ ...NOTHING, deactivated: 1 });
        const as = { ...server.people.hamlet, email: 'person5@zulip.com', apiKey: api_key };
        expect((await server.get('/users/me', as)).status).toBe(401);
        expect((await fetchKey('person5@zulip.com', 'pw-person5')).body.code).toBe('USER_DEACTIVATED');
      } finally {
        await change('add');
      }
      expect(countsOf(await sync())).toEqual({ ...NOTHING, reactivated: 1 });
      expect(fieldsOf(await fetchKey('person5@zulip.com', 'pw-person5'))).toMatchObject({ user_id });
    });

    it('rejects a new entry with the address of a former one', async () => {
      await sync();
      const { user_id } = await userWith('person4@zulip.com');
      await ldap.remove('person4');
      await ldap.add({ uid: 'person4', cn: 'Successor' });
      const reason = expect.stringContaining('another account of this service');
      expect((await fetchKey('person4@zulip.com', 'pw-person4')).body.msg).toEqual(reason);
      const browser = new TestBrowser(server);
      await browser.get('/login/');
      const csrfmiddlewaretoken = browser.cookies.get('csrftoken')!;
      const form = { username: 'person4@zulip.com', password: 'pw-person4', csrfmiddlewaretoken };
      expect((await browser.post('/login/', form)).body).toEqual(reason);
      const report = await sync();
      expect(report.counts).toMatchObject({ linked: 0, reactivated: 0, deactivated: 1 });
      expect(report.problems).toEqual([{ email: 'person4@zulip.com', reason }]);
      expect((await fetchKey('person4@zulip.com', 'pw-person4')).body.code).toBe('USER_DEACTIVATED');
      expect(await userWith('person4@zulip.com')).toMatchObject({ user_id, full_name: 'person4', is_active: false });
    });

    it('never reactivates users deactivated by an administrator', async () => {
      await sync();
      const { user_id } = await userWith('person6@zulip.com');
      fieldsOf(await server.delete(`/users/${user_id}`, server.people.desdemona));
      expect(countsOf(await sync())).toEqual(NOTHING);
      expect(await userWith('person6@zulip.com')).toMatchObject({ is_active: false });
    });

    it('stops instead of deactivating more than a tenth of the users', async () => {
      await sync();
      for (const uid of ['person7', 'person8']) await ldap.remove(uid);
      try {
        const report = await sync();
        expect(report).toMatchObject({ stopped: 'It would deactivate 2 of 15 people.' });
        expect(await userWith('person7@zulip.com')).toMatchObject({ is_active: true });
        expect(countsOf(await sync({ acceptsDeactivations: true }))).toEqual({ ...NOTHING, deactivated: 2 });
      } finally {
        await ldap.add({ uid: 'person7' }, { uid: 'person8' });
      }
    });

    it('never deactivates or demotes the last owner', async () => {
      await ldap.add({ uid: 'desdemona', cn: 'Desdemona' });
      const add = new Change({
        operation: 'add',
        modification: new Attribute({ type: 'member', values: [dnOf('desdemona')] }),
      });
      const chiefs = `cn=chiefs,ou=groups,${BASE}`;
      await ldap.change(async (client) => {
        await client.modify(`cn=chat,ou=groups,${BASE}`, [add]);
        await client.modify(chiefs, [add]);
      });
      try {
        await sync();
        expect(await userWith('desdemona@zulip.com')).toMatchObject({ role: 100 });
      } finally {
        await ldap.remove('desdemona');
      }
      const options = { acceptsDeactivations: true };
      expect(await sync(options)).toMatchObject({ stopped: 'It would deactivate the last owner.' });
      expect(await userWith('desdemona@zulip.com')).toMatchObject({ is_active: true });
    });

    it('reports users that the organization cannot accept and continues', async () => {
      const bot = await server.addBot(server.people.hamlet, 'collision');
      await ldap.add(
        { uid: 'x1', mail: 'same@zulip.com' },
        { uid: 'x2', mail: 'SAME@zulip.com' },
        { uid: 'x3', mail: bot.email },
        { uid: 'x4', mail: 'no address' },
      );
      await server.close();
      await start({ groups: null });
      try {
        const other = await server.addBot(server.people.hamlet, 'collision');
        expect(other.email).toBe(bot.email);
        const report = await sync();
        expect(report.problems.map(({ email }) => email).sort()).toEqual(
          ['SAME@zulip.com', bot.email, 'no address', 'same@zulip.com'].sort(),
        );
        expect(report.counts.created).toBeGreaterThan(10);
      } finally {
        for (const uid of ['x1', 'x2', 'x3', 'x4']) await ldap.remove(uid);
      }
    });
  });
});
