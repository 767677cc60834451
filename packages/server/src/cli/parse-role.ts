import { ROLES, type Role } from '@parley/domain/access';
import { UsageError } from '../startup-error.js';

/** @throws UsageError */
export function parseRole(text: string): Role {
  const role = ROLES.find((it) => it === text);
  if (!role) throw new UsageError(`A role is one of ${ROLES.join(', ')}.`);
  return role;
}
