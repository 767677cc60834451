export {
  examinePostgres,
  findFutureOfPostgres,
  finishUpgradeOfPostgres,
  inspectPostgres,
  listBlobsOfPostgres,
  migratePostgres,
  movePostgres,
  openPostgresStorage,
  type PostgresState,
  readTextsOfPostgres,
  SESSIONS_PER_SERVER,
  statusOfCluster,
  withoutPassword,
} from './database.js';
export type { ServerFacts } from './engine/examination.js';
export type { StateListener } from './engine/sessions.js';
export type { ClusterStatus, HostStatus, NodeStatus } from './engine/status.js';
