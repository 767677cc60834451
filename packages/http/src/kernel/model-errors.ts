/**
 * What a record is refused for, as lists of texts by the domain's names of its fields: the same by their wire names, and by
 * `__all__` what is about several (organization §1).
 */
export const presentModelErrors = (names: Readonly<Record<string, string>>) => (errors: object) =>
  Object.fromEntries(Object.entries(errors).map(([name, texts]) => [names[name], texts]));
