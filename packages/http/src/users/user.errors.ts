import type { WireErrors } from '../kernel/wire-error.js';

export const USER_WIRE_ERRORS = {
  USER_DEACTIVATED: { status: 401, code: 'USER_DEACTIVATED' },
  MUST_BE_OWNER: { code: 'UNAUTHORIZED_PRINCIPAL' },
  MUST_BE_ADMINISTRATOR: { code: 'UNAUTHORIZED_PRINCIPAL' },
  MUST_BE_BOT: { code: 'PERMISSION_DENIED' },
  CANNOT_DEACTIVATE_LAST_USER: {
    code: 'CANNOT_DEACTIVATE_LAST_USER',
    fields: { isLastOwner: 'is_last_owner', entity: 'entity' },
  },
  NO_TARGET_USERS: { text: 'Either user_ids or group_ids must be provided.' },
} as const satisfies WireErrors;
