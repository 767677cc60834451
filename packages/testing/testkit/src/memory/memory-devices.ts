import type { DeviceId, RealmId, UserId } from '@parley/domain/kernel';
import { type Device, type DeviceRepository, isActiveDevice } from '@parley/domain/push';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly devices: Map<DeviceId, Device>;
  }
}

export class MemoryDevices implements DeviceRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, userId: UserId, id: DeviceId): Promise<Device | null> {
    const device = this.unit.read('devices').get(id);
    return device?.realmId === realmId && device.userId === userId ? device : null;
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly Device[]> {
    return [...this.unit.read('devices').values()].filter(
      (device) => device.realmId === realmId && device.userId === userId,
    );
  }

  async filterOwners(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    const active = [...this.unit.read('devices').values()].filter(isActiveDevice);
    const owners = new Set(active.filter((device) => device.realmId === realmId).map((device) => device.userId));
    return userIds.filter((id) => owners.has(id));
  }

  async add(realmId: RealmId, userId: UserId): Promise<Device> {
    const id = this.unit.nextNumber<DeviceId>('device');
    const nothing = {
      ...{ key: null, tokenKind: null, tokenId: null, registration: null },
      ...{ pending: null, tokenUpdatedAt: null, error: null },
    };
    const device = { id, realmId, userId, ...nothing };
    this.unit.change('devices').set(id, device);
    return device;
  }

  async update(device: Device): Promise<void> {
    if (this.isHere(device)) this.unit.change('devices').set(device.id, device);
  }

  async remove(device: Pick<Device, 'id' | 'realmId'>): Promise<void> {
    if (this.isHere(device)) this.unit.change('devices').delete(device.id);
  }

  private isHere({ id, realmId }: Pick<Device, 'id' | 'realmId'>): boolean {
    return this.unit.read('devices').get(id)?.realmId === realmId;
  }
}
