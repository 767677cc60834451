import { DomainError, type ErrorCode, type ErrorDetails } from './errors.js';

/** What a permission rule answers: yes, or no with the refusal of the contract. */
export type Decision =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: ErrorDetails | undefined;
    };

export const allowed: Decision = { allowed: true };

export function denied(code: ErrorCode, message: string, details?: ErrorDetails): Decision {
  return { allowed: false, code, message, details };
}

export function denyIf(refused: boolean, code: ErrorCode, message: string, details?: ErrorDetails): Decision {
  return refused ? denied(code, message, details) : allowed;
}

/** The first refusal wins, so the order of the arguments is the contract's order of checks. */
export function all(...decisions: readonly Decision[]): Decision {
  return decisions.find((decision) => !decision.allowed) ?? allowed;
}

/** @throws DomainError with the refusal. */
export function enforce(decision: Decision): void {
  if (!decision.allowed) throw new DomainError(decision.code, decision.message, decision.details);
}
