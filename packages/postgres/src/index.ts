export { inspectPostgres, migratePostgres, openPostgresStorage } from './database.js';
