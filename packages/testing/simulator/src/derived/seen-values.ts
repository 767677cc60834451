import type { Route } from '@parley/http';
import type { SeededRandom } from '@parley/server/testing';

export type Value = string | number;

/** Maximum number of values of one kind. */
const MAX_VALUES = 40;
/** Maximum length of a text that is used again. */
const MAX_LENGTH = 300;

/** Kinds of things by the names of parameters and response fields. The first match counts. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(default_stream_group|realm_default_stream_group)s?$/, 'default_stream_group'],
  [/^(profile_)?field$|^(custom_)?profile_fields?$/, 'profile_field'],
  [/^(realm_)?(linkifier|filter)s?$|linkifier/, 'filter'],
  [/^(realm_)?playgrounds?$/, 'playground'],
  [/^(bot|realm_bot)s?$/, 'bot'],
  [
    /^(user|person|realm_user|member|subscriber|principal|target_user|direct_member|user_or_email|muted_user)s?$/,
    'user',
  ],
  [/^(actor|bot_owner|sender|add_member|delete_member)$/, 'user'],
  [/^(realm_)?(user_)?groups?$|_group$|_groups$|subgroups?$/, 'user_group'],
  [/(^|_)(stream|channel|subscription)s?(_name)?s?$|_stream$/, 'stream'],
  [/^(orig_)?(topic|subject)(_name)?$/, 'topic'],
  [/^(message|msg|first_message|max_message|anchor)s?$/, 'message'],
  [/^(realm_)?emoji(_name)?$/, 'emoji_name'],
  [/^(delivery_)?email$|^username$|^new_email$|^invitee_emails$/, 'email'],
  [/^attachments?$/, 'attachment'],
  [/^invites?$|^multiuse$/, 'invite'],
  [/^(realm_)?domains?$/, 'domain'],
];

/** Kind of a thing that a name is about: `stream` for `stream_ids`, `user` for `principals`. */
export function kindOf(name: string): string {
  const base = name.replace(/_?ids?$/, '') || name;
  return KINDS.find(([pattern]) => pattern.test(base))?.[1] ?? base.replace(/s$/, '');
}

/** Last fixed part of a path: `filters` for `/realm/filters/:filter_id`. */
const collectionOf = (path: string): string =>
  path
    .replace(/\/(create|run)$/, '')
    .split('/')
    .filter((part) => part !== '' && !/^[:*]/.test(part))
    .at(-1) ?? '';

/** Kind of a parameter of a route: that of its collection, if the parameter follows it. */
export function kindIn({ path }: Pick<Route, 'path'>, name: string): string {
  const own = kindOf(name);
  if (!name.endsWith('_id') || !path.includes(`:${name}`)) return own;
  const before = kindOf(collectionOf(path.slice(0, path.indexOf(`:${name}`))));
  return own === 'user' || own === 'stream' || own === 'message' ? own : before;
}

/** Values of requests and responses by kind, newest last. */
export class SeenValues {
  private readonly values = new Map<string, Value[]>();

  add(kind: string, value: Value): void {
    if (typeof value === 'string' && (value.length > MAX_LENGTH || value === '')) return;
    const key = `${kind} ${typeof value}`;
    const known = this.values.get(key) ?? [];
    this.values.set(key, known);
    const index = known.indexOf(value);
    if (index >= 0) known.splice(index, 1);
    else if (known.length >= MAX_VALUES) known.shift();
    known.push(value);
  }

  /** Newest id or else word of the kind; undefined if there is none. */
  newest(kind: string): Value | undefined {
    return this.values.get(`${kind} number`)?.at(-1) ?? this.values.get(`${kind} string`)?.at(-1);
  }

  /** Value that was seen, more often a new one; undefined if there is none. */
  pick(kind: string, type: 'string' | 'number', random: SeededRandom): Value | undefined {
    const known = this.values.get(`${kind} ${type}`) ?? [];
    return known[Math.floor((1 - random.fraction() ** 2) * known.length)];
  }

  /** Adds ids, names and other words of a response. `path`: that of the route. */
  read(response: unknown, path: string): void {
    this.walk(response, collectionOf(path));
  }

  private walk(value: unknown, key: string): void {
    if (Array.isArray(value)) {
      for (const each of value) this.walk(each, key);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (name === 'msg' || name === 'result') continue;
        if (name === 'id' || name === 'ids' || name === 'name') this.walk(member, key);
        else this.walk(member, /^\d+$/.test(name) ? key : name);
      }
    } else if (typeof value === 'string' || (typeof value === 'number' && value > 0)) this.add(kindOf(key), value);
  }
}
