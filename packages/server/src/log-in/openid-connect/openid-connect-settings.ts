import type { ParamType } from '@parley/http';
import { type OpenIdConnectAccount, openIdConnectProviders } from '@parley/node-adapters';
import { object, oneOf, optional, recordOf, type ShapeOf, secret, valueType } from '../../kernel/values.js';
import {
  accountList,
  ENCRYPTED_URL,
  FLAG,
  ICON,
  ROLE_TYPES,
  SERVICE_NAME,
  SOME_TEXTS,
  STRING_IDS,
  TEXT,
  TEXTS,
} from '../account-types.js';
import { roleMapping } from '../roles.js';
import type { OpenIdConnectOptions } from './openid-connect-options.js';

const KINDS = {
  'OpenID Connect': 'openIdConnectAuthentication',
  Google: 'googleAuthentication',
  GitHub: 'gitHubAuthentication',
  GitLab: 'gitLabAuthentication',
  Apple: 'appleAuthentication',
} as const satisfies Readonly<Record<NonNullable<OpenIdConnectOptions['kind']>, string>>;

const OPTIONS: ParamType<OpenIdConnectOptions> = object({
  name: SERVICE_NAME,
  issuer: optional(ENCRYPTED_URL),
  clientId: TEXT,
  clientSecret: optional(secret(TEXT)),
  kind: optional(oneOf(Object.keys(KINDS) as (keyof typeof KINDS)[])),
  displayName: optional(TEXT),
  icon: optional(ICON),
  scope: optional(
    valueType<string>(
      'scopes with openid, separated by blanks',
      (value) => typeof value === 'string' && value.split(' ').includes('openid'),
    ),
  ),
  realms: optional(STRING_IDS),
  allowedDomains: optional(TEXTS),
  trustEmails: optional(FLAG),
  createPeople: optional(FLAG),
  requiredGroups: optional(SOME_TEXTS),
  claims: optional(
    object({
      email: optional(TEXT),
      name: optional(TEXT),
      role: optional(TEXT),
      groups: optional(TEXT),
      picture: optional(TEXT),
    } satisfies ShapeOf<NonNullable<OpenIdConnectOptions['claims']>>),
  ),
  groups: optional(recordOf(TEXT, { max: 1000, maxKeyLength: 1000 })),
  singleLogOut: optional(FLAG),
  ...ROLE_TYPES,
} satisfies ShapeOf<OpenIdConnectOptions>);

/** Services that speak OpenID Connect, and GitHub. */
export const OPENID_CONNECT = {
  setting: {
    variable: 'PARLEY_OPENID_CONNECT',
    isSecret: true,
    help: 'services for logging in by OpenID Connect or at GitHub, as JSON (docs/log-in.md); default: none',
    type: accountList(
      'services',
      '[{"name": "…", "issuer": "https://…", "clientId": "…", "clientSecret": "…"}]',
      OPTIONS,
      accountOf,
    ),
    default: [] as readonly OpenIdConnectAccount[],
  },
  services: openIdConnectProviders,
};

function accountOf(options: OpenIdConnectOptions): OpenIdConnectAccount {
  const isGitHub = options.kind === 'GitHub';
  const needed = isGitHub ? 'clientSecret' : 'issuer';
  if (options[needed] === undefined) throw new Error(`a list of services, each with ${needed}`);
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
