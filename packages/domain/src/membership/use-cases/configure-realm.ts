import type { RealmId } from '../../kernel/ids.js';
import type { SettingChanges } from '../../kernel/settings.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { REALM_SETTINGS } from '../../realms/realm-settings.js';
import { checkRealmName } from '../add-realm.js';
import { type ChangeRealmOutput, RealmChanges } from '../realm-changes.js';

export interface ConfigureRealmInput {
  readonly realmId: RealmId;
  readonly name?: string;
  readonly settings: SettingChanges<typeof REALM_SETTINGS>;
}

/** As `ChangeRealm`, for the operator, who may change what nobody else may. */
export class ConfigureRealm {
  static readonly inject = ['unitOfWork', RealmChanges] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly changes: RealmChanges,
  ) {}

  /** All or nothing. @throws DomainError UNKNOWN_REALM, INVALID_REALM_NAME, BAD_SETTING_VALUE, UNRENDERABLE_CONTENT, STALE_VALUE */
  async execute({ realmId, name, settings }: ConfigureRealmInput): Promise<ChangeRealmOutput> {
    if (name !== undefined) checkRealmName(name);
    this.changes.checkProvider(settings);
    const parsed = await this.changes.parseDescription(realmId, settings.description);
    const input = { settings, permissions: {}, ...(name !== undefined && { name }) };
    return this.uow.write(async (tx) => this.changes.apply(tx, await tx.realms.get(realmId), null, input, parsed));
  }
}
