/** Value of a column: a number, a text, bytes or null. */
export type Value = number | string | Uint8Array | null;
/** Values in the order of the columns that were asked for. */
export type Row = readonly Value[];

export interface RowPage {
  readonly table: string;
  readonly columns: readonly string[];
  /** Columns by which the table is ordered: its primary key. */
  readonly key: readonly string[];
  /** Key of the last row of the page before; null for the first page. */
  readonly after: Row | null;
}

/** Tables of a database that nobody else uses, from which another one is filled. */
export interface TableSource {
  /** Returns the next rows, at least one if there are any, bounded in number and bytes. */
  rows(page: RowPage): readonly Row[];
  /** Returns the highest ids ever given to rows, by table; tables that may give an id again are absent. */
  lastIds(): ReadonlyMap<string, number>;
}
