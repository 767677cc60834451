import { isParsableUrl } from '@parley/domain/kernel';
import { type ParamType, TRANSPORT_LIMITS, type TransportLimits } from '@parley/http';
import { PUSH_SETTINGS } from '../configuration/push-settings.js';
import { PATH } from '../configuration/setting-values.js';
import { SETTINGS, type SettingName } from '../configuration/settings.js';
import type {
  BusOptions,
  DirectPushOptions,
  OptionName,
  OwnNotifications,
  ParleyConfig,
  SmtpOAuthOptions,
} from '../facade/parley-config.js';
import { StartupError } from '../kernel/startup-error.js';
import {
  anyOf,
  arrayOr,
  boolean,
  described,
  integer,
  listOf,
  object,
  oneOf,
  optional,
  problemOf,
  type ShapeOf,
  text,
  valueType,
  withFunctions,
} from '../kernel/values.js';

/** Options of `createParley` that are settings of `parley serve` too, by name of the setting. */
export const SETTING_OF = {
  database: 'database',
  databaseReplica: 'databaseReplica',
  url: 'url',
  secret: 'secret',
  jwtSecrets: 'jwtSecrets',
  jwtAudience: 'jwtAudience',
  smtpUrl: 'smtpUrl',
  mailFrom: 'mailFrom',
  invitationValidityMinutes: 'invitationValidity',
  defaultRealm: 'defaultRealm',
  realmAddresses: 'realmAddresses',
  rateLimits: 'rateLimits',
  rateLimitRules: 'rateLimitRules',
  webPublicChannels: 'webPublic',
  quiet: 'isQuiet',
  limitPresence: 'limitPresence',
  mailGatewayPattern: 'mailGatewayPattern',
  mailGatewayToken: 'mailGatewayToken',
  webhookNetworks: 'webhookNetworks',
  outgoingProxy: 'outgoingProxy',
  frameAncestors: 'frameAncestors',
  shedsLoad: 'shedsLoad',
  webPush: 'webPush',
  giphyApiKey: 'giphyApiKey',
  maxUploadMib: 'maxUpload',
  uploadQuotaMib: 'uploadQuota',
  uploadQuotaPerUserMib: 'uploadQuotaPerUser',
  fileSearch: 'fileSearch',
  keepDeletedDays: 'keepDeletedDays',
  keepAuditDays: 'keepAuditDays',
  auditNames: 'auditNames',
  eventLogMib: 'eventLogMib',
  eventQueueMib: 'eventQueueMib',
  openIdConnect: 'openIdConnect',
  saml: 'saml',
  ldap: 'ldap',
} as const satisfies { readonly [Option in OptionName]?: SettingName };

export type SharedOption = keyof typeof SETTING_OF;

const NAME = described(text({ min: 1, max: 1000 }), 'a string of 1 to 1000 characters');
const word = (name: 'pushOrgId' | 'pushOrgKey' | 'apnsKeyId' | 'apnsTeamId') => PUSH_SETTINGS[name].type;
const POSITIVE = integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

/** Phone apps use other schemes, such as `capacitor://localhost`. */
const ORIGIN = valueType<string>('an origin such as https://example.com, without a trailing slash', (value) => {
  if (typeof value !== 'string') return false;
  if (!/^https?:/.test(value)) return /^[a-z][a-z\d+.-]*:\/\/[a-z\d.-]+$/.test(value);
  return isParsableUrl(value) && new URL(value).origin === value;
});
const LOG_IN_URL = valueType<string>(
  'an address such as https://example.com/login?return_to={next}',
  (value) => typeof value === 'string' && isParsableUrl(value) && /^https?:$/.test(new URL(value).protocol),
);

const BUS_OPTIONS = object({
  url: SETTINGS.bus.type,
  credentialsFile: optional(PATH),
  caFile: optional(PATH),
  contents: optional(boolean()),
} satisfies ShapeOf<BusOptions>);

/** Bus servers as text stand for options with this URL. */
const withBusUrl = (value: unknown): unknown => (typeof value === 'string' ? { url: value } : value);
const BUS = described(
  {
    ...BUS_OPTIONS,
    normalize: (value) => BUS_OPTIONS.normalize(withBusUrl(value)),
    check: (value) => (typeof value === 'string' ? SETTINGS.bus.type : BUS_OPTIONS).check(value),
  },
  'tls://HOST:PORT, nats://HOST:PORT with a loopback address, or an object with url',
);

const BLOB_STORE_FUNCTIONS = ['put', 'sizeOf', 'read', 'remove', 'removeUnfinished', 'list'];

/** Options that only applications have. */
const OWN_OPTIONS = {
  storage: optional(withFunctions('close')),
  bus: optional(BUS),
  acceptNewSecret: optional(boolean()),
  authenticate: optional(valueType('a function', (value) => typeof value === 'function')),
  logInUrl: optional(LOG_IN_URL),
  logInButton: optional(object({ name: optional(NAME), icon: optional(NAME) })),
  trustedOrigins: optional(
    arrayOr(
      listOf(ORIGIN, { max: 1000 }),
      oneOf(['any']),
      "an array of origins such as https://example.com, without a trailing slash, or 'any'",
    ),
  ),
  mailer: optional(withFunctions('send')),
  webClient: optional(described(anyOf([boolean(), oneOf(['element'])]), "true, false or 'element'")),
  trustedProxies: optional(
    arrayOr(
      SETTINGS.trustedProxies.type as ParamType<string[]>,
      anyOf([oneOf(['app']), SETTINGS.trustedProxies.type]),
      "the number of trusted proxies, from 0 to 99, an array of their networks, such as 10.0.0.0/8, or 'app'",
    ),
  ),
  smtpOAuth: optional(
    object({
      tokenUrl: SETTINGS.smtpOAuthTokenUrl.type,
      clientId: SETTINGS.smtpOAuthClientId.type,
      clientSecret: optional(SETTINGS.smtpOAuthClientSecret.type),
      refreshToken: optional(SETTINGS.smtpOAuthRefreshToken.type),
      scope: optional(SETTINGS.smtpOAuthScope.type),
    } satisfies ShapeOf<SmtpOAuthOptions>),
  ),
  limits: optional(
    object(
      Object.fromEntries(
        Object.keys(TRANSPORT_LIMITS).map((name) => [name, optional(POSITIVE)]),
      ) as ShapeOf<TransportLimits>,
    ),
  ),
  pushService: optional(
    object({ url: PUSH_SETTINGS.pushService.type, orgId: word('pushOrgId'), orgKey: word('pushOrgKey') }),
  ),
  directPush: optional(
    object({
      keys: PUSH_SETTINGS.pushKeys.type,
      apns: optional(
        object({
          key: PUSH_SETTINGS.apnsKey.type,
          keyId: word('apnsKeyId'),
          teamId: word('apnsTeamId'),
          url: optional(PUSH_SETTINGS.apnsUrl.type),
        }),
      ),
      fcm: optional(PUSH_SETTINGS.fcmCredentials.type),
    } satisfies ShapeOf<DirectPushOptions>),
  ),
  bigBlueButton: optional(object({ url: SETTINGS.bigBlueButtonUrl.type, secret: SETTINGS.bigBlueButtonSecret.type })),
  notifications: optional(
    object({ push: optional(boolean()), email: optional(boolean()) } satisfies ShapeOf<OwnNotifications>),
  ),
  files: optional(
    described(
      anyOf([SETTINGS.files.type, withFunctions(...BLOB_STORE_FUNCTIONS)]),
      `of the form folder:PATH, or s3:BUCKET/PREFIX?endpoint=URL&region=NAME, or an object with the functions ${BLOB_STORE_FUNCTIONS.join(', ')}`,
    ),
  ),
  metrics: optional(boolean()),
  logger: optional(withFunctions('info', 'error')),
  clock: optional(withFunctions('now', 'nowMs')),
  randomness: optional(withFunctions('uuid', 'fraction')),
  passwordHasher: optional(withFunctions('hash', 'verify')),
  renderer: optional(withFunctions('parse', 'parseNow', 'render', 'topicLinks')),
};

const SHAPE = {
  ...(Object.fromEntries(
    Object.entries(SETTING_OF).map(([option, setting]) => [option, optional(SETTINGS[setting].type)] as const),
  ) as { readonly [Option in SharedOption]: { readonly optional: ParamType<unknown> } }),
  ...OWN_OPTIONS,
} satisfies Record<OptionName, unknown>;

const ON_STORAGE = object({ ...SHAPE, url: SETTINGS.url.type });
const ON_DATABASE = object({ ...SHAPE, url: SETTINGS.url.type, database: SETTINGS.database.type });

export const OPTION_NAMES = Object.keys(SHAPE) as readonly OptionName[];

/** Checks names and values of all options, before anything is opened. @throws StartupError naming the option */
export function checkedOptions(config: ParleyConfig): ParleyConfig {
  if (typeof config !== 'object' || config === null) {
    throw new StartupError(
      "createParley needs options, at least { database: 'sqlite:PATH', url: 'https://chat.example.com' }.",
    );
  }
  const type: ParamType<unknown> = config.storage === undefined ? ON_DATABASE : ON_STORAGE;
  const problem = problemOf(type, config, { name: 'createParley', isSubject: true, member: 'option' });
  if (problem !== null) throw new StartupError(problem);
  requireParts(config);
  return type.normalize(config) as ParleyConfig;
}

/** @throws StartupError for options that need or exclude others */
function requireParts({
  storage,
  database,
  secret,
  files,
  mailer,
  smtpUrl,
  logInUrl,
  authenticate,
}: ParleyConfig): void {
  if (logInUrl !== undefined && !authenticate) throw new StartupError('logInUrl requires authenticate.');
  if (!storage) return;
  if (database !== undefined) throw new StartupError('Pass either database or storage, not both.');
  for (const [name, value] of Object.entries({ secret, files })) {
    if (value === undefined) throw new StartupError(`A custom storage requires ${name}.`);
  }
  if (mailer === undefined && smtpUrl === undefined) {
    throw new StartupError('A custom storage requires mailer or smtpUrl.');
  }
}
