import { isAtLeast } from '@parley/domain/access';
import type { Caller, UserId } from '@parley/domain/kernel';
import { loadRealm } from '@parley/domain/realms';
import {
  isEmailPublic,
  type LoadedPeople,
  loadInaccessibleIds,
  loadPeople,
  loadViewer,
  publicAddress,
} from '@parley/domain/users';
import type { SectionParts } from '../declarations/feature.js';
import {
  plainSection,
  type RegisterRequest,
  type RegisterSection,
  registerSection,
  type SectionContext,
} from '../declarations/register-section.js';
import { can } from '../delivery/event-presenter.js';
import { type PublicRealm, publicRealmOf } from '../delivery/public-realm.js';
import type { SharedList } from '../params/json-lists.js';
import * as wire from '../wire/schema.js';
import { presentOwnRights } from './own-rights.js';
import { presentAvatar, presentUnknownUser, shownUser, user } from './user.presenters.js';
import { type UserPagePresenter, type UserText, userPagesOf } from './user-page.js';

/** Event type that requests both sections below (events §3.3). */
const REALM_USER = 'realm_user';

/** Section of the viewer's own user. */
export const ownUserSection = ({ realmUrls, serverInfo }: SectionParts): RegisterSection =>
  plainSection(
    REALM_USER,
    {
      user_id: wire.integer(),
      email: wire.text(),
      delivery_email: wire.text(),
      full_name: wire.text(),
      avatar_source: wire.oneOf('G', 'J', 'U'),
      avatar_url: wire.nullable(wire.text()),
      avatar_url_medium: wire.nullable(wire.text()),
      is_owner: wire.boolean(),
      is_admin: wire.boolean(),
      is_moderator: wire.boolean(),
      is_guest: wire.boolean(),
      can_create_private_streams: wire.boolean(),
      can_create_public_streams: wire.boolean(),
      can_create_streams: wire.boolean(),
      can_create_web_public_streams: wire.boolean(),
      can_invite_others_to_realm: wire.boolean(),
    },
    ({ viewer, user, realm, presentation }) => {
      const { role } = viewer;
      const publicRealm = publicRealmOf(realm, realmUrls);
      const avatarViewer = { seesEmail: true, clientGravatar: presentation.clientGravatar && isEmailPublic(user) };
      const { avatar_source, avatar_url, avatar_url_medium } = presentAvatar(user, publicRealm, avatarViewer);
      return {
        user_id: user.id,
        email: publicAddress(user, publicRealm.emailDomain),
        delivery_email: user.email,
        full_name: user.fullName,
        avatar_source,
        avatar_url,
        avatar_url_medium,
        is_owner: role === 'owner',
        is_admin: isAtLeast(role, 'administrator'),
        is_moderator: isAtLeast(role, 'moderator'),
        is_guest: role === 'guest',
        ...presentOwnRights(viewer, realm, serverInfo),
      };
    },
    'likeGuests',
  );

/** Section of active users, deactivated users and cross-realm bots. */
export const peopleSection = ({ realmUrls, once }: SectionParts): RegisterSection =>
  registerSection({
    name: 'realm_users',
    fields: {
      realm_users: wire.listOf(user),
      realm_non_active_users: wire.listOf(user),
      cross_realm_bots: wire.listOf(user),
    },
    spectatorFields: {
      realm_users: wire.listOf(shownUser),
      realm_non_active_users: wire.listOf(shownUser),
      cross_realm_bots: wire.listOf(shownUser),
    },
    forSpectators: 'likeGuests',
    forTokens: 'likeAccount',
    fetchEventTypes: [REALM_USER],
    load: async (snapshot, request) => {
      const { caller } = snapshot;
      const people = await snapshot.load(loadPeople);
      const isIncomplete = caller.scope !== undefined || can(request.presentation, 'user_list_incomplete');
      const inaccessibleIds = isIncomplete ? [] : await snapshot.load(loadInaccessibleIds);
      const viewer = await snapshot.load(loadViewer);
      const realm = await snapshot.load(loadRealm);
      const shown = { ...people, entries: entriesWithin(people.entries, caller), inaccessibleIds };
      return writePeople({ viewer, realm }, shown, request, once(userPagesOf), publicRealmOf(realm, realmUrls));
    },
    present: ({ active, deactivated, bots }) => ({
      realm_users: active,
      realm_non_active_users: deactivated,
      cross_realm_bots: bots,
    }),
  });

/** Returns the people that a token shows: the caller and those of its direct conversations. Messages name their senders. */
function entriesWithin(entries: LoadedPeople['entries'], { userId, scope }: Caller): LoadedPeople['entries'] {
  if (!scope) return entries;
  const ids = new Set([userId, ...scope.conversations.flatMap((one) => (one.kind === 'direct' ? one.userIds : []))]);
  return entries.filter(({ id }) => ids.has(id));
}

/**
 * Runs within the read, because users without cached text are fetched. Users inaccessible to a guest are omitted, or
 * shown as unknown active users if the client expects all users (users §1.4).
 */
async function writePeople(
  { viewer, realm }: Pick<SectionContext, 'viewer' | 'realm'>,
  { entries, inaccessibleIds, systemBots, hydrate }: LoadedPeople & { readonly inaccessibleIds: readonly UserId[] },
  { presentation, isSpectator }: RegisterRequest,
  pages: UserPagePresenter,
  publicRealm: PublicRealm,
): Promise<Readonly<Record<'active' | 'deactivated' | 'bots', SharedList<{ readonly id: number }>>>> {
  const form = { clientGravatar: presentation.clientGravatar, withProfile: !isSpectator, forSpectators: isSpectator };
  const list = (isActive: boolean, more: readonly UserText[]) => {
    const wanted = entries.filter((entry) => entry.isActive === isActive);
    return pages.present({ viewer, realm, entries: wanted }, hydrate, { ...form, withActivity: false }, more);
  };
  const bots = await pages.present({ viewer, realm, entries: systemBots }, async () => systemBots, {
    ...form,
    withActivity: true,
  });
  const inaccessibleUsers = inaccessibleIds.map((id) => ({
    id,
    text: JSON.stringify(presentUnknownUser(id, publicRealm, { withActivity: false })),
  }));
  return { bots, active: await list(true, inaccessibleUsers), deactivated: await list(false, []) };
}
