import { createRequire } from 'node:module';
import type { DisposableDomains } from '@parley/domain/users';

const require = createRequire(import.meta.url);

/** By a list that comes with a package. It has thousands of entries, so it is loaded when first asked. */
export class ListedDisposableDomains implements DisposableDomains {
  private list: ReadonlySet<string> | undefined;

  has(domain: string): boolean {
    this.list ??= loadList();
    return this.list.has(domain);
  }
}

/** The package's own `isDisposableEmailDomain` makes a set of the whole list for each question. */
const loadList = (): ReadonlySet<string> =>
  (
    require('disposable-email-domains-js') as typeof import('disposable-email-domains-js')
  ).disposableEmailBlocklistSet();
