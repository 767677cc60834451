import type { LdapAccount, OpenIdConnectAccount, SamlAccount } from '@parley/node-adapters';
import type { LdapOptions } from './ldap/ldap-options.js';
import type { OpenIdConnectOptions } from './openid-connect/openid-connect-options.js';
import type { SamlOptions } from './saml/saml-options.js';

/** Options of the log-in providers; `LOG_IN_PROVIDERS` has a row for each. */
export interface LogInOptions {
  /** Services for logging in by OpenID Connect or at GitHub, in order of their buttons; default: none. Requires `openid-client`. */
  readonly openIdConnect?: readonly OpenIdConnectOptions[];
  /** Identity providers for logging in by SAML 2.0; default: none. Requires `@node-saml/node-saml`. */
  readonly saml?: readonly SamlOptions[];
  /** Directories whose passwords people use; default: none. Requires `ldapts`. */
  readonly ldap?: readonly LdapOptions[];
}

export type LogInName = keyof LogInOptions;

/** Checked accounts of each provider. */
export interface LogInAccounts {
  readonly openIdConnect: readonly OpenIdConnectAccount[];
  readonly saml: readonly SamlAccount[];
  readonly ldap: readonly LdapAccount[];
}
