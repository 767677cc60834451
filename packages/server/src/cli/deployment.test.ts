import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { validate } from 'dockerfile-utils';
import { ENV_FILE, parseEnvFile } from '../configuration/env-file.js';
import { readConfiguration } from '../configuration/read-configuration.js';
import type { Setting } from '../configuration/setting.js';
import { FILE_LIMITS, SETTINGS } from '../configuration/settings.js';
import { ServerMetrics } from '../observation/metrics.js';
import { flagsOf, wordCounts } from './command.js';
import { COMMANDS } from './commands.js';

const docs = resolve(__dirname, '../../../../docs');
const deploy = join(docs, 'deploy');
const textOf = (path: string) => readFileSync(join(docs, path), 'utf8');
const samples = readdirSync(deploy).map((name) => join('deploy', name));
const settings = Object.values(SETTINGS as Record<string, Setting<unknown>>);

/** Documents that contain commands and settings. */
const DOCUMENTS = [
  '../README.md',
  'operating.md',
  'cluster.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'embedding.md',
  'embedding-reference.md',
  ...readdirSync(join(docs, 'guides')).map((name) => join('guides', name)),
  ...samples,
];

/** Maximum duration of a poll: `HEARTBEAT_SECONDS` plus jitter. */
const LONGEST_POLL_SECONDS = 55;

/** Returns the `parley` command lines in a text without shell syntax. */
const commandLinesIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?:^|[`\s]|\/bin\/)parley ((?:[a-z][^`\n]*|--version))/gm)]
    .map(([, line]) =>
      line!.replace(/ [<>|&;].*$/, '').replace(/["'].*$/, (rest) => rest.replaceAll(/\$\([^)]*\)/g, 'x')),
    )
    .filter((line) => COMMANDS.some(({ name }) => line === name || line.startsWith(`${name} `)));

const isInstalled = (program: string): boolean => spawnSync(program, ['-v'], { stdio: 'ignore' }).error === undefined;

/** Runs a test if the program is installed, otherwise skips it with the reason. */
const withProgram = (program: string, title: string, test: () => void) =>
  isInstalled(program) ? it(title, test) : it.skip(`${title}: ${program} is not installed`, test);

describe('documentation for operators', () => {
  it.each(DOCUMENTS)('%s writes the command before its options', (path) => {
    expect(textOf(path).match(/\bparley --(?:env-file|database|realm)\b.*/g) ?? []).toEqual([]);
  });

  it.each(DOCUMENTS)('%s names only existing variables', (path) => {
    const known = new Set(
      settings.flatMap(({ variable, isSecret }) => (isSecret ? [variable, `${variable}_FILE`] : [variable])),
    );
    // Variables defined by the samples themselves.
    for (const own of ['PARLEY_DOMAIN', 'PARLEY_UPSTREAM', 'PARLEY_NAME']) known.add(own);
    const named = [...textOf(path).matchAll(/\bPARLEY_[A-Z_]*[A-Z]\b/g)].map(([name]) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(DOCUMENTS)('%s shows only existing commands and options', (path) => {
    for (const line of commandLinesIn(textOf(path))) {
      const command = [...COMMANDS]
        .sort((a, b) => b.name.length - a.name.length)
        .find(({ name }) => line === name || line.startsWith(`${name} `))!;
      const known = new Set([...Object.keys(flagsOf(command)), ...settings.flatMap(({ flag }) => flag ?? [])]);
      const options = [...line.matchAll(/(?:^| )--([a-z-]+)/g)].map(([, name]) => name!);
      expect([line, options.filter((name) => !known.has(name))]).toEqual([line, []]);
      const words = line
        .slice(command.name.length)
        .replace(/'[^']*'/g, 'word')
        .trim()
        .split(/\s+/);
      // Requires a complete command line unless the text only mentions the command.
      if (words[0] !== '') expect([line, words.length >= wordCounts(command)[0]]).toEqual([line, true]);
    }
  });

  it('links only to existing files', () => {
    for (const path of ['operating.md', 'cluster.md', 'CONTRIBUTING.md', 'SECURITY.md', 'configuration.md']) {
      const links = [...textOf(path).matchAll(/\]\(([^)#]+)\)/g)].map(([, target]) => target!);
      expect(links.filter((target) => !existsSync(join(docs, target)))).toEqual([]);
    }
  });

  it('names only existing metrics', () => {
    const source = readFileSync(join(__dirname, '../observation/metrics.ts'), 'utf8');
    const made = new Set(
      [
        ...source.matchAll(
          /'(?:parley_)?((?:http|backup|bus|cluster|event|files|replica|polls|events|writes|database|disk|job|commit|notification|up|build)[a-z_]*)'/g,
        ),
      ].map(([, name]) => name!),
    );
    for (const path of [
      'operating.md',
      'cluster.md',
      'deploy/prometheus-rules.yaml',
      'deploy/grafana-dashboard.json',
    ]) {
      const named = [...textOf(path).matchAll(/\bparley_([a-z_]*[a-z])\b/g)].map(([, name]) =>
        name!.replace(/_(bucket|sum|count)$/, ''),
      );
      expect(named.filter((name) => !made.has(name))).toEqual([]);
    }
  });
});

describe('Grafana dashboard', () => {
  it('queries only existing metrics, each in one panel at a unique position', async () => {
    const { panels } = JSON.parse(textOf('deploy/grafana-dashboard.json')) as {
      panels: { title: string; gridPos: object; targets: { expr: string }[] }[];
    };
    const metrics = await ServerMetrics.create({ version: '1', ofProcess: true });
    const text = await metrics.text();
    const made = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
    const named = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => expr.match(/\b(?:parley|process|nodejs)_[a-z0-9_]+/g) ?? []),
    );
    expect(named.filter((name) => !made.has(name.replace(/_(bucket|sum|count)$/, '')) && !made.has(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(15);
    expect(new Set(panels.map(({ gridPos }) => JSON.stringify(gridPos))).size).toBe(panels.length);
  });
});

describe('reverse proxy sample', () => {
  it('sets timeouts longer than the longest poll', () => {
    for (const name of ['nginx.conf', 'nginx-cluster.conf']) {
      const nginx = /proxy_read_timeout (\d+)s;/.exec(textOf(`deploy/${name}`));
      expect(Number(nginx?.[1])).toBeGreaterThan(LONGEST_POLL_SECONDS);
    }
    const haproxy = /timeout server (\d+)s/.exec(textOf('deploy/haproxy.cfg'));
    expect(Number(haproxy?.[1])).toBeGreaterThan(LONGEST_POLL_SECONDS);
    const apache = /ProxyTimeout (\d+)/.exec(textOf('deploy/apache.conf'));
    expect(Number(apache?.[1])).toBeGreaterThan(LONGEST_POLL_SECONDS);
    const caddy = /response_header_timeout (\d+)s/.exec(textOf('deploy/Caddyfile'));
    expect(Number(caddy?.[1])).toBeGreaterThan(LONGEST_POLL_SECONDS);
  });

  it('retries only safe requests after a node may have received them', () => {
    expect(textOf('deploy/nginx-cluster.conf')).not.toMatch(/proxy_next_upstream .*non_idempotent/);
    expect(textOf('deploy/haproxy.cfg')).toContain('\n    retry-on conn-failure\n');
  });

  withProgram('haproxy', 'as HAProxy reads them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-haproxy-'));
    const path = join(folder, 'haproxy.cfg');
    writeFileSync(path, textOf('deploy/haproxy.cfg').replace(/ ssl crt .*/, ''));
    const { status, stderr } = spawnSync('haproxy', ['-c', '-q', '-f', path], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('ALERT')]);
  });

  it('accepts bodies slightly larger than the largest upload', () => {
    const limits = [
      Number(/client_max_body_size (\d+)m;/.exec(textOf('deploy/nginx.conf'))?.[1]),
      Number(/LimitRequestBody (\d+)/.exec(textOf('deploy/apache.conf'))?.[1]) / 1024 ** 2,
    ];
    for (const mebibytes of limits) expect(mebibytes).toBe((FILE_LIMITS.maxFileMib * 11) / 10);
  });

  withProgram('apache2', 'is a valid configuration of Apache', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-apache-'));
    const modules = ['mpm_event', 'authz_core', 'alias', 'proxy', 'proxy_http', 'ssl', 'http2'].map(
      (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
    );
    // Certificates are read by the check.
    const sample = textOf('deploy/apache.conf').replaceAll(/ +SSL.*\n/g, '');
    writeFileSync(
      join(folder, 'apache.conf'),
      [`ServerRoot ${folder}`, 'ErrorLog /dev/stderr', 'ServerName localhost', ...modules, sample].join('\n'),
    );
    const { status, stderr } = spawnSync('apache2', ['-t', '-f', join(folder, 'apache.conf')], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([status, stderr]).toEqual([0, expect.stringContaining('Syntax OK')]);
  });

  withProgram('nginx', 'as nginx reads them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-nginx-'));
    try {
      const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
      const made = spawnSync('openssl', [
        ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=chat.example.com'],
        ...['-keyout', key, '-out', certificate],
      ]);
      expect(made.status).toBe(0);
      const all = join(folder, 'nginx.conf');
      const files = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join(' ');
      for (const name of ['nginx.conf', 'nginx-cluster.conf']) {
        const sample = textOf(`deploy/${name}`)
          .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
          .replace(/ssl_certificate \/.*;/, `ssl_certificate ${certificate};`);
        writeFileSync(
          all,
          `pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${files} ${sample} }`,
        );
        const { status, stderr } = spawnSync('nginx', ['-t', '-q', '-c', all], { encoding: 'utf8' });
        expect([status, stderr]).toEqual([0, expect.not.stringContaining('[emerg]')]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  withProgram('caddy', 'as Caddy reads them', () => {
    const { status, stderr } = spawnSync('caddy', ['validate', '--config', join(deploy, 'Caddyfile')], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, expect.anything()]);
  });
});

describe('systemd unit', () => {
  it('reads the environment file that commands read by default', () => {
    for (const name of ['parley.service', 'parley-backup.service']) {
      expect(textOf(join('deploy', name))).toContain(`\nEnvironmentFile=${ENV_FILE}\n`);
    }
    const environment = Object.fromEntries(parseEnvFile(textOf('deploy/parley.env'), 'parley.env'));
    expect(readConfiguration([], environment).configuration).toMatchObject({
      database: { path: '/var/lib/parley/parley.db' },
      url: 'https://chat.example.com',
    });
  });

  withProgram('systemd-analyze', 'are as systemd wants them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-units-'));
    try {
      const units = readdirSync(deploy).filter((name) => /\.(service|timer)$/.test(name));
      for (const name of units) {
        // Replaces programs and users with local ones.
        const text = textOf(join('deploy', name))
          .replaceAll('/usr/local/bin/parley', process.execPath)
          .replace(/^(User|Group)=.*$/gm, '$1=root');
        writeFileSync(join(folder, name), text);
      }
      const paths = units.map((name) => join(folder, name));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' });
      const aboutOurs = stderr.split('\n').filter((line) => line.includes('parley'));
      expect([status, aboutOurs]).toEqual([0, []]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('container image', () => {
  const file = textOf('deploy/Containerfile');

  it('has a valid Dockerfile according to static checks', () => {
    expect(validate(file).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`)).toEqual([]);
    expect(validate('FROM node:20\nRUNN x')).toHaveLength(1);
  });

  it('copies only existing files and runs only existing scripts', () => {
    const root = resolve(docs, '..');
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = [...file.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    const copied = [...file.matchAll(/^COPY --from=build \/parley\/(\S+) /gm)].map(([, path]) => path!);
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const compose = textOf('deploy/compose.yaml');
    const [, context, dockerfile] = /context: (\S+)\n\s+dockerfile: (\S+)/.exec(compose) ?? [];
    expect(existsSync(join(deploy, context!, dockerfile!))).toBe(true);
  });

  it('runs the built server as an unprivileged user', () => {
    const main = /exec node \/parley\/(packages\/server\/[\w/.]+)/.exec(file)?.[1];
    const { bin } = JSON.parse(readFileSync(resolve(docs, '../packages/server/package.json'), 'utf8'));
    expect(`packages/server/${bin.parley.replace('./', '')}`).toBe(main);
    const last = file.slice(file.lastIndexOf('FROM '));
    expect(last.indexOf('USER node')).toBeLessThan(last.indexOf('ENTRYPOINT'));
    expect(last).not.toMatch(/USER root/);
  });

  it('uses a Node version that Parley supports', () => {
    const versions = [...file.matchAll(/^FROM node:(\d+)/gm)].map(([, version]) => Number(version));
    expect(versions).toHaveLength(2);
    for (const version of versions) expect(version).toBeGreaterThanOrEqual(20);
  });

  it('stores persistent data in its volume', () => {
    expect(file).toContain('PARLEY_DATABASE=sqlite:/data/');
    expect(file).toMatch(/^VOLUME \/data$/m);
    expect(textOf('deploy/compose.yaml')).toContain('data:/data');
  });
});
