/** The order in which ids stay what they were. */
export const ascending = <T extends { readonly id: number }>(items: readonly T[]): T[] =>
  [...items].sort((a, b) => a.id - b.id);
