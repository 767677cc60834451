import type { RoleOptions } from '../roles.js';

/** Identity provider that speaks SAML 2.0, as options and settings name it. */
export interface SamlOptions extends RoleOptions {
  /** Unique and stable, since links and linked accounts name it: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Entity id of the provider. */
  readonly entityId: string;
  /** Address of the provider for redirects. */
  readonly entryPoint: string;
  /** Certificates (PEM) for the signature of assertions; one must match. */
  readonly certificate?: string;
  /** Path of a file with the certificates. */
  readonly certificateFile?: string;
  /** Requires that whole responses are signed too; default: false. */
  readonly signsResponse?: boolean;
  /** Path of a file (PEM) with the private key that signs requests, and its certificate; default: no signature. */
  readonly requestKeyFile?: string;
  /** Text of the button; default: `name`. */
  readonly displayName?: string;
  /** URL of an image. */
  readonly icon?: string;
  /** String ids of the organizations that may use the provider; default: all. */
  readonly realms?: readonly string[];
  /** Domains of the email addresses that may log in; default: all. */
  readonly allowedDomains?: readonly string[];
  /** Accepts addresses as verified; default: false. Only for providers where people cannot choose their address. */
  readonly trustEmails?: boolean;
  /** Creates accounts without an invitation; default: if the organization is open to all. */
  readonly createPeople?: boolean;
  /** Users need one of these values in the attribute `groups`; default: none. */
  readonly requiredGroups?: readonly string[];
  /** Names of attributes; default: the name of the subject for `id` and `email`, `displayName`, and none for the others. */
  readonly attributes?: {
    readonly id?: string;
    readonly email?: string;
    readonly name?: string;
    readonly role?: string;
    readonly groups?: string;
    /** Holds the address of a picture. */
    readonly picture?: string;
  };
}
