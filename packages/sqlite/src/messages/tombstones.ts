import type { EventSeq, RealmId } from '@parley/domain/kernel';
import type { Connection } from '../engine/connection.js';

/** How many events the unit of a removal may append before the one that tells of it. */
const EVENTS_OF_A_UNIT = 1000;

/** What is left of deleted messages, for as long as events of them may be to deliver. */
export class Tombstones {
  private readonly statements;

  constructor(connection: Connection) {
    const forgotten = 'SELECT id FROM removed_message WHERE realm_id = ? AND removed_at_seq < ?';
    this.statements = [
      connection.command(`DELETE FROM removed_message_holder WHERE message_id IN (${forgotten})`),
      connection.command(`DELETE FROM moved_message WHERE message_id IN (${forgotten})`),
      connection.command('DELETE FROM removed_message WHERE realm_id = ? AND removed_at_seq < ?'),
    ];
  }

  /** To be called when events up to this seq are removed from the log. */
  prune(realmId: RealmId, upTo: EventSeq): void {
    for (const statement of this.statements) statement.run(realmId, upTo - EVENTS_OF_A_UNIT);
  }
}
