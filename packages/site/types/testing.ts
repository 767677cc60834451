export * from '../../parley/dist/testing/index.js';
