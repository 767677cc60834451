import type { LogInProvider } from '@parley/domain/log-in';
import type { ProxyTrust, TrustedOrigins } from '@parley/http';
import type { BigBlueButtonAccount } from '@parley/node-adapters';
import type { BusLocation, Configuration } from '../configuration/configuration.js';
import { NO_INCOMING_MAIL } from '../configuration/mail-settings.js';
import { PUSH_SETTINGS, type PushSettings, pushOf } from '../configuration/push-settings.js';
import type { Setting } from '../configuration/setting.js';
import { outgoingProxyOf } from '../configuration/setting-values.js';
import { MIB, SETTINGS } from '../configuration/settings.js';
import { smtpOAuthOf } from '../configuration/smtp-oauth-settings.js';
import type { Parley } from '../facade/facade.js';
import { HostLogInProvider } from '../facade/host-authentication.js';
import type { BusOptions, ParleyConfig } from '../facade/parley-config.js';
import { logInAccounts } from '../log-in/providers.js';
import { ServerMetrics } from '../observation/metrics.js';
import { parleyVersion } from '../version.js';
import { createLogger } from './logger.js';
import { openParley } from './open-parley.js';
import { checkedOptions, SETTING_OF, type SharedOption } from './parley-options.js';

/**
 * Creates a chat engine for an application to mount and call.
 * @throws StartupError for invalid options, DatabaseRefused if the database cannot be opened; leaves no file behind in
 * either case
 */
export async function createParley(config: ParleyConfig): Promise<Parley> {
  const options = checkedOptions(config);
  const read = optionReader(options);
  return openParley(
    {
      database: options.storage ? null : read('database'),
      databaseReplica: read('databaseReplica'),
      busLocation: busOf(options),
      secret: read('secret'),
      jwtSecrets: read('jwtSecrets'),
      jwtAudience: read('jwtAudience'),
      ...logInAccounts(read),
      smtpUrl: read('smtpUrl'),
      smtpOAuth: oauthOf(options, read('smtpUrl')),
      mailFrom: read('mailFrom'),
      url: read('url')!,
      defaultRealm: read('defaultRealm'),
      realmAddresses: read('realmAddresses'),
      invitationValidityMinutes: read('invitationValidityMinutes'),
      hasRateLimits: read('rateLimits') ?? true,
      rateLimitRules: read('rateLimitRules'),
      allowsWebPublicChannels: read('webPublicChannels') ?? false,
      limitsPresence: read('limitPresence'),
      mailGatewayPattern: read('mailGatewayPattern'),
      incomingMail: { ...NO_INCOMING_MAIL, token: read('mailGatewayToken') },
      webhookNetworks: read('webhookNetworks'),
      outgoingProxy: outgoingProxyOf(read('outgoingProxy'), process.env),
      webClient: webClientOf(options),
      frameAncestors: read('frameAncestors'),
      trustedProxies: proxiesOf(options),
      limits: options.limits ?? {},
      shedsLoad: read('shedsLoad'),
      push: pushOptionsOf(options),
      webPush: read('webPush'),
      notifications: options.notifications ?? {},
      bigBlueButton: bigBlueButtonOf(options),
      giphyApiKey: read('giphyApiKey'),
      files: typeof options.files === 'string' ? SETTINGS.files.type.convert(options.files) : null,
      fileLimits: {
        maxFileMib: read('maxUploadMib'),
        quotaMib: read('uploadQuotaMib'),
        userQuotaMib: read('uploadQuotaPerUserMib'),
      },
      searchesFiles: read('fileSearch'),
      keepDeletedDays: read('keepDeletedDays'),
      keepAuditDays: read('keepAuditDays'),
      auditNames: read('auditNames'),
      eventLimits: { maxLogBytes: read('eventLogMib') * MIB, maxQueueBytes: read('eventQueueMib') * MIB },
      isQuiet: read('quiet'),
      isDev: false,
      isDemo: false,
      isDemoActive: false,
      allowsOwnerImports: false,
    },
    {
      logger: options.logger ?? createLogger('warn', process.stderr),
      ...(options.authenticate && { authenticate: options.authenticate }),
      logInProviders: hostLogInOf(options),
      trustedOrigins: trustedOriginsOf(options),
      ports: {
        storage: options.storage,
        blobs: typeof options.files === 'object' ? options.files : undefined,
        mailer: options.mailer,
        clock: options.clock,
        randomness: options.randomness,
        passwordHasher: options.passwordHasher,
        renderer: options.renderer,
      },
      ...(options.metrics && { metrics: await ServerMetrics.create({ version: parleyVersion(), ofProcess: false }) }),
      acceptsNewSecret: options.acceptNewSecret ?? false,
    },
  );
}

type SettingOf<Option extends SharedOption> = (typeof SETTINGS)[(typeof SETTING_OF)[Option]];

/** Returns a function that converts an option like the setting; an absent one has the default of the setting. */
const optionReader =
  (options: ParleyConfig) =>
  <Option extends SharedOption>(option: Option): SettingOf<Option>['default'] => {
    const { type, default: fallback } = SETTINGS[SETTING_OF[option]] as Setting<SettingOf<Option>['default']>;
    return options[option] === undefined ? fallback : type.convert(options[option]);
  };

function busOf({ bus }: ParleyConfig): BusLocation | null {
  if (bus === undefined) return null;
  const { url, credentialsFile = null, caFile = null, contents = true } = bus as BusOptions;
  return { servers: SETTINGS.bus.type.convert(url)!, credentialsFile, caFile, sendsContents: contents };
}

const proxiesOf = ({ trustedProxies = 0 }: ParleyConfig): ProxyTrust =>
  trustedProxies === 'app' ? trustedProxies : SETTINGS.trustedProxies.type.convert(trustedProxies);

const trustedOriginsOf = ({ trustedOrigins = [] }: ParleyConfig): TrustedOrigins =>
  trustedOrigins === 'any' ? trustedOrigins : new Set(trustedOrigins);

const hostLogInOf = ({ logInUrl, logInButton }: ParleyConfig): readonly LogInProvider[] =>
  logInUrl === undefined ? [] : [new HostLogInProvider({ ...logInButton, url: logInUrl })];

/** @throws UsageError */
function oauthOf({ smtpOAuth }: ParleyConfig, smtpUrl: string | null): Configuration['smtpOAuth'] {
  const { tokenUrl, clientId, clientSecret = null, refreshToken = null, scope = null } = smtpOAuth ?? {};
  const settings = {
    smtpOAuthTokenUrl: tokenUrl === undefined ? null : SETTINGS.smtpOAuthTokenUrl.type.convert(tokenUrl),
    smtpOAuthClientId: clientId ?? null,
    smtpOAuthClientSecret: clientSecret,
    smtpOAuthRefreshToken: refreshToken,
    smtpOAuthScope: scope,
  };
  return smtpOAuthOf(settings, smtpUrl);
}

/** @throws UsageError */
function pushOptionsOf({ pushService, directPush }: ParleyConfig) {
  const given: { readonly [Name in keyof PushSettings]?: unknown } = {
    pushService: pushService?.url,
    pushOrgId: pushService?.orgId,
    pushOrgKey: pushService?.orgKey,
    pushKeys: directPush?.keys,
    apnsKey: directPush?.apns?.key,
    apnsKeyId: directPush?.apns?.keyId,
    apnsTeamId: directPush?.apns?.teamId,
    apnsUrl: directPush?.apns?.url,
    fcmCredentials: directPush?.fcm,
  };
  const settings = Object.entries(PUSH_SETTINGS as Record<string, Setting<unknown>>).map(([name, setting]) => {
    const value = given[name as keyof PushSettings];
    return [name, value === undefined ? setting.default : setting.type.convert(value)];
  });
  return pushOf(Object.fromEntries(settings));
}

function bigBlueButtonOf({ bigBlueButton }: ParleyConfig): BigBlueButtonAccount | null {
  if (!bigBlueButton) return null;
  const { bigBlueButtonUrl, bigBlueButtonSecret } = SETTINGS;
  return {
    url: bigBlueButtonUrl.type.convert(bigBlueButton.url)!,
    secret: bigBlueButtonSecret.type.convert(bigBlueButton.secret)!,
  };
}

function webClientOf({ webClient = true }: ParleyConfig): Configuration['webClient'] {
  if (webClient === 'element') return webClient;
  return webClient ? 'application' : 'none';
}
