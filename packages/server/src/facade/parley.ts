import type { RequestListener } from 'node:http';
import type { Resolve } from '@parley/domain/composition';
import type { RealmId } from '@parley/domain/kernel';
import type { Middleware } from '@parley/http';
import type { ReadinessReport } from '../observation/readiness.js';
import type { Facade } from './facade.js';
import type { MountedHandler } from './mounted.js';

/** A chat engine at work. */
export interface Parley extends Facade {
  /** For an Express app, or another that takes its middleware, under any path: `app.use('/chat', parley.router)`. */
  readonly router: Middleware;
  /**
   * For a server of Node's own, quicker than through Express: `createServer(parley.handler)`. Paths begin at the root, whatever
   * the public address says.
   */
  readonly handler: RequestListener;
  /**
   * The same below a path, by default that of the public address: for a server of Node's own that has other things to answer, and
   * for frameworks that hand on Node's requests. Other paths go to `next`, or are not found.
   */
  mount(prefix?: string): MountedHandler;
  /** The one instance of a use case, for calling it in process: `parley.useCase(CreateRealm)`. */
  readonly useCase: Resolve;
  /** The organization with this string id; null when there is none. */
  findRealm(stringId: string): Promise<RealmId | null>;
  /** Whether requests are to be sent here, and otherwise what is wrong: it cannot write, the disk is full, it is ending. */
  ready(): Promise<ReadinessReport>;
  /**
   * What Prometheus reads, as `text/plain; version=0.0.4`: everything that begins with `parley_`, to be shown beside your own.
   * @throws Error without the option `metrics`
   */
  metrics(): Promise<string>;
  /** Finishes what is in flight, answers long polls, and closes the database. Idempotent. */
  close(): Promise<void>;
}
