import { loadDevices } from '@parley/domain/push';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { presentDevice } from './push.presenters.js';

export const devicesSection: RegisterSection = registerSection({
  name: 'device',
  forSpectators: { devices: {} },
  load: (snapshot) => snapshot.load(loadDevices),
  present: (devices) => ({ devices: Object.fromEntries(devices.map((device) => [device.id, presentDevice(device)])) }),
});
