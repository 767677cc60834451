export {
  examinePostgres,
  finishUpgradeOfPostgres,
  inspectPostgres,
  migratePostgres,
  movePostgres,
  openPostgresStorage,
  readTextsOfPostgres,
  SESSIONS_PER_SERVER,
  statusOfCluster,
  withoutPassword,
} from './database.js';
export type { ServerFacts } from './engine/examination.js';
export type { StateListener } from './engine/sessions.js';
export type { ClusterStatus, HostStatus, NodeStatus } from './engine/status.js';
