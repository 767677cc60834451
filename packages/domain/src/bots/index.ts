export { type BotStorageRepository, type StorageUsage, type StoredEntry, sizeOfEntry } from './bot-storage.js';

import './bot-errors.js';

export * from './use-cases/get-bot-storage.js';
export * from './use-cases/put-bot-storage.js';
export * from './use-cases/remove-bot-storage.js';
