import { createRequire } from 'node:module';
import type { DisposableDomains } from '@parley/domain/users';

const require = createRequire(import.meta.url);

/** By a list that comes with a package. It has thousands of entries, so it is loaded when first asked. */
export class ListedDisposableDomains implements DisposableDomains {
  private list: typeof import('disposable-email-domains-js') | undefined;

  has(domain: string): boolean {
    this.list ??= require('disposable-email-domains-js') as typeof import('disposable-email-domains-js');
    return this.list.isDisposableEmailDomain(domain);
  }
}
