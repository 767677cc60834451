import { isLoopbackName } from '@parley/http';
import { type LdapAccount, type LdapGroups, ldapDirectories } from '@parley/node-adapters';
import { areRoles, isDefaultRole, roleMapping } from '../roles.js';
import type { LdapOptions } from './ldap-options.js';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '' && value.length <= 1000;
const isFlag: Check = (value) => typeof value === 'boolean';
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isAttribute: Check = (value) => typeof value === 'string' && /^[a-z][a-z\d-]{0,99}$/i.test(value);

const GROUP_CHECKS: Readonly<Record<keyof NonNullable<LdapOptions['groups']>, Check>> = {
  baseDn: isText,
  filter: isFilter,
  memberAttribute: isAttribute,
  nameAttribute: isAttribute,
  required: (value) => Array.isArray(value) && value.every(isText),
  roles: areRoles,
  defaultRole: isDefaultRole,
};

const CHECKS: Readonly<Record<keyof LdapOptions, Check>> = {
  name: (value) => typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,39}$/.test(value),
  realm: (value) => typeof value === 'string' && value.length <= 100,
  url: isAddress,
  startTls: isFlag,
  caFile: isText,
  bindDn: isText,
  bindPassword: isText,
  bindPasswordFile: isText,
  baseDn: isText,
  userFilter: isFilter,
  attributes: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([name, each]) => ['id', 'email', 'name', 'picture'].includes(name) && isAttribute(each),
    ),
  groups: (value) =>
    isRecord(value) &&
    isText(value.baseDn) &&
    Object.entries(value).every(([name, each]) => isValid(GROUP_CHECKS, name, each)),
  createPeople: isFlag,
  syncMinutes: (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 10_080,
};

const isValid = (checks: Readonly<Record<string, Check>>, name: string, value: unknown): boolean =>
  Object.hasOwn(checks, name) && checks[name]!(value);

/** LDAP directories that verify passwords. */
export const LDAP = {
  setting: {
    variable: 'PARLEY_LDAP',
    isSecret: true,
    help: 'directories (LDAP, Active Directory) that verify passwords, as JSON (docs/log-in.md); default: none',
    parse: parseLdap,
    default: [] as readonly LdapAccount[],
  },
  accountsOf: ldapAccounts,
  directories: ldapDirectories,
};

/** Checks the configuration of directories. @throws Error that describes what is expected */
export function ldapAccounts(options: unknown): readonly LdapAccount[] {
  if (!Array.isArray(options)) throw new Error('a list of directories');
  const accounts = options.map(accountOf);
  const twice = accounts.find(({ name }, index) => accounts.findIndex((it) => it.name === name) !== index);
  if (twice) throw new Error(`a list of directories with different names; ${twice.name} is used twice`);
  return accounts;
}

/** Parses the setting. @throws Error describing valid values */
export function parseLdap(text: string): readonly LdapAccount[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('JSON such as [{"name": "…", "url": "ldaps://…", "baseDn": "…"}]');
  }
  return ldapAccounts(value);
}

function accountOf(given: unknown): LdapAccount {
  if (!isRecord(given)) throw new Error('a list of directories, each an object');
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(CHECKS, name)) throw new Error(`a list of directories; there is no property ${name}`);
    if (!isValid(CHECKS, name, value)) throw new Error(`a list of directories with a valid ${name}`);
  }
  for (const name of ['name', 'url', 'baseDn']) {
    if (!Object.hasOwn(given, name)) throw new Error(`a list of directories, each with ${name}`);
  }
  const options = given as unknown as LdapOptions;
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

/** Checks that brackets match; the directory validates the rest. */
function isFilter(value: unknown): boolean {
  return isText(value) && /^\(.*\)$/s.test(value as string);
}

function isAddress(value: unknown): boolean {
  if (!isText(value) || !URL.canParse(value as string)) return false;
  const { protocol, hostname, pathname } = new URL(value as string);
  return (protocol === 'ldap:' || protocol === 'ldaps:') && hostname !== '' && pathname.length <= 1;
}
