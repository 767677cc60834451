import type { EventLoop } from '@parley/domain';

export class SystemEventLoop implements EventLoop {
  nextTurn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}
