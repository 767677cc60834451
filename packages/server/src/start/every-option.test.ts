import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePushKey } from '@parley/node-adapters';
import { InvalidConfiguration, readConfiguration } from '../configuration/read-configuration.js';
import type { Setting } from '../configuration/setting.js';
import { SETTINGS, type SettingName } from '../configuration/settings.js';
import type { OptionName } from '../facade/parley-config.js';
import { createParley, type ParleyConfig, StartupError } from '../index.js';
import { checkedOptions } from './parley-options.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-options-'));
afterAll(() => rmSync(directory, { recursive: true }));

const certificateFile = join(directory, 'idp.pem');
execFileSync(
  'openssl',
  [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=i',
    '-keyout',
    join(directory, 'key'),
    '-out',
    certificateFile,
  ],
  { stdio: 'pipe' },
);
const PEM = { type: 'pkcs8', format: 'pem' } as const;
const ecKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export(PEM).toString();
const rsaKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(PEM).toString();
const pushKey = makePushKey().privateKey;
const fcm = JSON.stringify({
  project_id: 'p',
  client_email: 'a@p.example',
  private_key: rsaKey,
  token_uri: 'https://oauth2.googleapis.com/token',
});
const SECRET_32 = 'a secret of at least 32 bytes and more';

const OPEN_ID_CONNECT = {
  name: 'id',
  issuer: 'https://id.example.com',
  clientId: 'parley',
  clientSecret: 's',
  kind: 'OpenID Connect',
  displayName: 'Id',
  icon: 'https://id.example.com/icon.png',
  scope: 'openid email',
  realms: ['', 'shop'],
  allowedDomains: ['example.com'],
  trustEmails: true,
  createPeople: true,
  requiredGroups: ['chat'],
  claims: { email: 'email', name: 'name', role: 'role', groups: 'groups', picture: 'picture' },
  groups: { staff: 'Staff' },
  singleLogOut: true,
  roles: { chiefs: 'owner' },
  defaultRole: 'guest',
};
const SAML = {
  name: 'idp',
  entityId: 'https://idp.example.com',
  entryPoint: 'https://idp.example.com/sso',
  certificateFile,
  signsResponse: true,
  displayName: 'Company',
  icon: 'https://idp.example.com/icon.png',
  realms: [''],
  allowedDomains: ['example.com'],
  trustEmails: true,
  createPeople: false,
  requiredGroups: ['chat'],
  attributes: { id: 'id', email: 'mail', name: 'cn', role: 'role', groups: 'groups', picture: 'photo' },
  roles: { chiefs: 'owner' },
  defaultRole: 'unchanged',
};
const LDAP = {
  name: 'company',
  realm: 'shop',
  url: 'ldap://ldap.example.com',
  startTls: true,
  caFile: '/etc/ca.pem',
  bindDn: 'cn=parley',
  bindPassword: 'secret',
  bindPasswordFile: '/etc/password',
  baseDn: 'dc=example',
  userFilter: '(objectClass=person)',
  attributes: { id: 'uid', email: 'mail', name: 'cn', picture: 'photo' },
  groups: {
    baseDn: 'ou=groups',
    filter: '(objectClass=group)',
    memberAttribute: 'member',
    nameAttribute: 'cn',
    required: ['chat'],
    roles: { chiefs: 'administrator' },
    defaultRole: 'member',
  },
  createPeople: false,
  syncMinutes: 0,
};

/** Documented values, and wrong ones of the same types. */
interface Values {
  readonly right: readonly unknown[];
  readonly wrong?: readonly unknown[];
}

const FLAG: Values = { right: [true, false] };
const COUNT: Values = { right: [1, 9_999_999], wrong: [0, 10_000_000] };
const TOKEN: Values = { right: ['x'.repeat(32)], wrong: ['', 'short', `${'x'.repeat(32)} y`] };
const port = (...names: readonly string[]): Values => {
  const functions = Object.fromEntries(names.map((name) => [name, () => {}]));
  return { right: [functions], wrong: [() => {}, ...names.map((name) => ({ ...functions, [name]: 5 }))] };
};

const OPTIONS: Readonly<Record<Exclude<OptionName, 'storage'>, Values>> = {
  database: {
    right: ['sqlite:data/chat.db', 'postgres://chat@db.example/chat'],
    wrong: ['', 'chat.db', 'sqlite:', 'sqlite::memory:', 'mysql://a/b', 'postgres://u:p@h/n'],
  },
  databaseReplica: { right: ['postgres://chat@db.example/chat'], wrong: ['', 'sqlite:a.db', 'postgres://u:p@h/n'] },
  url: { right: ['https://example.com/chat', 'http://localhost:9991'], wrong: ['', 'x', 'ftp://x', 'https://x/?a'] },
  bus: {
    right: [
      'tls://bus.example.com:4222',
      { url: 'nats://127.0.0.1:4222', credentialsFile: '/c', caFile: '/a', contents: false },
    ],
    wrong: ['', 'nats://bus.example.com', 'https://x', {}],
  },
  secret: { right: ['long enough'], wrong: ['', 'short'] },
  jwtSecrets: { right: [{ '': SECRET_32, shop: SECRET_32 }, {}], wrong: [{ '': 'short' }, { shop: 5 }] },
  jwtAudience: { right: ['parley'], wrong: ['', 'a b'] },
  acceptNewSecret: FLAG,
  authenticate: { right: [async () => null] },
  logInUrl: { right: ['https://example.com/login?return_to={next}'], wrong: ['', 'x', 'javascript:alert(1)'] },
  logInButton: { right: [{ name: 'Shop', icon: 'https://example.com/i.png' }, {}] },
  trustedOrigins: {
    right: ['any', [], ['https://example.com', 'capacitor://localhost']],
    wrong: ['*', 'https://example.com', ['https://example.com/']],
  },
  mailer: port('send'),
  smtpUrl: {
    right: ['smtp://user:password@mail.example.com:587', 'smtps://mail.example.com'],
    wrong: ['', 'x', 'http://u:p@h'],
  },
  smtpOAuth: {
    right: [
      {
        tokenUrl: 'https://oauth2.googleapis.com/token',
        clientId: 'id',
        clientSecret: 's',
        refreshToken: 'r',
        scope: 'a b',
      },
    ],
    wrong: [{}, { tokenUrl: 'http://oauth.example.com', clientId: 'id', clientSecret: 's' }],
  },
  mailFrom: { right: ['chat@example.com'], wrong: ['', 'chat'] },
  invitationValidityMinutes: COUNT,
  defaultRealm: { right: ['', 'shop'], wrong: ['The Shop'] },
  realmAddresses: { right: ['host', 'path'], wrong: ['', 'port'] },
  rateLimits: FLAG,
  rateLimitRules: {
    right: [{}, { api_by_user: [{ windowSeconds: 60, limit: 500 }], api_by_ip: [{ windowSeconds: 60, limit: 5 }] }],
    wrong: [{ api_by_users: [] }, { api_by_user: [] }, { api_by_user: [{ windowSeconds: 60 }] }],
  },
  webPublicChannels: FLAG,
  quiet: FLAG,
  limitPresence: FLAG,
  mailGatewayPattern: { right: ['chat+%s@example.com'], wrong: ['', 'chat@example.com', '%s'] },
  mailGatewayToken: TOKEN,
  webhookNetworks: { right: ['10.0.0.0/8,loopback'], wrong: ['', 'lan', '10.0.0.0/99'] },
  outgoingProxy: {
    right: ['off', 'http://user:password@proxy.example.com:3128', 'proxy.example.com:3128'],
    wrong: ['', 'socks5://proxy.example.com', 'http://proxy.example.com/path'],
  },
  webClient: { right: [true, false, 'element'], wrong: ['', 'no', 'false'] },
  frameAncestors: { right: [[], ['https://shop.example.com']], wrong: [['https://shop.example.com/'], ['x']] },
  trustedProxies: { right: [0, 2, 'app', [], ['10.0.0.0/8', 'loopback']], wrong: ['', '1', 100, ['lan']] },
  limits: { right: [{}, { bodyBytes: 1000, connections: 5 }], wrong: [{ foo: 1 }, { bodyBytes: 0 }] },
  shedsLoad: FLAG,
  pushService: {
    right: [{ url: 'https://push.example.com', orgId: 'a', orgKey: 'b' }],
    wrong: [{}, { url: 'x', orgId: 'a', orgKey: 'b' }],
  },
  directPush: {
    right: [{ keys: [pushKey], apns: { key: ecKey, keyId: 'k', teamId: 't', url: 'https://apns.example.com' }, fcm }],
    wrong: [{}, { keys: ['short'], fcm }],
  },
  webPush: { right: ['mailto:ops@example.com', 'https://example.com'], wrong: ['', 'ops@example.com'] },
  notifications: { right: [{}, { push: false, email: true }], wrong: [{ sms: true }] },
  bigBlueButton: { right: [{ url: 'https://bbb.example.com', secret: 's' }], wrong: [{}, { url: 'x', secret: 's' }] },
  giphyApiKey: { right: ['key'], wrong: ['', 'a b'] },
  files: {
    ...port('put', 'sizeOf', 'read', 'remove', 'removeUnfinished', 'list'),
    right: ['folder:files', 's3:bucket/prefix?endpoint=https://s3.example.com&region=r'],
  },
  maxUploadMib: COUNT,
  uploadQuotaMib: COUNT,
  uploadQuotaPerUserMib: COUNT,
  fileSearch: FLAG,
  keepDeletedDays: { right: [0, 30, 9999], wrong: [10_000] },
  keepAuditDays: { right: [0, 400, 9999], wrong: [10_000] },
  auditNames: { right: [true, false], wrong: ['yes'] },
  eventLogMib: COUNT,
  eventQueueMib: COUNT,
  metrics: FLAG,
  logger: port('info', 'error'),
  clock: port('now', 'nowMs'),
  randomness: port('uuid', 'fraction'),
  passwordHasher: port('hash', 'verify'),
  renderer: port('parse', 'parseNow', 'render', 'topicLinks'),
  openIdConnect: { right: [[], [OPEN_ID_CONNECT]], wrong: [[OPEN_ID_CONNECT, OPEN_ID_CONNECT], [{}]] },
  saml: { right: [[], [SAML]], wrong: [[SAML, SAML], [{}]] },
  ldap: { right: [[], [LDAP]], wrong: [[LDAP, LDAP], [{}]] },
};

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
const OF_EVERY_KIND = [true, 7, 'false', 'on', '100', [7], { foo: 1 }, null, () => {}];
const NUMBERS = [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY];

/** Values of other types than those given, and numbers that no option has. */
function wrongFor(right: readonly unknown[]): readonly unknown[] {
  const kinds = new Set(right.map(kindOf));
  const others = OF_EVERY_KIND.filter((value) => !kinds.has(kindOf(value)));
  return kinds.has('number') ? [...others, ...NUMBERS] : others;
}

/** Maps with names of the operator's choice. */
const MAPS = /^(jwtSecrets|.*\.(roles|(?<!^ldap\[0\]\.)groups))$/;

interface Mistake {
  readonly path: string;
  readonly value: unknown;
}

/** Wrong values at each place inside a right value. */
function mistakesIn(value: unknown, path: string): readonly Mistake[] {
  const isArray = Array.isArray(value);
  if (!isArray && (kindOf(value) !== 'object' || Object.values(value as object).some((it) => typeof it === 'function')))
    return [];
  const parts = Object.entries(value as object);
  const unknown = isArray || MAPS.test(path) ? [] : [{ path, value: { ...(value as object), colour: 'red' } }];
  const inside = parts.flatMap(([key, part]) => {
    const place = isArray
      ? `${path}[${key}]`
      : /^\w+$/.test(key)
        ? `${path}.${key}`
        : `${path}[${JSON.stringify(key)}]`;
    const put = (changed: unknown) =>
      isArray
        ? value.map((it, index) => (String(index) === key ? changed : it))
        : { ...(value as object), [key]: changed };
    const wrong = wrongFor([part]).map((changed) => ({ path: place, value: put(changed) }));
    return [...wrong, ...mistakesIn(part, place).map((each) => ({ path: each.path, value: put(each.value) }))];
  });
  return [...unknown, ...inside];
}

const good = () => ({ database: `sqlite:${join(directory, 'data', 'chat.db')}`, url: 'https://example.com/chat' });
const files = () => readdirSync(directory).sort();

describe('createParley', () => {
  const before = files();

  it.each(Object.keys(OPTIONS) as (keyof typeof OPTIONS)[])(
    'names %s in the error for each wrong value',
    async (option) => {
      const { right, wrong = [] } = OPTIONS[option];
      const mistakes = [
        ...[...wrong, ...wrongFor(right)].map((value) => ({ path: option, value })),
        ...right.flatMap((value) => mistakesIn(value, option)),
      ];
      expect(mistakes.length).toBeGreaterThan(4);
      for (const { path, value } of mistakes) {
        const error = await createParley({ ...good(), [option]: value } as ParleyConfig).catch(
          (thrown: unknown) => thrown,
        );
        expect([path, value, error]).toEqual([path, value, expect.any(StartupError)]);
        const { message } = error as StartupError;
        expect([path, message.startsWith(path), message]).toEqual([path, true, message]);
        expect(message).toMatch(/ must be \S| has no property \w/);
      }
      expect(files()).toEqual(before);
    },
  );

  it.each(Object.keys(OPTIONS) as (keyof typeof OPTIONS)[])('accepts the documented values of %s', (option) => {
    const needed = { authenticate: async () => null };
    for (const value of OPTIONS[option].right) {
      expect(() => checkedOptions({ ...good(), ...needed, [option]: value } as unknown as ParleyConfig)).not.toThrow();
    }
  });
});

interface Texts {
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}

const SWITCH: Texts = { right: ['on', 'off', 'true', 'FALSE', '1', '0', 'yes', 'no'], wrong: ['maybe', '2', 'null'] };
const WHOLE: Texts = {
  right: ['1', '9999999'],
  wrong: ['0', '-1', '1.5', '1e3', 'ten', '10000000', '1 MiB', 'NaN', 'on'],
};
const FILE: Texts = { right: ['/etc/parley/file.pem'], wrong: ['x'.repeat(5000)] };
const WORD: Texts = { right: ['a-word'], wrong: ['a b', 'a:b', 'ä'] };
const URLS: Texts = { right: ['https://x.example.com/y'], wrong: ['x', 'ftp://x', 'https://x/?a', 'https://u:p@x'] };
/** Texts of an option. */
const sameAs = (option: keyof typeof OPTIONS): Texts => ({
  right: OPTIONS[option].right.filter((it) => typeof it === 'string' && it !== '') as string[],
  wrong: OPTIONS[option].wrong?.filter((it) => typeof it === 'string' && it !== '') as string[],
});
/** JSON has no functions. */
const jsonOf = (value: unknown) => JSON.stringify(value, (_, part) => (typeof part === 'function' ? null : part));
const asJson = (option: keyof typeof OPTIONS): Texts => {
  const { right, wrong = [] } = OPTIONS[option];
  const mistakes = right.flatMap((value) => mistakesIn(value, option).map((each) => each.value));
  return { right: right.map(jsonOf), wrong: ['{', '7', '"x"', 'null', ...[...wrong, ...mistakes].map(jsonOf)] };
};

const TEXTS: Readonly<Record<SettingName, Texts>> = {
  host: { right: ['127.0.0.1', '::1', '[::1]', 'localhost'], wrong: ['a b', 'http://x'] },
  port: { right: ['0', '65535'], wrong: ['-1', '65536', '1.5', 'x', 'tcp://10.0.0.7:80'] },
  database: sameAs('database'),
  databaseReplica: sameAs('databaseReplica'),
  bus: { right: ['tls://a.example:4222,tls://b.example', 'nats://127.0.0.1'], wrong: ['nats://bus.example.com', 'x'] },
  busCredentials: FILE,
  busCa: FILE,
  busContents: SWITCH,
  url: sameAs('url'),
  defaultRealm: sameAs('defaultRealm'),
  realmAddresses: sameAs('realmAddresses'),
  isDev: SWITCH,
  isDemo: SWITCH,
  isDemoActive: SWITCH,
  isExposed: SWITCH,
  isQuiet: SWITCH,
  webPublic: SWITCH,
  limitPresence: SWITCH,
  mailGatewayPattern: sameAs('mailGatewayPattern'),
  mailGatewayToken: sameAs('mailGatewayToken'),
  smtpIn: { right: ['0.0.0.0:25', '[::1]:2525'], wrong: ['25', '0.0.0.0', '0.0.0.0:99999'] },
  smtpInName: { right: ['mail.example.com'], wrong: ['a b'] },
  smtpInCert: FILE,
  smtpInKey: FILE,
  smtpInConnections: WHOLE,
  maxEmail: WHOLE,
  webhookNetworks: sameAs('webhookNetworks'),
  outgoingProxy: sameAs('outgoingProxy'),
  webClient: SWITCH,
  frameAncestors: { right: ['https://a.example,https://b.example:8443'], wrong: ['https://a.example/', 'x', '*'] },
  trustedProxies: {
    right: ['0', '2', '99', 'on', 'off', '10.0.0.0/8,loopback'],
    wrong: ['-1', '100', 'all', '10.0.0.0/64'],
  },
  rateLimits: SWITCH,
  rateLimitRules: {
    right: ['api_by_user=60:500,3600:9000 api_by_ip=60:50'],
    wrong: [
      'api_by_users=60:5',
      'api_by_user',
      'api_by_user=60',
      'api_by_user=0:5',
      'api_by_user=60:10001',
      'api_by_user=60:0',
    ],
  },
  connections: WHOLE,
  bytesInFlight: WHOLE,
  shedsLoad: SWITCH,
  keepDeletedDays: { right: ['0', '9999'], wrong: ['-1', '10000', '1.5', 'ever'] },
  keepAuditDays: { right: ['0', '9999'], wrong: ['-1', '10000', '1.5', 'ever'] },
  auditNames: { right: ['on', 'off'], wrong: ['names'] },
  eventLogMib: WHOLE,
  eventQueueMib: WHOLE,
  files: { ...sameAs('files'), wrong: ['files', 'folder:', 's3:', 's3:bucket?key=x', 'file:x'] },
  maxUpload: WHOLE,
  uploadQuota: WHOLE,
  uploadQuotaPerUser: WHOLE,
  fileSearch: SWITCH,
  ownerImports: SWITCH,
  logLevel: { right: ['debug', 'info', 'warn', 'error', 'silent'], wrong: ['loud', 'INFO'] },
  metrics: { right: ['127.0.0.1:9464'], wrong: ['9464', 'on'] },
  drainSeconds: { right: ['0', '999'], wrong: ['-1', '1000', '1.5'] },
  pushService: URLS,
  pushOrgId: WORD,
  pushOrgKey: WORD,
  webPush: sameAs('webPush'),
  pushKeys: { right: [pushKey, `${pushKey}, ${makePushKey().privateKey}`], wrong: ['short', `${pushKey},x`] },
  apnsKey: { right: [ecKey, ecKey.replaceAll('\n', '\\n')], wrong: ['x', rsaKey] },
  apnsKeyId: WORD,
  apnsTeamId: WORD,
  apnsUrl: URLS,
  fcmCredentials: { right: [fcm], wrong: ['{', '7', 'null', '{}', ecKey] },
  fcmUrl: URLS,
  bigBlueButtonUrl: URLS,
  bigBlueButtonSecret: WORD,
  giphyApiKey: WORD,
  secret: { right: ['long enough'], wrong: ['short'] },
  jwtSecrets: asJson('jwtSecrets'),
  jwtAudience: { right: ['parley'], wrong: ['a b'] },
  openIdConnect: asJson('openIdConnect'),
  saml: asJson('saml'),
  ldap: asJson('ldap'),
  smtpUrl: sameAs('smtpUrl'),
  smtpOAuthTokenUrl: {
    right: ['https://oauth2.googleapis.com/token', 'http://localhost:8080/token'],
    wrong: ['x', 'ftp://x', 'http://oauth.example.com'],
  },
  smtpOAuthClientId: { right: ['id'], wrong: ['a b'] },
  smtpOAuthClientSecret: { right: ['secret~value'], wrong: ['a secret'] },
  smtpOAuthRefreshToken: { right: ['1//token'], wrong: ['a token'] },
  smtpOAuthScope: { right: ['https://outlook.office365.com/.default', 'a b'], wrong: [' a', 'a  b'] },
  invitationValidity: WHOLE,
  mailFrom: sameAs('mailFrom'),
};

const problemsOf = (args: readonly string[], environment: Record<string, string>): readonly string[] => {
  try {
    readConfiguration(args, environment);
    return [];
  } catch (error) {
    if (error instanceof InvalidConfiguration) return error.problems;
    throw error;
  }
};

describe.each(Object.keys(TEXTS) as SettingName[])('the setting %s', (name) => {
  const { variable, flag, isSwitch, isSecret }: Setting<unknown> = SETTINGS[name];
  const { right, wrong } = TEXTS[name];

  it('names its variable and its option in the error for each wrong text', () => {
    expect(wrong.length).toBeGreaterThan(0);
    for (const text of wrong) {
      const problems = problemsOf([], { [variable]: text });
      expect([text, problems.filter((problem) => problem.startsWith(variable))]).toEqual([text, [expect.any(String)]]);
      if (isSecret && text.length > 4) expect(problems.join()).not.toContain(text);
      if (flag === undefined || isSwitch) continue;
      const origin = `--${flag}`;
      expect(problemsOf([`${origin}=${text}`], {})).toContainEqual(
        expect.stringMatching(new RegExp(`^${origin}[ .[].*(must be|has no)`)),
      );
    }
  });

  it('accepts each documented text', () => {
    const ofOne = (problems: readonly string[], origin: string) =>
      problems.filter((problem) => problem.startsWith(origin) && problem.includes(' must be '));
    expect(right.length).toBeGreaterThan(0);
    for (const text of right) {
      expect(ofOne(problemsOf([], { [variable]: text }), variable)).toEqual([]);
      if (flag === undefined || isSwitch) continue;
      expect(ofOne(problemsOf([`--${flag}=${text}`], {}), `--${flag}`)).toEqual([]);
    }
  });
});
