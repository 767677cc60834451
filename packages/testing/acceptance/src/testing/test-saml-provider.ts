import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@parley/testkit';

const PAGES = '/usr/share/simplesamlphp/www';

export const hasSamlProvider = existsSync(PAGES) && existsSync('/usr/bin/php');

const ENTITY_ID = 'https://idp.example.com/metadata';

/** Form that the provider's page sends to the service. */
export interface SamlForm {
  /** Address to which the form is sent. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

const php = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(php).join(', ')}]`
    : typeof value === 'object' && value !== null
      ? `[${Object.entries(value).map(([name, each]) => `${php(name)} => ${php(each)}`)}]`
      : typeof value === 'string'
        ? `'${value.replace(/[\\']/g, '\\$&')}'`
        : String(value);

/** SimpleSAMLphp as an identity provider with its own key. */
export class TestSamlProvider {
  readonly entityId = ENTITY_ID;

  private constructor(
    private readonly folder: string,
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  /** Starts the provider with users by name; the password is `pw-NAME`. */
  static async start(people: Readonly<Record<string, object>>): Promise<TestSamlProvider> {
    const folder = mkdtempSync(join(tmpdir(), 'parley-saml-provider-'));
    const metadata = join(folder, 'metadata');
    mkdirSync(metadata);
    for (const name of ['idp', 'other']) {
      const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.pem`)];
      const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`, ...files];
      execFileSync('openssl', made, { stdio: 'pipe' });
    }
    const url = `http://127.0.0.1:${await freePort()}`;
    const config = {
      baseurlpath: `${url}/`,
      ...{ certdir: `${folder}/`, datadir: `${folder}/`, loggingdir: `${folder}/`, tempdir: `${folder}/` },
      ...{ metadatadir: metadata, 'metadata.sources': [{ type: 'flatfile', directory: metadata }] },
      ...{ secretsalt: 'salt', 'auth.adminpassword': 'unused', technicalcontact_email: 'root@localhost' },
      ...{ 'logging.handler': 'file', timezone: 'UTC', 'enable.saml20-idp': true, 'session.cookie.secure': false },
      ...{ 'session.phpsession.savepath': folder, 'module.enable': { core: true, exampleauth: true, saml: true } },
    };
    const accounts = Object.fromEntries(Object.entries(people).map(([name, it]) => [`${name}:pw-${name}`, it]));
    const write = (path: string, variable: string, value: object) =>
      writeFileSync(join(folder, path), `<?php\n$${variable} = ${php(value)};\n`);
    write('config.php', 'config', config);
    write('authsources.php', 'config', { people: { 0: 'exampleauth:UserPass', ...accounts } });
    write('metadata/saml20-idp-hosted.php', 'metadata', {
      [ENTITY_ID]: {
        host: '__DEFAULT__',
        auth: 'people',
        privatekey: 'idp.key',
        certificate: 'idp.pem',
        NameIDFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
        'simplesaml.nameidattribute': 'uid',
      },
    });
    const child = spawn('php', ['-S', url.slice('http://'.length), '-t', PAGES], {
      env: { ...process.env, SIMPLESAMLPHP_CONFIG_DIR: folder },
      stdio: 'ignore',
    });
    const provider = new TestSamlProvider(folder, child, url);
    await provider.responds();
    return provider;
  }

  get entryPoint(): string {
    return `${this.url}/saml2/idp/SSOService.php`;
  }

  certificate(name: 'idp' | 'other' = 'idp'): string {
    return readFileSync(join(this.folder, `${name}.pem`), 'utf8');
  }

  /** Registers services by their published metadata. */
  register(...services: readonly string[]): void {
    const known = services.map((xml, index) => {
      const file = join(this.folder, `service${index}.xml`);
      writeFileSync(file, xml);
      return { type: 'xml', file };
    });
    const path = join(this.folder, 'config.php');
    const own = { type: 'flatfile', directory: join(this.folder, 'metadata') };
    const line = `$config['metadata.sources'] = ${php([own, ...known])};\n`;
    writeFileSync(path, readFileSync(path, 'utf8') + line);
  }

  /** Logs in through the provider's pages from an address; returns the form to submit to the service. */
  async logIn(address: string, name: string, password = `pw-${name}`): Promise<SamlForm> {
    const cookies = new Map<string, string>();
    const load = async (url: string, init: RequestInit = {}): Promise<{ url: string; page: string }> => {
      const Cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const reply = await fetch(url, { redirect: 'manual', ...init, headers: { Cookie } });
      for (const cookie of reply.headers.getSetCookie()) {
        const [key, value] = cookie.split(';')[0]!.split('=') as [string, string];
        cookies.set(key, value);
      }
      const location = reply.headers.get('location');
      return location === null ? { url, page: await reply.text() } : load(new URL(location, url).href);
    };
    const form = await load(address);
    const { AuthState } = fieldsIn(form.page);
    if (AuthState === undefined) throw new Error(`The provider shows no form: ${form.page.slice(0, 2000)}`);
    const body = new URLSearchParams({ AuthState, username: name, password });
    const { page } = await load(form.url, { method: 'POST', body });
    const action = /<form[^>]* action="([^"]*)"/.exec(page)?.[1] ?? '';
    return { action: decoded(action), fields: fieldsIn(page) };
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill();
    await ended;
    rmSync(this.folder, { recursive: true });
  }

  private async responds(): Promise<void> {
    for (let attempt = 0; attempt < 400; attempt++) {
      const reply = await fetch(`${this.url}/resources/default.css`).catch(() => null);
      if (reply?.ok) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('The identity provider does not start');
  }
}

/** Hidden fields of a page. */
const fieldsIn = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/<input\b[^>]*>/g)].flatMap(([input]) => {
      const [, name] = /name="([^"]*)"/.exec(input) ?? [];
      const [, value] = /value="([^"]*)"/.exec(input) ?? [];
      return name === undefined || value === undefined ? [] : [[name, decoded(value)]];
    }),
  );

const decoded = (text: string): string =>
  text
    .replace(/&(?:amp|#38|#x26);/g, '&')
    .replace(/&(?:quot|#34);/g, '"')
    .replace(/&#0?43;/g, '+');
