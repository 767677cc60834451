import { firstOf } from '@parley/domain/kernel';
import { isMeantFor, isOffered, type LogInMethod, type PeopleDirectory } from '@parley/domain/log-in';
import type { AuthenticationMethod, Realm } from '@parley/domain/realms';
import { AUTHENTICATION_METHOD_NAMES, silentLogger } from '@parley/http';
import { OutgoingProxy } from '@parley/node-adapters';
import { administerDatabase } from '@parley/sqlite';
import type { Configuration } from '../configuration/configuration.js';
import { addressesOf } from '../http/http-server.js';
import { LOG_IN_NAMES, logInDirectories, logInServices, NO_LOG_IN_ACCOUNTS } from '../log-in/providers.js';
import type { Finding } from '../observation/postgres-findings.js';
import { openParley } from '../start/open-parley.js';
import { findSecret } from '../start/secret.js';

/** Organization with its address. */
interface Organization {
  readonly realm: Realm;
  readonly url: string;
}

/** Tests the log-in services and directories and compares them with the organizations. */
export async function examineLogIn(configuration: Configuration): Promise<readonly Finding[]> {
  if (LOG_IN_NAMES.every((name) => configuration[name].length === 0)) return [];
  const organizations = await organizationsOf(configuration);
  const findings: Finding[] = [];
  for (const provider of await logInServices(configuration, new OutgoingProxy(configuration.outgoingProxy))) {
    const { method } = provider;
    const problems = [...problemsOf(method, organizations)];
    try {
      await provider.check?.(callbackUrls(method, organizations, addressesOf(configuration).url));
    } catch (error) {
      problems.push(reasonOf(error as Error));
    }
    for (const problem of problems)
      findings.push({
        level: 'problem',
        subject: 'log-in',
        text: `the service ${method.name} cannot be used: ${problem}`,
      });
    if (problems.length === 0)
      findings.push({ level: 'good', subject: 'log-in', text: `the service ${method.name} can be used` });
  }
  for (const directory of await logInDirectories(configuration))
    findings.push(...(await findingsOn(directory, organizations)));
  return findings;
}

/**
 * Returns the message with the root cause, such as an unknown host. Failed connections have a code instead of a
 * message.
 */
export function reasonOf({ message, code, cause }: NodeJS.ErrnoException): string {
  const text = message || String(code);
  return isErrorLike(cause) ? `${text}: ${reasonOf(cause)}` : text;
}

const isErrorLike = (value: unknown): value is Error =>
  typeof value === 'object' && value !== null && typeof (value as Error).message === 'string';

/** Returns null if the database cannot be read without changing it; other findings report the reason. */
async function organizationsOf(configuration: Configuration): Promise<readonly Organization[] | null> {
  try {
    const { database } = configuration;
    if (database.kind === 'sqlite') {
      const { pendingSteps } = administerDatabase(database.path).inspect();
      if (pendingSteps.length > 0 || findSecret(configuration) === null) return null;
    }
    const parley = await openParley(
      { ...configuration, ...addressesOf(configuration), ...NO_LOG_IN_ACCOUNTS, webClient: 'none' },
      { logger: silentLogger, isOneOff: true, acceptsNewSecret: false },
    );
    try {
      const { unitOfWork, realmUrls } = parley.ports;
      const realms = await unitOfWork.readAcross((repositories) => repositories.realms.list());
      return realms
        .filter(({ isDeactivated }) => !isDeactivated)
        .map((realm) => ({ realm, url: realmUrls.urlOf(realm) }));
    } finally {
      await parley.close();
    }
  } catch {
    return null;
  }
}

/** Redirect URLs of the organizations that offer the method; must be registered at the service. */
function callbackUrls(method: LogInMethod, organizations: readonly Organization[] | null, url: string) {
  const offering = (organizations ?? []).filter(({ realm }) => isOffered(method, realm)).map((each) => each.url);
  return (offering.length > 0 ? offering : [url]).map((each) => `${each}/accounts/login/complete/${method.name}/`);
}

function* problemsOf(method: LogInMethod, organizations: readonly Organization[] | null): Generator<string> {
  if (organizations === null) return;
  const missing = (method.realms ?? []).find((name) => !organizations.some(({ realm }) => realm.stringId === name));
  if (missing !== undefined) yield noOrganization('realms', missing, organizations);
  const meant = organizations.filter(({ realm }) => isMeantFor(method, realm));
  if (meant.length > 0 && !meant.some(({ realm }) => isOffered(method, realm)))
    yield `no organization has enabled it: run ${enabling(method.kind as AuthenticationMethod, firstOf(meant))}`;
}

async function findingsOn(
  directory: PeopleDirectory,
  organizations: readonly Organization[] | null,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const add = (level: Finding['level'], text: string) => findings.push({ level, subject: 'directory', text });
  const { name } = directory;
  const organization = organizations?.find(({ realm }) => realm.stringId === directory.realm);
  if (organizations && !organization)
    add('problem', `the directory ${name} cannot be used: ${noOrganization('realm', directory.realm, organizations)}`);
  else if (organization && !organization.realm.settings.ldapAuthentication)
    add('advice', `passwords of ${name} are not accepted: run ${enabling('ldapAuthentication', organization)}`);
  try {
    const found = await directory.check();
    add('good', `${name} responds: ${found}`);
  } catch (error) {
    add('problem', `the directory ${name} cannot be used: ${reasonOf(error as Error)}`);
  }
  return findings;
}

const enabling = (method: AuthenticationMethod, { realm }: Organization): string =>
  `parley realm set '${realm.stringId}' authentication '${AUTHENTICATION_METHOD_NAMES[method]}=on'`;

const noOrganization = (setting: string, name: string, organizations: readonly Organization[]): string =>
  `${setting} names ${JSON.stringify(name)}, but the organizations are ${organizations.map(({ realm }) => JSON.stringify(realm.stringId)).join(', ') || 'still to be created'}`;
