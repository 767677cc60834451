import './alert-word-errors.js';

export type { AlertWordEventTypes } from './alert-word-events.js';
export { loadAlertWords } from './alert-word-loaders.js';
export type { AlertWordRepository } from './alert-words.js';
export * from './use-cases/change-alert-words.js';
export * from './use-cases/list-alert-words.js';
