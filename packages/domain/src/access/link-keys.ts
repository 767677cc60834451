/**
 * Derives the key in a link from the number of what it opens and the server's secret, so that it can be shown again without
 * being kept. Synchronous and quick: it may run inside a unit.
 */
export interface LinkKeys {
  /** Characters of `a-z2-7`, always equally many. */
  derive(id: number): string;
  /** The number of what the key may open; null for what is no key of this server's, or one of another purpose. */
  read(key: string): number | null;
}
