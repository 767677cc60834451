import { VISITOR_PREFIX } from '../access/roles.js';
import { declareErrors } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { idPayload, jobKind } from '../kernel/jobs.js';

/** Returns the external id of a new visitor. */
export const visitorExternalId = (uuid: string): string => `${VISITOR_PREFIX}${uuid}`;

/** A type, since `idPayload` requires an index signature. */
export type EndVisitPayload = { readonly userId: UserId };

/** Limits new visitors per organization and address. */
export interface VisitorQuota {
  /** @param source address of the visitor; null counts for the organization alone. @throws DomainError RATE_LIMITED */
  take(realmId: RealmId, source: string | null): void;
}

/** Days until a visitor who does not become a customer is erased. */
export const VISIT_DAYS = { default: 30, max: 365 } as const;

export const VISITOR_ERRORS = declareErrors({
  /** The token is wrong or has expired, or the visitor was erased. */
  UNKNOWN_VISITOR: 'unknown',
});

type VisitorErrors = typeof VISITOR_ERRORS;

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends VisitorErrors {}
}

/** Ends the visit at its time. */
export const END_VISIT_JOB = jobKind<EndVisitPayload>({
  name: 'accounts.end_visit',
  readPayload: idPayload('userId'),
  isFixed: true,
  deletes: true,
});
