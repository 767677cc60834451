import type { Typesetter, TypesettingJob, TypesettingResult } from './job.js';

/** The code and the formulas of one text, and what has become of them. */
export class Typesetting {
  private readonly results = new Map<string, TypesettingResult>();
  private readonly waiting = new Map<string, TypesettingJob>();

  /** To be done, unless it is already. */
  request(job: TypesettingJob): void {
    const key = keyOf(job);
    if (!this.results.has(key)) this.waiting.set(key, job);
  }

  /** Null when it failed, and before it is done. */
  resultOf(job: TypesettingJob): TypesettingResult {
    return this.results.get(keyOf(job)) ?? null;
  }

  get isDone(): boolean {
    return this.waiting.size === 0;
  }

  async run(typesetter: Typesetter): Promise<void> {
    const orders = [...this.waiting];
    const results = await typesetter.typeset(orders.map(([, job]) => job));
    for (const [i, [key]] of orders.entries()) this.results.set(key, results[i] ?? null);
    this.waiting.clear();
  }

  /** What has been done for another text need not be done again. */
  takeFrom(other: Typesetting): void {
    for (const key of this.waiting.keys()) {
      const result = other.results.get(key);
      if (result === undefined) continue;
      this.results.set(key, result);
      this.waiting.delete(key);
    }
  }
}

const keyOf = (job: TypesettingJob) =>
  `${job.kind} ${job.kind === 'code' ? job.grammar : job.displayMode} ${job.source}`;
