import { users } from '../kernel/audience.js';
import type { FeatureParts } from '../kernel/event.js';
import type { DeviceId, UnixSeconds } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Device, RegistrationError } from './device.js';

/** What changed of a device; what is absent did not. */
export interface DeviceChange {
  readonly keyId?: number;
  readonly tokenId?: string | null;
  readonly pendingTokenId?: string | null;
  readonly tokenUpdatedAt?: UnixSeconds;
  readonly error?: RegistrationError | null;
}

/** All to the user whose device it is (organization §11). */
export interface PushEventTypes {
  'device.added': { readonly deviceId: DeviceId };
  'device.removed': { readonly deviceId: DeviceId };
  'device.changed': { readonly deviceId: DeviceId; readonly change: DeviceChange };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends PushEventTypes {}
}

export const PUSH_FEATURE = {
  eventFormats: {
    'device.added': 1,
    'device.removed': 1,
    'device.changed': 1,
  },
  notExported: {
    devices: 'Apps register anew.',
    pushTokens: 'Apps register anew.',
  },
} satisfies FeatureParts<PushEventTypes>;

/** Removes a device, and tells its user's clients. */
export async function removeDevice(tx: Transaction, device: Device): Promise<void> {
  await tx.devices.remove(device);
  await tx.events.append(device.realmId, {
    event: { type: 'device.removed', deviceId: device.id },
    audience: users([device.userId]),
  });
}

/** Stores what a device has become, and tells its user's clients. */
export async function updateDevice(tx: Transaction, device: Device, change: DeviceChange): Promise<void> {
  await tx.devices.update(device);
  await tx.events.append(device.realmId, {
    event: { type: 'device.changed', deviceId: device.id, change },
    audience: users([device.userId]),
  });
}
