import type { PushEventTypes } from '@parley/domain/push';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentDeviceChange } from './push.presenters.js';

export const PUSH_EVENTS = {
  'device.added': toAll('device', ({ deviceId }) => ({ op: 'add', device_id: deviceId })),
  'device.removed': toAll('device', ({ deviceId }) => ({ op: 'remove', device_id: deviceId })),
  'device.changed': toAll('device', ({ deviceId, change }) => ({
    op: 'update',
    device_id: deviceId,
    ...presentDeviceChange(change),
  })),
} satisfies Presenters<keyof PushEventTypes>;
