import type { Role } from '@parley/domain/access';
import type { EventOf, UserId } from '@parley/domain/kernel';
import { LANGUAGES } from '@parley/domain/realms';
import { canSeeEmail, publicAddress, seesEmailOf, type UserSettingsEventTypes } from '@parley/domain/users';
import { form, propertyForms } from '../events/event-forms.js';
import { opened, type Presenters, toAll } from '../events/event-presenter.js';
import type { WireFields } from '../kernel/reply.js';
import * as wire from '../kernel/wire-schema.js';
import type { PublicRealm } from '../realms/public-realm.js';
import { AVATAR, DELIVERY_EMAIL, personForm, SHOWN_EMAIL } from './person-form.js';
import { presentAvatar } from './user.presenters.js';
import { USER_SETTING_FORMS } from './user-settings.wire.js';

const LANGUAGE = USER_SETTING_FORMS.nameOf('defaultLanguage');

const update = (shape: wire.Shape) => form('user_settings', { op: wire.oneOf('update'), ...shape });

const SETTING_CHANGED = [
  update({ property: wire.oneOf(LANGUAGE), value: wire.text(), language_name: wire.text() }),
  ...propertyForms(USER_SETTING_FORMS.schemas({ isWanted: (name) => name !== 'defaultLanguage' }), update),
] as const;

/** What becomes of presence, presence/presence.events.ts presents. */
export const USER_SETTINGS_EVENTS = {
  'user.setting_changed': toAll(SETTING_CHANGED, presentSettingChange),
  'user.name_changed': toAll(personForm({ full_name: wire.text() }), ({ userId, fullName }) =>
    userUpdate({ user_id: userId, full_name: fullName }),
  ),
  'user.time_zone_changed': {
    forms: [personForm({ email: wire.text(), timezone: wire.text() })],
    present: (event, context) =>
      context.shared('', () => opened({ type: 'realm_user', ...presentTimeZoneChange(event, context.publicRealm) })),
  },
  'user.email_visibility_changed': {
    forms: [DELIVERY_EMAIL, SHOWN_EMAIL, AVATAR],
    present: (event, context) => {
      const { userId: id, role } = context.receiver;
      return presentEmailVisibilityChange(event, { id, role }, context.publicRealm).map((change) => {
        const text = opened({ type: 'realm_user', ...change });
        return [context.shared(text, () => text)];
      });
    },
  },
} satisfies Presenters<Exclude<keyof UserSettingsEventTypes, 'user.presence_switched'>>;

/** To the user's own clients (users §6.4). */
function presentSettingChange({ setting, value }: EventOf<'user.setting_changed'>): WireFields {
  const shown = USER_SETTING_FORMS.presentValue(setting, value);
  return {
    op: 'update',
    property: USER_SETTING_FORMS.nameOf(setting),
    value: shown,
    ...(setting === 'defaultLanguage' && { language_name: LANGUAGES.get(String(value)) }),
  };
}

function presentTimeZoneChange({ user }: EventOf<'user.time_zone_changed'>, publicRealm: PublicRealm): WireFields {
  return userUpdate({
    email: publicAddress(user, publicRealm.emailDomain),
    user_id: user.id,
    timezone: user.settings.timezone,
  });
}

/** To whom the address appears or vanishes; and to all when what stands for it changes (users §6.4). */
function presentEmailVisibilityChange(
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

function userUpdate(person: WireFields): WireFields {
  return { op: 'update', person };
}
