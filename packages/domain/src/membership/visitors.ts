import { declareErrors } from '../kernel/errors.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { idPayload, jobKind } from '../kernel/jobs.js';

/** Beginning of the external ids of visitors. */
const PREFIX = 'parley-visitor:';

/** Returns the external id of a new visitor. */
export const visitorExternalId = (uuid: string): string => `${PREFIX}${uuid}`;

/** True for the account of a visitor who has not become a customer. */
export const isVisitor = ({ externalId }: { readonly externalId?: string | null }): boolean =>
  externalId?.startsWith(PREFIX) ?? false;

/** A type, since `idPayload` requires an index signature. */
export type EndVisitPayload = { readonly userId: UserId };

/** Proof that a browser belongs to a visitor. */
export interface VisitorTicket {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly expiresAt: UnixSeconds;
}

/** Signs tickets, so that a token needs no row. */
export interface VisitorTokens {
  sign(ticket: VisitorTicket): string;
  /** Returns null for an invalid signature. The caller must check expiry. */
  verify(token: string): VisitorTicket | null;
}

/** Limits new visitors. */
export interface VisitorQuota {
  /** @param source address of the visitor, or another text that tells visitors apart. @throws DomainError RATE_LIMITED */
  take(realmId: RealmId, source: string): void;
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
export const END_VISIT_JOB = jobKind<EndVisitPayload>({ name: 'accounts.end_visit', readPayload: idPayload('userId') });
