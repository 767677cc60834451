import * as wire from '../kernel/wire-schema.js';

/** Organization §6. */
export const linkifier = wire.named(
  'Linkifier',
  wire.fields({
    pattern: wire.text(),
    url_template: wire.text(),
    id: wire.integer(),
    example_input: wire.nullable(wire.text()),
    reverse_template: wire.nullable(wire.text()),
    alternative_url_templates: wire.listOf(wire.text()),
  }),
);
