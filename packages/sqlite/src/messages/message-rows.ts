import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { Message } from '@parley/domain/messages';
import { jsonList, type MessageRow, type Quarantine, toMessage } from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';

/** Complete message rows. */
export class MessageRows {
  private readonly row: Query<MessageRow>;
  private readonly rows: Query<MessageRow>;

  constructor(
    connection: Connection,
    private readonly quarantine: Quarantine,
  ) {
    this.row = connection.rows('SELECT * FROM message WHERE id = ? AND realm_id = ?');
    this.rows = connection.rows(
      'SELECT * FROM message WHERE id IN (SELECT value FROM json_each(?)) AND realm_id = ? ORDER BY id',
    );
  }

  /** Same as a list of one id, but faster. */
  find(realmId: RealmId, id: MessageId): MessageRow | undefined {
    return this.row.get(id, realmId);
  }

  /** Ascending by id; unknown ids are absent. */
  list(realmId: RealmId, ids: readonly MessageId[]): MessageRow[] {
    return this.rows.all(jsonList(ids), realmId);
  }

  toMessage(row: MessageRow): Message {
    return toMessage(row, this.quarantine);
  }
}
