import type { RealmId, UserId } from './ids.js';

/** Row that belongs to one user, such as a draft. */
export interface UserRow {
  readonly id: number;
  readonly realmId: RealmId;
  readonly userId: UserId;
}

export type NewUserRow<Row extends UserRow> = Omit<Row, 'id'> & Pick<Row, 'realmId' | 'userId'>;

export interface UserRowReads<Row extends UserRow> {
  /** Returns null for rows of other realms and users. */
  find(realmId: RealmId, userId: UserId, id: Row['id']): Promise<Row | null>;
  /** Returns at most `limit` rows of the user in the order of `UserRowRules`; all by default. */
  list(realmId: RealmId, userId: UserId, limit?: number): Promise<readonly Row[]>;
  count(realmId: RealmId, userId: UserId): Promise<number>;
  /** Total size of the user's `texts` in UTF-8 bytes. */
  countBytes(realmId: RealmId, userId: UserId): Promise<number>;
}

/** Every implementation passes user-rows.contract.ts. */
export interface UserRows<Row extends UserRow> extends UserRowReads<Row> {
  /** `id` is unused and was reserved by `copies.raiseIds`. */
  add(row: NewUserRow<Row>, id?: Row['id'] | null): Promise<Row>;
  /** Replaces all other properties of the owner's row. Has no effect on a missing row. */
  update(row: Row): Promise<void>;
  /** Has no effect on a missing row. */
  remove(realmId: RealmId, userId: UserId, id: Row['id']): Promise<void>;
  /** Removes all rows of the user. */
  removeAll(realmId: RealmId, userId: UserId): Promise<void>;
}

/** Rules that all storages follow for the rows of one feature. */
export interface UserRowRules<Property extends string = string> {
  /** Kind of id. The SQL table has the same name in snake case. */
  readonly kind: string;
  /** Properties by which `list` sorts; `-` means descending. */
  readonly order: readonly `${'' | '-'}${Property}`[];
  /** Properties whose size `countBytes` returns. */
  readonly texts: readonly Property[];
}
