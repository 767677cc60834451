import * as wire from '../kernel/wire-schema.js';

/** Users §10. */
export const mutedUser = wire.named('MutedUser', wire.fields({ id: wire.integer(), timestamp: wire.integer() }));
