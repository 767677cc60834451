import { equal } from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort, until } from '@parley/testkit';
import { runParley } from '../testing/parley-process.js';
import { PATH } from '../testing/running-proxy.js';
import { TestOrganization } from '../testing/test-organization.js';

const PAGE = resolve(import.meta.dirname, '../../../../../docs/notifications.md');
const ENV = { PATH };
const NOBODY = { uid: 65_534, gid: 65_534 };
const TOKEN = 'a-token-of-more-than-32-characters';

/** Sends emails through Postfix in both directions with the lines of notifications.md. Returns a line per route. */
export async function runPostfix(): Promise<readonly string[]> {
  if (process.getuid?.() !== 0 || spawnSync('postconf', ['-d', 'mail_version'], { env: ENV }).error !== undefined)
    return ['Postfix was skipped: it is not installed, or the user is not root'];
  const folder = mkdtempSync(join(tmpdir(), 'parley-postfix-'));
  chmodSync(folder, 0o755);
  const [port, sinkPort, smtpPort] = [await freePort(), await freePort(), await freePort()];
  const organization = await TestOrganization.withOrganization();
  const ann = await organization.addPerson('Ann', 'owner');
  const environment = {
    PARLEY_MAIL_GATEWAY_PATTERN: 'chat+%s@example.com',
    PARLEY_MAIL_GATEWAY_TOKEN: TOKEN,
    PARLEY_SMTP_IN: `127.0.0.1:${smtpPort}`,
    PARLEY_SMTP_URL: `smtp://127.0.0.1:${port}`,
  };
  const server = await organization.serve([], '0', { environment });
  const postfix = (command: string) => spawnSync('postfix', ['-c', join(folder, 'etc'), command], { env: ENV });
  mkdirSync(join(folder, 'sink'));
  chownSync(join(folder, 'sink'), NOBODY.uid, NOBODY.gid);
  const sinkArgs = ['-u', 'nobody', '-d', `${folder}/sink/email.`, `127.0.0.1:${sinkPort}`, '10'];
  const sink = spawn('smtp-sink', sinkArgs, { env: ENV, stdio: 'ignore' });
  const call = async (path: string, form?: Readonly<Record<string, string>>): Promise<Record<string, string>> => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      headers: { Authorization: `Basic ${btoa(`${ann.email}:${ann.apiKey}`)}` },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    return (await response.json()) as Record<string, string>;
  };
  const configure = (route: 'smtp' | 'pipe') => {
    const [main = '', transport = '', master = '', script = ''] = linesOf(route).map((lines) =>
      lines
        .replaceAll('/etc/postfix', join(folder, 'etc'))
        .replaceAll('/etc/parley', folder)
        .replace('/usr/local/bin', folder)
        .replace('127.0.0.1]:2525', `127.0.0.1]:${smtpPort}`)
        .replace('user=parley', 'user=nobody')
        .replace('https://chat.example.com', server.url),
    );
    write(folder, port, sinkPort, { main: `${main}\nrelay_domains = example.com`, transport, master, script });
  };
  const results: string[] = [];
  const version = String(spawnSync('postconf', ['-dh', 'mail_version'], { env: ENV }).stdout).trim();
  try {
    await call('/users/me/subscriptions', { subscriptions: '[{"name":"mail"}]' });
    const { stream_id: id } = await call('/get_stream_id?stream=mail');
    const { email } = await call(`/streams/${id}/email_address`);
    for (const route of ['smtp', 'pipe'] as const) {
      configure(route);
      postfix(route === 'smtp' ? 'start' : 'reload');
      await until(() => curl(port, 'ann@elsinore.example', email!, route) === 0);
      await until(async () => {
        const query = `narrow=${encodeURIComponent('[["channel","mail"]]')}&anchor=newest&num_before=5&num_after=0`;
        return JSON.stringify(await call(`/messages?${query}`)).includes(`by ${route}`);
      });
      results.push(`Postfix ${version}: an email to a channel by ${route} arrives`);
      // Postfix accepts an unknown address for its domain, and reports it to the sender.
      const count = readdirSync(join(folder, 'sink')).length;
      await until(() => curl(port, 'ann@elsinore.example', 'chat+unknown@example.com', route) === 0);
      await until(() => readdirSync(join(folder, 'sink')).length > count);
      results.push(`Postfix ${version}: an email to an unknown address by ${route} is returned`);
    }
    const args = ['mail', 'test', 'bob@elsinore.example', `--database=sqlite:${organization.database}`];
    equal((await runParley(args, '', { environment })).code, 0);
    const emails = () =>
      readdirSync(join(folder, 'sink')).map((name) => readFileSync(join(folder, 'sink', name), 'utf8'));
    await until(() => emails().some((text) => text.includes('bob@elsinore.example')));
    results.push(`Postfix ${version}: an email of Parley leaves`);
  } catch (error) {
    results.push(`Postfix ${version}: **fails**: ${(error as Error).message}`);
  } finally {
    postfix('stop');
    sink.kill();
    await organization.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return results;
}

/** Returns main.cf, transport, master.cf and the script of the page; the pipe adds to the lines for SMTP. */
function linesOf(route: 'smtp' | 'pipe'): readonly string[] {
  const page = readFileSync(PAGE, 'utf8');
  const blocks = page.matchAll(/^```\n(# \/etc\/postfix\/main\.cf[\s\S]*?)^```/gm);
  const [smtp = '', pipe = ''] = [...blocks].map(([, block = '']) => block);
  const [main, transport] = smtp.split('\n\n');
  if (route === 'smtp') return [main!, transport!];
  const [more, ...others] = pipe.split('\n\n');
  return [`${main}\n${more}`, ...others];
}

interface Files {
  readonly main: string;
  readonly transport: string;
  readonly master: string;
  readonly script: string;
}

/** Writes the files of an instance in its own folder. */
function write(folder: string, port: number, sinkPort: number, { main, transport, master, script }: Files): void {
  const etc = join(folder, 'etc');
  for (const name of ['etc', 'queue', 'data']) mkdirSync(join(folder, name), { recursive: true });
  spawnSync('chown', ['postfix', join(folder, 'data')]);
  const own = [
    ...[`queue_directory = ${folder}/queue`, `data_directory = ${folder}/data`, `relayhost = [127.0.0.1]:${sinkPort}`],
    ...['inet_interfaces = 127.0.0.1', 'inet_protocols = ipv4', 'myhostname = mx.example.org', 'mydestination ='],
    ...['compatibility_level = 3.6', `maillog_file_prefixes = ${folder}`, `maillog_file = ${folder}/log`],
  ];
  writeFileSync(join(etc, 'main.cf'), `${[...own, main].join('\n')}\n`);
  writeFileSync(join(etc, 'transport'), `${transport}\n`);
  // Services without a chroot, which lacks the files of this folder.
  const usual = readFileSync('/usr/share/postfix/master.cf.dist', 'utf8')
    .replace(/^smtp +inet/m, `127.0.0.1:${port} inet`)
    .replaceAll(/^(\S+ +(?:inet|unix|fifo|unix-dgram) +\S +\S +)y/gm, '$1n');
  writeFileSync(join(etc, 'master.cf'), `${usual}\n${master}\n`);
  writeFileSync(join(folder, 'to-parley'), script.slice(script.indexOf('#!')), { mode: 0o755 });
  writeFileSync(join(folder, 'gateway-token'), TOKEN, { mode: 0o600 });
  chownSync(join(folder, 'gateway-token'), NOBODY.uid, NOBODY.gid);
}

/** Returns the exit code. */
function curl(port: number, from: string, to: string, text: string): number | null {
  const args = ['-s', `smtp://127.0.0.1:${port}`, '--mail-from', from, '--mail-rcpt', to, '--upload-file', '-'];
  const email = `From: ${from}\r\nTo: ${to}\r\nSubject: greeting\r\n\r\nsent by ${text}\r\n`;
  return spawnSync('curl', args, { input: email }).status;
}
