import type { MessageId, Ordinal, RealmId, RecipientId, UserId } from '@parley/domain';
import type { Connection, Parameter, Query } from '../connection.js';
import { TRAITS } from './schema.js';

/** The small columns of a message, all of them in the indexes that pages walk: what a list needs to judge it. */
export type PlaceColumns = readonly [
  id: MessageId,
  senderId: UserId,
  recipientId: RecipientId,
  sentRecipientId: RecipientId,
  ordinal: Ordinal,
  traits: number,
  version: number,
];
/** A row that begins with them. */
export type MessagePlace = readonly [...PlaceColumns, ...unknown[]];

/** For a query over `message m`. */
export const PLACE_COLUMNS = 'm.id, m.sender_id, m.recipient_id, m.sent_recipient_id, m.ordinal, m.traits, m.version';

/**
 * A query for places. SQLite makes one JSON text of the answer, since rows handed over one by one, a column at a time,
 * cost more than finding them.
 */
export class PlaceQuery {
  private readonly query: Query<string>;

  /** `from` is what follows the columns in a query over `message m`. */
  constructor(connection: Connection, from: string) {
    this.query = connection.values<string>(
      `SELECT json_group_array(json_array(id, sender_id, recipient_id, sent_recipient_id, ordinal, traits, version))
       FROM (SELECT ${PLACE_COLUMNS} ${from})`,
    );
  }

  all(...parameters: Parameter[]): MessagePlace[] {
    return JSON.parse(this.query.get(...parameters)!) as MessagePlace[];
  }
}

/** Places of messages that are known by id. */
export class PlacesById {
  private readonly query: PlaceQuery;

  constructor(connection: Connection) {
    this.query = new PlaceQuery(
      connection,
      'FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE m.realm_id = ?',
    );
  }

  /** Ascending; unknown ids, and those of other realms, are absent. */
  list(realmId: RealmId, ids: readonly MessageId[]): MessagePlace[] {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)].sort((a, b) => a - b);
    return this.query.all(JSON.stringify(wanted), realmId);
  }
}

export const idOf = (place: MessagePlace): MessageId => place[0];
export const traitsOf = (place: MessagePlace): number => place[5];

export const wasMoved = (place: MessagePlace): boolean => (place[5] & TRAITS.wasMoved) !== 0;
