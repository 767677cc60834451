import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

/** Handler of Jest's test events, with the parts of an event used here. */
type EventHandler = (event: { readonly name: string; readonly test?: { mode?: string | null } }) => void;

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
 * Skips the tests of a file after the first failure if the global variable `skipsAfterFailure` is true.
 */
export default class TestEnvironment extends NodeEnvironment {
  handleTestEvent: EventHandler | undefined;

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

function skippingAfterFailure(): EventHandler {
  let hasFailed = false;
  return (event) => {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') hasFailed = true;
    else if (event.name === 'test_start' && hasFailed) event.test!.mode = 'skip';
  };
}
