import './bot-errors.js';

export type { GivenAvatar } from './bot-avatar.js';
export type { BotChange, BotEventTypes } from './bot-events.js';
export {
  type BotOptions,
  type BotRepository,
  NO_BOT_OPTIONS,
  type OutgoingWebhook,
  WEBHOOK_INTERFACES,
  type WebhookInterface,
} from './bot-options.js';
export { type BotStorageRepository, type StorageUsage, type StoredEntry, sizeOfEntry } from './bot-storage.js';
export { type BotView, loadBots } from './bot-view.js';
export * from './use-cases/create-bot.js';
export * from './use-cases/deactivate-bot.js';
export * from './use-cases/get-bot-api-key.js';
export * from './use-cases/get-bot-storage.js';
export * from './use-cases/list-own-bots.js';
export * from './use-cases/put-bot-storage.js';
export * from './use-cases/regenerate-api-key.js';
export * from './use-cases/remove-bot-storage.js';
export * from './use-cases/update-bot.js';
