import type { RoleOptions } from '../roles.js';

/** LDAP server or Active Directory, as options and settings name it. */
export interface LdapOptions {
  /** Unique and stable, since linked accounts name it: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** String id of the organization; default: `''`. */
  readonly realm?: string;
  /** `ldaps://HOST`, or `ldap://HOST` with `startTls`. */
  readonly url: string;
  /** Encrypts the connection to an `ldap://` address; default: false. */
  readonly startTls?: boolean;
  /** Path of the CA certificates (PEM) for the server; default: those of the system. */
  readonly caFile?: string;
  /** Entry that searches; default: anonymous. */
  readonly bindDn?: string;
  readonly bindPassword?: string;
  /** Path of a file with the password. */
  readonly bindPasswordFile?: string;
  readonly baseDn: string;
  /** Selects the entries of people; default: `(objectClass=inetOrgPerson)`. */
  readonly userFilter?: string;
  /** Attributes with id, address, name and picture (bytes); default: `entryUUID`, `mail`, `cn`, and no pictures. */
  readonly attributes?: {
    readonly id?: string;
    readonly email?: string;
    readonly name?: string;
    readonly picture?: string;
  };
  /** Groups that admit people and determine roles; default: none. */
  readonly groups?: {
    readonly baseDn: string;
    /** Default: `(objectClass=groupOfNames)`. */
    readonly filter?: string;
    /** Default: `member`. */
    readonly memberAttribute?: string;
    /** Default: `cn`. */
    readonly nameAttribute?: string;
    /** Users must be in one of these groups. */
    readonly required?: readonly string[];
  } & RoleOptions;
  /** Creates accounts for people without one; default: true. */
  readonly createPeople?: boolean;
  /** Minutes between synchronizations, 0 for none; default: 60. */
  readonly syncMinutes?: number;
}
