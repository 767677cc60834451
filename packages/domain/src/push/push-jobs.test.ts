import { aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import { DomainError } from '../kernel/errors.js';
import type { DeviceId } from '../kernel/ids.js';
import { type Device, NEW_DEVICE, type PushService, type RegistrationError } from './push.js';
import { RegisterDevices, UnregisterTokens } from './push-jobs.js';

const pending = { tokenId: 'AAAAAAAAAAA=', publicKey: 'key', encrypted: 'text' };
const KEY = { id: 1, key: 'key' };

/** Creates hamlet with a device with a pending registration. */
async function waiting() {
  const fixture = await createFixture(aUser({ name: 'hamlet' }));
  const { realmId, userId } = fixture.viewer('hamlet');
  const device = await fixture.uow.write(realmId, async (tx) => {
    const added = { ...(await tx.devices.add({ realmId, userId, ...NEW_DEVICE })), key: KEY, pending };
    await tx.devices.update(added);
    return added;
  });
  return { fixture, device };
}
const serviceOf = (registerEncrypted: () => Promise<RegistrationError | null>) => {
  const asked: string[] = [];
  const service: Partial<PushService> = {
    tokenIdOf: (token) => token,
    registerEncrypted,
    unregisterToken: async (_, { token }) => void asked.push(token),
  };
  return { service: service as PushService, asked };
};
const jobOf = ({ clock }: MemoryFixture, { id, realmId, userId }: Device, tokenId = pending.tokenId) => ({
  ...{ id: 1 as never, realmId, dueAt: 0, attempt: 1 },
  payload: { userId, deviceId: id, tokenId, requestedAt: clock.now() },
});
const run = async (fixture: MemoryFixture, service: PushService | null, job: ReturnType<typeof jobOf>) => {
  const handler = new RegisterDevices(fixture.uow, service, fixture.clock);
  const work = await handler.prepare(job);
  await fixture.uow.write(job.realmId, work);
};
const stored = ({ uow }: MemoryFixture, { realmId, userId, id }: Device) =>
  uow.read(realmId, ({ devices }) => devices.find(realmId, userId, id));

describe('RegisterDevices (organization §12.2)', () => {
  it.each(['PUSH_SERVICE_UNREACHABLE', 'PUSH_SERVICE_FAILED', 'PUSH_SERVICE_DENIED'] as const)(
    'retries after %s without changing anything',
    async (code) => {
      const { fixture, device } = await waiting();
      const { service } = serviceOf(() => Promise.reject(new DomainError(code, 'no')));
      const failed = await run(fixture, service, jobOf(fixture, device)).catch((error) => error);
      expect(failed).toBeInstanceOf(Error);
      expect(failed).not.toBeInstanceOf(DomainError);
      expect(await stored(fixture, device)).toEqual(device);
      expect(fixture.storage.announced).toEqual([]);
    },
  );

  it('retries later if no push service is configured anymore', async () => {
    const { fixture, device } = await waiting();
    const failed = await run(fixture, null, jobOf(fixture, device)).catch((error) => error);
    expect(failed).not.toBeInstanceOf(DomainError);
  });

  it('expires a registration after a day without calling the push service', async () => {
    const { fixture, device } = await waiting();
    const job = jobOf(fixture, device);
    fixture.clock.advance(86_400);
    const { service } = serviceOf(async () => null);
    await run(fixture, service, job);
    expect(await stored(fixture, device)).toMatchObject({ tokenId: pending.tokenId });
    await fixture.uow.write(device.realmId, (tx) => tx.devices.update(device));
    fixture.clock.advance(1);
    await run(fixture, service, job);
    expect(await stored(fixture, device)).toEqual({ ...device, error: 'expired' });
    expect(fixture.storage.announced.at(-1)).toMatchObject({
      event: { type: 'device.changed', deviceId: device.id, change: { error: 'expired' } },
      audience: { kind: 'users', ids: [device.userId] },
    });
  });

  it('expires an abandoned registration', async () => {
    const { fixture, device } = await waiting();
    const handler = new RegisterDevices(fixture.uow, null, fixture.clock);
    await fixture.uow.write(fixture.realm.id, (tx) => handler.giveUp(tx, jobOf(fixture, device)));
    expect(await stored(fixture, device)).toEqual({ ...device, error: 'expired' });
  });

  it('removes each token of the user that has the registered id', async () => {
    const { fixture, device } = await waiting();
    const { realmId, userId } = device;
    const other = { kind: 'fcm', token: 'another phone', iosAppId: null } as const;
    const tokens = (['apns', 'fcm'] as const).map((kind) => ({ kind, token: pending.tokenId, iosAppId: null }));
    await fixture.uow.write(realmId, async (tx) => {
      for (const token of [other, ...tokens]) await tx.pushTokens.add(realmId, userId, token);
    });
    const { service } = serviceOf(async () => null);
    await run(fixture, service, jobOf(fixture, device));
    const left = await fixture.uow.read(realmId, ({ pushTokens }) => pushTokens.list(realmId, userId));
    expect(left).toEqual([expect.objectContaining({ token: other.token })]);
    const unregistrations = { kind: 'push.unregister', maxFormat: 1 };
    const due = await fixture.uow.readAcross(({ jobs }) => jobs.listDue(unregistrations, fixture.clock.now(), 10));
    const expected = tokens.map(({ kind, token }) => ({ userId, kind, token }));
    expect(due.map(({ payload }) => JSON.parse(payload))).toEqual(expected);
  });

  it('ignores a device that the client changed during the attempt', async () => {
    const { fixture, device } = await waiting();
    const { service } = serviceOf(async () => null);
    await run(fixture, service, jobOf(fixture, device, 'another token'));
    expect(await stored(fixture, device)).toEqual(device);
    await run(fixture, service, jobOf(fixture, { ...device, id: 99 as DeviceId }));
    await fixture.uow.write(device.realmId, (tx) => tx.devices.remove(device.realmId, device.userId, device.id));
    await run(fixture, service, jobOf(fixture, device));
    expect(fixture.storage.announced).toEqual([]);
  });
});

describe('UnregisterTokens', () => {
  it('unregisters a token unless the user has registered it again', async () => {
    const fixture = await createFixture(aUser({ name: 'hamlet' }));
    const { realmId, userId } = fixture.viewer('hamlet');
    const { service, asked } = serviceOf(async () => null);
    const handler = new UnregisterTokens(fixture.uow, service);
    const token = { kind: 'fcm', token: 'token' } as const;
    const job = { id: 1 as never, realmId, dueAt: 0, attempt: 1, payload: { userId, ...token } };
    await handler.prepare(job);
    expect(asked).toEqual(['token']);
    await fixture.uow.write(realmId, (tx) => tx.pushTokens.add(realmId, userId, { ...token, iosAppId: null }));
    await handler.prepare(job);
    expect(asked).toEqual(['token']);
  });
});
