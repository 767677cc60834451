export * from '../../clients/client/dist/index.js';
