export { inspectPostgres, migratePostgres, movePostgres, openPostgresStorage } from './database.js';
