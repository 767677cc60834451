export { openPostgresStorage } from './database.js';
