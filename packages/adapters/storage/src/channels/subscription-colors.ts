import { ROWS_WITH_USED_COLORS } from '@parley/domain/channels';
import type { RealmId, UserId } from '@parley/domain/kernel';
import type { Statements } from '../engine/statements.js';

/** Reads colors of subscriptions, at a cost that does not depend on the number of subscriptions. */
export class SubscriptionColors {
  private readonly first;

  constructor(private readonly statements: Statements) {
    const { elements, list } = statements.dialect;
    this.first = statements.tuples<[UserId, string]>(
      `SELECT value, (SELECT ${list('color')} FROM (
         SELECT color FROM subscription WHERE user_id = value AND realm_id = ? ORDER BY channel_id LIMIT ? + 0) AS first_rows)
       FROM ${elements('bigint')}`,
    );
  }

  async list(
    realmId: RealmId,
    userIds: readonly UserId[],
    palette: readonly string[],
  ): Promise<ReadonlyMap<UserId, readonly string[]>> {
    const found = new Map<UserId, readonly string[]>();
    let unsure = userIds;
    // The first rows of a user usually have every color of the palette.
    for (const limit of [palette.length, ROWS_WITH_USED_COLORS]) {
      for (const [id, json] of await this.first.all(realmId, limit, this.statements.dialect.set(unsure))) {
        const colors = new Set(JSON.parse(json) as readonly string[]);
        if (colors.size > 0) found.set(id, [...colors]);
      }
      unsure = unsure.filter((id) => {
        const colors = found.get(id) ?? [];
        return colors.length > 0 && !palette.every((color) => colors.includes(color));
      });
      if (unsure.length === 0) break;
    }
    return found;
  }
}
