import './host-user-errors.js';

export { type ExternalIdRepository, externalIdTaken } from './external-id.js';
export type { HostUserReference } from './find-host-user.js';
export * from './use-cases/find-host-users.js';
export * from './use-cases/get-host-user-api-key.js';
export * from './use-cases/link-host-user.js';
export * from './use-cases/set-host-user-active.js';
export * from './use-cases/upsert-host-user.js';
