let zones: ReadonlyMap<string, string> | undefined;

/** Whether it is a name of the IANA data base, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Z][\w+-]*(?:\/[\w+-]+)*$/.test(name)) return false;
  zones ??= new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zone.toLowerCase(), zone]));
  // The list leaves out names that are only other names of a zone; the formatter knows them, whatever the letter case.
  const listed = zones.get(name.toLowerCase());
  return listed === undefined ? isKnownToFormatter(name) : listed === name;
}

function isKnownToFormatter(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}
