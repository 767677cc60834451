import type { Snapshot } from '../kernel/snapshot.js';
import type { Device } from './device.js';

/** The viewer's own; ascending id. */
export const loadDevices = ({ caller, repositories }: Snapshot): Promise<readonly Device[]> =>
  repositories.devices.list(caller.realmId, caller.userId);
