import type { UserId } from './ids.js';

/**
 * Units of work that may run concurrently with others of their organization, with the reason. They use rights but
 * change none. A storage with many writers serializes units of the same user, and units of the same kind without a
 * user. It reruns a unit alone as soon as that unit opens a conversation or changes cached data, subscriptions or
 * another user's data.
 */
export const SHARED_UNITS = {
  send: 'Ordinals come from the locked row of the conversation; the read set is that of the sender.',
  edit: 'Only the author edits a text; versions grow in the row of the message.',
  react: 'Rows of one user; as many users as react at once may exceed the limit of a message.',
  flags: 'Read set and flags of one user, for messages that are named by id.',
  drafts: 'Rows of one user.',
  topicPolicies: 'Rows of one user.',
  registerQueue: 'Queues of one user; no log is pruned meanwhile.',
  queues: 'Positions only move forward, and a removed queue is gone for whoever removes it first.',
  presence: "Rows by time; update ids come from the organization's counter.",
  uploads: 'Sums of sizes belong to this kind; nobody can refer to the file yet.',
  leases: 'One row, which the first holder keeps.',
  jobs: 'Jobs that no other running server has leased.',
  calls: 'Rows in the order of their numbers, which this kind alone adds.',
  health: 'A row with the value that it has.',
} as const;

export interface SharedUnit {
  readonly kind: keyof typeof SHARED_UNITS;
  /** User with changed data; absent if the data belongs to the kind. */
  readonly userId?: UserId;
}
