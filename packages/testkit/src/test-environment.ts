import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

/** In use since the last test file ended. */
const storages = new Set<AsyncLocalStorage<unknown>>();

const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (...args: Parameters<typeof run>) {
  storages.add(this);
  return run.apply(this, args);
};

/**
 * Jest's own for Node, which also disables what a test file has left enabled: Jest opens an `AsyncLocalStorage` for each file and
 * never disables it. Before Node 24 each promise costs time for each storage that is enabled, so that the hundredth file of a
 * worker would take several times as long as the first.
 */
export default class TestEnvironment extends NodeEnvironment {
  override async teardown(): Promise<void> {
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
  }
}
