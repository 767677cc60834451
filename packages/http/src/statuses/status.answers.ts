import * as wire from '../routing/wire-schema.js';

/** Users §7: what is set. */
export const userStatus = wire.named(
  'UserStatus',
  wire.fields({
    away: wire.optional(wire.boolean()),
    status_text: wire.optional(wire.text()),
    emoji_name: wire.optional(wire.text()),
    emoji_code: wire.optional(wire.text()),
    reaction_type: wire.optional(wire.text()),
  }),
);
