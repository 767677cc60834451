import type { EventOf } from '@parley/domain/kernel';
import { canSeeEmail, type GainedUser, isEmailPublic, type User, type UserEventTypes } from '@parley/domain/users';
import {
  can,
  type EventContext,
  form,
  keyOf,
  opened,
  type Presented,
  type Presenters,
  toAll,
  toNobody,
  type WireEvent,
} from '../delivery/event-presenter.js';
import type { PublicRealm } from '../delivery/public-realm.js';
import { variantByKey } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import { presentStatus, STATUS_FORM } from './statuses.js';
import {
  presentAvatar,
  presentUnknownUser,
  presentUser,
  ROLE,
  ROLE_NUMBERS,
  UNKNOWN_USER_NAME,
  user,
} from './user.presenters.js';
import { AVATAR, DELIVERY_EMAIL, personForm, SHOWN_EMAIL } from './user-page.js';

const ADDED = form('realm_user', { op: wire.oneOf('add'), person: user });
const ACTIVATION = personForm({ is_active: wire.boolean() });
const EXTERNAL_ID = personForm({ external_id: wire.nullable(wire.text()) });
const REMOVED = form('realm_user', {
  op: wire.oneOf('remove'),
  person: wire.fields({ user_id: wire.integer(), full_name: wire.text() }),
});

export const USER_EVENTS = {
  'user.created': {
    forms: [ADDED],
    needs: ({ user }) => (user.bot ? null : { userIds: [user.id] }),
    present: presentUserCreated,
  },
  'user.role_changed': toAll(personForm({ role: ROLE }), ({ userId, role }) => ({
    op: 'update',
    person: { user_id: userId, role: ROLE_NUMBERS[role] },
  })),
  'user.email_changed': { forms: [DELIVERY_EMAIL, SHOWN_EMAIL, AVATAR], present: presentEmailChange },
  'user.avatar_changed': { forms: [AVATAR], present: presentAvatarChange },
  'user.addresses_seen': {
    forms: [DELIVERY_EMAIL, AVATAR],
    needs: ({ userIds, before }) => ({ addresses: { userIds, before } }),
    present: (_event, { receiver, publicRealm }) =>
      receiver.addressChanges.flatMap(({ user, isSeen }) => presentAddressChange(user, isSeen, publicRealm)),
  },
  'user.activation_changed': toAll(ACTIVATION, ({ userId, isActive }) => ({
    op: 'update',
    person: { user_id: userId, is_active: isActive },
  })),
  'user.external_id_assigned': {
    forms: [EXTERNAL_ID],
    present: ({ userId, externalId }, context) => {
      if (!can(context.presentation, 'external_ids')) return [];
      const person = { user_id: userId, external_id: externalId };
      return context.shared('', () => opened({ type: 'realm_user', op: 'update', person }));
    },
  },
  'user.export_consent_changed': toAll(
    form('realm_export_consent', { user_id: wire.integer(), consented: wire.boolean() }),
    ({ userId, isGiven }) => ({
      user_id: userId,
      consented: isGiven,
    }),
  ),
  'user.access_changed': {
    forms: [ADDED, ACTIVATION, STATUS_FORM, REMOVED],
    needs: ({ userIds, before, reach }) => ({ access: { userIds, before, reach } }),
    present: (_event, context) => [
      ...context.receiver.gained.flatMap((user) => presentUserGained(user, context)),
      ...context.receiver.lost.map((user_id) => [
        opened({ type: 'realm_user', op: 'remove', person: { user_id, full_name: UNKNOWN_USER_NAME } }),
      ]),
    ],
  },
  'user.api_key_replaced': toNobody,
  'user.credentials_changed': toNobody,
  'user.sessions_ended': toNobody,
} satisfies Presenters<keyof UserEventTypes>;

/** Presents an unknown user, or nothing, to receivers without access (events §8). */
function presentUserCreated({ user }: EventOf<'user.created'>, context: EventContext): Presented {
  const { receiver, presentation, publicRealm } = context;
  if (!receiver.inaccessible.has(user.id)) return [presentUserAdded(user, context)];
  if (can(presentation, 'user_list_incomplete')) return [];
  const person = () => presentUnknownUser(user.id, publicRealm, { withActivity: true });
  return [[context.shared('unknown', () => opened({ type: 'realm_user', op: 'add', person: person() }))]];
}

/**
 * Presents the address and its gravatar to receivers with access, and the substitute address if it changes (users
 * §3.2).
 */
function presentEmailChange({ user }: EventOf<'user.email_changed'>, context: EventContext): Presented {
  const { receiver, publicRealm } = context;
  const { id: user_id } = user;
  if (!canSeeEmail({ id: receiver.userId, role: receiver.role }, user)) return [];
  const people = [
    { user_id, delivery_email: user.email },
    ...(isEmailPublic(user) ? [{ user_id, new_email: user.email }] : []),
    ...(user.avatar.source === 'gravatar'
      ? [{ ...presentAvatar(user, publicRealm, { seesEmail: true, clientGravatar: false }), user_id }]
      : []),
  ];
  return people.map((person, index) => [
    context.shared(String(index), () => opened({ type: 'realm_user', op: 'update', person })),
  ]);
}

/** Presents the avatar URL that the receiver may see. */
function presentAvatarChange({ user }: EventOf<'user.avatar_changed'>, context: EventContext): Presented {
  const { receiver, publicRealm } = context;
  const seesEmail = canSeeEmail({ id: receiver.userId, role: receiver.role }, user);
  return context.shared(keyOf(seesEmail), () => {
    const avatar = presentAvatar(user, publicRealm, { seesEmail, clientGravatar: false });
    return opened({ type: 'realm_user', op: 'update', person: { ...avatar, user_id: user.id } });
  });
}

/** Presents an address with the gravatar derived from it. */
function presentAddressChange(user: User, isSeen: boolean, publicRealm: PublicRealm): readonly WireEvent[] {
  const { id: user_id, email, avatar } = user;
  const shown = { seesEmail: isSeen, clientGravatar: false };
  const people = [
    { user_id, delivery_email: isSeen ? email : null },
    ...(avatar.source === 'gravatar' ? [{ ...presentAvatar(user, publicRealm, shown), user_id }] : []),
  ];
  return people.map((person) => [opened({ type: 'realm_user', op: 'update', person })]);
}

/** Clients assume that an added user is active. */
function presentUserGained(user: GainedUser, context: EventContext): readonly WireEvent[] {
  const added = presentUserAdded(user, context);
  const { id: user_id, status } = user;
  if (!user.isActive) {
    return [added, [opened({ type: 'realm_user', op: 'update', person: { user_id, is_active: false } })]];
  }
  const shown = status && presentStatus({ ...status, isAway: false }, variantByKey(context.presentation.client));
  if (!shown || Object.keys(shown).length === 0) return [added];
  return [added, [opened({ type: 'user_status', user_id, ...shown })]];
}

function presentUserAdded(user: User, context: EventContext): WireEvent {
  const { receiver, presentation, publicRealm } = context;
  const seesEmail = canSeeEmail({ id: receiver.userId, role: receiver.role }, user);
  const withExternalId = can(presentation, 'external_ids');
  const form = { seesEmail, clientGravatar: false, withProfile: true, withActivity: true, withExternalId };
  return [
    context.shared(`${user.id} ${keyOf(seesEmail, withExternalId)}`, () =>
      opened({ type: 'realm_user', op: 'add', person: presentUser(user, publicRealm, form) }),
    ),
  ];
}
