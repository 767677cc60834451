import type { LogInProvider, PeopleDirectory } from '@parley/domain/log-in';
import type { OutgoingProxy } from '@parley/node-adapters';
import type { SettingType } from '../kernel/values.js';
import { LDAP } from './ldap/ldap-settings.js';
import { OPENID_CONNECT } from './openid-connect/openid-connect-settings.js';
import type { LogInAccounts, LogInName } from './options.js';
import { SAML } from './saml/saml-settings.js';

/**
 * Log-in providers by setting and option, in order of their buttons. A provider consists of its row, its folder here,
 * the folder of its adapter in `node-adapters/src/log-in`, and its field of `LogInOptions`.
 */
const LOG_IN_PROVIDERS = { openIdConnect: OPENID_CONNECT, saml: SAML, ldap: LDAP } satisfies Record<LogInName, unknown>;

type Providers = typeof LOG_IN_PROVIDERS;

interface Provider {
  readonly setting: { readonly type: SettingType<readonly unknown[]> };
  /** Services with a button. @throws MissingLibrary */
  readonly services?: (accounts: readonly never[], proxy: OutgoingProxy) => Promise<readonly LogInProvider[]>;
  /** Directories that check passwords. @throws MissingLibrary */
  readonly directories?: (accounts: readonly never[]) => Promise<readonly PeopleDirectory[]>;
}

const ROWS: readonly (readonly [LogInName, Provider])[] = Object.entries(LOG_IN_PROVIDERS) as [LogInName, Provider][];

export const LOG_IN_NAMES: readonly LogInName[] = ROWS.map(([name]) => name);

export const LOG_IN_SETTINGS = Object.fromEntries(
  Object.entries(LOG_IN_PROVIDERS).map(([name, { setting }]) => [name, setting]),
) as { readonly [Name in LogInName]: Providers[Name]['setting'] };

/** Collects the accounts of all providers. */
export const logInAccounts = (read: (name: LogInName) => unknown): LogInAccounts =>
  Object.fromEntries(ROWS.map(([name]) => [name, read(name)])) as unknown as LogInAccounts;

export const NO_LOG_IN_ACCOUNTS = logInAccounts(() => []);

/** Connects to the services of all providers. @throws MissingLibrary */
export async function logInServices(accounts: LogInAccounts, proxy: OutgoingProxy): Promise<readonly LogInProvider[]> {
  const found: LogInProvider[] = [];
  for (const [name, { services }] of ROWS)
    if (services) found.push(...(await services(accounts[name] as never, proxy)));
  return found;
}

/** Connects to the directories of all providers. @throws MissingLibrary */
export async function logInDirectories(accounts: LogInAccounts): Promise<readonly PeopleDirectory[]> {
  const found: PeopleDirectory[] = [];
  for (const [name, { directories }] of ROWS)
    if (directories) found.push(...(await directories(accounts[name] as never)));
  return found;
}
