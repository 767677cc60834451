import { type DetailsOf, type DetailsParameter, DomainError, type ErrorCode } from './errors.js';

/** Result of a permission rule: allowed, or denied with the contract's error. */
export type Decision =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: DetailsOf<ErrorCode> | undefined;
    };

export const allowed: Decision = { allowed: true };

export function denied<C extends ErrorCode>(code: C, message: string, ...[details]: DetailsParameter<C>): Decision {
  return { allowed: false, code, message, details };
}

export function denyIf<C extends ErrorCode>(
  refused: boolean,
  code: C,
  message: string,
  ...details: DetailsParameter<C>
): Decision {
  return refused ? denied(code, message, ...details) : allowed;
}

/** Returns the first denial, so the argument order is the contract's validation order. */
export function all(...decisions: readonly Decision[]): Decision {
  return decisions.find((decision) => !decision.allowed) ?? allowed;
}

/** @throws DomainError for a denied decision. */
export function enforce(decision: Decision): void {
  if (decision.allowed) return;
  const { code, message, details } = decision;
  throw new DomainError(code, message, ...([details] as DetailsParameter<ErrorCode>));
}
