import {
  type DataOwnerIds,
  type DataOwnerKind,
  type DataOwnerRef,
  getOrThrow,
  type HostData,
  type HostDataRepository,
  type JsonObject,
  type MessageId,
  NO_HOST_DATA,
  type RealmId,
  recordOf,
} from '@parley/domain/kernel';
import type { Message, MessageParts } from '@parley/domain/messages';
import type { MessagePartReads, StorageFeature } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';
import type { Quarantine } from '../engine/quarantine.js';
import type { Statements } from '../engine/statements.js';
import { PROPERTY_BITS } from '../messages/message-rows.js';
import { OWNERS } from './data-owners.js';
import { DataValueIndex } from './data-values.js';

const KINDS = Object.keys(OWNERS) as DataOwnerKind[];

type Row = readonly [id: number, ownerId: number, version: number, data: string];

/** Reads of the data, which messages and the repository share. */
export class HostDataRows {
  private readonly queries;

  constructor(
    private readonly connection: Statements,
    private readonly quarantine: Quarantine,
  ) {
    this.queries = recordOf(KINDS, (kind) => {
      const [column, isOfKind] = OWNERS[kind];
      return connection.tuples<Row>(
        `SELECT id, ${column}, version, data FROM host_data
         WHERE ${column} ${connection.dialect.inSet} AND ${isOfKind} AND realm_id = ?`,
      );
    });
  }

  async list(realmId: RealmId, kind: DataOwnerKind, ids: readonly number[]): Promise<ReadonlyMap<number, HostData>> {
    if (ids.length === 0) return new Map();
    const rows = await this.queries[kind].all(this.connection.dialect.set(ids), realmId);
    return new Map(rows.map(([id, ownerId, version, data]) => [ownerId, { data: this.parse(id, data), version }]));
  }

  parse(id: number, json: string): JsonObject {
    try {
      return JSON.parse(json) as JsonObject;
    } catch {
      this.quarantine.report({ table: 'host_data', id, column: 'data' }, 'no JSON');
      return NO_HOST_DATA.data;
    }
  }
}

export class SqlHostDataRepository implements HostDataRepository {
  private readonly rows: HostDataRows;
  private readonly upserts;
  private readonly renewMessage;
  private readonly values: DataValueIndex;

  constructor(connection: Statements, quarantine: Quarantine) {
    this.rows = new HostDataRows(connection, quarantine);
    this.values = new DataValueIndex(connection);
    this.upserts = recordOf(KINDS, (kind) => {
      const [column, isOfKind] = OWNERS[kind];
      return connection.command(
        `INSERT INTO host_data (realm_id, message_id, channel_id, user_id, version, data) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (${column}) WHERE ${isOfKind} DO UPDATE SET version = excluded.version, data = excluded.data`,
      );
    });
    // Increments the version, because the presented message changed.
    this.renewMessage = connection.command(
      `UPDATE message SET version = version + 1, property_bits = property_bits | ${PROPERTY_BITS.hasData}
       WHERE id = ? AND realm_id = ?`,
    );
  }

  async list<K extends DataOwnerKind>(realmId: RealmId, kind: K, ids: readonly DataOwnerIds[K][]) {
    return (await this.rows.list(realmId, kind, ids)) as ReadonlyMap<DataOwnerIds[K], HostData>;
  }

  async put(realmId: RealmId, { kind, id }: DataOwnerRef, hostData: HostData): Promise<void> {
    const { data, version } = hostData;
    const idOf = (wanted: DataOwnerKind) => (kind === wanted ? id : null);
    const owner = [realmId, idOf('message'), idOf('channel'), idOf('user')];
    this.upserts[kind].defer(...owner, version, JSON.stringify(data));
    if (kind === 'message') this.renewMessage.defer(id, realmId);
    await this.values.put(realmId, kind, id, hostData);
  }
}

/** Data shown with messages. */
export class HostDataPartReads implements MessagePartReads {
  private readonly rows: HostDataRows;

  constructor(connection: Statements, quarantine: Quarantine) {
    this.rows = new HostDataRows(connection, quarantine);
  }

  async list(messages: readonly Message[]): Promise<ReadonlyMap<MessageId, MessageParts>> {
    const withData = messages.filter((message) => message.hasData);
    const [first] = withData;
    if (!first) return new Map();
    const ids = withData.map(({ id }) => id);
    const found = await this.rows.list(first.realmId, 'message', ids);
    return new Map(ids.filter((id) => found.has(id)).map((id) => [id, { hostData: getOrThrow(found, id) }]));
  }
}

const TABLES = `
-- expand: data of the host application.

-- At most one of message, channel and user is set; none for the organization itself. Rows are deleted with their message
-- through a foreign key. While a message has data, its property_bits say so (messages.sql).
CREATE TABLE host_data (
  id {rowId},
  realm_id {int} NOT NULL REFERENCES realm (id),
  message_id {int} REFERENCES message (id) ON DELETE CASCADE,
  channel_id {int},
  user_id {int},
  -- Number of changes.
  version {int} NOT NULL,
  -- JSON object.
  data {text} NOT NULL
) {strict};
CREATE UNIQUE INDEX host_data_by_message ON host_data (message_id) WHERE message_id IS NOT NULL;
CREATE UNIQUE INDEX host_data_by_channel ON host_data (channel_id) WHERE channel_id IS NOT NULL;
CREATE UNIQUE INDEX host_data_by_user ON host_data (user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX host_data_of_realm ON host_data (realm_id)
  WHERE message_id IS NULL AND channel_id IS NULL AND user_id IS NULL;
`;

export const HOST_DATA_FEATURE = {
  schema: 'host-data',
  steps: { 50: TABLES },
  realmTables: ['host_data'],
  messageTables: ['host_data'],
  persons: {
    host_data: {
      data: 'Data of your application about people',
      fate: OF_ACCOUNT,
      erase: 'user_id = {id}',
      keep: { 'Data with messages, channels and the organization belongs to your application.': ['data'] },
    },
  },
  repositories:
    ({ quarantine }) =>
    (connection) => ({ hostData: new SqlHostDataRepository(connection, quarantine) }),
  messagePart: (connection: Statements, { quarantine }) => new HostDataPartReads(connection, quarantine),
} satisfies StorageFeature;
