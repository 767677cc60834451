/** A phrase, or a filter with its value, which may be quoted. */
const PART = /"[^"]*"|(?<=^|\s)(-?)([a-z-]+):("[^"]*"?|[^\s"/]\S*)/gi;

const SYNONYMS: Readonly<Record<string, string>> = { date: 'during', on: 'during', to: 'dm' };

const PLACES = /^(channel|channels|stream|streams|topic|subject|near|with|id|search)$/;
const PEOPLE = /^(from|sender|mentions|dm|pm-with|dm-including|pm-including|group-pm|group-pm-with)$/;
const TIMES = /^(before|after|during)$/;
const VIEWS = /^(home|all)$/;
/** Valid values of other filters. */
const VALUES: Readonly<Record<string, RegExp>> = {
  is: /^(unread|starred|mentioned|dm|private|pm|followed|resolved|alerted|muted)$/i,
  has: /^(link|image|attachment|reaction)$/i,
  in: VIEWS,
};
const CONTENTS: Readonly<Record<string, string>> = { file: 'attachment', links: 'link', images: 'image' };

const isDate = (value: string): boolean => /^\d{4}(-\d\d){0,2}$/.test(value) && !Number.isNaN(Date.parse(value));

const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);

/**
 * Replaces the filters of a search that people type by those of `parseSearch`, such as `in:design`, `has:file`,
 * `before:monday`, `from:@tom` and `to:me`. Weekdays are the last ones before `now`, in English or the language.
 */
export function meantFilters(text: string, locale: string, now = new Date()): string {
  return text.replace(PART, (part, sign: string, typed: string | undefined, operand: string) => {
    if (typed === undefined) return part;
    const value = operand.replaceAll('"', '');
    const name = typed.toLowerCase();
    const operator = SYNONYMS[name] ?? name;
    if (name === 'to' && value === 'me') return sign ? '-is:dm' : 'is:dm -from:me';
    if (operator === 'in' && !VIEWS.test(value)) return `${sign}channel:${quoted(value.replace(/^#/, ''))}`;
    if (operator === 'has') return `${sign}has:${CONTENTS[value.toLowerCase()] ?? value}`;
    if (TIMES.test(operator)) return `${sign}${operator}:${quoted(dateOf(value.toLowerCase(), locale, now) ?? value)}`;
    if (PEOPLE.test(operator)) return `${sign}${operator}:${quoted(value.replaceAll(/(^|,\s*)@/g, '$1'))}`;
    return operator === 'channel' ? `${sign}channel:${quoted(value.replace(/^#/, ''))}` : part;
  });
}

/** Returns the first filter that the chat does not have, or that does not have its value; null if there is none. */
export function unknownFilter(text: string): string | null {
  for (const [part, , typed, operand] of text.matchAll(PART)) {
    if (typed === undefined) continue;
    const name = typed.toLowerCase();
    const value = operand!.replaceAll('"', '');
    const isKnown =
      PLACES.test(name) || PEOPLE.test(name) || (TIMES.test(name) ? isDate(value) : VALUES[name]?.test(value));
    if (!isKnown) return part;
  }
  return null;
}

/** Returns the date of a day's name; null for other texts. */
function dateOf(name: string, locale: string, now: Date): string | null {
  const languages = ['en', locale];
  for (let days = 0; days <= 7; days++) {
    const day = new Date(now);
    day.setDate(day.getDate() - days);
    const names = languages.flatMap((language) => {
      const weekday = days > 0 ? [day.toLocaleDateString(language, { weekday: 'long' })] : [];
      const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-days, 'day');
      return [...weekday, relative].map((each) => each.toLowerCase());
    });
    // Swedish dates have the format of ISO 8601.
    if (names.includes(name)) return day.toLocaleDateString('sv');
  }
  return null;
}
