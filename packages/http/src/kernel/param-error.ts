import { isLongerThan, takeCodePoints } from '@parley/domain/kernel';

/**
 * A value that does not fit, found somewhere inside a parameter. `say` gets the position as messages write it:
 * `principals[0]`, `subscriptions[0]["name"]`. Thrown by checks, and only within this package.
 */
export class ParamError {
  private readonly steps: (string | number)[] = [];

  constructor(
    private readonly formatMessage: (position: string) => string,
    readonly code: 'BAD_REQUEST' | 'REQUEST_VARIABLE_INVALID' = 'BAD_REQUEST',
    /** Present exactly for REQUEST_VARIABLE_INVALID. */
    readonly badValue?: string,
  ) {}

  /** Called from the inside out. */
  within(step: string | number): this {
    this.steps.unshift(step);
    return this;
  }

  messageFor(parameter: string): string {
    const position = this.steps.map((step) => `[${JSON.stringify(typeof step === 'string' ? quotable(step) : step)}]`);
    return this.formatMessage(parameter + position.join(''));
  }
}

/** More than a parameter may hold. Also what the text of a field becomes that is too long to be looked at. */
export class TooLong extends ParamError {
  constructor(limit: number, unit: 'characters' | 'items' = 'characters') {
    super((position) => `${position} is too long (limit: ${limit} ${unit})`);
  }
}

const MAX_QUOTED_LENGTH = 100;

/** Keys that nobody knows are quoted in refusals, and may be as long as a request. */
export const quotable = (key: string): string =>
  isLongerThan(key, MAX_QUOTED_LENGTH) ? `${takeCodePoints(key, MAX_QUOTED_LENGTH)}…` : key;
