import * as wire from '../kernel/wire-schema.js';

const DEFAULTS = {
  default_sending_stream: wire.nullable(wire.text()),
  default_events_register_stream: wire.nullable(wire.text()),
  default_all_public_streams: wire.boolean(),
};

const CHANGEABLE = {
  ...DEFAULTS,
  services: wire.listOf(wire.fields({ base_url: wire.text(), interface: wire.integer(), token: wire.text() })),
};

/** Events §3.2: what its owner and administrators know of it beside what everybody does. */
export const bot = wire.named('Bot', wire.fields({ user_id: wire.integer(), ...CHANGEABLE }));

/** What changed of it. */
export const botChange = wire.fields({ user_id: wire.integer(), ...wire.optionalFields(CHANGEABLE) });

/** users §15. */
export const CREATED_BOT = wire.fields({
  user_id: wire.integer(),
  api_key: wire.text(),
  avatar_url: wire.nullable(wire.text()),
  ...DEFAULTS,
});

/** users §15. */
export const OWN_BOTS = wire.fields({
  bots: wire.listOf(
    wire.fields({
      username: wire.text(),
      full_name: wire.text(),
      api_key: wire.text(),
      avatar_url: wire.nullable(wire.text()),
      ...DEFAULTS,
    }),
  ),
});

/** users §15. */
export const CHANGED_BOT = wire.fields({
  full_name: wire.text(),
  avatar_url: wire.nullable(wire.text()),
  service_interface: wire.integer(),
  service_payload_url: wire.nullable(wire.text()),
  config_data: wire.anything(),
  ...DEFAULTS,
  bot_owner: wire.optional(wire.text()),
});
