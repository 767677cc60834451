import type { WireErrors } from '../kernel/wire-error.js';

export const STATUS_WIRE_ERRORS = {
  EMOJI_NAME_REQUIRED: { text: 'Client must pass emoji_name if they pass either emoji_code or reaction_type.' },
} as const satisfies WireErrors;
