import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { firstOf } from '@parley/domain/kernel';
import { isLoopbackName, TRANSPORT_LIMITS, type TransportLimits } from '@parley/http';
import { type BigBlueButtonAccount, NO_PROXY } from '@parley/node-adapters';
import { hint } from '../kernel/did-you-mean.js';
import { systemReasonOf, UsageError } from '../kernel/startup-error.js';
import { readSetting } from '../kernel/values.js';
import { logInAccounts } from '../log-in/providers.js';
import type { Configuration, DatabaseLocation, FilesLocation, IncomingMail, LogLevel } from './configuration.js';
import { addEnvFile, type Environment } from './env-file.js';
import { kubernetesVariables } from './kubernetes-variables.js';
import { incomingMailOf, MAIL_SETTINGS, type MailSettings, NO_INCOMING_MAIL } from './mail-settings.js';
import { PUSH_SETTINGS, type PushSettings, pushOf } from './push-settings.js';
import type { Setting } from './setting.js';
import { outgoingProxyOf } from './setting-values.js';
import { MIB, SETTINGS, type SettingName } from './settings.js';
import { SMTP_OAUTH_SETTINGS, type SmtpOAuthSettings, smtpOAuthOf } from './smtp-oauth-settings.js';

/** Parsed command line and environment. */
export interface Invocation {
  readonly configuration: Configuration;
  /** Positional arguments. */
  readonly positionals: readonly string[];
  /** Flags of the command itself by name; a switch has the value `on` or `off`. */
  readonly flags: ReadonlyMap<string, string>;
  /** Sources of all values that differ from the defaults. */
  readonly sources: ReadonlyMap<SettingName, ValueSource>;
  /** Values as given, including secrets. */
  readonly values: ReadonlyMap<SettingName, string>;
  /** Variables that Kubernetes adds, which only look like settings. */
  readonly ignoredVariables: readonly string[];
}

/** Flags that a command accepts in addition to the settings, by name, and whether they take a value. */
export type CommandFlags = Readonly<Record<string, 'value' | 'switch'>>;

/** Source of a value. */
export type ValueSource = 'flag' | 'variable' | 'file';

/** Unparsed values. */
class ConfiguredValues {
  readonly sources = new Map<SettingName, ValueSource>();
  readonly values = new Map<SettingName, string>();

  constructor(
    private readonly flags: ReadonlyMap<string, string>,
    private readonly environment: Readonly<Environment>,
  ) {}

  /**
   * Returns the given text and its origin for error messages; null if absent. @throws Error if a named file cannot be
   * read
   */
  find(name: SettingName): { readonly text: string; readonly origin: string } | null {
    const { variable, flag, isSecret }: Setting<unknown> = SETTINGS[name];
    const byFlag = flag === undefined ? undefined : this.flags.get(flag);
    const byVariable = this.environment[variable] || undefined;
    const file = isSecret ? this.environment[`${variable}_FILE`] || undefined : undefined;
    if (byVariable !== undefined && file !== undefined) {
      throw new UsageError(`Both ${variable} and ${variable}_FILE are set; set only one of them.`);
    }
    if (byFlag !== undefined) return this.found(name, 'flag', byFlag, `--${flag}`);
    if (byVariable !== undefined) return this.found(name, 'variable', byVariable, variable);
    return file === undefined ? null : this.found(name, 'file', readFile(`${variable}_FILE`, file), `${variable}_FILE`);
  }

  private found(name: SettingName, source: ValueSource, text: string, origin: string) {
    this.sources.set(name, source);
    this.values.set(name, text);
    return { text, origin };
  }
}

function readFile(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new UsageError(`${variable}: ${path} cannot be read: ${systemReasonOf(error)}.`);
  }
}

/** All problems of a configuration (at least one). */
export class InvalidConfiguration extends UsageError {
  constructor(readonly problems: readonly string[]) {
    const more = problems.length - 1;
    super(more === 0 ? firstOf(problems) : `${problems[0]} (${more} more; see parley config check)`);
  }
}

/**
 * Parses flags, environment and the file named by `--env-file`, in order of precedence. Adds the file's variables to
 * `environment`, since libraries such as the S3 client read them there.
 * @throws UsageError for unknown flags; InvalidConfiguration naming each invalid flag or variable
 */
export function readConfiguration(
  args: readonly string[],
  environment: Environment,
  commandFlags: CommandFlags = {},
): Invocation {
  const { flags, positionals } = parseFlags(args, commandFlags);
  addEnvFile(environment, flags.get('env-file'));
  const ignoredVariables = kubernetesVariables(environment);
  const variables = { ...environment };
  for (const name of ignoredVariables) delete variables[name];
  const raw = new ConfiguredValues(flags, variables);
  const problems: string[] = [...unknownVariables(variables)];
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(error.message);
    }
  };
  const read = <N extends SettingName>(name: N): (typeof SETTINGS)[N]['default'] => {
    const { type, isSecret, default: fallback }: Setting<unknown> = SETTINGS[name];
    let value: unknown = fallback;
    attempt(() => {
      const found = raw.find(name);
      if (!found) return;
      value = readSetting(type, found.text, { name: found.origin, ...(isSecret && { text: null }) });
    });
    return value as (typeof SETTINGS)[N]['default'];
  };

  const isDev = read('isDev');
  const pushSettings = Object.fromEntries(
    (Object.keys(PUSH_SETTINGS) as (keyof PushSettings)[]).map((name) => [name, read(name)]),
  ) as PushSettings;
  let push: Configuration['push'] = null;
  if (problems.length === 0) {
    attempt(() => {
      push = pushOf(pushSettings);
    });
  }
  const [bigBlueButtonUrl, bigBlueButtonSecret] = [read('bigBlueButtonUrl'), read('bigBlueButtonSecret')];
  let bigBlueButton: BigBlueButtonAccount | null = null;
  attempt(() => {
    bigBlueButton = bigBlueButtonOf(bigBlueButtonUrl, bigBlueButtonSecret);
  });
  const mailSettings = Object.fromEntries(
    (Object.keys(MAIL_SETTINGS) as (keyof MailSettings)[]).map((name) => [name, read(name)]),
  ) as unknown as MailSettings;
  const smtpUrl = read('smtpUrl');
  const oauthSettings = Object.fromEntries(
    (Object.keys(SMTP_OAUTH_SETTINGS) as (keyof SmtpOAuthSettings)[]).map((name) => [name, read(name)]),
  ) as unknown as SmtpOAuthSettings;
  let smtpOAuth: Configuration['smtpOAuth'] = null;
  if (problems.length === 0) {
    attempt(() => {
      smtpOAuth = smtpOAuthOf(oauthSettings, smtpUrl);
    });
  }
  let incomingMail: IncomingMail = NO_INCOMING_MAIL;
  attempt(() => {
    incomingMail = incomingMailOf(mailSettings);
  });
  const proxy = read('outgoingProxy');
  let outgoingProxy = NO_PROXY;
  attempt(() => {
    outgoingProxy = outgoingProxyOf(proxy, environment);
  });
  const mail = { mailSettings, incomingMail, smtpUrl, smtpOAuth };
  const combined = { isDev, push, pushSettings, bigBlueButton, outgoingProxy, ...mail };
  const configuration = configurationOf(read, combined);
  const isExposed = read('isExposed');
  if (!isExposed && problems.length === 0) attempt(() => refuseExposure(configuration));
  if (problems.length > 0) throw new InvalidConfiguration(problems);
  return { configuration, positionals, flags, sources: raw.sources, values: raw.values, ignoredVariables };
}

type ReadSetting = <N extends SettingName>(name: N) => (typeof SETTINGS)[N]['default'];

/** Values combined from several settings, or needed by others. */
interface CombinedSettings
  extends Pick<
    Configuration,
    'isDev' | 'push' | 'bigBlueButton' | 'incomingMail' | 'smtpUrl' | 'smtpOAuth' | 'outgoingProxy'
  > {
  readonly pushSettings: PushSettings;
  readonly mailSettings: MailSettings;
}

function configurationOf(read: ReadSetting, combined: CombinedSettings): Configuration {
  const { isDev, push, pushSettings, bigBlueButton, mailSettings, incomingMail, smtpUrl, smtpOAuth, outgoingProxy } =
    combined;
  const servers = read('bus');
  const busOptions = {
    credentialsFile: read('busCredentials'),
    caFile: read('busCa'),
    sendsContents: read('busContents'),
  };
  return {
    host: read('host'),
    port: read('port'),
    database: read('database') as DatabaseLocation,
    databaseReplica: read('databaseReplica'),
    busLocation: servers && { servers, ...busOptions },
    isDev,
    isDemo: read('isDemo'),
    isDemoActive: read('isDemoActive'),
    isQuiet: read('isQuiet'),
    url: read('url'),
    defaultRealm: read('defaultRealm'),
    realmAddresses: read('realmAddresses'),
    allowsWebPublicChannels: read('webPublic') ?? isDev,
    limitsPresence: read('limitPresence'),
    mailGatewayPattern: mailSettings.mailGatewayPattern,
    incomingMail,
    webhookNetworks: read('webhookNetworks'),
    outgoingProxy,
    webClient: read('webClient') ? 'application' : 'none',
    frameAncestors: read('frameAncestors'),
    trustedProxies: read('trustedProxies'),
    secret: read('secret'),
    push,
    webPush: pushSettings.webPush,
    bigBlueButton,
    giphyApiKey: read('giphyApiKey'),
    jwtSecrets: read('jwtSecrets'),
    jwtAudience: read('jwtAudience'),
    ...logInAccounts((name) => read(name)),
    smtpUrl,
    smtpOAuth,
    mailFrom: read('mailFrom'),
    invitationValidityMinutes: read('invitationValidity'),
    hasRateLimits: read('rateLimits') ?? !isDev,
    rateLimitRules: read('rateLimitRules'),
    limits: limitsOf(read('connections'), read('bytesInFlight') * MIB),
    shedsLoad: read('shedsLoad'),
    files: read('files') as FilesLocation | null,
    fileLimits: {
      maxFileMib: read('maxUpload'),
      quotaMib: read('uploadQuota'),
      userQuotaMib: read('uploadQuotaPerUser'),
    },
    searchesFiles: read('fileSearch'),
    allowsOwnerImports: read('ownerImports'),
    keepDeletedDays: read('keepDeletedDays'),
    keepAuditDays: read('keepAuditDays'),
    auditNames: read('auditNames'),
    eventLimits: { maxLogBytes: read('eventLogMib') * MIB, maxQueueBytes: read('eventQueueMib') * MIB },
    logLevel: read('logLevel') as LogLevel,
    metricsAddress: read('metrics'),
    drainSeconds: read('drainSeconds'),
  };
}

const VARIABLES: ReadonlySet<string> = new Set(
  Object.values(SETTINGS as Record<string, Setting<unknown>>).flatMap(({ variable, isSecret }) =>
    isSecret ? [variable, `${variable}_FILE`] : [variable],
  ),
);

/** Finds unknown variables, since a typo would otherwise be ignored silently. */
const unknownVariables = (environment: Environment): readonly string[] =>
  Object.keys(environment)
    .filter((name) => name.startsWith('PARLEY_') && environment[name] !== undefined && !VARIABLES.has(name))
    .map((name) => `There is no setting ${name}${hint(name, VARIABLES) || '; see parley --help.'}`);

/** Requires both values or neither. */
function bigBlueButtonOf(url: string | null, secret: string | null): BigBlueButtonAccount | null {
  if (url === null && secret === null) return null;
  if (url !== null && secret !== null) return { url, secret };
  throw new UsageError('BigBlueButton needs both PARLEY_BIGBLUEBUTTON_URL and PARLEY_BIGBLUEBUTTON_SECRET.');
}

function limitsOf(connections: number, answersBytes: number): Partial<TransportLimits> {
  const { answersBytes: usual, bodiesBytes, anonymousBodiesBytes, filesBytes } = TRANSPORT_LIMITS;
  const scale = answersBytes / usual;
  return {
    connections,
    connectionsPerAddress: Math.ceil(connections / 4),
    answersBytes,
    bodiesBytes: bodiesBytes * scale,
    anonymousBodiesBytes: anonymousBodiesBytes * scale,
    filesBytes: filesBytes * scale,
  };
}

/** Rejects public access: dev mode allows impersonation, and the demo passwords are public. */
function refuseExposure({ host, url, trustedProxies, isDev, isDemo }: Configuration): void {
  if (!isDev && !isDemo) return;
  const what = isDev && isDemo ? 'Dev mode and demo data are' : isDev ? 'Dev mode is' : 'Demo data is';
  const refuse = (where: string, instead: string): never => {
    throw new UsageError(
      `${what} refused ${where}, where others could reach it: turn it off, ${instead}, or add --allow-public-demo.`,
    );
  };
  if (!isLoopbackName(host)) refuse(`on ${host}`, 'listen on 127.0.0.1');
  if (url !== null && !isLoopbackName(new URL(url).hostname)) refuse(`at ${url}`, 'leave --url out');
  if (trustedProxies !== 0) refuse('behind a proxy', 'leave --trust-proxy out');
}

/** Parses flags into values by name; a switch has the value `on` or `off`. @throws UsageError */
function parseFlags(
  args: readonly string[],
  commandFlags: CommandFlags,
): {
  flags: ReadonlyMap<string, string>;
  positionals: readonly string[];
} {
  const switches = new Map<string, boolean>(
    Object.entries(commandFlags).map(([flag, kind]) => [flag, kind === 'switch']),
  );
  for (const { flag, isSwitch = false } of Object.values(SETTINGS as Record<string, Setting<unknown>>)) {
    if (flag !== undefined) switches.set(flag, isSwitch);
  }
  const options = Object.fromEntries(
    [...switches].map(([flag, isSwitch]) => [flag, { type: isSwitch ? ('boolean' as const) : ('string' as const) }]),
  );
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const flags = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const negated = /^no-(.+)$/.exec(token.name)?.[1];
    const name = negated !== undefined && switches.get(negated) ? negated : token.name;
    const isSwitch = switches.get(name);
    if (isSwitch === undefined) {
      const flagNames = [...switches.keys()].map((flag) => `--${flag}`);
      throw new UsageError(
        `There is no option ${token.rawName}${hint(token.rawName, flagNames) || '; see parley --help.'}`,
      );
    }
    if (isSwitch && token.value !== undefined) throw new UsageError(`--${name} takes no value.`);
    if (!isSwitch && token.value === undefined) throw new UsageError(`--${name} needs a value.`);
    flags.set(name, isSwitch ? (negated === undefined || name !== negated ? 'on' : 'off') : token.value!);
  }
  return { flags, positionals };
}
