import { loadDevices } from '@parley/domain/push';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import * as wire from '../routing/wire-schema.js';
import { presentDevice } from './push.presenters.js';

/** Organization §11. */
const device = wire.named(
  'Device',
  wire.fields({
    push_key_id: wire.nullable(wire.integer()),
    push_token_id: wire.nullable(wire.text()),
    pending_push_token_id: wire.nullable(wire.text()),
    push_token_last_updated_timestamp: wire.nullable(wire.integer()),
    push_registration_error_code: wire.nullable(wire.text()),
  }),
);

export const devicesSection: RegisterSection = registerSection({
  name: 'device',
  fields: { devices: wire.dictionaryOf(device) },
  forSpectators: { devices: {} },
  load: (snapshot) => snapshot.load(loadDevices),
  present: (devices) => ({ devices: Object.fromEntries(devices.map((device) => [device.id, presentDevice(device)])) }),
});
