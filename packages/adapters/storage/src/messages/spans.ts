import type { RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Statements } from '../engine/statements.js';

/** Lower bound above all moves, because ids are never reused. Only units with an exclusive realm lock move messages. */
const NEXT_MOVE = '(SELECT 1 + coalesce(max(id), 0) FROM channel_move)';

/**
 * Opens and closes spans, effective from the next message, move and event. Uses one statement for any number of users
 * and recipients.
 */
export class Spans {
  private readonly insert;
  private readonly close;
  private readonly isOpenFor;
  private readonly openOf;

  /** @param lastSeqOf expression of a realm's latest event number */
  constructor(
    private readonly statements: Statements,
    lastSeqOf: (realmId: string) => string,
  ) {
    const { inSet, elements, indexedBy } = statements.dialect;
    // Has the realm as a parameter, so that it is evaluated once per statement.
    const nextSeq = `(1 + ${lastSeqOf('?')})`;
    this.insert = statements.command(
      `INSERT INTO span (user_id, recipient_id, number, realm_id, from_ordinal, from_move, from_seq)
       SELECT u.id, r.id, 1 + coalesce((SELECT max(s.number) FROM span s
                                        WHERE s.user_id = u.id AND s.recipient_id = r.id), 0),
              r.realm_id, r.last_ordinal + 1, ${NEXT_MOVE}, ${nextSeq}
       FROM recipient r CROSS JOIN (SELECT DISTINCT value AS id FROM ${elements('bigint')}) u
       WHERE r.id ${inSet} AND +r.realm_id = ?
         AND NOT EXISTS (SELECT 1 FROM span o
                         WHERE o.recipient_id = r.id AND o.user_id = u.id AND o.to_ordinal IS NULL)`,
    );
    this.close = statements.command(
      `UPDATE span ${indexedBy('span_open')}
       SET to_ordinal = (SELECT r.last_ordinal + 1 FROM recipient r WHERE r.id = span.recipient_id),
           to_move = ${NEXT_MOVE},
           to_seq = ${nextSeq}
       WHERE recipient_id ${inSet} AND to_ordinal IS NULL AND user_id ${inSet} AND realm_id = ?`,
    );
    this.isOpenFor = statements.values<1>(
      'SELECT 1 FROM span WHERE recipient_id = ? AND user_id = ? AND to_ordinal IS NULL',
    );
    this.openOf = statements.values<UserId>(
      `SELECT user_id FROM span WHERE recipient_id = ? AND to_ordinal IS NULL AND user_id ${inSet}`,
    );
  }

  open(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): void {
    const { set } = this.statements.dialect;
    this.statements.requireAlone();
    this.insert.defer(realmId, set(userIds), set(recipientIds), realmId);
  }

  closeAll(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): void {
    const { set } = this.statements.dialect;
    this.statements.requireAlone();
    this.close.defer(realmId, set(recipientIds), set(userIds), realmId);
  }

  async isOpen(recipientId: RecipientId, userId: UserId): Promise<boolean> {
    return (await this.isOpenFor.get(recipientId, userId)) !== undefined;
  }

  /** Returns the users with an open span. */
  async withOpen(recipientId: RecipientId, userIds: Iterable<UserId>): Promise<ReadonlySet<UserId>> {
    return new Set(await this.openOf.all(recipientId, this.statements.dialect.set(userIds)));
  }
}
