const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Steps of long works, one at a time and each in a turn of the event loop that begins with what others have waiting. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(step: () => Promise<T>): Promise<T> {
    const result = this.last.then(nextTurn).then(step);
    this.last = result.catch(() => {});
    return result;
  }
}
