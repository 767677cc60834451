import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { Viewer } from '@parley/domain/messages';
import {
  idOf,
  MESSAGE_INDEX_COLUMNS,
  type MessageIndexColumns,
  type MessageIndexRow,
  SqlViewerMessageStates,
  wasMoved,
} from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
import { ReadSets } from './read-sets.js';

/** Index rows of messages by id. */
export class MessageIndexRowsById {
  private readonly byId: Query<MessageIndexColumns>;

  constructor(connection: Connection) {
    this.byId = connection.tuples(
      `SELECT ${MESSAGE_INDEX_COLUMNS} FROM message m WHERE m.id = ANY($1::bigint[]) AND m.realm_id = $2 ORDER BY m.id`,
    );
  }

  /** Ascending; unknown ids and ids of other realms are absent. */
  async list(realmId: RealmId, ids: readonly MessageId[]): Promise<MessageIndexRow[]> {
    return ids.length === 0 ? [] : this.byId.all(ids, realmId);
  }
}

export class ViewerMessageStates extends SqlViewerMessageStates<ReadSets> {
  constructor(connection: Connection) {
    super(connection, new ReadSets(connection));
  }

  /** Returns the messages, in order, that belong to the viewer, given that messages never moved do. */
  async ownMoved<Row extends MessageIndexRow>(viewer: Viewer, messages: readonly Row[]): Promise<Row[]> {
    const own = new Set((await this.own(viewer, messages.filter(wasMoved))).map(idOf));
    return messages.filter((message) => !wasMoved(message) || own.has(idOf(message)));
  }
}
