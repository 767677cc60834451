import { generateKeyPairSync } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { FixedClock } from '@parley/testkit';
import { OutgoingProxy } from './outgoing-proxy.js';
import { ApnsSender, FcmSender } from './phone-senders.js';

describe('ApnsSender and FcmSender while the service is down', () => {
  const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const pem = (of: typeof key) => of.export({ format: 'pem', type: 'pkcs8' }) as string;
  const push = { payload: {}, isUrgent: true, isSilent: false };

  it.each(['apns', 'fcm'] as const)('makes three attempts, then none for five seconds: %s', async (kind) => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const clock = new FixedClock();
    const problems: string[] = [];
    const parts = { clock, proxy: new OutgoingProxy(), report: (problem: string) => void problems.push(problem) };
    const sender =
      kind === 'apns'
        ? new ApnsSender({ key: pem(key), keyId: 'id', teamId: 'team', url }, parts)
        : new FcmSender({ projectId: 'p', clientEmail: 'e', privateKey: pem(rsa), tokenUrl: url, url }, parts);
    const token = { kind, token: 'c0ffee', iosAppId: kind === 'apns' ? 'app' : null };
    const down = { outcome: 'unreached', reason: expect.stringMatching(/cannot be reached/) };
    expect(await sender.send(token, push)).toEqual(down);
    const attempts = connections;
    expect(attempts).toBeGreaterThanOrEqual(3);
    expect(await sender.send(token, push)).toEqual(down);
    expect(connections).toBe(attempts);
    clock.advance(5);
    expect(await sender.send(token, push)).toEqual(down);
    expect(connections).toBeGreaterThan(attempts);
    expect(problems).toHaveLength(1);
    server.close();
  });
});
