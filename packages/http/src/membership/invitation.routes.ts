import type { ChannelId, GroupId } from '@parley/domain/kernel';
import {
  CreateInvitationLink,
  InviteByEmail,
  JoinOrConfirm,
  ListInvitations,
  ResendInvitation,
  RevokeInvitation,
  TestWelcomeMessage,
} from '@parley/domain/membership';
import { NoParameters } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { ROLES_BY_NUMBER } from '../users/user.presenters.js';
import { toEmailVisibility } from '../users/user-settings.wire.js';
import {
  AcceptInvitationDto,
  CreateInvitationLinkDto,
  InvitationDto,
  InviteByEmailDto,
  TestWelcomeMessageDto,
} from './invitation.dtos.js';
import { presentInvitation, presentJoined } from './invitation.presenters.js';

/** Organization §9.2. */
const INVITATIONS = wire.fields({
  invites: wire.listOf(
    wire.named(
      'Invitation',
      wire.fields({
        id: wire.integer(),
        invited_by_user_id: wire.integer(),
        invited: wire.integer(),
        expiry_date: wire.nullable(wire.integer()),
        invited_as: wire.integer(),
        is_multiuse: wire.boolean(),
        email: wire.optional(wire.text()),
        notify_referrer_on_join: wire.optional(wire.boolean()),
        link_url: wire.optional(wire.text()),
      }),
    ),
  ),
});

/** Organization §10.7: of an account, or of the letter that comes before it. */
const JOINED = wire.fields({
  email: wire.text(),
  api_key: wire.optional(wire.text()),
  user_id: wire.optional(wire.integer()),
  confirmation_sent: wire.optional(wire.boolean()),
});

const INVITERS = ['member', 'human'] as const;

const toOffer = (dto: CreateInvitationLinkDto) => ({
  role: ROLES_BY_NUMBER.get(dto.invite_as)!,
  channelIds: dto.stream_ids as ChannelId[],
  groupIds: (dto.group_ids ?? []) as GroupId[],
  includesDefaultChannels: dto.include_realm_default_subscriptions,
  // Clients of an SDK write null as a text.
  welcomeText: dto.welcome_message_custom_text === 'null' ? null : (dto.welcome_message_custom_text ?? null),
  expiresInMinutes: dto.invite_expires_in_minutes,
});

export const invitationRoutes: readonly Route[] = [
  route('POST', '/invites/multiuse', {
    auth: 'user',
    roleRequirements: INVITERS,
    dto: CreateInvitationLinkDto,
    useCase: CreateInvitationLink,
    toInput: toOffer,
    answer: wire.fields({ invite_link: wire.text() }),
    present: (link) => ({ invite_link: link }),
  }),
  route('GET', '/invites', {
    auth: 'user',
    roleRequirements: INVITERS,
    dto: NoParameters,
    useCase: ListInvitations,
    answer: INVITATIONS,
    present: (invitations) => ({ invites: invitations.map(presentInvitation) }),
  }),
  route('POST', '/invites', {
    auth: 'user',
    roleRequirements: INVITERS,
    isExpensive: true,
    dto: InviteByEmailDto,
    useCase: InviteByEmail,
    toInput: (dto) => ({
      ...toOffer(dto),
      invitees: dto.invitee_emails,
      notifiesInviter: dto.notify_referrer_on_join,
    }),
  }),
  route('POST', '/invites/accept', {
    auth: 'anyone',
    isExpensive: true,
    dto: AcceptInvitationDto,
    useCase: JoinOrConfirm,
    toInput: ({ key, email, full_name, password, timezone, email_address_visibility: visibility }, { signal }) => ({
      key,
      email: email ?? null,
      fullName: full_name,
      password,
      timezone: timezone ?? null,
      emailAddressVisibility: toEmailVisibility(visibility),
      cancellation: signal,
    }),
    answer: JOINED,
    present: presentJoined,
  }),
  route('DELETE', '/invites/:invite_id', {
    auth: 'user',
    roleRequirements: INVITERS,
    dto: InvitationDto,
    useCase: RevokeInvitation,
    toInput: ({ invite_id }) => ({ kind: 'email' as const, id: invite_id }),
  }),
  route('DELETE', '/invites/multiuse/:invite_id', {
    auth: 'user',
    roleRequirements: INVITERS,
    dto: InvitationDto,
    useCase: RevokeInvitation,
    toInput: ({ invite_id }) => ({ kind: 'link' as const, id: invite_id }),
  }),
  route('POST', '/invites/:invite_id/resend', {
    auth: 'user',
    roleRequirements: INVITERS,
    dto: InvitationDto,
    useCase: ResendInvitation,
    toInput: ({ invite_id }) => ({ id: invite_id }),
  }),
  route('POST', '/realm/test_welcome_bot_custom_message', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: TestWelcomeMessageDto,
    useCase: TestWelcomeMessage,
    toInput: ({ welcome_message_custom_text: text }) => ({ text }),
    answer: wire.fields({ message_id: wire.integer() }),
    present: (id) => ({ message_id: id }),
  }),
];
