import type { Resolve as DomainResolve } from '@parley/domain/composition';
import type { Logger, RateLimiter } from '@parley/http';
import type { RealmResolverOptions } from './realm-resolver.js';

/** Names that classes of this package inject beside the ports of the domain. */
export interface ServerParts {
  readonly options: RealmResolverOptions;
  readonly logger: Logger;
  readonly limiter: RateLimiter;
}

/** Returns the one instance of a use case or of another class with `inject`. */
export type Resolve = DomainResolve<ServerParts>;
