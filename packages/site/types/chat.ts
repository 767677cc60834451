export * from '../../clients/chat/dist/index.js';
