/** Column value: a number, a text, bytes or null. */
export type Value = number | string | Uint8Array | null;
/** Values in the order of the requested columns. */
export type Row = readonly Value[];

export interface RowPage {
  readonly table: string;
  readonly columns: readonly string[];
  /** Primary key columns, which determine the order. */
  readonly key: readonly string[];
  /** Key of the last row of the previous page; null for the first page. */
  readonly after: Row | null;
}

/** Tables of a database opened exclusively, from which another database is filled. */
export interface TableSource {
  /** Place of the database, see `Installation` of each adapter. */
  readonly place: string;
  tables(): readonly string[];
  /** Returns the next rows, at least one if there are any, limited in number and bytes. */
  rows(page: RowPage): readonly Row[];
  /** Returns the highest ids ever allocated, by table; tables that may reuse ids are absent. */
  lastIds(): ReadonlyMap<string, number>;
}
