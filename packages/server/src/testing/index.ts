/** Server parts that other packages' tests combine differently. */

export { flagsOf, wordCounts } from '../cli/command.js';
export { COMMANDS } from '../cli/commands.js';
export { runCommandLine } from '../cli/run-command-line.js';
export { compose, createContainer } from '../composition/container.js';
export { type ComposedParley, composeParley } from '../composition/parley.js';
export type { ParleyDependencies } from '../composition/parley-dependencies.js';
export { readConfiguration } from '../configuration/read-configuration.js';
export { SETTINGS } from '../configuration/settings.js';
export { DemoActivity } from '../demo/activity.js';
export { PERIOD_SECONDS } from '../demo/conversations.js';
export { createDemo, listDemoAccess } from '../demo/create-demo.js';
export { DEMO_CHANNELS, DEMO_PEOPLE, passwordOf } from '../demo/organization.js';
export { SeededRandom } from '../demo/seeded-random.js';
export { COLUMN_NAMES } from '../exports/column-names.js';
export { FacadeEvents } from '../facade/events.js';
export { HostLogInProvider } from '../facade/host-authentication.js';
export { Addresses } from '../facade/references.js';
export { LimitReset } from '../http/quotas.js';
export { BucketBuilds, FolderBuilds, FolderWebAssets } from '../http/web-assets.js';
export { listenForEmail, type RunningSmtp } from '../start/incoming-smtp.js';
export { composePushServer } from '../start/push-service.js';
export { JobWorkers } from '../workers/job-workers.js';
export { LoadMonitor } from '../workers/load-monitor.js';
export { MessageIndexing } from '../workers/message-indexing.js';
export { NotificationWorker } from '../workers/notification-worker.js';
export { Promotion } from '../workers/promotion.js';
export { runCommand } from './run-command.js';
