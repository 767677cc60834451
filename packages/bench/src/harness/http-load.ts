import type { LoadCall, LoadResult } from '../children/load-client.js';
import { Child } from './child.js';

/** A process that asks as fast as it is answered. */
export class HttpLoad {
  private readonly child = Child.start(new URL('../children/load-client.js', import.meta.url), { seat: 'client' });

  /** @throws Error when anything but 200 is answered. */
  run(call: LoadCall): Promise<LoadResult> {
    return this.child.call('load', call);
  }

  stop(): Promise<void> {
    return this.child.stop();
  }
}
