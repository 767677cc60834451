/** Parts of a server that tests of other packages put together in their own way. */

export { HostLogInProvider } from '../authentication.js';
export { Promotion } from '../background-workers.js';
export { flagsOf, wordCounts } from '../cli/command.js';
export { COMMANDS } from '../cli/commands.js';
export { runCommandLine } from '../cli/run-command-line.js';
export { readConfiguration } from '../configuration/read-configuration.js';
export { SETTINGS } from '../configuration/settings.js';
export { compose, ServerContainer } from '../container.js';
export { PERIOD_SECONDS } from '../demo/conversations.js';
export { createDemo, listDemoAccess } from '../demo/create-demo.js';
export { DEMO_CHANNELS, DEMO_PEOPLE, passwordOf } from '../demo/organization.js';
export { SeededRandom } from '../demo/seeded-random.js';
export { COLUMN_NAMES } from '../exports/column-names.js';
export { FacadeEvents } from '../facade/events.js';
export { listenForEmail, type RunningSmtp } from '../incoming-smtp.js';
export { LimitReset } from '../limits.js';
export { type ComposedParley, composeParley } from '../parley.js';
export type { ParleyParts } from '../parley-parts.js';
export { composePushServer } from '../push-server.js';
export { BucketBuilds, FolderBuilds, FolderWebAssets } from '../web-assets.js';
export { JobWorkers } from '../workers/job-workers.js';
export { LoadMonitor } from '../workers/load-monitor.js';
export { NotificationWorker } from '../workers/notification-worker.js';
