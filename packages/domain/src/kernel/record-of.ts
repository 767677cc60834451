/** An object with all of these names, each with its value. */
export const recordOf = <Name extends string, T>(
  names: readonly Name[],
  valueFor: (name: Name) => T,
): Readonly<Record<Name, T>> =>
  Object.fromEntries(names.map((name) => [name, valueFor(name)])) as Readonly<Record<Name, T>>;
