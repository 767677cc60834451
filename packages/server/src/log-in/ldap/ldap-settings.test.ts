import { readSetting } from '../../kernel/values.js';
import { LDAP } from './ldap-settings.js';

const parseLdap = (text: string) => readSetting(LDAP.setting.type, text, { name: 'value' });

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
    ['[1]', 'value[0] must be an object'],
    ['[{}]', 'value[0].name must be'],
  ])('rejects %s', (text, message) => {
    expect(() => parseLdap(text)).toThrow(message);
  });

  it.each([
    [{ url: 'ldap://ldap.example.com' }, 'needs "startTls"'],
    [{ url: 'https://ldap.example.com' }, 'value[0].url must be an address such as ldaps://'],
    [{ host: 'x' }, 'value[0] has no property host'],
    [{ userFilter: 'objectClass=*' }, 'value[0].userFilter must be a filter in brackets'],
    [{ attributes: { mail: 'mail' } }, 'value[0].attributes has no property mail; did you mean email?'],
    [{ attributes: { email: 'mail)(x=*' } }, 'value[0].attributes.email must be the name of an attribute'],
    [{ groups: { roles: {} } }, 'value[0].groups.baseDn must be'],
    [{ groups: { baseDn: 'x', roles: { a: 'emperor' } } }, 'value[0].groups.roles.a must be one of owner'],
    [{ groups: { baseDn: 'x', defaultRole: 'owner' } }, 'value[0].groups.defaultRole must be one of member'],
    [{ syncMinutes: -1 }, 'value[0].syncMinutes must be an integer from 0 to 10080'],
    [{ realm: 7 }, 'value[0].realm must be a string'],
  ])('rejects %j', (change, message) => {
    expect(() => parseLdap(JSON.stringify([{ ...REQUIRED, ...change }]))).toThrow(message);
  });

  it('rejects two directories with the same name', () => {
    expect(() => parseLdap(JSON.stringify([REQUIRED, REQUIRED]))).toThrow('company is used twice');
  });
});
