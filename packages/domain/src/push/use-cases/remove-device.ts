import type { Caller } from '../../kernel/caller.js';
import type { DeviceId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { unknownDevice } from '../device.js';
import { removeDevice } from '../push-events.js';

/** Notifies one of the caller's devices no more (organization §11). */
export class RemoveDevice {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_DEVICE */
  execute(caller: Caller, { deviceId }: { readonly deviceId: DeviceId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const { id: userId, realmId } = await tx.actors.get(caller);
      const device = await tx.devices.find(realmId, userId, deviceId);
      if (!device) throw unknownDevice();
      await removeDevice(tx, device);
    });
  }
}
