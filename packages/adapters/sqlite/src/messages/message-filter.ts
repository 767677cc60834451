import {
  type Narrowing as NarrowingIn,
  newNarrowPlanner,
  PROPERTY_INDEXES,
  type Restriction as RestrictionIn,
} from '@parley/storage';
import { CONDITION_WRITER, propertySql } from './conditions.js';

/** Lists are JSON texts. */
export type Narrowing = NarrowingIn<string>;
export type Restriction = RestrictionIn<string>;

export const { toNarrowing, narrowingTo, narrowedTo, between, wholeSeriesOf, EVERYTHING } =
  newNarrowPlanner<string>(CONDITION_WRITER);

/** Returns the index of `message` that finds the smallest part of a series in id order. */
export function indexFor(
  { senderId, property }: Pick<Narrowing, 'senderId' | 'property'>,
  topicKey: string | null,
): string {
  if (topicKey !== null) return 'message_by_topic';
  if (property !== null) return PROPERTY_INDEXES[property];
  return senderId !== null ? 'message_by_sender' : 'message_by_recipient';
}

/** Terms required by `indexFor` alone, to find the next candidate message. */
export function indexTerms({ senderId, property }: Pick<Narrowing, 'senderId' | 'property'>): Restriction {
  const sql = [
    ...(property === null ? [] : [`AND ${propertySql(property)}`]),
    ...(senderId === null ? [] : ['AND m.sender_id = ?']),
  ];
  return { sql: sql.join(' '), parameters: senderId === null ? [] : [senderId] };
}
