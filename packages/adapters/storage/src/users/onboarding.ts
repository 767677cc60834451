import type { RealmId, UserId } from '@parley/domain/kernel';
import type { OnboardingMark, OnboardingRepository } from '@parley/domain/users';
import type { StorageFeature } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

export class SqlOnboardingRepository implements OnboardingRepository {
  private readonly ofUser;
  private readonly insert;

  constructor(connection: Statements) {
    this.ofUser = connection.values<string>('SELECT step FROM onboarding_step WHERE user_id = ? AND realm_id = ?');
    this.insert = connection.command(
      'INSERT INTO onboarding_step (user_id, step, realm_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    );
  }

  async listDone(realmId: RealmId, userId: UserId): Promise<ReadonlySet<string>> {
    return new Set(await this.ofUser.all(userId, realmId));
  }

  async markDone(realmId: RealmId, userId: UserId, step: OnboardingMark): Promise<void> {
    this.insert.defer(userId, step, realmId);
  }
}

const TABLES = `
-- Completed onboarding steps.

CREATE TABLE onboarding_step (
  user_id {int} NOT NULL,
  step {text} NOT NULL,
  realm_id {int} NOT NULL REFERENCES realm (id),
  PRIMARY KEY (user_id, step)
) {withoutRowId};
`;

export const ONBOARDING_FEATURE = {
  schema: 'onboarding',
  steps: { 1: TABLES },
  realmTables: ['onboarding_step'],
  persons: {
    onboarding_step: { data: 'Introductions that were read', fate: OF_ACCOUNT, erase: 'user_id = {id}' },
  },
  repositories: () => (connection) => ({ onboarding: new SqlOnboardingRepository(connection) }),
} satisfies StorageFeature;
