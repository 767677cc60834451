import type { RoleOptions } from '../roles.js';

/** Service that speaks OpenID Connect, as options and settings name it. */
export interface OpenIdConnectOptions extends RoleOptions {
  /** Unique and stable, since links and linked accounts name it: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Address of the service without `/.well-known/openid-configuration`; default for GitHub: `https://github.com`. */
  readonly issuer?: string;
  readonly clientId: string;
  /** Default: none, for a public client. */
  readonly clientSecret?: string;
  /** Setting by which organizations enable the service; default: `OpenID Connect`. */
  readonly kind?: 'OpenID Connect' | 'Google' | 'GitHub' | 'GitLab' | 'Apple';
  /** Name of the button; default: `name`. */
  readonly displayName?: string;
  /** URL of an image for the button; default: none. */
  readonly icon?: string;
  /** Default: `openid email profile`; ignored for GitHub. */
  readonly scope?: string;
  /** String ids of the organizations that may use the service; default: all. */
  readonly realms?: readonly string[];
  /** Domains of the email addresses that may log in; default: all. */
  readonly allowedDomains?: readonly string[];
  /** True if addresses count as verified without the claim `email_verified`; default: false. */
  readonly trustEmails?: boolean;
  /** Creates accounts without an invitation; default: if the organization is open to all. */
  readonly createPeople?: boolean;
  /** Users need one of these values in the claim `groups`; default: none. */
  readonly requiredGroups?: readonly string[];
  /** Names of claims, with dots for nested ones; default: `email`, `name`, and none for role and groups. */
  readonly claims?: {
    readonly email?: string;
    readonly name?: string;
    readonly role?: string;
    readonly groups?: string;
    /** Holds the address of a picture; for GitHub `avatar_url`. */
    readonly picture?: string;
  };
  /** Names of user groups by value of the groups claim. People are added and removed in these groups at every log-in. */
  readonly groups?: Readonly<Record<string, string>>;
  /** True to also log out at the service after a log-out from the web client; default: false. */
  readonly singleLogOut?: boolean;
}
