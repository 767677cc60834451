import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSetting, type SettingType } from '../kernel/values.js';
import { LDAP } from './ldap/ldap-settings.js';
import { OPENID_CONNECT } from './openid-connect/openid-connect-settings.js';
import { SAML } from './saml/saml-settings.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-document-'));
const certificate = join(folder, 'idp.pem');
afterAll(() => rmSync(folder, { recursive: true }));

const document = readFileSync(join(__dirname, '../../../../docs/log-in.md'), 'utf8');

/** Returns the code blocks in a language, with the heading above each. */
function blocksOf(language: string): readonly (readonly [heading: string, block: string])[] {
  return document.split(/^## /m).flatMap((section) => {
    const heading = section.slice(0, section.indexOf('\n'));
    const blocks = [...section.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))];
    return blocks.map((match) => [heading, match[1]!] as const);
  });
}

const TYPES: Readonly<Record<string, SettingType<readonly { readonly name: string }[]>>> = {
  'OpenID Connect and GitHub': OPENID_CONNECT.setting.type,
  'SAML 2.0': SAML.setting.type,
  'LDAP and Active Directory': LDAP.setting.type,
};

describe('docs/log-in.md', () => {
  beforeAll(() => {
    const names = ['-subj', '/CN=idp', '-keyout', join(folder, 'idp.key'), '-out', certificate];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names], {
      stdio: 'pipe',
    });
  });

  it('contains configurations for OpenID Connect, SAML and LDAP', () => {
    expect([...new Set(blocksOf('json').map(([heading]) => heading))]).toEqual(Object.keys(TYPES));
  });

  it.each(blocksOf('json'))('contains only configurations that the server accepts: %s', (heading, block) => {
    const text = block.replace(/"certificateFile": "[^"]*"/g, `"certificateFile": ${JSON.stringify(certificate)}`);
    expect(readSetting(TYPES[heading]!, text, { name: heading }).length).toBeGreaterThan(0);
  });

  it('contains a configuration for every service in its tables', () => {
    const names = blocksOf('json').flatMap(([, block]) => [...block.matchAll(/"(?:issuer|entityId)": "([^"]*)"/g)]);
    const addresses = names.map(([, address]) => address!).join();
    for (const host of ['accounts.google.com', 'login.microsoftonline.com', 'gitlab.com', 'okta.com', '/realms/']) {
      expect(addresses).toContain(host);
    }
  });
});
