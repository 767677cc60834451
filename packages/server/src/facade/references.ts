import { DomainError, type UserId } from '@parley/domain/kernel';
import type { HostUserReference } from '@parley/domain/membership';

/** A user of an organization: by the id that your application gave them, or by Parley's own. */
export type UserRef = { readonly realm: string } & ({ readonly externalId: string } | { readonly userId: number });

/** Within an organization: a text is an external id, a number Parley's own. */
export type PersonRef = string | number;

/**
 * Whom it means, each member read once. Null: nobody, since the id is missing or no id. JavaScript knows no types, and somebody may
 * be called `undefined` by the application; numbers are external ids there often enough.
 */
export function personOf(ref: UserRef): PersonRef | null {
  const { userId, externalId } = ref as Readonly<Record<string, unknown>>;
  if (userId !== undefined) return isPersonRef(userId) && typeof userId === 'number' ? userId : null;
  return isPersonRef(externalId) ? String(externalId) : null;
}

export const isPersonRef = (value: unknown): value is PersonRef =>
  typeof value === 'string' || Number.isSafeInteger(value);

/** @throws DomainError UNKNOWN_USER where it names nobody */
export function referenceOf(ref: UserRef): HostUserReference {
  const person = personOf(ref);
  if (person === null) throw namesNobody();
  return typeof person === 'number' ? { userId: person as UserId } : { externalId: person };
}

export const namesNobody = (): DomainError => new DomainError('UNKNOWN_USER', 'There is no user without an id.');
