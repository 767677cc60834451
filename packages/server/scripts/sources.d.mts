export function sourcesOf(root: string): {
  /** Folders with the sources of packages by name. */
  readonly alias: Readonly<Record<string, string>>;
  readonly tsconfigRaw: object;
};
