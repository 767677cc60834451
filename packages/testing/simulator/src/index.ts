export * from './synced-state.js';
