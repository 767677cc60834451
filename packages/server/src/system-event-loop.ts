import type { EventLoop } from '@parley/domain/kernel';

export class SystemEventLoop implements EventLoop {
  nextTurn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}
