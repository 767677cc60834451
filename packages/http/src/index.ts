export * from './avatars/avatar-urls.js';
export { CONTRACT_OPERATIONS, type ContractOperation } from './contract-operations.js';
export { EVENT_CATALOGUE } from './events/event.presenters.js';
export { LongPoll } from './events/long-poll.js';
export { PublicRealms } from './events/public-realms.js';
export type { ServerInfo } from './realms/realm.presenters.js';
export * from './routes.js';
export * from './routing/index.js';
export * from './server-settings/server-version.js';
