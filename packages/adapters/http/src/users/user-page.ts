import { getOrThrow, type RealmUrls, slicesOf, type UserId } from '@parley/domain/kernel';
import type { EmailVisibility } from '@parley/domain/realms';
import { emailVisibilityOf, type UserList, visibleEmailSettings } from '@parley/domain/users';
import { type EventForm, form } from '../delivery/event-presenter.js';
import { publicRealmOf } from '../delivery/public-realm.js';
import { SharedList } from '../params/json-lists.js';
import { EncodedTexts, PresentedTexts } from '../wire/caches.js';
import * as wire from '../wire/schema.js';
import { type PresentableUser, presentUser, type UserForm } from './user.presenters.js';

/** Event format for a change of another user property (events §7.3). */
export const personForm = (shape: wire.Shape): EventForm =>
  form('realm_user', { op: wire.oneOf('update'), person: wire.fields({ user_id: wire.integer(), ...shape }) });

/** Schema of `presentAvatar`. */
export const AVATAR = personForm({
  avatar_source: wire.oneOf('G', 'J', 'U'),
  avatar_url: wire.nullable(wire.text()),
  avatar_url_medium: wire.nullable(wire.text()),
  avatar_version: wire.integer(),
});

/** Change of the visible address. */
export const SHOWN_EMAIL = personForm({ new_email: wire.text() });

/** Null if the address becomes hidden. */
export const DELIVERY_EMAIL = personForm({ delivery_email: wire.nullable(wire.text()) });

/**
 * Total length of all texts in characters. Ten thousand typical users take 5 million per form, and clients use two
 * forms.
 */
const MAX_TEXTS = 32 * 1024 * 1024;
/** In bytes, including the texts. */
const MAX_ENCODED = 48 * 1024 * 1024;

/** Users fetched per step; the event loop runs between steps. */
const USERS_AT_A_TIME = 250;

/** Data that determines a user's texts in addition to the form. */
interface UserVersion {
  readonly version: number;
  /** Replaced by another object after a change or a database restore, which may repeat versions. */
  readonly realm: UserList['realm'];
  readonly realmUrl: string;
  readonly emailVisibility: EmailVisibility;
}

type VersionKey = Omit<UserVersion, 'emailVisibility'>;

const isSame = (a: VersionKey, b: VersionKey): boolean =>
  a.version === b.version && a.realm === b.realm && a.realmUrl === b.realmUrl;

/** Element of a user list, already in JSON. */
export interface UserText {
  readonly id: number;
  readonly text: string;
}

/** Form properties that depend on the client; those that depend on the viewer are computed per user. */
export type UserListForm = Omit<UserForm, 'seesEmail'>;

/** Presents user lists as cached JSON text, so that only changed users are fetched and presented again. */
export class UserPagePresenter {
  private readonly texts = new PresentedTexts<UserId, UserVersion>(MAX_TEXTS, isSame);
  private readonly encoded = new EncodedTexts(',', MAX_ENCODED);

  constructor(private readonly realmUrls: RealmUrls) {}

  /** Presents the users in list order, followed by `more`. Must be called within the snapshot of the list. */
  async present(
    { viewer, realm, entries }: UserList,
    hydrate: (ids: readonly UserId[]) => Promise<readonly PresentableUser[]>,
    form: UserListForm,
    more: readonly UserText[] = [],
  ): Promise<SharedList<{ readonly id: number }>> {
    const publicRealm = publicRealmOf(realm, this.realmUrls);
    const visible = new Set<EmailVisibility>(form.forSpectators ? [] : visibleEmailSettings(viewer.role));
    const formFor = (id: UserId, visibility: EmailVisibility) =>
      bitsOf(form, id === viewer.id || visible.has(visibility));
    const find = ({ id, version }: UserList['entries'][number]): string | undefined => {
      const existing = this.texts.get(id);
      if (!existing || !isSame(existing.version, { version, realm, realmUrl: publicRealm.url })) return undefined;
      return existing.forms.get(formFor(id, existing.version.emailVisibility));
    };
    const texts = entries.map(find);
    const missing = entries.filter((_, index) => texts[index] === undefined).map(({ id }) => id);
    const presented = new Map<UserId, string>();
    for (const slice of slicesOf(missing, USERS_AT_A_TIME)) {
      for (const user of await hydrate(slice)) {
        const emailVisibility = emailVisibilityOf(user);
        const bits = formFor(user.id, emailVisibility);
        const text = JSON.stringify(presentUser(user, publicRealm, { ...form, seesEmail: (bits & SEES_EMAIL) !== 0 }));
        presented.set(user.id, text);
        const version = { version: user.version, realm, realmUrl: publicRealm.url, emailVisibility };
        this.texts.put(user.id, version, bits, text);
      }
    }
    const all = entries.map(({ id }, index) => texts[index] ?? getOrThrow(presented, id));
    all.push(...more.map(({ text }) => text));
    return new SharedList<{ readonly id: number }>([...entries, ...more], (_, index) => all[index]!, this.encoded);
  }
}

/** Created once per server, so that lists and sections share the presented texts. */
export const userPagesOf = ({ realmUrls }: { readonly realmUrls: RealmUrls }): UserPagePresenter =>
  new UserPagePresenter(realmUrls);

const SEES_EMAIL = 1;

const bitsOf = (
  { clientGravatar, withProfile, withActivity = true, forSpectators = false }: UserListForm,
  seesEmail: boolean,
): number =>
  (seesEmail ? SEES_EMAIL : 0) |
  (clientGravatar ? 2 : 0) |
  (withProfile ? 4 : 0) |
  (withActivity ? 8 : 0) |
  (forSpectators ? 16 : 0);
