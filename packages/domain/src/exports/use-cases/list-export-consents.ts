import type { Caller } from '../../kernel/caller.js';
import type { UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import { slicesOf } from '../../kernel/slices.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canExport } from '../../realms/realm-permissions.js';
import type { UserSettings } from '../../realms/user-settings.js';

/** Whether exports may hold what is private to somebody. */
export interface ExportConsent {
  readonly userId: UserId;
  readonly isGiven: boolean;
  readonly emailAddressVisibility: UserSettings['emailAddressVisibility'];
}

const USERS_AT_A_TIME = 100;

/** Of everybody who is active, without bots; ascending id (organization §8). */
export class ListExportConsents {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR */
  execute(caller: Caller): Promise<readonly ExportConsent[]> {
    return this.uow.read(async (reads) => {
      const actor = await reads.actors.get(caller);
      enforce(canExport(actor));
      const ids = (await reads.users.listEntries(actor.realmId)).map(({ id }) => id);
      const consents: ExportConsent[] = [];
      for (const slice of slicesOf(ids, USERS_AT_A_TIME)) {
        for (const { id, isActive, bot, settings } of await reads.users.list(actor.realmId, slice)) {
          if (!isActive || bot) continue;
          const { allowPrivateDataExport: isGiven, emailAddressVisibility } = settings;
          consents.push({ userId: id, isGiven, emailAddressVisibility });
        }
        await reads.yield();
      }
      return consents.sort((a, b) => a.userId - b.userId);
    });
  }
}
