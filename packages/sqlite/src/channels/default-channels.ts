import {
  type DefaultChannelGroup,
  type DefaultChannelGroupRepository,
  defaultGroupNameTaken,
} from '@parley/domain/channels';
import { type ChannelId, type DefaultChannelGroupId, foldCase, type RealmId } from '@parley/domain/kernel';
import { idList, jsonList } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { refusingTaken } from '../engine/rows.js';

export class SqliteDefaultChannelGroupRepository implements DefaultChannelGroupRepository {
  private readonly row;
  private readonly rowByName;
  private readonly rows;
  private readonly insert;
  private readonly store;
  private readonly delete;

  constructor(connection: Connection) {
    this.row = connection.rows<GroupRow>('SELECT * FROM default_channel_group WHERE id = ? AND realm_id = ?');
    this.rowByName = connection.rows<GroupRow>(
      'SELECT * FROM default_channel_group WHERE realm_id = ? AND name_key = ?',
    );
    this.rows = connection.rows<GroupRow>('SELECT * FROM default_channel_group WHERE realm_id = ? ORDER BY name');
    this.insert = connection.values<DefaultChannelGroupId>(
      `INSERT INTO default_channel_group (realm_id, name, name_key, description, channel_ids)
       VALUES (?, ?, ?, ?, ?) RETURNING id`,
    );
    this.store = connection.command(
      `UPDATE default_channel_group SET name = ?, name_key = ?, description = ?, channel_ids = ?
       WHERE id = ? AND realm_id = ?`,
    );
    this.delete = connection.command('DELETE FROM default_channel_group WHERE id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, id: DefaultChannelGroupId): Promise<DefaultChannelGroup | null> {
    return toGroup(this.row.get(id, realmId));
  }

  async findByName(realmId: RealmId, name: string): Promise<DefaultChannelGroup | null> {
    return toGroup(this.rowByName.get(realmId, foldCase(name)));
  }

  async list(realmId: RealmId): Promise<readonly DefaultChannelGroup[]> {
    return this.rows.all(realmId).map((row) => toGroup(row)!);
  }

  async add(group: Omit<DefaultChannelGroup, 'id'>): Promise<DefaultChannelGroup> {
    const { realmId, name, description, channelIds } = group;
    const write = () => this.insert.get(realmId, name, foldCase(name), description, jsonList(channelIds))!;
    return { ...group, id: refusingTaken(() => defaultGroupNameTaken(name), write) };
  }

  async update({ id, realmId, name, description, channelIds }: DefaultChannelGroup): Promise<void> {
    const write = () => this.store.run(name, foldCase(name), description, jsonList(channelIds), id, realmId);
    refusingTaken(() => defaultGroupNameTaken(name), write);
  }

  async remove(realmId: RealmId, id: DefaultChannelGroupId): Promise<void> {
    this.delete.run(id, realmId);
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
  repositories: () => (connection) => ({ defaultChannelGroups: new SqliteDefaultChannelGroupRepository(connection) }),
} satisfies SqliteFeature;
