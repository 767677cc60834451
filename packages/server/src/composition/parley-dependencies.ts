import type { ClusterGauges } from '@parley/domain/kernel';
import type { BlobOptions } from './modules/blobs.js';
import type { BusOptions } from './modules/bus.js';
import type { DomainOptions } from './modules/domain.js';
import type { ExpressOptions } from './modules/express.js';
import type { ImageOptions } from './modules/images.js';
import type { JobOptions } from './modules/jobs.js';
import type { LimitOptions } from './modules/limits.js';
import type { LogInOptions } from './modules/log-in.js';
import type { MailOptions } from './modules/mail.js';
import type { MarkdownOptions } from './modules/markdown.js';
import type { MovingOptions } from './modules/moving.js';
import type { NodeOptions } from './modules/node.js';
import type { PushOptions } from './modules/push.js';
import type { StorageOptions } from './modules/storage.js';
import type { WebOptions } from './modules/web.js';

/** Dependencies that differ between a server, an embedding application and a test. */
export interface ParleyDependencies
  extends DomainOptions,
    NodeOptions,
    StorageOptions,
    BusOptions,
    ExpressOptions,
    LimitOptions,
    MarkdownOptions,
    BlobOptions,
    ImageOptions,
    MailOptions,
    PushOptions,
    LogInOptions,
    WebOptions,
    JobOptions,
    MovingOptions {
  /**
   * Reaction to a database created with another secret. `rehash` derives all API keys again; one-off commands do so
   * themselves after success. `refuse` throws a StartupError.
   */
  readonly onOtherSecret: 'rehash' | 'refuse';
  /** State of all servers of the database, for metrics; default: none. */
  readonly clusterGauges?: () => Promise<ClusterGauges>;
  /** Called last by `close`. */
  readonly release: () => Promise<void>;
}
