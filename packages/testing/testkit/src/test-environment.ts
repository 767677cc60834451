import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

/** Storages used since the last test file ended. */
const storages = new Set<AsyncLocalStorage<unknown>>();

const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (...args: Parameters<typeof run>) {
  storages.add(this);
  return run.apply(this, args);
};

/**
 * Jest's Node environment, which also disables every `AsyncLocalStorage` of a test file. Before Node 24, each enabled
 * storage slows down every promise, so later files of a worker would take much longer.
 */
export default class TestEnvironment extends NodeEnvironment {
  override async teardown(): Promise<void> {
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
  }
}
