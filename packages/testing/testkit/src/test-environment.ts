import { AsyncLocalStorage } from 'node:async_hooks';
import type { JestEnvironment } from '@jest/environment';
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
 * With the global variable `skipsAfterFailure`, it skips the tests of a file after the first failure.
 */
export default class TestEnvironment extends NodeEnvironment {
  handleTestEvent: JestEnvironment['handleTestEvent'];

  constructor(...args: ConstructorParameters<typeof NodeEnvironment>) {
    super(...args);
    if (args[0].projectConfig.globals.skipsAfterFailure) this.handleTestEvent = skippingAfterFailure();
  }

  override async teardown(): Promise<void> {
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
  }
}

function skippingAfterFailure(): NonNullable<JestEnvironment['handleTestEvent']> {
  let hasFailed = false;
  return (event) => {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') hasFailed = true;
    else if (event.name === 'test_start' && hasFailed) event.test.mode = 'skip';
  };
}
