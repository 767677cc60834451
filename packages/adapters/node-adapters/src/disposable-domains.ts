import { createRequire } from 'node:module';
import type { DisposableDomains } from '@parley/domain/users';

const require = createRequire(import.meta.url);

/** List of disposable domains from a package. Loaded on first use because it has thousands of entries. */
export class ListedDisposableDomains implements DisposableDomains {
  private list: ReadonlySet<string> | undefined;

  has(domain: string): boolean {
    this.list ??= loadList();
    return this.list.has(domain);
  }
}

/** The package's own `isDisposableEmailDomain` builds a set of the whole list on each call. */
const loadList = (): ReadonlySet<string> =>
  (
    require('disposable-email-domains-js') as typeof import('disposable-email-domains-js')
  ).disposableEmailBlocklistSet();
