export * from '../../parley/dist/index.js';
