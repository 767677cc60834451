import { performance } from 'node:perf_hooks';
import { median } from '../harness/interleave.js';
import { answerCalls } from './answer-calls.js';

let value: unknown = null;

answerCalls({
  load: (json: string) => {
    value = JSON.parse(json);
  },
  /** Median duration of serializing it to JSON, in milliseconds. */
  stringify(times: number): number {
    const took: number[] = [];
    for (let n = 0; n < times; n++) {
      const startedAt = performance.now();
      JSON.stringify(value);
      took.push(performance.now() - startedAt);
    }
    return median(took);
  },
});
