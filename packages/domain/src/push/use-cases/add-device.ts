import { mustBeHuman } from '../../access/role-rules.js';
import { users } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import type { DeviceId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type Device, MAX_DEVICES } from '../device.js';
import { removeDevice } from '../push-events.js';

/** Makes a device known, which then registers for push notifications (organization §11). */
export class AddDevice {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_NOT_BE_BOT */
  execute(caller: Caller): Promise<DeviceId> {
    return this.uow.write(async (tx) => {
      const { id: userId, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeHuman({ isBot }));
      const present = await tx.devices.list(realmId, userId);
      if (present.length >= MAX_DEVICES) await removeDevice(tx, leastUsed(present));
      const { id } = await tx.devices.add(realmId, userId);
      await tx.events.append(realmId, { event: { type: 'device.added', deviceId: id }, audience: users([userId]) });
      return id;
    });
  }
}

/** The one whose client set a token longest ago, or never did; of several the one that was added first. */
const leastUsed = (devices: readonly Device[]): Device =>
  devices.reduce((least, device) => ((device.tokenUpdatedAt ?? 0) < (least.tokenUpdatedAt ?? 0) ? device : least));
