import './status-errors.js';

export type { StatusChange, StatusEventTypes } from './status-events.js';
export { loadStatuses } from './status-loaders.js';
export * from './use-cases/change-status.js';
export * from './use-cases/get-status.js';
export { MAX_STATUS_TEXT_LENGTH, type ShownStatus, type StatusRepository, type UserStatus } from './user-status.js';
