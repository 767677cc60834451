import { loadDevices } from '@parley/domain/push';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import * as wire from '../kernel/wire-schema.js';
import { device } from './push.answers.js';
import { presentDevice } from './push.presenters.js';

/** Organization §11. */
export const devicesSection: RegisterSection = registerSection({
  name: 'device',
  fields: { devices: wire.dictionaryOf(device) },
  forSpectators: { devices: {} },
  load: (snapshot) => snapshot.load(loadDevices),
  present: (devices) => ({ devices: Object.fromEntries(devices.map((device) => [device.id, presentDevice(device)])) }),
});
