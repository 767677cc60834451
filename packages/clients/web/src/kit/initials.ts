export interface Initials {
  /** First letters of the first and last word. */
  readonly letters: string;
  /** Stable hue of the name in degrees. */
  readonly hue: number;
}

/** Pictures that the server draws from a user id; the names of uploaded ones are longer. */
const DRAWN = /\/user_avatars\/\d+\/(\d{1,16}|unknown)(-medium)?\.png/;

/** Initials of a person without a picture; null for others. */
export function initialsFor(url: string | null, name: string): Initials | null {
  if (url !== null && !DRAWN.test(url)) return null;
  const found = name.split(/\s+/).flatMap((word) => /[\p{L}\p{N}]/u.exec(word)?.[0] ?? []);
  const letters = found.length > 1 ? found[0]! + found.at(-1) : (found[0] ?? '?');
  return { letters, hue: [...name].reduce((hue, letter) => (hue * 31 + letter.codePointAt(0)!) % 360, 7) };
}
