/** Signals of which readings are made. Components that compute with them need the same copy. */
export * from '@preact/signals-core';
