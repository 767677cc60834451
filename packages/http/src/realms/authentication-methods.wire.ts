import type { AuthenticationMethodChanges } from '@parley/domain/membership';
import type { AuthenticationMethod, AuthenticationMethodState } from '@parley/domain/realms';
import { quotable } from '../kernel/param-error.js';
import { boolean, type ParamType, recordOf } from '../kernel/param-types.js';
import type { WireFields } from '../kernel/reply.js';
import * as wire from '../kernel/wire-schema.js';

/** What clients call the ways to sign in (events §5.2). */
const NAMES = {
  devAuthentication: 'Dev',
  emailAuthentication: 'Email',
  gitHubAuthentication: 'GitHub',
  gitLabAuthentication: 'GitLab',
  googleAuthentication: 'Google',
  appleAuthentication: 'Apple',
  samlAuthentication: 'SAML',
  openIdConnectAuthentication: 'OpenID Connect',
} as const satisfies Readonly<Record<AuthenticationMethod, string>>;

const METHODS: ReadonlyMap<string, AuthenticationMethod> = new Map(
  Object.entries(NAMES).map(([method, name]) => [name, method as AuthenticationMethod]),
);

/** Whatever the names; those that are none are refused in their turn. */
export const authenticationMethodsParam: ParamType<Record<string, boolean>> = recordOf(boolean(), {
  max: 100,
  maxKeyLength: 100,
});

export function toAuthenticationMethods(given: Readonly<Record<string, boolean>>): AuthenticationMethodChanges {
  const names = Object.keys(given);
  const known = names.filter((name) => METHODS.has(name));
  return {
    methods: new Map(known.map((name) => [METHODS.get(name)!, given[name]!])),
    unknown: names.find((name) => !METHODS.has(name)) ?? null,
  };
}

export const unknownMethodText = (name: string): string =>
  `Invalid authentication method: ${quotable(name)}. Valid methods are: ${[...METHODS.keys()].sort().join(', ')}`;

export function presentAuthenticationMethods(methods: readonly AuthenticationMethodState[]): WireFields {
  return Object.fromEntries(
    methods.map(({ method, isEnabled, isAvailable }) => [
      NAMES[method],
      { enabled: isEnabled, available: isAvailable },
    ]),
  );
}

/** What `presentAuthenticationMethods` answers. */
export const AUTHENTICATION_METHODS = wire.dictionaryOf(
  wire.fields({ enabled: wire.boolean(), available: wire.boolean() }),
);
