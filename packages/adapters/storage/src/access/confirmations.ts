import {
  type Confirmation,
  type ConfirmationPurpose,
  type ConfirmationRepository,
  subjectOf,
} from '@parley/domain/access';
import type { RealmId, Seed, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { KEY } from '../engine/personal-data.js';
import { newSeed } from '../engine/seeds.js';
import type { Statements } from '../engine/statements.js';

export class SqlConfirmationRepository implements ConfirmationRepository {
  private readonly row;
  private readonly open;
  private readonly total;
  private readonly insert;
  private readonly store;
  private readonly delete;

  constructor(connection: Statements) {
    this.row = connection.rows<ConfirmationRow>('SELECT * FROM confirmation WHERE id = ? AND realm_id = ?');
    this.open = connection.rows<ConfirmationRow>(
      "SELECT * FROM confirmation WHERE realm_id = ? AND purpose = ? AND subject = ? AND status = 'open'",
    );
    this.total = connection.values<number>('SELECT count(*) FROM confirmation WHERE realm_id = ? AND purpose = ?');
    this.insert = connection.values<number>(
      `INSERT INTO confirmation (realm_id, purpose, subject, email, user_id, invitation_id, expires_at, status, seed)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    this.store = connection.command('UPDATE confirmation SET expires_at = ?, status = ? WHERE id = ? AND realm_id = ?');
    this.delete = connection.command('DELETE FROM confirmation WHERE id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, id: number): Promise<Confirmation | null> {
    return toConfirmation(await this.row.get(id, realmId));
  }

  async findOpen(realmId: RealmId, purpose: ConfirmationPurpose, subject: string): Promise<Confirmation | null> {
    return toConfirmation(await this.open.get(realmId, purpose, subject));
  }

  async count(realmId: RealmId, purpose: ConfirmationPurpose): Promise<number> {
    return await this.total.one(realmId, purpose);
  }

  async add(confirmation: Omit<Confirmation, 'id' | 'seed'>): Promise<Confirmation> {
    const { realmId, purpose, email, userId, invitationId, expiresAt, status } = confirmation;
    const subject = subjectOf(confirmation);
    const seed = newSeed();
    const id = await this.insert.one(realmId, purpose, subject, email, userId, invitationId, expiresAt, status, seed);
    return { ...confirmation, id, seed };
  }

  async update({ realmId, id, expiresAt, status }: Confirmation): Promise<void> {
    this.store.defer(expiresAt, status, id, realmId);
  }

  async remove(realmId: RealmId, id: number): Promise<void> {
    this.delete.defer(id, realmId);
  }
}

const toConfirmation = (row: ConfirmationRow | undefined): Confirmation | null =>
  row
    ? {
        id: row.id,
        realmId: row.realm_id,
        purpose: row.purpose,
        email: row.email,
        userId: row.user_id,
        invitationId: row.invitation_id,
        expiresAt: row.expires_at,
        status: row.status,
        seed: row.seed,
      }
    : null;

interface ConfirmationRow {
  readonly id: number;
  readonly realm_id: RealmId;
  readonly purpose: ConfirmationPurpose;
  readonly email: string;
  readonly user_id: UserId | null;
  readonly invitation_id: number | null;
  readonly expires_at: UnixSeconds;
  readonly status: Confirmation['status'];
  readonly seed: Seed;
}

const TABLES = `
-- Pending email confirmations. Keys of links are derived and never stored.

CREATE TABLE confirmation (
  id {id},
  realm_id {int} NOT NULL REFERENCES realm (id),
  -- 'signUp', 'emailChange' or 'passwordReset'.
  purpose {text} NOT NULL,
  -- Owner: the id of a user, or the case-folded email of a person without an account.
  subject {text} NOT NULL,
  email {text} NOT NULL,
  user_id {int},
  invitation_id {int},
  expires_at {int} NOT NULL,
  -- 'open' or 'ended'.
  status {text} NOT NULL
) {strict};
CREATE UNIQUE INDEX confirmation_open ON confirmation (realm_id, purpose, subject) WHERE status = 'open';
CREATE INDEX confirmation_by_purpose ON confirmation (realm_id, purpose);
`;

export const CONFIRMATION_FEATURE = {
  schema: 'confirmations',
  steps: { 1: TABLES },
  realmTables: ['confirmation'],
  persons: {
    confirmation: {
      data: 'Links in emails',
      fate: { ...KEY, ends: [...KEY.ends, 'password'] },
      erase: 'realm_id = {realm} AND (user_id = {id} OR lower(email) = lower({email}))',
    },
  },
  notExported: {
    confirmation: 'Links point to the original server.',
  },
  repositories: () => (connection) => ({ confirmations: new SqlConfirmationRepository(connection) }),
} satisfies StorageFeature;
