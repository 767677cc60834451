import * as wire from '../kernel/wire-schema.js';

/** Users §17. */
export const draft = wire.named(
  'Draft',
  wire.fields({
    id: wire.integer(),
    type: wire.oneOf('stream', 'private', ''),
    to: wire.listOf(wire.integer()),
    topic: wire.text(),
    content: wire.text(),
    timestamp: wire.integer(),
  }),
);
