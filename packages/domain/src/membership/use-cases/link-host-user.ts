import type { RealmId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { User } from '../../users/user.js';
import { checkExternalId } from '../external-id.js';
import { getHostUser, type HostUserReference } from '../find-host-user.js';

export interface LinkHostUserInput {
  readonly realmId: RealmId;
  readonly externalId: string;
  readonly user: Extract<HostUserReference, { userId: unknown }>;
}

/** Gives an external id to a user who is there already: one who was registered by hand, or before there were such ids. */
export class LinkHostUser {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Once more: without effect. @throws DomainError INVALID_EXTERNAL_ID, UNKNOWN_USER, EXTERNAL_ID_TAKEN */
  async execute({ realmId, externalId, user: by }: LinkHostUserInput): Promise<User> {
    checkExternalId(externalId);
    return this.uow.write(async (tx) => {
      const user = await getHostUser(tx, realmId, by);
      await tx.externalIds.assign(realmId, user.id, externalId);
      return user;
    });
  }
}
