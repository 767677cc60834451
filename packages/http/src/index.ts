export * from './routing/index.js';
