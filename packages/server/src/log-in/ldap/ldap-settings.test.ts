import { ldapAccounts, parseLdap } from './ldap-settings.js';

const REQUIRED = { name: 'company', url: 'ldaps://ldap.example.com', baseDn: 'dc=example,dc=com' };

describe('PARLEY_LDAP setting', () => {
  it('has defaults for everything except name, url and base DN', () => {
    expect(parseLdap(JSON.stringify([{ ...REQUIRED, groups: { baseDn: 'ou=groups' } }]))).toEqual([
      {
        ...REQUIRED,
        realm: '',
        startTls: false,
        caFile: null,
        bindDn: null,
        bindPassword: null,
        bindPasswordFile: null,
        userFilter: '(objectClass=inetOrgPerson)',
        attributes: { id: 'entryUUID', email: 'mail', name: 'cn', picture: null },
        groups: {
          baseDn: 'ou=groups',
          filter: '(objectClass=groupOfNames)',
          memberAttribute: 'member',
          nameAttribute: 'cn',
          required: [],
          roles: new Map(),
          defaultRole: 'member',
        },
        createsPeople: true,
        syncMinutes: 60,
      },
    ]);
  });

  it.each([
    ['{', 'JSON such as'],
    ['{}', 'a list of directories'],
    ['[1]', 'each an object'],
    ['[{}]', 'each with name'],
  ])('rejects %s', (text, message) => {
    expect(() => parseLdap(text)).toThrow(message);
  });

  it.each([
    [{ url: 'ldap://ldap.example.com' }, 'needs "startTls"'],
    [{ url: 'https://ldap.example.com' }, 'a valid url'],
    [{ host: 'x' }, 'no property host'],
    [{ userFilter: 'objectClass=*' }, 'a valid userFilter'],
    [{ attributes: { mail: 'mail' } }, 'a valid attributes'],
    [{ attributes: { email: 'mail)(x=*' } }, 'a valid attributes'],
    [{ groups: { roles: {} } }, 'a valid groups'],
    [{ groups: { baseDn: 'x', roles: { a: 'emperor' } } }, 'a valid groups'],
    [{ groups: { baseDn: 'x', defaultRole: 'owner' } }, 'a valid groups'],
    [{ syncMinutes: -1 }, 'a valid syncMinutes'],
    [{ realm: 7 }, 'a valid realm'],
  ])('rejects %j', (change, message) => {
    expect(() => ldapAccounts([{ ...REQUIRED, ...change }])).toThrow(message);
  });

  it('rejects two directories with the same name', () => {
    expect(() => ldapAccounts([REQUIRED, REQUIRED])).toThrow('company is used twice');
  });
});
