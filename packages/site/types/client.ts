export * from '../../client/dist/index.js';
