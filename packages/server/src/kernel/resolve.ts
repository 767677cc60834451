import type { Resolve as DomainResolve } from '@parley/domain/composition';
import type { Logger, RateLimiter } from '@parley/http';
import type { OpenRealm, RealmResolverOptions } from './realm-resolver.js';

/** Names that classes of this package inject in addition to the domain's ports. */
export interface InjectedServices {
  readonly options: RealmResolverOptions;
  readonly logger: Logger;
  readonly limiter: RateLimiter;
  readonly openRealm: OpenRealm;
}

/** Returns the one instance of a use case or of another class with `inject`. */
export type Resolve = DomainResolve<InjectedServices>;
