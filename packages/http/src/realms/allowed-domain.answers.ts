import * as wire from '../kernel/wire-schema.js';

/** Organization §5. */
export const allowedDomain = wire.named(
  'AllowedDomain',
  wire.fields({ domain: wire.text(), allow_subdomains: wire.boolean() }),
);
