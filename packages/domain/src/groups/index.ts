export * from './change-group.use-cases.js';
export * from './change-members.use-cases.js';
export * from './group.js';
export * from './group-permissions.js';
export * from './groups.use-cases.js';
export * from './system-groups.js';
