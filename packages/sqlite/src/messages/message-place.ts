import type { MessageId, Ordinal, RecipientId, UserId } from '@parley/domain';
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

export const idOf = (place: MessagePlace): MessageId => place[0];
export const traitsOf = (place: MessagePlace): number => place[5];

export const wasMoved = (place: MessagePlace): boolean => (place[5] & TRAITS.wasMoved) !== 0;
