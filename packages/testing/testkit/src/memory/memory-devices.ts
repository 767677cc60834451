import type { RealmId, UserId } from '@parley/domain/kernel';
import { type Device, type DeviceRepository, isActiveDevice } from '@parley/domain/push';
import { MemoryRows } from './memory-rows.js';

export class MemoryDevices extends MemoryRows<Device> implements DeviceRepository {
  async filterOwners(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    const active = this.all().filter((device) => device.realmId === realmId && isActiveDevice(device));
    return userIds.filter((id) => active.some(({ userId }) => userId === id));
  }
}
