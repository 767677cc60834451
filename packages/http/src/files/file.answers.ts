import * as wire from '../kernel/wire-schema.js';

/** Users §16. */
export const attachment = wire.named(
  'Attachment',
  wire.fields({
    id: wire.integer(),
    name: wire.text(),
    path_id: wire.text(),
    size: wire.integer(),
    create_time: wire.integer(),
    message_ids: wire.listOf(wire.integer()),
  }),
);
