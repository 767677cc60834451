import type { PushEventTypes } from '@parley/domain/push';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';
import { DEVICE_CHANGE } from './push.answers.js';
import { presentDeviceChange } from './push.presenters.js';

export const PUSH_EVENTS = {
  'device.added': toAll(form('device', { op: wire.oneOf('add'), device_id: wire.integer() }), ({ deviceId }) => ({
    op: 'add',
    device_id: deviceId,
  })),
  'device.removed': toAll(form('device', { op: wire.oneOf('remove'), device_id: wire.integer() }), ({ deviceId }) => ({
    op: 'remove',
    device_id: deviceId,
  })),
  'device.changed': toAll(
    form('device', { op: wire.oneOf('update'), device_id: wire.integer(), ...DEVICE_CHANGE }),
    ({ deviceId, change }) => ({
      op: 'update',
      device_id: deviceId,
      ...presentDeviceChange(change),
    }),
  ),
} satisfies Presenters<keyof PushEventTypes>;
