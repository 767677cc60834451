// The adapter cannot be configured yet.
export {};
