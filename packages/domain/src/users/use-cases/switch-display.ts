import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { settingChanges } from '../../kernel/settings.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { USER_SETTINGS } from '../../realms/user-settings.js';
import { applySettings } from '../apply-settings.js';
import type { PresencePolicy } from '../presence-policy.js';

/** What one command does. */
export type DisplaySwitch = { readonly colorScheme: 'dark' | 'light' } | { readonly fluidLayoutWidth: boolean };

/** Changes how the caller sees things, as they said it in a message box (messages §15.2). */
export class SwitchDisplay {
  static readonly inject = ['unitOfWork', 'clock', 'presencePolicy'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly presencePolicy: PresencePolicy,
  ) {}

  /** Whether it was otherwise before. */
  execute(caller: Caller, settings: DisplaySwitch): Promise<boolean> {
    return this.uow.write(async (tx) => {
      const { realmId, id } = await tx.actors.get(caller);
      const user = (await tx.users.find(realmId, id))!;
      const changes = settingChanges('user', USER_SETTINGS, user.settings, settings, []);
      await applySettings(tx, user, changes, { now: this.clock.now(), presencePolicy: this.presencePolicy });
      return changes.length > 0;
    });
  }
}
