import type { Actor } from '@parley/domain/permissions';
import { type RealmUrls, slicesOf, type UserId } from '@parley/domain/shared';
import type { EmailVisibility } from '@parley/domain/user-settings';
import { emailVisibilityOf, type User, type UserList, visibleEmailSettings } from '@parley/domain/users';
import { BoundedCache } from '../caching/bounded-cache.js';
import { EncodedTexts } from '../caching/encoded-texts.js';
import { publicRealmOf } from '../realms/public-realm.js';
import { encodedList, type PresentedChunks } from '../routing/json-lists.js';
import { type PresentableUser, presentUser, type UserForm } from './user.presenters.js';

/**
 * In characters of all texts together: ten thousand users of a usual kind are 5 million in each form, and clients ask for two. What is in
 * use has to fit into half of it.
 */
const DEFAULT_ROOM = 32 * 1024 * 1024;
/** In bytes, with the texts: the same users are about 8 MB in each form. */
const ROOM_FOR_LISTS = 48 * 1024 * 1024;

/** Fetched at once; the event loop may turn before the next ones. */
const USERS_AT_A_TIME = 250;

/** A user's forms as text, as long as nothing about them changes. */
interface UserTexts {
  readonly version: number;
  readonly realmUrl: string;
  readonly emailVisibility: EmailVisibility;
  /** By the bits of the form; those that nobody asked for are absent. */
  readonly texts: readonly (string | undefined)[];
  readonly weight: number;
}

/** What differs by client; what differs by viewer is worked out for each user. */
export type UserListForm = Omit<UserForm, 'seesEmail'>;

/** Presents lists of users as JSON text that is kept, so that only users who changed are read and presented anew. */
export class UserPagePresenter {
  private readonly cache: BoundedCache<UserId, UserTexts>;
  private readonly encoded = new EncodedTexts<string>((texts) => texts.join(','), ROOM_FOR_LISTS);

  constructor(
    private readonly realmUrls: RealmUrls,
    room: number = DEFAULT_ROOM,
  ) {
    this.cache = new BoundedCache(room);
  }

  /** A JSON array in the list's order, with `more` elements behind. Called within the snapshot the list is of. */
  async present(
    { viewer, realm, entries }: UserList,
    hydrate: (ids: readonly UserId[]) => Promise<readonly PresentableUser[]>,
    form: UserListForm,
    more: readonly string[] = [],
  ): Promise<PresentedChunks> {
    const publicRealm = publicRealmOf(realm, this.realmUrls);
    const visible = new Set<EmailVisibility>(form.forSpectators ? [] : visibleEmailSettings(viewer.role));
    const texts = new Array<string | undefined>(entries.length);
    const missing: UserId[] = [];
    for (let index = 0; index < entries.length; index++) {
      const { id, version } = entries[index]!;
      const known = this.cache.get(id);
      if (known && known.version === version && known.realmUrl === publicRealm.url) {
        texts[index] = known.texts[bitsOf(form, seesEmail(viewer, visible, id, known.emailVisibility))];
      }
      if (texts[index] === undefined) missing.push(id);
    }
    if (missing.length > 0) {
      const presented = new Map<UserId, string>();
      for (const slice of slicesOf(missing, USERS_AT_A_TIME)) {
        for (const user of await hydrate(slice)) {
          const emailVisibility = emailVisibilityOf(user);
          const sees = seesEmail(viewer, visible, user.id, emailVisibility);
          const text = JSON.stringify(presentUser(user, publicRealm, { ...form, seesEmail: sees }));
          presented.set(user.id, text);
          this.keep(user, emailVisibility, publicRealm.url, bitsOf(form, sees), text);
        }
      }
      for (let index = 0; index < entries.length; index++) texts[index] ??= presented.get(entries[index]!.id);
    }
    const idAt = (index: number) => entries[index]?.id ?? index;
    return encodedList([...(texts as string[]), ...more], idAt, this.encoded);
  }

  private keep(
    { id, version }: User,
    emailVisibility: EmailVisibility,
    realmUrl: string,
    bits: number,
    text: string,
  ): void {
    const known = this.cache.get(id);
    const isCurrent = known !== undefined && known.version === version && known.realmUrl === realmUrl;
    const texts = isCurrent ? [...known.texts] : [];
    texts[bits] = text;
    this.cache.put(id, { version, realmUrl, emailVisibility, texts, weight: weightOf(texts) });
  }
}

const seesEmail = (
  viewer: Actor,
  visible: ReadonlySet<EmailVisibility>,
  id: UserId,
  visibility: EmailVisibility,
): boolean => id === viewer.id || visible.has(visibility);

const bitsOf = (
  { clientGravatar, withProfile, withActivity = true, forSpectators = false }: UserListForm,
  sees: boolean,
): number =>
  (sees ? 1 : 0) | (clientGravatar ? 2 : 0) | (withProfile ? 4 : 0) | (withActivity ? 8 : 0) | (forSpectators ? 16 : 0);

const weightOf = (texts: readonly (string | undefined)[]): number =>
  texts.reduce((weight, text) => weight + (text?.length ?? 0), 100);
