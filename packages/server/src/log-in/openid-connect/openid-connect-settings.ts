import { isLoopbackName } from '@parley/http';
import { type OpenIdConnectAccount, openIdConnectProviders } from '@parley/node-adapters';
import { areRoles, isDefaultRole, roleMapping } from '../roles.js';
import type { OpenIdConnectOptions } from './openid-connect-options.js';

const KINDS = {
  'OpenID Connect': 'openIdConnectAuthentication',
  Google: 'googleAuthentication',
  GitHub: 'gitHubAuthentication',
  GitLab: 'gitLabAuthentication',
  Apple: 'appleAuthentication',
} as const satisfies Readonly<Record<NonNullable<OpenIdConnectOptions['kind']>, string>>;

const NAMES: Readonly<Record<keyof OpenIdConnectOptions, (value: never) => boolean>> = {
  name: (value: unknown) => typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,39}$/.test(value) && value !== 'host',
  issuer: isIssuer,
  clientId: isText,
  clientSecret: isText,
  kind: (value: unknown) => typeof value === 'string' && Object.hasOwn(KINDS, value),
  displayName: isText,
  icon: (value: unknown) => isText(value) && URL.canParse(value),
  scope: (value: unknown) => isText(value) && value.split(' ').includes('openid'),
  realms: isList,
  allowedDomains: isList,
  trustEmails: (value: unknown) => typeof value === 'boolean',
  createPeople: (value: unknown) => typeof value === 'boolean',
  requiredGroups: (value: unknown) => isList(value) && (value as string[]).length > 0,
  claims: isRecord,
  groups: (value: unknown) => isRecord(value) && Object.values(value).every(isText),
  singleLogOut: (value: unknown) => typeof value === 'boolean',
  roles: areRoles,
  defaultRole: isDefaultRole,
};

/** Services that speak OpenID Connect, and GitHub. */
export const OPENID_CONNECT = {
  setting: {
    variable: 'PARLEY_OPENID_CONNECT',
    isSecret: true,
    help: 'services for logging in by OpenID Connect or at GitHub, as JSON (docs/log-in.md); default: none',
    parse: parseOpenIdConnect,
    default: [] as readonly OpenIdConnectAccount[],
  },
  accountsOf: openIdConnectAccounts,
  services: openIdConnectProviders,
};

/** Checks the configuration of services. @throws Error that describes what is expected */
export function openIdConnectAccounts(options: unknown): readonly OpenIdConnectAccount[] {
  if (!Array.isArray(options)) throw new Error('a list of services');
  const accounts = options.map(accountOf);
  const twice = accounts.find(({ name }, index) => accounts.findIndex((it) => it.name === name) !== index);
  if (twice) throw new Error(`a list of services with different names; ${twice.name} is used twice`);
  return accounts;
}

/** Parses the setting. @throws Error describing valid values */
export function parseOpenIdConnect(text: string): readonly OpenIdConnectAccount[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('JSON such as [{"name": "…", "issuer": "https://…", "clientId": "…", "clientSecret": "…"}]');
  }
  return openIdConnectAccounts(value);
}

/** URL requirement for error messages. */
const ENCRYPTED = ': an address with https (http only on this machine), as passwords and tokens are sent there';

function accountOf(given: unknown): OpenIdConnectAccount {
  if (!isRecord(given)) throw new Error('a list of services, each an object');
  for (const [name, value] of Object.entries(given)) {
    const isValid = Object.hasOwn(NAMES, name) ? NAMES[name as keyof OpenIdConnectOptions] : null;
    if (!isValid) throw new Error(`a list of services; there is no property ${name}`);
    if (!isValid(value as never))
      throw new Error(`a list of services with a valid ${name}${name === 'issuer' ? ENCRYPTED : ''}`);
  }
  const isGitHub = given.kind === 'GitHub';
  for (const name of ['name', isGitHub ? 'clientSecret' : 'issuer', 'clientId']) {
    if (!Object.hasOwn(given, name)) throw new Error(`a list of services, each with ${name}`);
  }
  const options = given as unknown as OpenIdConnectOptions;
  const { name, issuer = 'https://github.com', clientId, claims = {}, groups = {} } = options;
  const { requiredGroups = [], allowedDomains } = options;
  if (requiredGroups.length > 0 && (isGitHub || claims.groups === undefined)) {
    throw new Error('a list of services; requiredGroups needs the claim groups, which GitHub does not have');
  }
  const isPublic = options.kind !== undefined && options.kind !== 'OpenID Connect';
  if (options.createPeople && isPublic && !allowedDomains && requiredGroups.length === 0) {
    throw new Error(
      'a list of services; createPeople needs allowedDomains if anyone can have an account at the service',
    );
  }
  return {
    name,
    issuer: isGitHub ? issuer.replace(/\/+$/, '') : issuer,
    clientId,
    kind: KINDS[options.kind ?? 'OpenID Connect'],
    clientSecret: options.clientSecret ?? null,
    displayName: options.displayName ?? name,
    displayIcon: options.icon ?? null,
    scope: options.scope ?? 'openid email profile',
    realms: options.realms ?? null,
    allowedDomains: allowedDomains?.map((domain) => domain.toLowerCase()) ?? null,
    trustsEmails: options.trustEmails ?? false,
    createsPeople: options.createPeople ?? null,
    requiredGroups,
    claims: {
      email: claims.email ?? 'email',
      name: claims.name ?? 'name',
      role: claims.role ?? null,
      groups: claims.groups ?? null,
      picture: claims.picture ?? null,
    },
    ...roleMapping(options),
    groups: new Map(Object.entries(groups)),
    singleLogOut: options.singleLogOut ?? false,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 1000;
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((it) => typeof it === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Plain HTTP is allowed for services on the same machine, for tests and development. */
function isIssuer(value: unknown): boolean {
  if (!isText(value) || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname));
}
