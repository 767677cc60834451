export * from './builders.js';
export * from './client-model.js';
export * from './contracts/all-contracts.js';
export type { OpenStorage, StorageUnderTest } from './contracts/storage-under-test.js';
export * from './fixed-clock.js';
export * from './memory-storage.js';
export * from './plain-values.js';
export { agreeOnRandomHistories, type RandomHistoriesOptions } from './random-histories.js';
export * from './seeded-randomness.js';
