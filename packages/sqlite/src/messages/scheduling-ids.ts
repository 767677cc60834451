import type { Connection, Query } from '../engine/connection.js';

/** Gives scheduled messages and reminders their numbers. */
export class SchedulingIds {
  private readonly count: Query<number>;

  constructor(connection: Connection) {
    this.count = connection.values(
      'UPDATE scheduling_counter SET last_id = last_id + 1 WHERE id = 1 RETURNING last_id',
    );
  }

  next<Id extends number>(): Id {
    return this.count.get()! as Id;
  }
}
