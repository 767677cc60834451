/** One step of the schema. Its text is never edited once released: a later step mends what it got wrong. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}
