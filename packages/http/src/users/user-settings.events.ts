import {
  canSeeEmail,
  LANGUAGES,
  publicAddress,
  type Role,
  seesEmailOf,
  type UserId,
  type UserSettingEvent,
} from '@parley/domain';
import type { PublicRealm } from '../realms/public-realm.js';
import type { WireFields } from '../routing/reply.js';
import { presentAvatar } from './user.presenters.js';
import { USER_SETTING_FORMS } from './user-settings.wire.js';

type EventOf<T extends UserSettingEvent['type']> = Extract<UserSettingEvent, { type: T }>;

/** To the user's own clients (users §6.4). */
export function presentSettingChange({ setting, value }: EventOf<'user.setting_changed'>): WireFields {
  const shown = USER_SETTING_FORMS.presentValue(setting, value);
  return {
    op: 'update',
    property: USER_SETTING_FORMS.nameOf(setting),
    value: shown,
    ...(setting === 'defaultLanguage' && { language_name: LANGUAGES.get(String(value)) }),
  };
}

export const presentNameChange = ({ userId, fullName }: EventOf<'user.name_changed'>): WireFields =>
  userUpdate({ user_id: userId, full_name: fullName });

export const presentTimeZoneChange = (
  { user }: EventOf<'user.time_zone_changed'>,
  publicRealm: PublicRealm,
): WireFields =>
  userUpdate({
    email: publicAddress(user, publicRealm.emailDomain),
    user_id: user.id,
    timezone: user.settings.timezone,
  });

/** To whom the address appears or vanishes; and to all when what stands for it changes (users §6.4). */
export function presentEmailVisibilityChange(
  { user, before }: EventOf<'user.email_visibility_changed'>,
  viewer: { readonly id: UserId; readonly role: Role },
  publicRealm: PublicRealm,
): readonly WireFields[] {
  const user_id = user.id;
  const sees = canSeeEmail(viewer, user);
  const saw = seesEmailOf(viewer, { id: user.id, emailVisibility: before });
  const wasOrIsPublic = before === 'everyone' || user.settings.emailAddressVisibility === 'everyone';
  return [
    ...(sees === saw ? [] : [userUpdate({ user_id, delivery_email: sees ? user.email : null })]),
    ...(wasOrIsPublic
      ? [
          userUpdate({ user_id, new_email: publicAddress(user, publicRealm.emailDomain) }),
          userUpdate({ ...presentAvatar(user, publicRealm, { seesEmail: sees, clientGravatar: false }), user_id }),
        ]
      : []),
  ];
}

const userUpdate = (person: WireFields): WireFields => ({ op: 'update', person });
