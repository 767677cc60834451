import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { TRANSPORT_LIMITS } from '@parley/http';
import { makePushKey } from '@parley/node-adapters';
import { formatSecret } from '../kernel/secret-format.js';
import type { Configuration } from './configuration.js';
import { InvalidConfiguration, readConfiguration } from './read-configuration.js';
import { describeSettings, renderConfigurationDocument } from './settings.js';

const MIB = 1024 * 1024;

const read = (args: readonly string[] = [], environment: Record<string, string> = {}): Configuration =>
  readConfiguration(args, environment).configuration;

describe('readConfiguration', () => {
  it('provides a default for every setting', () => {
    expect(read()).toEqual({
      host: '127.0.0.1',
      port: 9991,
      database: { kind: 'sqlite', path: 'parley-data/parley.db' },
      databaseReplica: null,
      busLocation: null,
      isDev: false,
      isDemo: false,
      isDemoActive: false,
      isQuiet: null,
      allowsOwnerImports: true,
      url: null,
      defaultRealm: null,
      realmAddresses: 'host',
      allowsWebPublicChannels: false,
      limitsPresence: false,
      mailGatewayPattern: null,
      incomingMail: { token: null, maxBytes: 25 * 1024 ** 2, smtp: null },
      webhookNetworks: [],
      outgoingProxy: { http: null, https: null, exceptions: [] },
      trustedProxies: 0,
      secret: null,
      push: null,
      webPush: null,
      bigBlueButton: null,
      giphyApiKey: null,
      jwtSecrets: new Map(),
      openIdConnect: [],
      ldap: [],
      saml: [],
      jwtAudience: null,
      smtpUrl: null,
      smtpOAuth: null,
      mailFrom: null,
      invitationValidityMinutes: 14_400,
      hasRateLimits: true,
      webClient: 'application',
      frameAncestors: [],
      rateLimitRules: {},
      limits: expect.any(Object),
      files: null,
      fileLimits: { maxFileMib: 100, quotaMib: null, userQuotaMib: null },
      searchesFiles: true,
      keepDeletedDays: 30,
      keepAuditDays: 400,
      auditNames: false,
      eventLimits: { maxLogBytes: 256 * 1024 ** 2, maxQueueBytes: 16 * 1024 ** 2 },
      shedsLoad: true,
      logLevel: 'info',
      metricsAddress: null,
      drainSeconds: 0,
    });
    // Equal to the defaults without any configuration.
    expect({ ...TRANSPORT_LIMITS, ...read().limits }).toEqual(TRANSPORT_LIMITS);
  });

  it('reads the environment', () => {
    const environment = {
      PARLEY_HOST: '0.0.0.0',
      PARLEY_PORT: '80',
      PARLEY_DATABASE: 'sqlite:/var/lib/parley.db',
      PARLEY_URL: 'https://chat.example.com/',
      PARLEY_REALM_ADDRESSES: 'path',
      PARLEY_TRUST_PROXY: '2',
      PARLEY_SECRET: 'correct horse battery staple',
      PARLEY_JWT_SECRETS: '{"":"correct horse battery staple and more"}',
      PARLEY_JWT_AUDIENCE: 'https://chat.example.com',
      PARLEY_SMTP_URL: 'smtps://user:password@mail.example.com',
      PARLEY_MAIL_FROM: 'chat@example.com',
      PARLEY_INVITATION_LINK_VALIDITY_MINUTES: '60',
      PARLEY_RATE_LIMITS: 'off',
      PARLEY_RATE_LIMIT_RULES: 'api_by_ip=60:50',
      PARLEY_LOG_LEVEL: 'error',
      PARLEY_MAX_CONNECTIONS: '100',
      PARLEY_BYTES_IN_FLIGHT: '64',
      PARLEY_SHED_LOAD: 'off',
      PARLEY_PUSH_SERVICE: 'https://push.example.com/',
      PARLEY_PUSH_ORG_ID: 'id',
      PARLEY_PUSH_ORG_KEY: 'key',
      PARLEY_BIGBLUEBUTTON_URL: 'https://bbb.example.com/bigbluebutton/',
      PARLEY_BIGBLUEBUTTON_SECRET: 'shared',
      PARLEY_GIPHY_API_KEY: 'key-of-gifs',
      PARLEY_WEB_PUSH: 'mailto:ops@example.com',
      PARLEY_METRICS: '[::1]:9464',
      PARLEY_DRAIN_SECONDS: '5',
      PARLEY_KEEP_DELETED: '7',
      PARLEY_KEEP_AUDIT: '90',
      PARLEY_AUDIT_NAMES: 'on',
      PARLEY_EVENT_LOG: '64',
      PARLEY_EVENT_QUEUE: '4',
      PARLEY_FILES: 'folder:/var/lib/files',
      PARLEY_MAX_UPLOAD: '25',
      PARLEY_UPLOAD_QUOTA: '5000',
      PARLEY_FILE_SEARCH: 'off',
      PARLEY_LIMIT_PRESENCE: 'on',
      PARLEY_WEB_CLIENT: 'off',
      PARLEY_FRAME_ANCESTORS: 'https://shop.example.com, http://localhost:8080',
      PARLEY_MAIL_GATEWAY_PATTERN: 'chat+%s@example.com',
      PARLEY_MAIL_GATEWAY_TOKEN: 't'.repeat(32),
      PARLEY_SMTP_IN: '0.0.0.0:25',
      PARLEY_SMTP_IN_CERT: '/etc/cert.pem',
      PARLEY_SMTP_IN_KEY: '/etc/key.pem',
      PARLEY_SMTP_IN_CONNECTIONS: '7',
      PARLEY_MAX_EMAIL: '5',
      PARLEY_QUIET: '1',
    };
    expect(read([], environment)).toEqual({
      host: '0.0.0.0',
      port: 80,
      database: { kind: 'sqlite', path: '/var/lib/parley.db' },
      databaseReplica: null,
      busLocation: null,
      isDev: false,
      isDemo: false,
      isDemoActive: false,
      isQuiet: true,
      allowsOwnerImports: true,
      url: 'https://chat.example.com',
      defaultRealm: null,
      realmAddresses: 'path',
      allowsWebPublicChannels: false,
      limitsPresence: true,
      mailGatewayPattern: 'chat+%s@example.com',
      incomingMail: {
        token: 't'.repeat(32),
        maxBytes: 5 * 1024 ** 2,
        smtp: {
          host: '0.0.0.0',
          port: 25,
          name: 'example.com',
          tls: { cert: '/etc/cert.pem', key: '/etc/key.pem' },
          connections: 7,
        },
      },
      webhookNetworks: [],
      outgoingProxy: { http: null, https: null, exceptions: [] },
      trustedProxies: 2,
      secret: 'correct horse battery staple',
      push: { url: 'https://push.example.com', orgId: 'id', orgKey: 'key' },
      webPush: 'mailto:ops@example.com',
      bigBlueButton: { url: 'https://bbb.example.com/bigbluebutton', secret: 'shared' },
      giphyApiKey: 'key-of-gifs',
      openIdConnect: [],
      ldap: [],
      saml: [],
      jwtSecrets: new Map([['', 'correct horse battery staple and more']]),
      jwtAudience: 'https://chat.example.com',
      smtpUrl: 'smtps://user:password@mail.example.com',
      smtpOAuth: null,
      mailFrom: 'chat@example.com',
      invitationValidityMinutes: 60,
      hasRateLimits: false,
      webClient: 'none',
      frameAncestors: ['https://shop.example.com', 'http://localhost:8080'],
      rateLimitRules: { api_by_ip: [{ windowSeconds: 60, limit: 50 }] },
      limits: {
        connections: 100,
        connectionsPerAddress: 25,
        answersBytes: 64 * MIB,
        bodiesBytes: 32 * MIB,
        anonymousBodiesBytes: 4 * MIB,
        filesBytes: 128 * MIB,
      },
      files: { kind: 'folder', path: '/var/lib/files' },
      fileLimits: { maxFileMib: 25, quotaMib: 5000, userQuotaMib: null },
      searchesFiles: false,
      keepDeletedDays: 7,
      keepAuditDays: 90,
      auditNames: true,
      eventLimits: { maxLogBytes: 64 * MIB, maxQueueBytes: 4 * MIB },
      shedsLoad: false,
      logLevel: 'error',
      metricsAddress: { host: '::1', port: 9464 },
      drainSeconds: 5,
    });
  });

  it('prefers flags to the environment', () => {
    const environment = { PARLEY_PORT: '1', PARLEY_DEV: 'on', PARLEY_DATABASE: 'sqlite:a.db' };
    expect(read(['--port', '2', '--no-dev', '--database=sqlite:b.db'], environment)).toMatchObject({
      port: 2,
      isDev: false,
      database: { path: 'b.db' },
    });
  });

  it.each`
    given                               | kept
    ${'https://chat.example.com'}       | ${'https://chat.example.com'}
    ${'https://chat.example.com:8443/'} | ${'https://chat.example.com:8443'}
    ${'http://example.com/chat/'}       | ${'http://example.com/chat'}
  `('normalizes $given to $kept', ({ given, kept }) => {
    expect(read(['--url', given]).url).toBe(kept);
  });

  it('treats an empty variable as unset', () => {
    expect(read([], { PARLEY_PORT: '', PARLEY_URL: '', PARLEY_DEV: '', PARLEY_SECRET: '' })).toEqual(read());
  });

  it('returns positional arguments', () => {
    expect(readConfiguration(['grant', '--port', '2', 'a@b.example'], {}).positionals).toEqual([
      'grant',
      'a@b.example',
    ]);
  });

  it.each`
    dev      | asked        | limited
    ${'off'} | ${undefined} | ${true}
    ${'on'}  | ${undefined} | ${false}
    ${'on'}  | ${'on'}      | ${true}
    ${'off'} | ${'off'}     | ${false}
  `('sets rate limits to $limited for dev mode $dev and option $asked', ({ dev, asked, limited }) => {
    const environment = { PARLEY_DEV: dev, ...(asked && { PARLEY_RATE_LIMITS: asked }) };
    expect(read([], environment).hasRateLimits).toBe(limited);
  });

  it('accepts a database address with several hosts, each of them valid and without a password', () => {
    const url = 'postgres://parley@db1.example.com,db2.example.com:5433/parley?sslmode=verify-full';
    expect(read(['--database', url]).database).toEqual({ kind: 'postgres', url });
    for (const wrong of ['db1,db2:x/parley', 'parley:hunter2@db1,db2/parley', 'db1,db2/p?password=x'])
      expect(() => read(['--database', `postgres://${wrong}`])).toThrow(/of the form postgres:\/\/USER@HOST\/NAME/);
  });

  it.each([
    ['s3:my-bucket', { bucket: 'my-bucket', prefix: '', endpoint: null, region: 'us-east-1' }],
    ['s3:my.bucket/chat/files', { bucket: 'my.bucket', prefix: 'chat/files/', endpoint: null, region: 'us-east-1' }],
    [
      's3:files/?endpoint=http://127.0.0.1:9000/&region=eu-central-1',
      { bucket: 'files', prefix: '', endpoint: 'http://127.0.0.1:9000', region: 'eu-central-1' },
    ],
  ])('accepts the bucket %s for files', (given, location) => {
    expect(read(['--files', given]).files).toEqual({ kind: 's3', ...location });
  });

  it.each`
    args                                            | environment                                                   | message
    ${['--port', '99999']}                          | ${{}}                                                         | ${'--port must be an integer from 0 to 65535, not "99999".'}
    ${['--port', '']}                               | ${{}}                                                         | ${'--port must be an integer from 0 to 65535, not "".'}
    ${[]}                                           | ${{ PARLEY_PORT: 'x' }}                                       | ${'PARLEY_PORT must be an integer from 0 to 65535, not "x".'}
    ${[]}                                           | ${{ PARLEY_DATABASE: 'a.db' }}                                | ${'PARLEY_DATABASE must be of the form sqlite:PATH or postgres://USER@HOST/NAME, not "a.db".'}
    ${[]}                                           | ${{ PARLEY_DEV: 'maybe' }}                                    | ${'PARLEY_DEV must be on or off, not "maybe".'}
    ${[]}                                           | ${{ PARLEY_HOST: 'a b' }}                                     | ${'PARLEY_HOST must be an address to listen on, such as 127.0.0.1, not "a b".'}
    ${['--files', 's3:']}                           | ${{}}                                                         | ${/^--files must be of the form folder:PATH, or s3:/}
    ${['--files', 's3:bucket?key=x']}               | ${{}}                                                         | ${/^--files must be of the form folder:PATH, or s3:/}
    ${[]}                                           | ${{ PARLEY_JWT_SECRETS: '{"":"short"}' }}                     | ${'PARLEY_JWT_SECRETS[""] must be a secret of 32 bytes or more.'}
    ${[]}                                           | ${{ PARLEY_JWT_SECRETS: '[' }}                                | ${/^PARLEY_JWT_SECRETS must be JSON such as/}
    ${[]}                                           | ${{ PARLEY_JWT_SECRETS: 'null' }}                             | ${/^PARLEY_JWT_SECRETS must be JSON such as/}
    ${[]}                                           | ${{ PARLEY_TRUST_PROXY: 'all' }}                              | ${/^PARLEY_TRUST_PROXY must be the number of trusted proxies/}
    ${['--url', 'https://chat.example.com/?a']}     | ${{}}                                                         | ${/^--url must be an address such as https:/}
    ${['--log-level', 'loud']}                      | ${{}}                                                         | ${'--log-level must be one of debug, info, warn, error, silent, not "loud".'}
    ${['--prot', '1']}                              | ${{}}                                                         | ${'There is no option --prot; did you mean --port?'}
    ${['--zzz', '1']}                               | ${{}}                                                         | ${'There is no option --zzz; see parley --help.'}
    ${['--dev=on']}                                 | ${{}}                                                         | ${'--dev takes no value.'}
    ${['--port']}                                   | ${{}}                                                         | ${'--port needs a value.'}
    ${['--no-port']}                                | ${{}}                                                         | ${/^There is no option --no-port/}
    ${[]}                                           | ${{ PARLEY_PROT: '80' }}                                      | ${'There is no setting PARLEY_PROT; did you mean PARLEY_PORT?'}
    ${[]}                                           | ${{ PARLEY_COLOUR: 'red' }}                                   | ${'There is no setting PARLEY_COLOUR; see parley --help.'}
    ${['--trust-proxy', '10.0.0.0/64']}             | ${{}}                                                         | ${/^--trust-proxy must be the number of trusted proxies, from 0 to 99, or their networks/}
    ${['--trust-proxy', 'loopback', '--dev']}       | ${{}}                                                         | ${/^Dev mode is refused behind a proxy/}
    ${['--rate-limit-rules', 'api_by_you=60:5']}    | ${{}}                                                         | ${'--rate-limit-rules has no property api_by_you; did you mean api_by_ip?'}
    ${['--rate-limit-rules', 'api_by_ip=60']}       | ${{}}                                                         | ${/^--rate-limit-rules must be rules as in api_by_user=60:500,3600:9000/}
    ${['--rate-limit-rules', 'api_by_ip=60:99999']} | ${{}}                                                         | ${/^--rate-limit-rules.api_by_ip\[0\].limit must be an integer from 1 to 10000, not /}
    ${[]}                                           | ${{ PARLEY_SECRET_FILE: '/nowhere/secret' }}                  | ${/^PARLEY_SECRET_FILE: \/nowhere\/secret cannot be read: no such file or directory\.$/}
    ${[]}                                           | ${{ PARLEY_SECRET: 'long enough', PARLEY_SECRET_FILE: '/x' }} | ${'Both PARLEY_SECRET and PARLEY_SECRET_FILE are set; set only one of them.'}
    ${['--host', '0.0.0.0', '--demo']}              | ${{}}                                                         | ${/^Demo data is refused on 0\.0\.0\.0/}
    ${['--host', '192.168.1.4', '--dev']}           | ${{}}                                                         | ${/^Dev mode is refused on 192\.168\.1\.4/}
    ${['--url', 'https://a.example', '--dev']}      | ${{}}                                                         | ${/^Dev mode is refused at https:\/\/a\.example, .*leave --url out/}
    ${['--trust-proxy', '1', '--demo']}             | ${{}}                                                         | ${/^Demo data is refused behind a proxy, .*leave --trust-proxy out/}
    ${['--metrics', '9464']}                        | ${{}}                                                         | ${'--metrics must be an address and a port, such as 127.0.0.1:9464, not "9464".'}
    ${['--max-connections', '0']}                   | ${{}}                                                         | ${'--max-connections must be an integer from 1 to 9999999, not "0".'}
    ${[]}                                           | ${{ PARLEY_SMTP_URL: 'http://u:p@a' }}                        | ${'PARLEY_SMTP_URL must be a mail server such as smtp://user:password@mail.example.com:587.'}
    ${['--mail-from', 'chat']}                      | ${{}}                                                         | ${'--mail-from must be an address such as chat@example.com, not "chat".'}
    ${[]}                                           | ${{ PARLEY_PUSH_ORG_KEY: 'a b' }}                             | ${'PARLEY_PUSH_ORG_KEY must be printable ASCII characters without spaces and colons.'}
    ${['--smtp-in', '0.0.0.0:25']}                  | ${{}}                                                         | ${/^Receiving email needs PARLEY_MAIL_GATEWAY_PATTERN/}
    ${['--smtp-in-cert', 'a.pem']}                  | ${{}}                                                         | ${/^STARTTLS needs both/}
    ${[]}                                           | ${{ PARLEY_MAIL_GATEWAY_TOKEN: 'short' }}                     | ${'PARLEY_MAIL_GATEWAY_TOKEN must be at least 32 printable ASCII characters without blanks.'}
    ${['--push-org-id', 'id']}                      | ${{}}                                                         | ${/^A push service needs PARLEY_PUSH_SERVICE, /}
    ${[]}                                           | ${{ PARLEY_PUSH_KEYS: 'short' }}                              | ${'PARLEY_PUSH_KEYS[0] must be a key as `parley push key` prints it.'}
    ${[]}                                           | ${{ PARLEY_PUSH_KEYS: makePushKey().privateKey }}             | ${/^Delivery to phones needs PARLEY_PUSH_KEYS, and APNs /}
    ${['--apns-key-id', 'id']}                      | ${{}}                                                         | ${/^APNs needs PARLEY_APNS_KEY, /}
    ${[]}                                           | ${{ PARLEY_APNS_KEY: 'secret' }}                              | ${'PARLEY_APNS_KEY must be the content of a .p8 file from Apple.'}
    ${[]}                                           | ${{ PARLEY_FCM_CREDENTIALS: '{"private_key":"secret"}' }}     | ${'PARLEY_FCM_CREDENTIALS must be the content of the JSON key file of a Google service account.'}
    ${[]}                                           | ${{ PARLEY_BIGBLUEBUTTON_SECRET: 'shared' }}                  | ${/^BigBlueButton needs both PARLEY_BIGBLUEBUTTON_URL and /}
    ${[]}                                           | ${{ PARLEY_SECRET: 'short' }}                                 | ${'PARLEY_SECRET must be at least 8 characters long.'}
  `('rejects $args $environment with a one-line message', ({ args, environment, message }) => {
    expect(() => read(args, environment)).toThrow(
      expect.objectContaining({
        name: 'StartupError',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      }),
    );
  });

  it.each(['127.0.0.1', '127.1.2.3', '::1', '[::1]', 'localhost'])('allows the demo on %s', (host) => {
    expect(read(['--host', host, '--demo', '--dev'])).toMatchObject({ isDemo: true, isDev: true });
  });

  it.each(['http://localhost:9991', 'http://zulip.localhost', 'http://127.0.0.1/chat', 'http://[::1]:9991'])(
    'allows the demo at the URL %s',
    (url) => {
      expect(read(['--url', url, '--demo', '--dev'])).toMatchObject({ url });
    },
  );

  it('allows the demo on any address if explicitly forced', () => {
    const anywhere = ['--host', '0.0.0.0', '--url', 'https://a.example', '--trust-proxy', '1'];
    expect(read([...anywhere, '--demo', '--dev', '--allow-public-demo'])).toMatchObject({ isDemo: true });
    expect(read(anywhere)).toMatchObject({ isDemo: false });
  });

  it('reports all mistakes at once', () => {
    const environment = { PARLEY_PORT: 'x', PARLEY_PROT: '80', PARLEY_SECRET: 'short' };
    expect(() => read(['--url', 'nope'], environment)).toThrow(InvalidConfiguration);
    try {
      read(['--url', 'nope'], environment);
    } catch (error) {
      expect(
        (error as InvalidConfiguration).problems.map((problem) => problem.split(' ').slice(0, 4).join(' ')),
      ).toEqual(['There is no setting', 'PARLEY_PORT must be an', '--url must be an', 'PARLEY_SECRET must be at']);
      expect((error as Error).message).toMatch(/ \(3 more; see parley config check\)$/);
    }
  });

  it.each`
    given                      | trusted
    ${'2'}                     | ${2}
    ${'on'}                    | ${1}
    ${'10.0.0.0/8, 192.0.2.1'} | ${['10.0.0.0/8', '192.0.2.1']}
    ${'loopback'}              | ${['127.0.0.0/8', '::1/128']}
  `('parses trusted proxies $given', ({ given, trusted }) => {
    expect(read(['--trust-proxy', given]).trustedProxies).toEqual(trusted);
  });

  it('parses rate limit rules', () => {
    expect(read(['--rate-limit-rules', ' api_by_user=60:500,3600:9000  api_by_ip=60:50 ']).rateLimitRules).toEqual({
      api_by_user: [
        { windowSeconds: 60, limit: 500 },
        { windowSeconds: 3600, limit: 9000 },
      ],
      api_by_ip: [{ windowSeconds: 60, limit: 50 }],
    });
  });

  describe('secret file', () => {
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'parley-config-'));
    });
    afterEach(() => rmSync(directory, { recursive: true }));
    const file = (content: string): string => {
      const path = join(directory, 'file');
      writeFileSync(path, content);
      return path;
    };

    it.each([
      'correct horse battery staple',
      'correct horse battery staple\n',
      formatSecret('correct horse battery staple'),
    ])('reads a secret file that contains %j', (content) => {
      expect(read([], { PARLEY_SECRET_FILE: file(content) }).secret).toBe('correct horse battery staple');
    });

    it('reads every kind of secret from a file', () => {
      const PARLEY_SMTP_URL_FILE = file('smtp://user:password@mail.example.com\n');
      expect(read([], { PARLEY_SMTP_URL_FILE }).smtpUrl).toBe('smtp://user:password@mail.example.com');
    });

    it('rejects a damaged secret file without revealing its content', () => {
      const content = formatSecret('correct horse battery staple').replace('horse', 'mouse');
      const path = file(content);
      expect(() => read([], { PARLEY_SECRET_FILE: path })).toThrow(
        new Error('PARLEY_SECRET_FILE must be undamaged; its checksum does not match.'),
      );
    });
  });

  it('docs/configuration.md (update with npm run docs:generate)', () => {
    const document = readFileSync(resolve(__dirname, '../../../../docs/configuration.md'), 'utf8');
    expect(document).toBe(renderConfigurationDocument());
  });

  it('describes every environment variable', () => {
    const variables = 'HOST PORT DATABASE DEV DEMO URL TRUST_PROXY SECRET RATE_LIMITS'.split(' ');
    for (const variable of variables) expect(describeSettings()).toContain(`PARLEY_${variable} `);
  });
});
