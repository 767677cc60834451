// biome-ignore lint/suspicious/noExplicitAny: generated records, distinguished by assertions.
type Record = any;

/** Returns the readers of each channel and conversation by email, straight from the records. */
export function couldRead(
  records: readonly Record[],
  emailOf: (person: string) => string | null,
): ReadonlyMap<string, ReadonlySet<string>> {
  const people = records.filter(({ kind }) => kind === 'person');
  const isFull = (person: Record) =>
    person.role !== 'guest' && !person.isExternal && !person.isDeactivated && !person.isBot;
  const byEmail = (ids: readonly string[]) =>
    new Set(ids.map(emailOf).filter((email): email is string => email !== null));
  return new Map(
    records
      .filter(({ kind }) => kind === 'channel' || kind === 'conversation')
      .map((it) => [
        `${it.kind} ${it.id}`,
        byEmail([...it.members, ...(it.privacy === 'public' ? people.filter(isFull).map((person) => person.id) : [])]),
      ]),
  );
}
