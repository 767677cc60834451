import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSetting } from '../../kernel/values.js';
import { SAML } from './saml-settings.js';

const parseSaml = (text: string) => readSetting(SAML.setting.type, text, { name: 'value' });
const samlAccounts = (accounts: readonly object[]) => parseSaml(JSON.stringify(accounts));

const folder = mkdtempSync(join(tmpdir(), 'parley-saml-'));
const certificateFile = join(folder, 'idp.pem');
afterAll(() => rmSync(folder, { recursive: true }));

describe('PARLEY_SAML setting', () => {
  const required = { name: 'company', entityId: 'https://idp.example.com', entryPoint: 'https://idp.example.com/sso' };
  let certificate: string;
  beforeAll(() => {
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=idp', '-keyout', join(folder, 'key')];
    execFileSync('openssl', [...made, '-out', certificateFile], { stdio: 'pipe' });
    certificate = readFileSync(certificateFile, 'utf8');
  });

  it('reads the request signing key with its certificate', () => {
    const requestKeyFile = join(folder, 'request.pem');
    const key = readFileSync(join(folder, 'key'), 'utf8');
    const parse = (text: string) => {
      writeFileSync(requestKeyFile, text);
      return parseSaml(JSON.stringify([{ ...required, certificateFile, requestKeyFile }]))[0]!.requestKey;
    };
    expect(parse(key + certificate)).toEqual({ key, certificate });
    for (const text of ['', key, certificate]) expect(() => parse(text)).toThrow('a private key and its certificate');
  });

  it('has defaults for everything except name, URLs and certificate', () => {
    const [account] = parseSaml(JSON.stringify([{ ...required, certificateFile }]));
    expect(account).toEqual({
      ...required,
      certificates: [certificate],
      signsResponse: false,
      defaultRole: 'member',
      requestKey: null,
      displayName: 'company',
      displayIcon: null,
      realms: null,
      allowedDomains: null,
      trustsEmails: false,
      createsPeople: null,
      requiredGroups: [],
      attributes: { id: null, email: null, name: 'displayName', role: null, groups: null, picture: null },
      roles: new Map(),
    });
  });

  it('accepts several certificates', () => {
    const [account] = samlAccounts([{ ...required, certificate: `${certificate}\n${certificate}` }]);
    expect(account!.certificates).toEqual([certificate, certificate]);
  });

  it('reads a changed certificate file without a restart', () => {
    const changing = join(folder, 'changing.pem');
    writeFileSync(changing, certificate);
    const [account] = samlAccounts([{ ...required, certificateFile: changing }]);
    writeFileSync(changing, `${certificate}\n${certificate}`);
    expect(account!.certificates).toEqual([certificate, certificate]);
    writeFileSync(changing, 'x');
    expect(() => account!.certificates).toThrow('in PEM format');
  });

  it.each([
    [{}, 'with certificate or certificateFile'],
    [{ certificate: 'x' }, 'in PEM format'],
    [{ certificateFile: '/nowhere/at/all' }, 'that can be read'],
    [{ certificateFile, entryPoint: 'http://idp.example.com' }, 'value[0].entryPoint must be an address with https'],
    [{ certificateFile, name: 'Host' }, 'value[0].name must be at most 40'],
    [{ certificateFile, roles: { a: 'emperor' } }, 'value[0].roles.a must be one of owner'],
    [{ certificateFile, issuer: 'x' }, 'value[0] has no property issuer'],
    [{ certificateFile, requiredGroups: ['chat'] }, 'requiredGroups needs attributes.groups'],
    [{ certificateFile, createPeople: 1 }, 'value[0].createPeople must be true or false'],
  ])('rejects %j', (change, message) => {
    expect(() => samlAccounts([{ ...required, ...change }])).toThrow(message);
  });

  it('rejects text that is not a list, and two providers with the same name', () => {
    expect(() => parseSaml('{')).toThrow('JSON such as');
    const one = { ...required, certificateFile };
    expect(() => samlAccounts([one, one])).toThrow('company is used twice');
  });
});
