import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@parley/testkit';
import { Client } from 'ldapts';

const SLAPD = ['/usr/sbin/slapd', '/usr/libexec/slapd', '/usr/lib/openldap/slapd'].find((path) => existsSync(path));
const SCHEMA = ['/etc/ldap/schema', '/etc/openldap/schema'].find((path) => existsSync(path));

export const hasLdapServer = SLAPD !== undefined && SCHEMA !== undefined;

export const BASE = 'dc=example,dc=com';
export const ADMIN = `cn=admin,${BASE}`;
export const ADMIN_PASSWORD = 'the password of the administrator';

export interface LdapPerson {
  readonly uid: string;
  readonly mail?: string;
  readonly cn?: string;
  readonly password?: string;
}

/** OpenLDAP with an empty directory and a self-signed certificate. */
export class TestLdapServer {
  private constructor(
    private readonly folder: string,
    private readonly process: ChildProcess,
    readonly port: number,
    readonly securePort: number,
  ) {}

  static async start(): Promise<TestLdapServer> {
    const folder = mkdtempSync(join(tmpdir(), 'parley-ldap-'));
    const [port, securePort] = [await freePort(), await freePort()];
    mkdirSync(join(folder, 'data'));
    const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
    openssl(
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
      ...[
        '-addext',
        'subjectAltName=DNS:localhost',
        '-keyout',
        join(folder, 'key.pem'),
        '-out',
        join(folder, 'ca.pem'),
      ],
    );
    const config = join(folder, 'slapd.conf');
    writeFileSync(
      config,
      [
        ...['core', 'cosine', 'inetorgperson'].map((name) => `include ${SCHEMA}/${name}.schema`),
        ...(existsSync('/usr/lib/ldap') ? ['modulepath /usr/lib/ldap'] : []),
        'moduleload back_mdb',
        `pidfile ${join(folder, 'slapd.pid')}`,
        `TLSCertificateFile ${join(folder, 'ca.pem')}`,
        `TLSCertificateKeyFile ${join(folder, 'key.pem')}`,
        'sizelimit unlimited',
        'database mdb',
        'maxsize 268435456',
        'dbnosync',
        `suffix "${BASE}"`,
        `rootdn "${ADMIN}"`,
        `rootpw "${ADMIN_PASSWORD}"`,
        `directory ${join(folder, 'data')}`,
        'index mail,uid,member eq',
      ].join('\n'),
    );
    const urls = `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${securePort}/`;
    const child = spawn(SLAPD!, ['-d', '0', '-f', config, '-h', urls], { stdio: 'ignore' });
    const server = new TestLdapServer(folder, child, port, securePort);
    await server.accepts();
    await server.change(async (client) => {
      await client.add(BASE, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' });
      for (const ou of ['people', 'groups'])
        await client.add(`ou=${ou},${BASE}`, { objectClass: 'organizationalUnit', ou });
    });
    return server;
  }

  get url(): string {
    return `ldap://localhost:${this.port}`;
  }

  get secureUrl(): string {
    return `ldaps://localhost:${this.securePort}`;
  }

  /** Path of the CA certificate for the server. */
  get caFile(): string {
    return join(this.folder, 'ca.pem');
  }

  /** Path for a file of the test. */
  path(name: string): string {
    return join(this.folder, name);
  }

  async change<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ url: `ldap://127.0.0.1:${this.port}` });
    await client.bind(ADMIN, ADMIN_PASSWORD);
    try {
      return await work(client);
    } finally {
      await client.unbind();
    }
  }

  add(...people: readonly LdapPerson[]): Promise<void> {
    return this.change(async (client) => {
      for (const { uid, mail = `${uid}@zulip.com`, cn = uid, password = `pw-${uid}` } of people) {
        const entry = { objectClass: 'inetOrgPerson', uid, cn, sn: uid, mail, userPassword: password };
        await client.add(dnOf(uid), entry);
      }
    });
  }

  remove(uid: string): Promise<void> {
    return this.change((client) => client.del(dnOf(uid)));
  }

  addGroup(cn: string, members: readonly string[]): Promise<void> {
    const member = members.map(dnOf);
    return this.change((client) =>
      client.add(`cn=${cn},ou=groups,${BASE}`, { objectClass: 'groupOfNames', cn, member }),
    );
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill();
    await ended;
    rmSync(this.folder, { recursive: true });
  }

  private async accepts(): Promise<void> {
    for (let attempt = 0; attempt < 200; attempt++) {
      const isOpen = await new Promise<boolean>((resolve) => {
        const socket = connect(this.port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
        socket.on('connect', () => socket.destroy());
      });
      if (isOpen) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('slapd did not start');
  }
}

export const dnOf = (uid: string): string => `uid=${uid.replace(/[,\\+]/g, '\\$&')},ou=people,${BASE}`;
