import type { RealmId, UserId } from '@parley/domain/kernel';
import type { OnboardingRepository, OnboardingStep } from '@parley/domain/users';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresOnboardingRepository implements OnboardingRepository {
  private readonly ofUser;
  private readonly insert;

  constructor(connection: Connection) {
    this.ofUser = connection.values<string>('SELECT step FROM onboarding_step WHERE user_id = $1 AND realm_id = $2');
    this.insert = connection.command(
      'INSERT INTO onboarding_step (user_id, step, realm_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    );
  }

  async listDone(realmId: RealmId, userId: UserId): Promise<ReadonlySet<string>> {
    return new Set(await this.ofUser.all(userId, realmId));
  }

  async markDone(realmId: RealmId, userId: UserId, step: OnboardingStep): Promise<void> {
    this.insert.defer(userId, step, realmId);
  }
}

export const ONBOARDING_FEATURE = {
  schema: 'onboarding',
  realmTables: ['onboarding_step'],
  repositories: () => (connection) => ({ onboarding: new PostgresOnboardingRepository(connection) }),
} satisfies PostgresFeature;
