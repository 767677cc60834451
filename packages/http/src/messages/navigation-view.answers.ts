import * as wire from '../kernel/wire-schema.js';

/** Users §19. */
const CHANGEABLE = { is_pinned: wire.boolean(), name: wire.nullable(wire.text()) };

export const navigationView = wire.named('NavigationView', wire.fields({ fragment: wire.text(), ...CHANGEABLE }));

export const navigationViewChange = wire.fields(wire.optionalFields(CHANGEABLE));
