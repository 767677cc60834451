import { MAX_WORK, unrenderable } from './bounds.js';

/**
 * How much work one text has made. It is counted, not timed, so that no text is rendered on one machine and refused on
 * another: a step is about what looking at one character costs one rule.
 */
export class WorkBudget {
  private spent = 0;

  /** @throws DomainError UNRENDERABLE_CONTENT when that is more than a text may cost. */
  spend(steps: number): void {
    this.spent += steps;
    if (this.spent > MAX_WORK) throw unrenderable();
  }

  get steps(): number {
    return this.spent;
  }
}
