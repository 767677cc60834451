export * from '../../chat/dist/index.js';
