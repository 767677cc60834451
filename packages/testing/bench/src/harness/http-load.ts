import type { LoadCall, LoadResult } from '../children/load-client.js';
import { Child } from './child.js';

/** Process that sends requests as fast as responses arrive. */
export class HttpLoad {
  private readonly child = Child.start(new URL('../children/load-client.js', import.meta.url), { seat: 'client' });

  /** @throws Error for any status other than 200 */
  run(call: LoadCall): Promise<LoadResult> {
    return this.child.call('load', call);
  }

  stop(): Promise<void> {
    return this.child.stop();
  }
}
