import type { RealmId, UserId } from '@parley/domain/kernel';
import type { ConversationPartnerQuestion, User } from '@parley/domain/users';
import { type Flag, type Quarantine, SqlUserRepository, toFlag, USER_TABLES, VersionedCache } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';

const NEVER_MARKS_NOTICES = `settings LIKE '%"resolvedTopicNoticeAutoReadPolicy":"never"%'`;

export class PostgresUserRepository extends SqlUserRepository {
  private readonly partnerAnswers;
  private readonly countSubscriber;

  constructor(
    private readonly connection: Connection,
    cache: VersionedCache<number, User>,
    private readonly known: KnownVersions<number>,
    quarantine: Quarantine,
  ) {
    super(connection, cache, quarantine, NEVER_MARKS_NOTICES);
    // Covers channels and direct conversations, since both record receiving users as spans.
    this.partnerAnswers = connection.values<Flag>(
      `SELECT EXISTS (
         SELECT 1 FROM span own JOIN span other ON other.recipient_id = own.recipient_id
         WHERE own.user_id = asked.guest_id AND own.realm_id = $1 AND other.user_id = asked.user_id
           AND own.from_seq <= asked.at AND coalesce(own.to_seq > asked.at, true)
           AND other.from_seq <= asked.at AND coalesce(other.to_seq > asked.at, true)
       )
       FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY asked (guest_id, user_id, at, number)
       ORDER BY asked.number`,
    );
    // Active users count as subscribers.
    this.countSubscriber = connection.command(
      `UPDATE channel SET subscriber_count = subscriber_count + $3 - u.is_active
       FROM "user" u JOIN subscription s ON s.user_id = u.id AND s.is_active = 1
       WHERE u.id = $1 AND u.realm_id = $2 AND u.is_active <> $3 AND channel.id = s.channel_id`,
    );
  }

  protected override versionOf(realmId: RealmId, id: UserId): Promise<number | undefined> {
    return this.known.of(this.connection, realmId, id, () => super.versionOf(realmId, id));
  }

  async areConversationPartners(
    realmId: RealmId,
    questions: readonly ConversationPartnerQuestion[],
  ): Promise<readonly boolean[]> {
    const answers = await this.partnerAnswers.all(
      realmId,
      questions.map(({ guestId }) => guestId),
      questions.map(({ userId }) => userId),
      questions.map(({ at }) => at ?? Number.MAX_SAFE_INTEGER),
    );
    return answers.map((flag) => flag === 1);
  }

  override async update(user: User): Promise<User> {
    this.countSubscriber.defer(user.id, user.realmId, toFlag(user.isActive));
    return super.update(user);
  }
}

export const USER_FEATURE = {
  ...USER_TABLES,
  repositories: ({ quarantine }) => {
    const cache = new VersionedCache<number, User>(20_000);
    const known = new KnownVersions<number>(20_000);
    return (connection) => ({ users: new PostgresUserRepository(connection, cache, known, quarantine) });
  },
} satisfies PostgresFeature;
