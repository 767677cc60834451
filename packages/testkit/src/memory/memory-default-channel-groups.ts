import {
  type DefaultChannelGroup,
  type DefaultChannelGroupRepository,
  defaultGroupNameTaken,
} from '@parley/domain/channels';
import { compareCodePoints, type DefaultChannelGroupId, foldCase, type RealmId } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly defaultChannelGroups: Map<DefaultChannelGroupId, DefaultChannelGroup>;
  }
}

export class MemoryDefaultChannelGroups implements DefaultChannelGroupRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: DefaultChannelGroupId): Promise<DefaultChannelGroup | null> {
    return (await this.list(realmId)).find((group) => group.id === id) ?? null;
  }

  async findByName(realmId: RealmId, name: string): Promise<DefaultChannelGroup | null> {
    return (await this.list(realmId)).find((group) => foldCase(group.name) === foldCase(name)) ?? null;
  }

  async list(realmId: RealmId): Promise<readonly DefaultChannelGroup[]> {
    return [...this.unit.read('defaultChannelGroups').values()]
      .filter((group) => group.realmId === realmId)
      .sort((a, b) => compareCodePoints(a.name, b.name));
  }

  async add(group: Omit<DefaultChannelGroup, 'id'>): Promise<DefaultChannelGroup> {
    await this.requireFreeName(group, null);
    const added = { ...group, id: this.unit.nextNumber<DefaultChannelGroupId>('defaultChannelGroup') };
    this.unit.change('defaultChannelGroups').set(added.id, added);
    return added;
  }

  async update(group: DefaultChannelGroup): Promise<void> {
    await this.requireFreeName(group, group.id);
    this.unit.change('defaultChannelGroups').set(group.id, group);
  }

  async remove(realmId: RealmId, id: DefaultChannelGroupId): Promise<void> {
    if (await this.find(realmId, id)) this.unit.change('defaultChannelGroups').delete(id);
  }

  private async requireFreeName(
    { realmId, name }: Pick<DefaultChannelGroup, 'realmId' | 'name'>,
    except: DefaultChannelGroupId | null,
  ): Promise<void> {
    const holder = await this.findByName(realmId, name);
    if (holder && holder.id !== except) throw defaultGroupNameTaken(name);
  }
}
