import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BusHint, EventSeq, RealmId, StoredEvent } from '@parley/domain/kernel';
import { hasNatsServer, NatsServer, until } from '@parley/testkit';
import { busContract } from '@parley/testkit/contracts';
import { examineNats, type NatsBus, type NatsBusOptions, openNatsBus } from './nats-bus.js';

if (!hasNatsServer) console.error('nats-server is not installed: tests of the bus are skipped.');
const withServer = hasNatsServer ? describe : describe.skip;

const REALM = 7 as RealmId;
const HERE = { id: 'an-installation', place: 'here' };
const committed = (seq: number, events?: readonly StoredEvent[]): BusHint => ({
  kind: 'committed',
  seq: seq as EventSeq,
  ...(events && { events }),
});
const event = (seq: number, content = 'hello') =>
  ({
    realmId: REALM,
    seq,
    event: { type: 'blank', content },
    audience: { kind: 'nobody' },
    at: 5,
    quotes: null,
  }) as never;

const opened: NatsBus[] = [];
let folder: string;
let server: NatsServer;

function makeCertificate(): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
      .concat(['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'])
      .concat(['-keyout', key, '-out', cert]),
    { stdio: 'ignore' },
  );
  return { cert, key };
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-nats-'));
  server = await NatsServer.atFreePort();
});
afterEach(async () => {
  for (const bus of opened.splice(0)) await bus.close();
  await server.kill();
  rmSync(folder, { recursive: true });
});

async function open(options: Partial<NatsBusOptions> = {}): Promise<NatsBus> {
  const bus = await openNatsBus({
    servers: [server.url],
    credentialsFile: null,
    caFile: null,
    installation: HERE,
    release: '1',
    sendsContents: true,
    ...options,
  });
  opened.push(bus);
  return bus;
}

/** Resolves once everything published on the first bus has arrived at the second one. */
async function settle(from: NatsBus, to: NatsBus): Promise<void> {
  const realm = 999 as RealmId;
  let isHere = false;
  const unsubscribe = await to.subscribe(realm, () => {
    isHere = true;
  });
  from.publish(realm, committed(1));
  await until(() => isHere);
  unsubscribe();
}

async function hearing(bus: NatsBus): Promise<BusHint[]> {
  const heard: BusHint[] = [];
  await bus.subscribe(REALM, (hint) => heard.push(hint));
  return heard;
}

withServer('NatsBus', () => {
  describe('with a server', () => {
    beforeEach(async () => {
      await server.start();
    });
    busContract(
      () => open(),
      async () => {
        const [first, ...others] = opened;
        for (const other of others) await settle(first!, other);
      },
    );

    it('sends the events of small commits and only the numbers of large ones', async () => {
      const [own, other] = [await open(), await open()];
      const heard = await hearing(other);
      own.publish(REALM, committed(1, [event(1)]));
      own.publish(REALM, committed(2, [event(2, 'x'.repeat(64 * 1024))]));
      await settle(own, other);
      expect(heard).toEqual([committed(1, [event(1)]), committed(2)]);
    });

    it('sends only numbers if `sendsContents` is false', async () => {
      const [own, other] = [await open({ sendsContents: false }), await open()];
      const heard = await hearing(other);
      own.publish(REALM, committed(1, [event(1)]));
      await settle(own, other);
      expect(heard).toEqual([committed(1)]);
    });

    it('ignores events from servers of another release', async () => {
      const [own, other] = [await open({ release: '2' }), await open()];
      const heard = await hearing(other);
      own.publish(REALM, committed(1, [event(1)]));
      await settle(own, other);
      expect(heard).toEqual([committed(1)]);
    });

    it('ignores and counts messages of unknown kinds and from a copy of the installation', async () => {
      const [own, copy, other] = [
        await open(),
        await open({ installation: { ...HERE, place: 'there' } }),
        await open(),
      ];
      const heard = await hearing(other);
      copy.publish(REALM, committed(1));
      await until(() => other.counts.foreign === 1);
      own.publish(REALM, { kind: 'news', of: 'a later release' } as never);
      own.publish(REALM, { kind: 'toString' } as never);
      own.publish(REALM, committed(2));
      await settle(own, other);
      expect(heard).toEqual([committed(2)]);
      expect(other.counts).toMatchObject({ foreign: 1, unknown: 2, received: 2 });
      expect(own.counts).toMatchObject({ published: 4, dropped: 0 });
    });

    it('receives nothing from other installations', async () => {
      const [own, other] = [await open({ installation: { id: 'another', place: 'here' } }), await open()];
      const heard = await hearing(other);
      own.publish(REALM, committed(1));
      const third = await open();
      await settle(third, other);
      expect([heard, other.counts.foreign]).toEqual([[], 0]);
    });
  });

  it('reports a lost and a restored connection once each, and resumes delivery', async () => {
    await server.start();
    const states: string[] = [];
    const own = await open({ onState: (state) => states.push(state) });
    const other = await open();
    const heard = await hearing(other);
    expect([own.state, states]).toEqual(['connected', ['connected']]);
    await server.kill();
    await until(() => own.state === 'unavailable' && other.state === 'unavailable');
    own.publish(REALM, committed(1));
    const unsubscribe = await own.subscribe(REALM, () => {});
    unsubscribe();
    await sleep(1200);
    expect(states).toEqual(['connected', 'unavailable']);
    await server.start();
    await until(() => own.state === 'connected' && other.state === 'connected');
    own.publish(REALM, committed(2));
    await settle(own, other);
    expect([heard, states, own.counts.dropped]).toEqual([[committed(2)], ['connected', 'unavailable', 'connected'], 1]);
  });

  it('starts without a server and connects once one is available', async () => {
    const states: string[] = [];
    const own = await open({ onState: (state) => states.push(state) });
    expect([own.state, states]).toEqual(['unavailable', ['unavailable']]);
    await server.start();
    await until(() => own.state === 'connected');
    expect(states).toEqual(['unavailable', 'connected']);
  });

  it.each([
    ['a user and password', 'ann:secret', ['--user', 'ann', '--pass', 'secret']],
    ['a token', 'a-long-token', ['--auth', 'a-long-token']],
  ])('logs in with %s from a file', async (_, text, args) => {
    await server.start(...args);
    const credentialsFile = join(folder, 'credentials');
    writeFileSync(credentialsFile, `${text}\n`);
    expect((await open({ credentialsFile })).state).toBe('connected');
    writeFileSync(credentialsFile, 'nobody:wrong');
    const reasons: unknown[] = [];
    const refused = await open({ credentialsFile, onState: (_state, reason) => reasons.push(reason) });
    expect([refused.state, String(reasons[0])]).toEqual(['unavailable', expect.stringMatching(/authorization/i)]);
  });

  it('connects only to servers with a certificate signed by the configured CA', async () => {
    const { cert, key } = makeCertificate();
    await server.start('--tls', '--tlscert', cert, '--tlskey', key);
    const encrypted = { servers: [server.url.replace('nats:', 'tls:')], credentialsFile: null };
    expect(await examineNats({ ...encrypted, caFile: cert })).toMatch(/^\d+\.\d+/);
    await expect(examineNats({ ...encrypted, caFile: null })).rejects.toThrow(/certificate/);
    await server.kill();
    await server.start();
    await expect(examineNats({ ...encrypted, caFile: cert })).rejects.toThrow();
  });

  it('connects to a server with the configuration of the guide to several nodes', async () => {
    const guide = readFileSync(join(__dirname, '../../../../docs/cluster.md'), 'utf8');
    const sample = /```\n( *listen: 0\.0\.0\.0:4222\n.*?)```/s.exec(guide)![1]!;
    const { cert, key } = makeCertificate();
    const config = join(folder, 'nats.conf');
    writeFileSync(config, sample.replace('/etc/nats/cert.pem', cert).replace('/etc/nats/key.pem', key));
    await server.start('--config', config);
    const credentialsFile = join(folder, 'credentials');
    writeFileSync(credentialsFile, 'parley:PASSWORD');
    const encrypted = { servers: [server.url.replace('nats:', 'tls:')], caFile: cert };
    expect(await examineNats({ ...encrypted, credentialsFile })).toMatch(/^\d+\.\d+/);
    await expect(examineNats({ ...encrypted, credentialsFile: null })).rejects.toThrow(/authorization/i);
  });

  it('rejects an unreadable credentials file', async () => {
    await expect(open({ credentialsFile: join(folder, 'none') })).rejects.toThrow('ENOENT');
  });
});
