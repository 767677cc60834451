import type { Typesetter, TypesettingJob, TypesettingResult } from './job.js';

/** The code and the formulas of one text, and what has become of them. */
export class Typesetting {
  /** Most texts have neither. */
  private results: Map<string, TypesettingResult> | undefined;
  private waiting: Map<string, TypesettingJob> | undefined;

  /** To be done, unless it is already. */
  request(job: TypesettingJob): void {
    const key = keyOf(job);
    if (this.results?.has(key)) return;
    this.waiting ??= new Map();
    this.waiting.set(key, job);
  }

  /** Null when it failed, and before it is done. */
  resultOf(job: TypesettingJob): TypesettingResult {
    return this.results?.get(keyOf(job)) ?? null;
  }

  get isDone(): boolean {
    return this.waiting === undefined;
  }

  async run(typesetter: Typesetter): Promise<void> {
    const orders = [...(this.waiting ?? [])];
    const results = await typesetter.typeset(orders.map(([, job]) => job));
    this.results ??= new Map();
    for (const [i, [key]] of orders.entries()) this.results.set(key, results[i] ?? null);
    this.waiting = undefined;
  }

  /** What has been done for another text need not be done again. */
  takeFrom({ results }: Typesetting): void {
    for (const key of this.waiting?.keys() ?? []) {
      const result = results?.get(key);
      if (result === undefined) continue;
      this.results ??= new Map();
      this.results.set(key, result);
    }
  }
}

const keyOf = (job: TypesettingJob) =>
  `${job.kind} ${job.kind === 'code' ? job.grammar : job.displayMode} ${job.source}`;
