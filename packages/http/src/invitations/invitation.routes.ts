import {
  CreateInvitationLink,
  InviteByEmail,
  JoinRealm,
  ListInvitations,
  ResendInvitation,
  RevokeInvitation,
  TestWelcomeMessage,
} from '@parley/domain/invitations';
import type { ChannelId, GroupId } from '@parley/domain/shared';
import { presentApiKey } from '../authentication/authentication.presenters.js';
import { NoParameters } from '../routing/params.js';
import { type Route, route } from '../routing/route.js';
import { ROLES_BY_NUMBER } from '../users/user.presenters.js';
import { toEmailVisibility } from '../users/user-settings.wire.js';
import {
  AcceptInvitationDto,
  CreateInvitationLinkDto,
  InvitationDto,
  InviteByEmailDto,
  TestWelcomeMessageDto,
} from './invitation.dtos.js';
import { presentInvitation } from './invitation.presenters.js';

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
    present: (link) => ({ invite_link: link }),
  }),
  route('GET', '/invites', {
    auth: 'user',
    roleRequirements: INVITERS,
    dto: NoParameters,
    useCase: ListInvitations,
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
    useCase: JoinRealm,
    toInput: ({ key, email, full_name, password, timezone, email_address_visibility: visibility }, { signal }) => ({
      key,
      email: email ?? null,
      fullName: full_name,
      password,
      // As it says: where addresses have to be confirmed, people are invited by mail.
      allowsUnconfirmed: true,
      timezone: timezone ?? null,
      emailAddressVisibility: toEmailVisibility(visibility),
      cancellation: signal,
    }),
    present: presentApiKey,
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
    present: (id) => ({ message_id: id }),
  }),
];
