/** Signals used by readings. Components that compute with them need the same copy. */
export * from '@preact/signals-core';
