import * as wire from '../kernel/wire-schema.js';

const DEVICE = {
  push_key_id: wire.nullable(wire.integer()),
  push_token_id: wire.nullable(wire.text()),
  pending_push_token_id: wire.nullable(wire.text()),
  push_token_last_updated_timestamp: wire.nullable(wire.integer()),
  push_registration_error_code: wire.nullable(wire.text()),
};

/** Organization §11. */
export const device = wire.named('Device', wire.fields(DEVICE));

/** What changed of it. */
export const DEVICE_CHANGE: wire.Shape = wire.optionalFields(DEVICE);
