import type { UserId } from '../kernel/ids.js';
import type { User } from '../users/user.js';

/** Name of users with a deleted profile. */
export const DELETED_USER_NAME = 'Deleted user';

/** Domain of erased users' addresses, without mail servers (RFC 6761). */
const ERASED_DOMAIN = 'erased.invalid';

export const erasedEmail = (id: UserId): string => `user${id}@${ERASED_DOMAIN}`;

/** True for an erased user, who never becomes active again. */
export const isErased = ({ id, isDeleted, email }: Pick<User, 'id' | 'isDeleted' | 'email'>): boolean =>
  isDeleted && email === erasedEmail(id);

/** Former identity of a person, by which texts and events about them are found. */
export interface FormerIdentity {
  readonly id: UserId;
  readonly fullName: string;
  readonly email: string;
  /** Null if there was none. */
  readonly externalId: string | null;
}

/** Replaces mentions of an erased person in stored texts. In every row that it changes, a text contains one of `hints`. */
export interface MentionRemoval {
  readonly hints: readonly string[];
  /** Changes the texts of one row: Markdown, HTML, or JSON of these. Null stays null. */
  replace(texts: readonly (string | null)[]): readonly (string | null)[];
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const unescapeHtml = (text: string): string => text.replaceAll('&#39;', "'").replaceAll('&amp;', '&');

export function mentionRemoval({ id, fullName }: Pick<FormerIdentity, 'id' | 'fullName'>): MentionRemoval {
  const attribute = `data-user-id="${id}"`;
  // JSON has backslashes before quotation marks.
  const quote = '\\\\?"';
  const mentionOf = (ids: string) =>
    new RegExp(
      `(<span class=${quote}user-mention(?: silent)?${quote} data-user-id=${quote}${ids}${quote}>@?)([^<]*)(?=</span>)`,
      'g',
    );
  const rendered = mentionOf(String(id));
  const renderedOther = mentionOf(`(?!${id}${quote})\\d+`);
  const namesIn = (texts: readonly (string | null)[], mention: RegExp): readonly string[] =>
    texts.flatMap((text) => [...(text ?? '').matchAll(mention)].map(([, , name]) => unescapeHtml(name!)));
  return {
    hints: [attribute, attribute.replaceAll('"', '\\"'), `|${id}**`, `**${fullName}**`],
    replace(texts) {
      // People may have been renamed since, and others may have the same name.
      const namesakes = new Set(namesIn(texts, renderedOther));
      const names = [...new Set([fullName, ...namesIn(texts, rendered)])].filter(
        (name) => name !== DELETED_USER_NAME && !namesakes.has(name),
      );
      const spellings = new Set(names.flatMap((name) => [name, name.replaceAll('&', '&amp;')]));
      const alternatives = [`[^*|<\n]*\\|${id}`, ...[...spellings].map(escaped)].join('|');
      // Texts rendered after the person was renamed show a mention in bold.
      const written = new RegExp(`(@_?(?:\\*\\*|<strong>))(?:${alternatives})(?=\\*\\*|</strong>)`, 'g');
      return texts.map(
        (text) =>
          text?.replace(rendered, `$1${DELETED_USER_NAME}`).replace(written, `$1${DELETED_USER_NAME}|${id}`) ?? null,
      );
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Events that consist of data of the person whom `userId` names. */
const ABOUT_PERSON: ReadonlySet<unknown> = new Set([
  'user.external_id_assigned',
  'user.status_changed',
  'profile.value_changed',
]);

/**
 * Replaces the former identity in the stored form of an event. Returns null for an event that consists of data of the
 * person. `now`: the erased user.
 */
export function eventWithoutIdentity(
  event: Fields,
  audience: Fields,
  former: FormerIdentity,
  now: User,
): Fields | null {
  const { id } = former;
  const ids = audience.kind === 'users' && (audience.ids as readonly UserId[]);
  const isForPersonOnly = ids && ids.length === 1 && ids[0] === id;
  const isRemoval = event.externalId === null;
  if (isForPersonOnly || (ABOUT_PERSON.has(event.type) && event.userId === id && !isRemoval)) return null;
  const withoutIdentity = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withoutIdentity);
    if (typeof value !== 'object' || value === null) return value;
    const fields = value as Fields;
    if (fields.id === id && 'fullName' in fields && 'email' in fields) return identityIn(fields, now);
    const isOfOther = [fields.id, fields.userId].some((each) => each !== undefined && each !== id);
    return Object.fromEntries(
      Object.entries(fields).map(([key, member]) => {
        const isNamed = fields.userId === id || (member === former.fullName && !isOfOther);
        if (key === 'fullName' && isNamed) return [key, now.fullName];
        if (key === 'email' && (fields.userId === id || member === former.email)) return [key, now.email];
        return [key, withoutIdentity(member)];
      }),
    );
  };
  return withoutIdentity(event) as Fields;
}

/** Returns the present values of a user's fields. */
function identityIn(fields: Fields, now: User): Fields {
  const present = now as object as Fields;
  const kept = Object.keys(fields).filter((key) => key !== 'externalId');
  return Object.fromEntries(kept.map((key) => [key, key in present ? present[key] : fields[key]]));
}
