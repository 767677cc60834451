import { DomainError, type GroupId, type UserId } from '@parley/domain/kernel';
import { noneOf } from './characters.js';

/** Rendered HTML beyond this is refused: a hundred times the largest message. */
export const MAX_HTML_LENGTH = 1_000_000;

/** Steps of work beyond this are refused, in each of the two steps of rendering: some ten nanoseconds each. */
export const MAX_WORK = 4_000_000;

/** Quotes nested deeper than this stay text; other nesting deeper than this is refused. */
export const MAX_QUOTE_DEPTH = 200;
export const MAX_NESTING_DEPTH = 400;

export const unrenderable = () => new DomainError('UNRENDERABLE_CONTENT', 'Unable to render message');

/** What formatting finds out beside the HTML. */
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

/** Keeps texts that come right after one another from holding the event loop together. */
export class TurnBudget {
  private spent = 0;
  private turn: Promise<void> | null = null;

  /** Of work as a `WorkBudget` counts it. */
  spend(steps: number): void {
    this.spent += steps;
  }

  get isSpent(): boolean {
    return this.spent > STEPS_PER_TURN;
  }

  /** Once it is the caller's turn: of several who wait, each after those before have made use of theirs. */
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
