import type { HostUserReference } from '@parley/domain/host-users';
import type { UserId } from '@parley/domain/shared';

/** A user of an organization: by the id that your application gave them, or by Parley's own. */
export type UserRef = { readonly realm: string } & ({ readonly externalId: string } | { readonly userId: number });

/** Within an organization: a text is an external id, a number Parley's own. */
export type PersonRef = string | number;

export const referenceOf = (ref: UserRef): HostUserReference =>
  'userId' in ref ? { userId: ref.userId as UserId } : { externalId: ref.externalId };
