import type { RuleFault } from './rule-faults.js';

/** Fault that changes no behavior, so no test can detect it. */
export interface Equivalent extends Pick<RuleFault, 'source' | 'text' | 'replacement'> {
  readonly reason: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [];
