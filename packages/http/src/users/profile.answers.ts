import * as wire from '../kernel/wire-schema.js';

/** Users §13.1. */
export const profileField = wire.named(
  'ProfileField',
  wire.fields({
    id: wire.integer(),
    name: wire.text(),
    type: wire.integer(),
    hint: wire.text(),
    field_data: wire.text(),
    order: wire.integer(),
    required: wire.boolean(),
    editable_by_user: wire.boolean(),
    use_for_user_matching: wire.boolean(),
    display_in_profile_summary: wire.optional(wire.boolean()),
  }),
);
