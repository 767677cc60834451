import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collectGarbage: (() => void) | undefined;

/** What is still referred to, in this process. */
export function retainedBytes(): number {
  if (!collectGarbage) {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc') as () => void;
  }
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const COUNT = 100;

/** What a hundred values keep in memory that are made one after the other, whatever they are made of. */
export function bytesKeptBy(make: (n: number) => unknown): number {
  const before = retainedBytes();
  const kept = Array.from({ length: COUNT }, (_, n) => make(n));
  const bytes = retainedBytes() - before;
  // In use until here.
  kept.length = 0;
  return bytes;
}
