import type { RealmId, UserId } from '@parley/domain/kernel';
import type { ConversationPartnerQuestion, User } from '@parley/domain/users';
import { type Flag, type Quarantine, SqlUserRepository, USER_TABLES, VersionedCache } from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { KnownValues } from '../engine/known-values.js';

/** Condition of the index. */
const NEVER_MARKS_NOTICES =
  "CASE WHEN json_valid(settings) THEN settings ->> '$.resolvedTopicNoticeAutoReadPolicy' END = 'never'";

export class SqliteUserRepository extends SqlUserRepository {
  private readonly partnerAnswers;
  private readonly versions;

  constructor(connection: Connection, cache: VersionedCache<number, User>, quarantine: Quarantine) {
    super(asStatements(connection), cache, quarantine, NEVER_MARKS_NOTICES);
    this.versions = new KnownValues<number>(connection, 20_000);
    // Covers channels and direct conversations, since both record receiving users as spans.
    this.partnerAnswers = connection.values<Flag>(
      `SELECT EXISTS (
         SELECT 1 FROM span own CROSS JOIN span other
         WHERE own.user_id = asked.value ->> 0 AND own.realm_id = ?
           AND other.user_id = asked.value ->> 1 AND other.recipient_id = own.recipient_id
           AND own.from_seq <= asked.value ->> 2 AND coalesce(own.to_seq > asked.value ->> 2, 1)
           AND other.from_seq <= asked.value ->> 2 AND coalesce(other.to_seq > asked.value ->> 2, 1)
       )
       FROM json_each(?) asked ORDER BY asked.key`,
    );
  }

  protected override versionOf(realmId: RealmId, id: UserId): number | undefined {
    return this.versions.get(realmId, id, () => super.versionOf(realmId, id) as number | undefined);
  }

  async areConversationPartners(
    realmId: RealmId,
    questions: readonly ConversationPartnerQuestion[],
  ): Promise<readonly boolean[]> {
    const asked = questions.map(({ guestId, userId, at }) => [guestId, userId, at ?? Number.MAX_SAFE_INTEGER]);
    return this.partnerAnswers.all(realmId, JSON.stringify(asked)).map((flag) => flag === 1);
  }
}

export const USER_FEATURE = {
  ...USER_TABLES,
  repositories: ({ quarantine }) => {
    const cache = new VersionedCache<number, User>(20_000);
    return (connection) => ({ users: new SqliteUserRepository(connection, cache, quarantine) });
  },
} satisfies SqliteFeature;
