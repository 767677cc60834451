import type { LogInProvider } from '@parley/domain/membership';
import type { ProxyTrust, TrustedOrigins } from '@parley/http';
import { APNS_URL, type BigBlueButtonAccount, FCM_URL } from '@parley/node-adapters';
import { DEFAULT_INVITATION_VALIDITY_MINUTES } from '../composition/domain-ports.js';
import { parseBus } from '../configuration/bus-settings.js';
import type { BusLocation, Configuration } from '../configuration/configuration.js';
import { NO_INCOMING_MAIL } from '../configuration/mail-settings.js';
import { parseApnsKey, parseFcmCredentials, parsePushKeys, pushOf } from '../configuration/push-settings.js';
import {
  outgoingProxyOf,
  parseContact,
  parseDatabase,
  parseFiles,
  parseFrameAncestors,
  parseJwtSecrets,
  parseMailAddress,
  parseMailPattern,
  parseOutgoingProxy,
  parseProxies,
  parseRealmAddresses,
  parseReplica,
  parseSecret,
  parseSmtpUrl,
  parseToken,
  parseUrl,
  parseWebhookNetworks,
  parseWord,
} from '../configuration/setting-values.js';
import { FILE_LIMITS, KEEP_DELETED_DAYS, MIB, SETTINGS } from '../configuration/settings.js';
import { shown } from '../facade/arguments.js';
import type { Parley } from '../facade/facade.js';
import { HostLogInProvider } from '../facade/host-authentication.js';
import { OPTION_NAMES, type ParleyConfig } from '../facade/parley-config.js';
import { hint } from '../kernel/did-you-mean.js';
import { StartupError } from '../kernel/startup-error.js';
import type { LogInAccounts } from '../log-in/options.js';
import { logInAccounts } from '../log-in/providers.js';
import { ServerMetrics } from '../observation/metrics.js';
import { parleyVersion } from '../version.js';
import { createLogger } from './logger.js';
import { openParley } from './open-parley.js';

/**
 * Creates a chat engine for an application to mount and call.
 * @throws StartupError for invalid options, DatabaseRefused if the database cannot be opened; leaves no file behind in
 * either case
 */
export async function createParley(config: ParleyConfig): Promise<Parley> {
  requireOptions(config);
  requireKnown(config);
  requireParts(config);
  requireFunctions(config);
  const { read, readIfGiven } = optionReader(config);
  return openParley(
    {
      database: config.storage ? null : read('database', parseDatabase),
      databaseReplica: readIfGiven('databaseReplica', parseReplica),
      busLocation: busOf(config),
      secret: readIfGiven('secret', parseSecret),
      jwtSecrets: jwtSecretsOf(config.jwtSecrets ?? {}),
      jwtAudience: config.jwtAudience ?? null,
      ...logInAccountsOf(config),
      smtpUrl: readIfGiven('smtpUrl', parseSmtpUrl),
      mailFrom: readIfGiven('mailFrom', parseMailAddress),
      url: read('url', parseUrl),
      defaultRealm: config.defaultRealm ?? null,
      realmAddresses: config.realmAddresses === undefined ? 'host' : read('realmAddresses', parseRealmAddresses),
      invitationValidityMinutes: config.invitationValidityMinutes ?? DEFAULT_INVITATION_VALIDITY_MINUTES,
      hasRateLimits: config.rateLimits ?? true,
      rateLimitRules: config.rateLimitRules ?? {},
      allowsWebPublicChannels: config.webPublicChannels ?? false,
      limitsPresence: config.limitPresence ?? false,
      mailGatewayPattern: readIfGiven('mailGatewayPattern', parseMailPattern),
      incomingMail: { ...NO_INCOMING_MAIL, token: readIfGiven('mailGatewayToken', parseToken) },
      webhookNetworks: config.webhookNetworks === undefined ? [] : read('webhookNetworks', parseWebhookNetworks),
      outgoingProxy: outgoingProxyOf(readIfGiven('outgoingProxy', parseOutgoingProxy), process.env),
      webClient: webClientOf(config),
      frameAncestors: config.frameAncestors?.length ? read('frameAncestors', parseFrameAncestors) : [],
      trustedProxies: readProxies(config.trustedProxies),
      limits: config.limits ?? {},
      shedsLoad: config.shedsLoad ?? true,
      push: pushOptionsOf(config),
      webPush: readIfGiven('webPush', parseContact),
      notifications: config.notifications ?? {},
      bigBlueButton: config.bigBlueButton ? bigBlueButtonOf(config.bigBlueButton) : null,
      giphyApiKey: readIfGiven('giphyApiKey', parseWord),
      files: typeof config.files === 'string' ? read('files', parseFiles) : null,
      fileLimits: {
        maxFileMib: config.maxUploadMib ?? FILE_LIMITS.maxFileMib,
        quotaMib: config.uploadQuotaMib ?? FILE_LIMITS.quotaMib,
        userQuotaMib: config.uploadQuotaPerUserMib ?? FILE_LIMITS.userQuotaMib,
      },
      searchesFiles: config.fileSearch ?? SETTINGS.fileSearch.default,
      keepDeletedDays: config.keepDeletedDays ?? KEEP_DELETED_DAYS,
      eventLimits: {
        maxLogBytes: (config.eventLogMib ?? SETTINGS.eventLogMib.default) * MIB,
        maxQueueBytes: (config.eventQueueMib ?? SETTINGS.eventQueueMib.default) * MIB,
      },
      isDev: false,
      isDemo: false,
      isDemoActive: false,
      allowsOwnerImports: false,
    },
    {
      logger: config.logger ?? createLogger('warn', process.stderr),
      ...(config.authenticate && { authenticate: config.authenticate }),
      logInProviders: hostLogInOf(config),
      trustedOrigins: trustedOriginsOf(config.trustedOrigins ?? []),
      ports: {
        storage: config.storage,
        blobs: typeof config.files === 'object' ? config.files : undefined,
        mailer: config.mailer,
        clock: config.clock,
        randomness: config.randomness,
        passwordHasher: config.passwordHasher,
        renderer: config.renderer,
      },
      ...(config.metrics && { metrics: await ServerMetrics.create({ version: parleyVersion(), ofProcess: false }) }),
      acceptsNewSecret: config.acceptNewSecret ?? false,
    },
  );
}

/** Parses options, and names the option in an error. */
function optionReader(config: ParleyConfig) {
  const read = <T>(
    name:
      | 'database'
      | 'databaseReplica'
      | 'url'
      | 'realmAddresses'
      | 'secret'
      | 'files'
      | 'smtpUrl'
      | 'mailFrom'
      | 'mailGatewayPattern'
      | 'mailGatewayToken'
      | 'webhookNetworks'
      | 'outgoingProxy'
      | 'webPush'
      | 'giphyApiKey'
      | 'frameAncestors',
    parse: (text: string) => T,
  ): T => {
    try {
      return parse(String(config[name]));
    } catch (error) {
      throw new StartupError(`${name} must be ${(error as Error).message}.`);
    }
  };
  const readIfGiven = (
    name:
      | 'secret'
      | 'smtpUrl'
      | 'databaseReplica'
      | 'mailFrom'
      | 'mailGatewayPattern'
      | 'mailGatewayToken'
      | 'outgoingProxy'
      | 'webPush'
      | 'giphyApiKey',
    parse: (text: string) => string,
  ) => (config[name] === undefined ? null : read(name, parse));
  return { read, readIfGiven };
}

function busOf({ bus }: ParleyConfig): BusLocation | null {
  if (bus === undefined) return null;
  const { url, credentialsFile = null, caFile = null, contents = true } = typeof bus === 'string' ? { url: bus } : bus;
  try {
    return { servers: parseBus(String(url)), credentialsFile, caFile, sendsContents: contents };
  } catch (error) {
    throw new StartupError(`bus must be ${(error as Error).message}.`);
  }
}

function readProxies(trust: ProxyTrust | undefined): ProxyTrust {
  if (trust === 'app') return trust;
  try {
    return parseProxies(typeof trust === 'object' ? trust.join(',') : String(trust ?? 0));
  } catch (error) {
    throw new StartupError(`trustedProxies must be ${(error as Error).message}.`);
  }
}

function trustedOriginsOf(origins: readonly string[] | 'any'): TrustedOrigins {
  if (origins === 'any') return origins;
  return new Set(
    [origins].flat().map((text) => {
      if (isOrigin(text)) return text;
      throw new StartupError(
        `trustedOrigins must be origins such as https://example.com, without a trailing slash, or 'any'; ${text} is not an origin.`,
      );
    }),
  );
}

/** Mobile apps use custom URL schemes, such as `capacitor://localhost`. */
const isOrigin = (text: string): boolean =>
  /^https?:/.test(text)
    ? URL.canParse(text) && new URL(text).origin === text
    : /^[a-z][a-z\d+.-]*:\/\/[a-z\d.-]+$/.test(text);

const logInAccountsOf = (config: ParleyConfig): LogInAccounts =>
  logInAccounts((name, accountsOf) => {
    try {
      return accountsOf(config[name] ?? []);
    } catch (error) {
      throw new StartupError(`${name} must be ${(error as Error).message}.`);
    }
  });

function hostLogInOf({ authenticate, logInUrl, logInButton }: ParleyConfig): readonly LogInProvider[] {
  if (logInUrl === undefined) return [];
  if (!authenticate) throw new StartupError('logInUrl requires authenticate.');
  if (!URL.canParse(logInUrl) || !/^https?:$/.test(new URL(logInUrl).protocol)) {
    throw new StartupError('logInUrl must be an address such as https://example.com/login?return_to={next}.');
  }
  return [new HostLogInProvider({ ...logInButton, url: logInUrl })];
}

function jwtSecretsOf(secrets: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  try {
    return parseJwtSecrets(JSON.stringify(secrets));
  } catch (error) {
    throw new StartupError(`jwtSecrets must be ${(error as Error).message}.`);
  }
}

function pushOptionsOf({ pushService, directPush }: ParleyConfig) {
  try {
    const { keys, apns, fcm } = directPush ?? {};
    return pushOf({
      webPush: null,
      pushService: pushService ? parseUrl(String(pushService.url)) : null,
      pushOrgId: pushService ? parseWord(String(pushService.orgId)) : null,
      pushOrgKey: pushService ? parseWord(String(pushService.orgKey)) : null,
      pushKeys: keys ? parsePushKeys(String(keys)) : null,
      apnsKey: apns ? parseApnsKey(String(apns.key)) : null,
      apnsKeyId: apns ? parseWord(String(apns.keyId)) : null,
      apnsTeamId: apns ? parseWord(String(apns.teamId)) : null,
      apnsUrl: apns?.url === undefined ? APNS_URL : parseUrl(String(apns.url)),
      fcmCredentials: fcm === undefined ? null : parseFcmCredentials(String(fcm)),
      fcmUrl: FCM_URL,
    });
  } catch (error) {
    throw new StartupError(
      `Values of ${directPush ? 'directPush' : 'pushService'} must be ${(error as Error).message}.`,
    );
  }
}

function bigBlueButtonOf({ url, secret }: BigBlueButtonAccount): BigBlueButtonAccount {
  try {
    return { url: parseUrl(String(url)), secret: parseWord(String(secret)) };
  } catch (error) {
    throw new StartupError(`Values of bigBlueButton must be ${(error as Error).message}.`);
  }
}

/** @throws StartupError */
function requireOptions(config: ParleyConfig): void {
  if (typeof config === 'object' && config !== null) return;
  throw new StartupError(
    "createParley needs options, at least { database: 'sqlite:PATH', url: 'https://chat.example.com' }.",
  );
}

/** @throws StartupError */
function webClientOf({ webClient = true }: ParleyConfig): Configuration['webClient'] {
  if (webClient === 'element') return webClient;
  if (typeof webClient === 'boolean') return webClient ? 'application' : 'none';
  throw new StartupError(`webClient must be true, false or 'element', not ${String(webClient)}.`);
}

/** Rejects unknown options, since a typo would otherwise be ignored silently. @throws StartupError */
function requireKnown(config: ParleyConfig): void {
  for (const name of Object.keys(config)) {
    if ((OPTION_NAMES as readonly string[]).includes(name)) continue;
    throw new StartupError(`createParley has no option ${name}${hint(name, OPTION_NAMES) || '.'}`);
  }
}

/** Required functions of application-provided ports; an empty list means the port is itself a function. */
const PORTS: Partial<Readonly<Record<keyof ParleyConfig, readonly string[]>>> = {
  authenticate: [],
  mailer: ['send'],
  files: ['put', 'sizeOf', 'read', 'remove', 'removeUnfinished', 'list'],
  storage: ['close'],
  logger: ['info', 'error'],
  clock: ['now', 'nowMs'],
  randomness: ['uuid', 'fraction'],
  passwordHasher: ['hash', 'verify'],
  renderer: ['parse', 'parseNow', 'render', 'topicLinks'],
};

/** Rejects incomplete ports early instead of at their first call. @throws StartupError */
function requireFunctions(config: ParleyConfig): void {
  for (const [name, functions] of Object.entries(PORTS)) {
    const port: unknown = config[name as keyof ParleyConfig];
    if (port === undefined || (name === 'files' && typeof port === 'string')) continue;
    if (functions.length === 0 && typeof port !== 'function') {
      throw new StartupError(`${name} must be a function, not ${shown(port)}.`);
    }
    const parts = Object(port) as Readonly<Record<string, unknown>>;
    const missing = functions.find((each) => typeof parts[each] !== 'function');
    if (missing) throw new StartupError(`${name} must be an object with the function ${missing}, not ${shown(port)}.`);
  }
}

/** Rejects incomplete `storage` options from callers without a type checker. @throws StartupError */
function requireParts(config: ParleyConfig): void {
  if (!config.storage) return;
  if (config.database !== undefined) throw new StartupError('Pass either database or storage, not both.');
  for (const name of ['secret', 'files'] as const) {
    if (config[name] === undefined) throw new StartupError(`A custom storage requires ${name}.`);
  }
  if (config.mailer === undefined && config.smtpUrl === undefined) {
    throw new StartupError('A custom storage requires mailer or smtpUrl.');
  }
}
