import * as wire from '../kernel/wire-schema.js';

/** Users §18. */
export const snippet = wire.named(
  'SavedSnippet',
  wire.fields({ id: wire.integer(), title: wire.text(), content: wire.text(), date_created: wire.integer() }),
);
