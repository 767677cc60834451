import type { LdapAccount, OpenIdConnectAccount, SamlAccount } from '@parley/node-adapters';
import type { LdapOptions } from './ldap/ldap-options.js';
import type { OpenIdConnectOptions } from './openid-connect/openid-connect-options.js';
import type { SamlOptions } from './saml/saml-options.js';

/** Options of the log-in providers; `LOG_IN_PROVIDERS` has a row for each. */
export interface LogInOptions {
  /** OpenID Connect services and GitHub, in button order; default: none. Requires `openid-client`. */
  readonly openIdConnect?: readonly OpenIdConnectOptions[];
  /** SAML 2.0 identity providers; default: none. Requires `@node-saml/node-saml`. */
  readonly saml?: readonly SamlOptions[];
  /** LDAP directories that verify passwords; default: none. Requires `ldapts`. */
  readonly ldap?: readonly LdapOptions[];
}

export type LogInName = keyof LogInOptions;

/** Checked accounts of each provider. */
export interface LogInAccounts {
  readonly openIdConnect: readonly OpenIdConnectAccount[];
  readonly saml: readonly SamlAccount[];
  readonly ldap: readonly LdapAccount[];
}
