import type { RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Connection } from '../engine/connection.js';
import { jsonList } from '../engine/rows.js';
import { lastSeqOf } from '../kernel/event-ids.js';

/**
 * Opens and closes spans: they hold from the next message, the next move and the next event on, or up to them.
 * Two statements, however many users there are.
 */
export class Spans {
  private readonly insert;
  private readonly close;
  private readonly isOpenFor;
  private readonly openOf;

  constructor(connection: Connection) {
    this.insert = connection.command(
      `INSERT OR IGNORE INTO span (user_id, recipient_id, number, realm_id, from_ordinal, from_move, from_seq)
       SELECT u.value, r.id, 1 + coalesce((SELECT max(s.number) FROM span s
                                           WHERE s.user_id = u.value AND s.recipient_id = r.id), 0),
              r.realm_id, r.last_ordinal + 1, ${NEXT_MOVE}, ${nextSeq('r.realm_id')}
       FROM recipient r CROSS JOIN json_each(?) u
       WHERE r.id = ? AND r.realm_id = ?
         AND NOT EXISTS (SELECT 1 FROM span o
                         WHERE o.recipient_id = r.id AND o.user_id = u.value AND o.to_ordinal IS NULL)`,
    );
    this.close = connection.command(
      `UPDATE span
       SET to_ordinal = (SELECT r.last_ordinal + 1 FROM recipient r WHERE r.id = span.recipient_id),
           to_move = ${NEXT_MOVE},
           to_seq = ${nextSeq('span.realm_id')}
       WHERE recipient_id = ? AND realm_id = ? AND to_ordinal IS NULL
         AND user_id IN (SELECT value FROM json_each(?))`,
    );
    this.isOpenFor = connection.values<1>(
      'SELECT 1 FROM span WHERE recipient_id = ? AND user_id = ? AND to_ordinal IS NULL',
    );
    this.openOf = connection.values<UserId>(
      `SELECT user_id FROM span
       WHERE recipient_id = ? AND to_ordinal IS NULL AND user_id IN (SELECT value FROM json_each(?))`,
    );
  }

  open(realmId: RealmId, recipientId: RecipientId, userIds: readonly UserId[]): void {
    this.insert.run(jsonList(userIds), recipientId, realmId);
  }

  closeAll(realmId: RealmId, recipientId: RecipientId, userIds: readonly UserId[]): void {
    this.close.run(recipientId, realmId, jsonList(userIds));
  }

  isOpen(recipientId: RecipientId, userId: UserId): boolean {
    return this.isOpenFor.get(recipientId, userId) !== undefined;
  }

  /** Those of the users who have an open span. */
  withOpen(recipientId: RecipientId, userIds: Iterable<UserId>): ReadonlySet<UserId> {
    return new Set(this.openOf.all(recipientId, jsonList(userIds)));
  }
}

const NEXT_MOVE = '(SELECT 1 + coalesce(max(id), 0) FROM channel_move)';
const nextSeq = (realmId: string): string => `(1 + ${lastSeqOf(realmId)})`;
