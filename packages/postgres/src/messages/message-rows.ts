import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { Message } from '@parley/domain/messages';
import { type MessageRow, type Quarantine, toMessage } from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';

/** Complete message rows. */
export class MessageRows {
  private readonly rows: Query<MessageRow>;

  constructor(
    connection: Connection,
    private readonly quarantine: Quarantine,
  ) {
    this.rows = connection.rows('SELECT * FROM message WHERE id = ANY($1::bigint[]) AND realm_id = $2 ORDER BY id');
  }

  /** Ascending by id; unknown ids are absent. */
  list(realmId: RealmId, ids: readonly MessageId[]): Promise<MessageRow[]> {
    return this.rows.all(ids, realmId);
  }

  toMessage(row: MessageRow): Message {
    return toMessage(row, this.quarantine);
  }
}
