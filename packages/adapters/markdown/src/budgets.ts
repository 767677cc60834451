import { DomainError, type GroupId, type UserId } from '@parley/domain/kernel';
import { noneOf } from './characters.js';

/** Maximum length of rendered HTML, a hundred times the largest message; longer HTML is rejected. */
export const MAX_HTML_LENGTH = 1_000_000;

/** Maximum work steps in each of the two rendering phases; a step takes about ten nanoseconds. */
export const MAX_WORK = 4_000_000;

/** Deeper quotes remain text; other deep nesting is rejected. */
export const MAX_QUOTE_DEPTH = 200;
export const MAX_NESTING_DEPTH = 400;

export const unrenderable = () => new DomainError('UNRENDERABLE_CONTENT', 'Unable to render message');

/** Results of formatting besides the HTML. */
export class Outcome {
  mentionedUserIds = noneOf<UserId>();
  mentionedGroupIds = noneOf<GroupId>();
  mentionsChannelWildcard = false;
  mentionsTopicWildcard = false;
  hasLink = false;
  hasImage = false;
  uploadPaths = noneOf<string>();
  pendingThumbnails = noneOf<string>();
}

/** About ten milliseconds. */
const STEPS_PER_TURN = 1_000_000;

/** Prevents consecutive texts from blocking the event loop together. */
export class StepBudget {
  private spent = 0;
  private turn: Promise<void> | null = null;

  /** Adds steps as counted by `WorkBudget`. */
  spend(steps: number): void {
    this.spent += steps;
  }

  get isSpent(): boolean {
    return this.spent > STEPS_PER_TURN;
  }

  /** Resolves when the caller may continue; waiting callers proceed one after the other. */
  async next(): Promise<void> {
    while (this.isSpent) {
      this.turn ??= new Promise((resolve) => {
        setImmediate(() => {
          this.turn = null;
          this.spent = 0;
          resolve();
        });
      });
      await this.turn;
    }
  }
}

/**
 * Work caused by one text. Counted instead of timed, so that a text is accepted or rejected equally on every machine.
 * A step is about one character examined by one rule.
 */
export class WorkBudget {
  private spent = 0;

  /** @throws DomainError UNRENDERABLE_CONTENT above the limit */
  spend(steps: number): void {
    this.spent += steps;
    if (this.spent > MAX_WORK) throw unrenderable();
  }

  get steps(): number {
    return this.spent;
  }
}
