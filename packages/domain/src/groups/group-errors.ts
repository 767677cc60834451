import { declareErrors } from '../kernel/errors.js';
import type { GroupUse } from './group-permissions.js';

export const GROUP_ERRORS = declareErrors({
  UNKNOWN_GROUP: 'unknown',
  GROUP_DEACTIVATED: 'conflict',
  INVALID_GROUP_NAME: 'invalid',
  GROUP_NAME_TAKEN: 'conflict',
  ALREADY_GROUP_MEMBER: 'conflict',
  NOT_GROUP_MEMBER: 'conflict',
  ALREADY_SUBGROUP: 'conflict',
  NOT_SUBGROUP: 'conflict',
  CANNOT_MENTION_GROUP: 'forbidden',
  CANNOT_DEACTIVATE_GROUP_IN_USE: 'conflict',
  /** The request asks for nothing. */
  NO_GROUP_CHANGE: 'invalid',
  TOO_MANY_GROUPS: 'conflict',
  TOO_MANY_MEMBERSHIPS: 'conflict',
});

type GroupErrors = typeof GROUP_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends GroupErrors {}

  interface ErrorDetails {
    /** What the request could change. */
    NO_GROUP_CHANGE: { readonly of: 'group' | 'members' | 'subgroups' };
    CANNOT_DEACTIVATE_GROUP_IN_USE: { readonly objections: readonly GroupUse[] };
  }
}
