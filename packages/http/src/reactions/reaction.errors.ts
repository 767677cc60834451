import type { WireErrors } from '../routing/wire-error.js';

export const REACTION_WIRE_ERRORS = {
  EMOJI_REQUIRED: { text: 'At least one of the following arguments must be present: emoji_name, emoji_code' },
  REACTION_ALREADY_EXISTS: { code: 'REACTION_ALREADY_EXISTS' },
  UNKNOWN_REACTION: { code: 'REACTION_DOES_NOT_EXIST' },
} as const satisfies WireErrors;
