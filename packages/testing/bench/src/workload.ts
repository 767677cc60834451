import type { Lab } from './lab.js';

/** Chat operation measured against the machine's limit. */
export interface Workload {
  /** Name for `npm run bench -- NAME`. */
  readonly name: string;
  /** True for a workload that needs another product, and thus runs only if it is named. */
  readonly isOnRequest?: boolean;
  run(lab: Lab): Promise<readonly Figure[]>;
}

/** Row of the result table. */
export interface Figure {
  readonly label: string;
  readonly ours: string;
  /** Description of the limit, which is measured in the same run. */
  readonly limit: string;
  /** Value that the goal applies to: Parley's result divided by the limit, unless the label says otherwise. */
  readonly value: number;
  /** Null for values shown for comparison only. */
  readonly goal: Goal | null;
  /** Reason why the bench exits with an error; absent for figures that are only shown. */
  readonly failure?: string;
}

export type Goal =
  | { readonly atLeast: number; readonly unit?: string }
  | { readonly atMost: number; readonly unit?: string };

export const isMet = (value: number, goal: Goal): boolean =>
  'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
