import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let exposed: ((options?: { readonly type: 'minor' }) => void) | undefined;

function collectGarbage(options?: { readonly type: 'minor' }): void {
  if (!exposed) {
    setFlagsFromString('--expose-gc');
    exposed = runInNewContext('gc') as NonNullable<typeof exposed>;
  }
  exposed(options);
}

/** Returns the bytes still referenced in this process. */
export function retainedBytes(): number {
  // Buffers are freed in the background, at the latest when the next collection begins.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Returns the bytes in use after a collection of young objects, including garbage that an old object references. */
export function bytesAfterMinorCollection(): number {
  collectGarbage({ type: 'minor' });
  return process.memoryUsage().heapUsed;
}
