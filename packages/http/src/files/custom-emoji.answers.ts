import * as wire from '../kernel/wire-schema.js';

/** Organization §7. */
export const oneCustomEmoji = wire.named(
  'CustomEmoji',
  wire.fields({
    id: wire.text(),
    name: wire.text(),
    source_url: wire.text(),
    still_url: wire.nullable(wire.text()),
    deactivated: wire.boolean(),
    author_id: wire.nullable(wire.integer()),
  }),
);

/** By ids. */
export const customEmoji = wire.dictionaryOf(oneCustomEmoji);
