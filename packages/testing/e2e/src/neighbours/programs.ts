import { join } from 'node:path';
import { nginx, PROGRAMS, type Program } from '../testing/running-proxy.js';

const MODULES = [
  ...['mpm_event', 'authz_core', 'socache_shmcb', 'alias', 'reqtimeout'],
  ...['ssl', 'http2', 'proxy', 'proxy_http'],
];

const apache: Program = {
  name: 'apache2',
  sample: 'apache.conf',
  adapt: (text, { folder, port, httpPort, nodePort }) => {
    const modules = MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
    const main = [
      `ServerRoot ${folder}`,
      `ServerName localhost`,
      `PidFile ${folder}/apache.pid`,
      `ErrorLog ${folder}/error.log`,
      `DefaultRuntimeDir ${folder}`,
      ...(process.getuid?.() === 0 ? ['User nobody', 'Group nogroup'] : []),
      `Listen 127.0.0.1:${httpPort}`,
      `Listen 127.0.0.1:${port}`,
    ];
    const site = text
      .replace('*:80', `127.0.0.1:${httpPort}`)
      .replace('*:443', `127.0.0.1:${port}`)
      .replace('127.0.0.1:9991', `127.0.0.1:${nodePort}`)
      .replace(/SSLCertificateFile .*/, `SSLCertificateFile ${folder}/certificate.pem`)
      .replace(/SSLCertificateKeyFile .*/, `SSLCertificateKeyFile ${folder}/key.pem`);
    return [...modules, ...main, site].join('\n');
  },
  args: (file) => ['-D', 'FOREGROUND', '-f', file],
  killed: '502',
  unavailable: { status: 503 },
  reload: 'SIGUSR1',
};

const varnish: Program = {
  name: 'varnishd',
  sample: 'varnish.vcl',
  adapt: (text, { nodePort }) => text.replace('"9991"', `"${nodePort}"`),
  args: (file, { folder, port }) => [
    ...['-F', '-j', 'none', '-n', join(folder, 'varnish'), '-f', file],
    ...['-a', `127.0.0.1:${port}`, '-s', 'malloc,50m'],
  ],
  killed: '503',
  unavailable: { status: 503 },
  reload: (file, { folder }) => ['sh', '-c', RELOAD_VARNISH, join(folder, 'varnish'), file],
};
const RELOAD_VARNISH = 'varnishadm -n "$0" vcl.load again "$1" && varnishadm -n "$0" vcl.use again';

/** Proxies from the outermost to the innermost. */
export const CHAINS: readonly (readonly Program[])[] = [
  ...PROGRAMS.filter(({ sample }) => sample !== 'nginx-cluster.conf').map((program) => [program]),
  [apache],
  [nginx('nginx.conf'), varnish],
];
