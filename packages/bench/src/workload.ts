import type { Lab } from './lab.js';

/** Something a chat does, measured against what the machine can do at best. */
export interface Workload {
  /** What `npm run bench -- NAME` calls it. */
  readonly name: string;
  run(lab: Lab): Promise<readonly Figure[]>;
}

/** A line of the table. */
export interface Figure {
  readonly label: string;
  readonly ours: string;
  /** What it is held against, measured in the same run. */
  readonly limit: string;
  /** What the goal is about: our figure divided by the limit, unless the label says otherwise. */
  readonly value: number;
  /** Null: shown for comparison only. */
  readonly goal: Goal | null;
}

export type Goal =
  | { readonly atLeast: number; readonly unit?: string }
  | { readonly atMost: number; readonly unit?: string };

export const isMet = (value: number, goal: Goal): boolean =>
  'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
