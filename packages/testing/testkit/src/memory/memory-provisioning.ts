import type { GroupId, RealmId, UserId } from '@parley/domain/kernel';
import type { ProvisionedGroup, ProvisioningRepository, ProvisioningToken } from '@parley/domain/log-in';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Keyed by fingerprint. */
    readonly provisioningTokens: Map<string, ProvisioningToken>;
    /** Keyed by realm and user. */
    readonly removedUsers: Map<string, { readonly realmId: RealmId; readonly userId: UserId }>;
    /** Keyed by realm and group. */
    readonly provisionedGroups: Map<string, ProvisionedGroup & { readonly realmId: RealmId }>;
  }
}

export class MemoryProvisioning implements ProvisioningRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async findToken(realmId: RealmId, fingerprint: string): Promise<ProvisioningToken | null> {
    const token = this.unit.read('provisioningTokens').get(fingerprint);
    return token?.realmId === realmId ? token : null;
  }

  async listTokens(realmId: RealmId): Promise<readonly ProvisioningToken[]> {
    return [...this.unit.read('provisioningTokens').values()]
      .filter((token) => token.realmId === realmId)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async addToken(token: ProvisioningToken, fingerprint: string): Promise<void> {
    this.unit.change('provisioningTokens').set(fingerprint, token);
  }

  async removeToken(realmId: RealmId, name: string): Promise<boolean> {
    const table = this.unit.change('provisioningTokens');
    const found = [...table].find(([, token]) => token.realmId === realmId && token.name === name);
    return found !== undefined && table.delete(found[0]);
  }

  async listRemovedUserIds(realmId: RealmId): Promise<readonly UserId[]> {
    return [...this.unit.read('removedUsers').values()]
      .filter((removed) => removed.realmId === realmId)
      .map(({ userId }) => userId)
      .sort((a, b) => a - b);
  }

  async isUserRemoved(realmId: RealmId, userId: UserId): Promise<boolean> {
    return this.unit.read('removedUsers').has(keyOf(realmId, userId));
  }

  async setUserRemoved(realmId: RealmId, userId: UserId, isRemoved: boolean): Promise<void> {
    const table = this.unit.change('removedUsers');
    if (isRemoved) table.set(keyOf(realmId, userId), { realmId, userId });
    else table.delete(keyOf(realmId, userId));
  }

  async findGroup(realmId: RealmId, groupId: GroupId): Promise<ProvisionedGroup | null> {
    const found = this.unit.read('provisionedGroups').get(keyOf(realmId, groupId));
    return found ? groupOf(found) : null;
  }

  async listGroups(realmId: RealmId): Promise<readonly ProvisionedGroup[]> {
    return [...this.unit.read('provisionedGroups').values()]
      .filter((group) => group.realmId === realmId)
      .map(groupOf)
      .sort((a, b) => a.groupId - b.groupId);
  }

  async putGroup(realmId: RealmId, group: ProvisionedGroup): Promise<void> {
    this.unit.change('provisionedGroups').set(keyOf(realmId, group.groupId), { ...groupOf(group), realmId });
  }
}

const groupOf = ({ groupId, externalId, isRemoved }: ProvisionedGroup): ProvisionedGroup => ({
  groupId,
  externalId,
  isRemoved,
});
