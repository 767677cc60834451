import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@parley/testkit';

const BASE = 'dc=example,dc=com';
const ADMIN = `cn=admin,${BASE}`;
const PASSWORD = 'what is measured here is no secret';
const SCHEMAS = '/etc/ldap/schema';

/** Temporary OpenLDAP server as installed by Debian. */
export class DirectoryServer {
  private constructor(
    private readonly folder: string,
    private readonly process: ChildProcess,
    private readonly port: number,
  ) {}

  /** Starts a server with people loaded offline. @throws Error if OpenLDAP is not installed */
  static async start(people: number): Promise<DirectoryServer> {
    if (!existsSync('/usr/sbin/slapd')) throw new Error('OpenLDAP is not installed');
    const folder = mkdtempSync(join(tmpdir(), 'parley-directory-'));
    const [config, ldif] = [join(folder, 'slapd.conf'), join(folder, 'people.ldif')];
    mkdirSync(join(folder, 'data'));
    const schemas = ['core', 'cosine', 'inetorgperson'].map((name) => `include ${SCHEMAS}/${name}.schema`);
    const settings = ['modulepath /usr/lib/ldap', 'moduleload back_mdb', 'sizelimit unlimited', 'database mdb'];
    const database = ['maxsize 1073741824', `suffix "${BASE}"`, `rootdn "${ADMIN}"`, `rootpw "${PASSWORD}"`];
    writeFileSync(config, [...schemas, ...settings, ...database, `directory ${join(folder, 'data')}`].join('\n'));
    const entries = Array.from(
      { length: people },
      (_, n) =>
        `dn: uid=p${n},${BASE}\nobjectClass: inetOrgPerson\nuid: p${n}\ncn: Person ${n}\nsn: ${n}\nmail: p${n}@example.com`,
    );
    const root = `dn: ${BASE}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Example`;
    writeFileSync(ldif, [root, ...entries, ''].join('\n\n'));
    const { status, stderr } = spawnSync('/usr/sbin/slapadd', ['-q', '-f', config, '-l', ldif], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`slapadd failed: ${stderr}`);
    const port = await freePort();
    const child = spawn('/usr/sbin/slapd', ['-d', '0', '-f', config, '-h', `ldap://127.0.0.1:${port}/`], {
      stdio: 'ignore',
    });
    await delay(1000);
    return new DirectoryServer(folder, child, port);
  }

  /** Value of `PARLEY_LDAP` for an organization. */
  settingFor(realm: string): string {
    const account = { bindDn: ADMIN, bindPassword: PASSWORD, baseDn: BASE };
    return JSON.stringify([{ name: 'company', realm, url: `ldap://127.0.0.1:${this.port}`, ...account }]);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill();
    await ended;
    rmSync(this.folder, { recursive: true });
  }
}
