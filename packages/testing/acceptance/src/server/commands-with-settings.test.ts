import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMANDS, runCommand, SETTINGS } from '@parley/server/testing';
import { credentialsOf, PRIVATE_KEY, TestApns, TestFcm } from '../testing/test-phone-services.js';
import { TestSmtpServer } from '../testing/test-smtp-server.js';

const URL = 'https://chat.example.com';
const EMAIL = 'ann@example.com';

/** Arguments of each command, in an order in which all commands succeed. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'config check': [],
  'realm create': ['--new-database', '', 'Root'],
  'realm list': [],
  'realm show': [''],
  'realm rename': ['', 'Roots'],
  'realm set': ['', 'inviteRequired', 'off'],
  'realm deactivate': [''],
  'realm reactivate': [''],
  'user create': [EMAIL, 'Ann Lee', '--role=owner'],
  'user import': ['FOLDER/people.csv'],
  'user list': [],
  'user show': [EMAIL],
  'user rename': [EMAIL, 'Ann Roe'],
  'user set-email': ['bob@example.com', 'robert@example.com'],
  'user set-password': [EMAIL, '--password-stdin'],
  'user set-role': ['robert@example.com', 'moderator'],
  'user deactivate': ['robert@example.com'],
  'user release-address': ['robert@example.com'],
  'user reactivate': ['user5@released.parley.invalid'],
  'audit verify': [],
  'audit export': ['FOLDER/audit.csv'],
  'user erase': ['5', '--yes'],
  'erasure list': [],
  'erasure ledger': ['FOLDER/ledger'],
  'erasure replay': ['FOLDER/ledger'],
  'erasure verify': ['--words=FOLDER/words.txt'],
  'hold create': [`--person=${EMAIL}`, '--reason=Case 1'],
  'hold list': [],
  'hold export': ['1', 'FOLDER/held.zip'],
  'export verify': ['FOLDER/held.zip'],
  'hold release': ['1'],
  'user export': [EMAIL, 'FOLDER/person.zip'],
  'user password-link': [EMAIL],
  'user api-key': [EMAIL, '--zuliprc'],
  'user sessions': [EMAIL],
  'user second-factor': [EMAIL],
  'user linked-accounts': [EMAIL],
  'user grant': [EMAIL, 'can_change_user_emails'],
  'directory sync': ['--dry-run'],
  'scim token create': ['okta'],
  'scim token list': [],
  'scim token revoke': ['okta'],
  'limits forget': ['--all'],
  'message restore': ['--since=2026-07-31'],
  'search rebuild': [],
  'file adopt': [],
  'file strip': [],
  'file sweep': [],
  'mail test': [EMAIL],
  'mail bounced': [],
  'mail unbounce': [EMAIL],
  'mail revoke': ['chat+0123456789abcdef0123456789abcdef@example.com'],
  'notify test': [EMAIL],
  'push key': [],
  export: ['FOLDER/export.tar.gz'],
  import: ['FOLDER/export.tar.gz', '--as=copy'],
  'imports list': ['--realm=copy'],
  migrate: [],
  'database compact': [],
  doctor: ['--thorough'],
  backup: ['FOLDER/backup.tar'],
  'backup list': ['FOLDER'],
  'backup verify': ['FOLDER/backup.tar'],
  restore: ['FOLDER/backup.tar', '--database=sqlite:FOLDER/restored/parley.db'],
  serve: [],
};

describe('parley command with every setting in the environment file', () => {
  let folder: string;
  let envFile: string;
  const smtp = new TestSmtpServer();
  let apns: TestApns;
  let fcm: TestFcm;
  beforeAll(async () => {
    apns = await TestApns.start();
    fcm = await TestFcm.start();
    await smtp.listen();
    folder = mkdtempSync(join(tmpdir(), 'parley-settings-'));
    mkdirSync(join(folder, 'files'));
    writeFileSync(join(folder, 'words.txt'), 'a word of nobody\n');
    writeFileSync(join(folder, 'people.csv'), 'email,name\nbob@example.com,Bob Roe\n');
    envFile = join(folder, 'parley.env');
    const values: Readonly<Record<keyof typeof SETTINGS, string>> = {
      host: '127.0.0.1',
      port: '0',
      database: `sqlite:${join(folder, 'data/parley.db')}`,
      // Servers on SQLite use neither a replica nor a bus.
      databaseReplica: '',
      bus: '',
      busCredentials: '/run/secrets/nats.creds',
      busCa: '/etc/ssl/nats.pem',
      busContents: 'on',
      url: URL,
      defaultRealm: '',
      realmAddresses: 'path',
      isDev: 'on',
      isDemo: 'on',
      isDemoActive: 'on',
      isExposed: 'on',
      isQuiet: 'off',
      webPublic: 'on',
      limitPresence: 'on',
      mailGatewayPattern: 'chat+%s@example.com',
      mailGatewayToken: 'a token of at least thirty-two characters'.replaceAll(' ', '-'),
      smtpIn: '127.0.0.1:0',
      smtpInName: 'mail.example.com',
      smtpInCert: '',
      smtpInKey: '',
      smtpInConnections: '5',
      maxEmail: '10',
      webClient: 'off',
      frameAncestors: 'https://shop.example.com,http://localhost:8080',
      webhookNetworks: '10.0.0.0/8,loopback',
      outgoingProxy: 'off',
      webPush: 'mailto:ops@example.com',
      trustedProxies: '10.0.0.0/8,loopback',
      rateLimits: 'on',
      rateLimitRules: 'api_by_ip=60:50',
      connections: '100',
      bytesInFlight: '64',
      shedsLoad: 'on',
      keepDeletedDays: '7',
      keepAuditDays: '90',
      auditNames: 'off',
      files: `folder:${join(folder, 'files')}`,
      maxUpload: '25',
      uploadQuota: '50',
      fileSearch: 'on',
      ownerImports: 'off',
      uploadQuotaPerUser: '30',
      logLevel: 'silent',
      metrics: '127.0.0.1:0',
      drainSeconds: '0',
      // Excluded by the accounts for direct delivery.
      ...{ pushService: '', pushOrgId: '', pushOrgKey: '' },
      pushKeys: PRIVATE_KEY,
      apnsKey: `'${apns.account.key.replaceAll('\n', '\\n')}'`,
      ...{ apnsKeyId: 'KEY1234567', apnsTeamId: 'TEAM123456', apnsUrl: apns.account.url },
      fcmUrl: fcm.account.url,
      fcmCredentials: `'${credentialsOf(fcm.account)}'`,
      bigBlueButtonUrl: 'https://bbb.example.com/bigbluebutton',
      bigBlueButtonSecret: 'shared',
      giphyApiKey: 'key-of-gifs',
      secret: 'correct horse # battery staple',
      jwtSecrets: '{"":"correct horse battery staple and more"}',
      eventLogMib: '128',
      eventQueueMib: '8',
      jwtAudience: 'https://chat.example.com',
      openIdConnect: '[]',
      ldap: '[]',
      saml: '[]',
      smtpUrl: smtp.url,
      // mailers.test.ts logs in by OAuth 2.
      ...{ smtpOAuthTokenUrl: '', smtpOAuthClientId: '', smtpOAuthClientSecret: '' },
      ...{ smtpOAuthRefreshToken: '', smtpOAuthScope: '' },
      invitationValidity: '60',
      mailFrom: 'chat@example.com',
    };
    const lines = Object.entries(SETTINGS).map(
      ([name, { variable }]) => `${variable}=${values[name as keyof typeof SETTINGS]}`,
    );
    writeFileSync(envFile, lines.join('\n'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await Promise.all([smtp.close(), apns.close(), fcm.close()]);
  });

  async function run(...args: readonly string[]) {
    return runCommand([...args, `--env-file=${envFile}`], { input: 'nothing will come of nothing' });
  }

  it('has arguments for every command', () => {
    // These commands need other servers; push-server.test.ts, move.test.ts and the cluster story run them.
    const ofServers = ['push register', 'push backup', 'move', 'cluster finish-upgrade', 'cluster status'];
    // Imports from another system; import-records.test.ts runs these commands.
    const others = [
      ...ofServers,
      // Rejects PARLEY_FILES; files-mark.test.ts runs it.
      'file split',
      'imports verify',
      'imports files',
      'imports undo',
      'imports merge',
      'imports unmerge',
    ];
    const names = COMMANDS.map(({ name }) => name).filter((name) => !others.includes(name));
    expect(Object.keys(ARGUMENTS).sort()).toEqual(names.sort());
  });

  const printed: Record<string, string> = {};
  it.each(Object.keys(ARGUMENTS))('runs %s', async (name) => {
    const args = ARGUMENTS[name]!.map((arg) => arg.replace('FOLDER', folder));
    const { code, out, err } = await run(...name.split(' '), ...args);
    expect([code, err]).toEqual([0, '']);
    printed[name] = out;
  });

  it('prints links to the public address of the server', () => {
    expect(printed['user password-link']).toMatch(`${URL}/`);
    expect(printed['user api-key']).toContain(`site=${URL}`);
    expect(printed['realm list']).toContain(URL);
  });
});
