import {
  type DefaultChannelGroup,
  type DefaultChannelGroupRepository,
  defaultGroupNameTaken,
} from '@parley/domain/channels';
import { type ChannelId, type DefaultChannelGroupId, foldCase, type RealmId } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { idList, jsonList } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';

export class SqlDefaultChannelGroupRepository implements DefaultChannelGroupRepository {
  private readonly row;
  private readonly rowByName;
  private readonly rows;
  private readonly insert;
  private readonly store;
  private readonly delete;

  constructor(connection: Statements) {
    this.row = connection.rows<GroupRow>('SELECT * FROM default_channel_group WHERE id = ? AND realm_id = ?');
    this.rowByName = connection.rows<GroupRow>(
      'SELECT * FROM default_channel_group WHERE realm_id = ? AND name_key = ?',
    );
    this.rows = connection.rows<GroupRow>('SELECT * FROM default_channel_group WHERE realm_id = ? ORDER BY name');
    this.insert = connection.values<DefaultChannelGroupId>(
      `INSERT INTO default_channel_group (realm_id, name, name_key, description, channel_ids)
       VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (realm_id, name_key) DO NOTHING RETURNING id`,
    );
    this.store = connection.command(
      `UPDATE default_channel_group SET name = ?, name_key = ?, description = ?, channel_ids = ?
       WHERE id = ? AND realm_id = ? AND NOT EXISTS (
         SELECT 1 FROM default_channel_group o WHERE o.realm_id = ? AND o.name_key = ? AND o.id <> ?)`,
    );
    this.delete = connection.command('DELETE FROM default_channel_group WHERE id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, id: DefaultChannelGroupId): Promise<DefaultChannelGroup | null> {
    return toGroup(await this.row.get(id, realmId));
  }

  async findByName(realmId: RealmId, name: string): Promise<DefaultChannelGroup | null> {
    return toGroup(await this.rowByName.get(realmId, foldCase(name)));
  }

  async list(realmId: RealmId): Promise<readonly DefaultChannelGroup[]> {
    return (await this.rows.all(realmId)).map((row) => toGroup(row)!);
  }

  async add(group: Omit<DefaultChannelGroup, 'id'>): Promise<DefaultChannelGroup> {
    const { realmId, name, description, channelIds } = group;
    const id = await this.insert.get(realmId, name, foldCase(name), description, jsonList(channelIds));
    if (id === undefined) throw defaultGroupNameTaken(name);
    return { ...group, id };
  }

  async update({ id, realmId, name, description, channelIds }: DefaultChannelGroup): Promise<void> {
    const key = foldCase(name);
    const { changes } = await this.store.run(
      name,
      key,
      description,
      jsonList(channelIds),
      id,
      realmId,
      realmId,
      key,
      id,
    );
    if (changes === 0 && (await this.rowByName.get(realmId, key))) throw defaultGroupNameTaken(name);
  }

  async remove(realmId: RealmId, id: DefaultChannelGroupId): Promise<void> {
    this.delete.defer(id, realmId);
  }
}

interface GroupRow {
  readonly id: DefaultChannelGroupId;
  readonly realm_id: RealmId;
  readonly name: string;
  readonly description: string;
  readonly channel_ids: string;
}

function toGroup(row: GroupRow | undefined): DefaultChannelGroup | null {
  return row
    ? {
        id: row.id,
        realmId: row.realm_id,
        name: row.name,
        description: row.description,
        channelIds: idList<ChannelId>(row.channel_ids),
      }
    : null;
}

export const DEFAULT_CHANNEL_FEATURE = {
  repositories: () => (connection) => ({ defaultChannelGroups: new SqlDefaultChannelGroupRepository(connection) }),
} satisfies StorageFeature;
