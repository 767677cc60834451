import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import { enforce } from '../../kernel/permission.js';
import { changed, type SettingChanges, settingChanges } from '../../kernel/settings.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canChangeUserDefaults } from '../../realms/realm-permissions.js';
import { USER_SETTINGS, type UserSettingName } from '../../realms/user-settings.js';

/** The order in which values are looked at that are not refused with the parameters. */
const CHECKED_FIRST: readonly UserSettingName[] = ['notificationSound'];

/** What new users start with; nobody's own settings change (users §6.5, organization §4). */
export class ChangeUserDefaults {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * All or nothing. Settings without a default of the organization are left out.
   * @throws DomainError MUST_BE_ADMINISTRATOR, BAD_SETTING_VALUE
   */
  execute(caller: Caller, requested: SettingChanges<typeof USER_SETTINGS>): Promise<void> {
    return this.uow.write(async (tx) => {
      enforce(canChangeUserDefaults(await tx.actors.get(caller)));
      const realm = await tx.realms.get(caller.realmId);
      const changes = settingChanges('user', USER_SETTINGS, realm.userDefaults, requested, CHECKED_FIRST).filter(
        ({ name }) => USER_SETTINGS[name].hasRealmDefault,
      );
      if (changes.length === 0) return;
      await tx.realms.update({ ...realm, userDefaults: changed(realm.userDefaults, changes) });
      for (const { name, value } of changes) {
        const event = { type: 'realm.user_default_changed', setting: name, value } as const;
        await tx.events.append(realm.id, { event, audience: wholeRealm });
      }
    });
  }
}
