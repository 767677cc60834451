export {
  finishUpgradeOfPostgres,
  inspectPostgres,
  migratePostgres,
  movePostgres,
  openPostgresStorage,
} from './database.js';
export type { StateListener } from './engine/sessions.js';
