import { EMOJI } from '../files/emoji-types.js';
import * as wire from '../kernel/wire-schema.js';

/** Users §7: what is set, or has changed. */
export const STATUS: wire.Shape = wire.optionalFields({ away: wire.boolean(), status_text: wire.text(), ...EMOJI });

export const userStatus = wire.named('UserStatus', wire.fields(STATUS));
