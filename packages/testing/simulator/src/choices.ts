import type { Company } from './company.js';
import type { Person } from './model.js';

/** Time, person and choices of a step. All choices are fractions, so that a step has a meaning in any state. */
export interface Choices {
  /** Seconds since the start. */
  readonly at: number;
  readonly by: Person;
  /** Choices between 0 and 1. */
  readonly a: number;
  readonly b: number;
}

/** Moments of a crash. */
export const MOMENTS = ['before', 'within', 'after'] as const;

export type Play = (company: Company, step: Choices) => Promise<void>;

export const pick = <T>(values: readonly T[], fraction: number): T | undefined =>
  values[Math.floor(fraction * values.length)];

/** Second choice from the same fraction. */
export const other = (fraction: number): number => (fraction * 7919) % 1;
