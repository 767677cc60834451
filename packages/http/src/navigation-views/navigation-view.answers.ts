import * as wire from '../routing/wire-schema.js';

/** Users §19. */
export const navigationView = wire.named(
  'NavigationView',
  wire.fields({ fragment: wire.text(), is_pinned: wire.boolean(), name: wire.nullable(wire.text()) }),
);
