import { isParsableUrl } from '@parley/domain/kernel';
import { isLoopbackName, type ParamType } from '@parley/http';
import { type LdapAccount, type LdapGroups, ldapDirectories } from '@parley/node-adapters';
import { described, integer, object, optional, type ShapeOf, secret, text, valueType } from '../../kernel/values.js';
import { accountList, FLAG, NAME, ROLE_TYPES, TEXT, TEXTS } from '../account-types.js';
import { roleMapping } from '../roles.js';
import type { LdapOptions } from './ldap-options.js';

const ATTRIBUTE = described(text({ max: 100, pattern: /^[a-z][a-z\d-]*$/i }), 'the name of an attribute, such as mail');
/** Brackets must match; the directory validates the rest. */
const FILTER = described(
  text({ max: 1000, pattern: /^\(.*\)$/s }),
  'a filter in brackets, such as (objectClass=person)',
);
const ADDRESS = valueType<string>('an address such as ldaps://ldap.example.com', (value) => {
  if (typeof value !== 'string' || !isParsableUrl(value)) return false;
  const { protocol, hostname, pathname } = new URL(value);
  return (protocol === 'ldap:' || protocol === 'ldaps:') && hostname !== '' && pathname.length <= 1;
});

const OPTIONS: ParamType<LdapOptions> = object({
  name: NAME,
  realm: optional(text({ max: 100 })),
  url: ADDRESS,
  startTls: optional(FLAG),
  caFile: optional(TEXT),
  bindDn: optional(TEXT),
  bindPassword: optional(secret(TEXT)),
  bindPasswordFile: optional(TEXT),
  baseDn: TEXT,
  userFilter: optional(FILTER),
  attributes: optional(
    object({
      id: optional(ATTRIBUTE),
      email: optional(ATTRIBUTE),
      name: optional(ATTRIBUTE),
      picture: optional(ATTRIBUTE),
    } satisfies ShapeOf<NonNullable<LdapOptions['attributes']>>),
  ),
  groups: optional(
    object({
      baseDn: TEXT,
      filter: optional(FILTER),
      memberAttribute: optional(ATTRIBUTE),
      nameAttribute: optional(ATTRIBUTE),
      required: optional(TEXTS),
      ...ROLE_TYPES,
    } satisfies ShapeOf<NonNullable<LdapOptions['groups']>>),
  ),
  createPeople: optional(FLAG),
  syncMinutes: optional(integer({ min: 0, max: 10_080 })),
} satisfies ShapeOf<LdapOptions>);

/** LDAP directories that verify passwords. */
export const LDAP = {
  setting: {
    variable: 'PARLEY_LDAP',
    isSecret: true,
    help: 'directories (LDAP, Active Directory) that verify passwords, as JSON (docs/log-in.md); default: none',
    type: accountList('directories', '[{"name": "…", "url": "ldaps://…", "baseDn": "…"}]', OPTIONS, accountOf),
    default: [] as readonly LdapAccount[],
  },
  directories: ldapDirectories,
};

function accountOf(options: LdapOptions): LdapAccount {
  const { url, startTls = false, attributes = {}, groups } = options;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'ldap:' && !startTls && !isLoopbackName(hostname)) {
    throw new Error('a list of directories; ldap:// needs "startTls": true, since passwords are sent');
  }
  return {
    name: options.name,
    realm: options.realm ?? '',
    url,
    startTls,
    caFile: options.caFile ?? null,
    bindDn: options.bindDn ?? null,
    bindPassword: options.bindPassword ?? null,
    bindPasswordFile: options.bindPasswordFile ?? null,
    baseDn: options.baseDn,
    userFilter: options.userFilter ?? '(objectClass=inetOrgPerson)',
    attributes: {
      id: attributes.id ?? 'entryUUID',
      email: attributes.email ?? 'mail',
      name: attributes.name ?? 'cn',
      picture: attributes.picture ?? null,
    },
    groups: groups ? groupsOf(groups) : null,
    createsPeople: options.createPeople ?? true,
    syncMinutes: options.syncMinutes ?? 60,
  };
}

const groupsOf = (groups: NonNullable<LdapOptions['groups']>): LdapGroups => ({
  baseDn: groups.baseDn,
  filter: groups.filter ?? '(objectClass=groupOfNames)',
  memberAttribute: groups.memberAttribute ?? 'member',
  nameAttribute: groups.nameAttribute ?? 'cn',
  required: groups.required ?? [],
  ...roleMapping(groups),
});
