import { type ChannelId, type GroupId, getOrThrow } from '@parley/domain/kernel';
import {
  CreateInvitationLink,
  type InvitationError,
  type InvitationEventTypes,
  InviteByEmail,
  JoinOrConfirm,
  type JoinOutcome,
  type ListedInvitation,
  ListInvitations,
  ResendInvitation,
  RevokeInvitation,
  TestWelcomeMessage,
} from '@parley/domain/membership';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { MAX_NAMES, MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../params/param-types.js';
import {
  BooleanParam,
  IntegerListParam,
  IntegerOneOfParam,
  IntegerParam,
  NoParameters,
  NullableIntegerParam,
  TextParam,
} from '../params/params.js';
import { presentApiKey } from '../users/authentication.js';
import { ROLE_NUMBERS, ROLES_BY_NUMBER } from '../users/user.presenters.js';
import { toEmailVisibility } from '../users/user-settings.js';
import type { WireErrors, WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Organization §9.3: a list of `[email, message, is_deactivated_account]`. */
export const presentInvitationErrors = (errors: readonly InvitationError[]) =>
  errors.map(({ email, message, isDeactivated }) => [email, message, isDeactivated]);

/** Organization §9.2. */
export const presentInvitation = ({ invitation, link }: ListedInvitation): WireFields => ({
  id: invitation.id,
  invited_by_user_id: invitation.inviterId,
  invited: invitation.invitedAt,
  expiry_date: invitation.expiresAt,
  invited_as: ROLE_NUMBERS[invitation.role],
  is_multiuse: link !== null,
  ...(link === null
    ? { email: invitation.email, notify_referrer_on_join: invitation.notifiesInviter }
    : { link_url: link }),
});

/** Presents an account, or the pending email confirmation (extensions §4). */
export function presentJoined(outcome: JoinOutcome): WireFields {
  if ('confirmedBy' in outcome) return { email: outcome.email, confirmation_sent: true };
  const { user, apiKey } = outcome;
  return apiKey === null ? { email: user.email, user_id: user.id } : presentApiKey({ user, apiKey });
}

export const INVITATION_WIRE_ERRORS = {
  INVITATION_FAILED: {
    code: 'INVITATION_FAILED',
    fields: {
      errors: 'errors',
      sentInvitations: 'sent_invitations',
      licenseLimitReached: 'license_limit_reached',
      dailyLimitReached: 'daily_limit_reached',
    },
    present: { errors: presentInvitationErrors },
  },
} as const satisfies WireErrors;

const ROLE_VALUES = Object.values(ROLE_NUMBERS);
const WELCOME_TEXT = { max: 8000 };
/** Enough for a thousand addresses with display names. */
const INVITEES = { max: 100_000 };

/** Organization §9.1. */
export class CreateInvitationLinkDto {
  @NullableIntegerParam({ optional: true }) invite_expires_in_minutes?: number | null;
  @IntegerOneOfParam(ROLE_VALUES) invite_as = ROLE_NUMBERS.member;
  @IntegerListParam({ max: MAX_NAMES }) stream_ids: number[] = [];
  @IntegerListParam({ max: MAX_NAMES, optional: true }) group_ids?: number[];
  @BooleanParam() include_realm_default_subscriptions = false;
  @TextParam({ ...WELCOME_TEXT, optional: true }) welcome_message_custom_text?: string;
}

/** Organization §9.3. */
export class InviteByEmailDto {
  @TextParam({ ...INVITEES, description: 'Email addresses, separated by commas or line breaks.' })
  invitee_emails!: string;
  @NullableIntegerParam({ optional: true }) invite_expires_in_minutes?: number | null;
  @IntegerOneOfParam(ROLE_VALUES) invite_as = ROLE_NUMBERS.member;
  @BooleanParam({ description: 'Whether to notify the inviter when somebody joins.' }) notify_referrer_on_join = true;
  @IntegerListParam({ max: MAX_NAMES }) stream_ids!: number[];
  @IntegerListParam({ max: MAX_NAMES, optional: true }) group_ids?: number[];
  @BooleanParam() include_realm_default_subscriptions = false;
  @TextParam({ ...WELCOME_TEXT, optional: true }) welcome_message_custom_text?: string;
}

export class InvitationDto {
  @IntegerParam({ description: 'Id of the invitation.' }) invite_id!: number;
}

/** Extensions §4. */
export class AcceptInvitationDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) key!: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) email?: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) full_name!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) password!: string;
  @IntegerOneOfParam([1, 2, 3, 4, 5], { optional: true }) email_address_visibility?: number;
  @TextParam({ max: MAX_TOKEN_LENGTH, optional: true }) timezone?: string;
}

/** Organization §10.6. */
export class TestWelcomeMessageDto {
  @TextParam(WELCOME_TEXT) welcome_message_custom_text!: string;
}

/** Organization §9.2. */
const INVITATION_LIST = wire.fields({
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

/** Response with an account or a pending email confirmation (extensions §4). */
const JOINED = wire.fields({
  email: wire.text(),
  api_key: wire.optional(wire.text()),
  user_id: wire.optional(wire.integer()),
  confirmation_sent: wire.optional(wire.boolean()),
});

const INVITERS = ['member', 'human'] as const;

const toOffer = (dto: CreateInvitationLinkDto) => ({
  role: getOrThrow(ROLES_BY_NUMBER, dto.invite_as),
  channelIds: dto.stream_ids as ChannelId[],
  groupIds: (dto.group_ids ?? []) as GroupId[],
  includesDefaultChannels: dto.include_realm_default_subscriptions,
  // Some SDK clients send null as text.
  welcomeText: dto.welcome_message_custom_text === 'null' ? null : (dto.welcome_message_custom_text ?? null),
  expiresInMinutes: dto.invite_expires_in_minutes,
});

export const invitationRoutes: readonly Route[] = [
  route('POST', '/invites/multiuse', {
    summary: 'Create an invitation link',
    section: 'organization §9.1',
    isStarred: true,
    auth: 'user',
    scope: 'account',
    roleRequirements: INVITERS,
    dto: CreateInvitationLinkDto,
    useCase: CreateInvitationLink,
    toInput: toOffer,
    response: wire.fields({ invite_link: wire.text() }),
    present: (link) => ({ invite_link: link }),
  }),
  route('GET', '/invites', {
    summary: 'List invitations',
    section: 'organization §9.2',
    auth: 'user',
    scope: 'account',
    roleRequirements: INVITERS,
    dto: NoParameters,
    useCase: ListInvitations,
    response: INVITATION_LIST,
    present: (invitations) => ({ invites: invitations.map(presentInvitation) }),
  }),
  route('POST', '/invites', {
    summary: 'Invite people by email',
    section: 'organization §9.3',
    auth: 'user',
    scope: 'account',
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
    summary: 'Accept an invitation and create an account',
    extension: 'extensions §4',
    withoutPage: 'addresses',
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
    response: JOINED,
    present: presentJoined,
  }),
  route('DELETE', '/invites/:invite_id', {
    summary: 'Revoke an invitation',
    section: 'organization §9.4',
    auth: 'user',
    scope: 'account',
    roleRequirements: INVITERS,
    dto: InvitationDto,
    useCase: RevokeInvitation,
    toInput: ({ invite_id }) => ({ kind: 'email' as const, id: invite_id }),
  }),
  route('DELETE', '/invites/multiuse/:invite_id', {
    summary: 'Revoke an invitation link',
    section: 'organization §9.4',
    auth: 'user',
    scope: 'account',
    roleRequirements: INVITERS,
    dto: InvitationDto,
    useCase: RevokeInvitation,
    toInput: ({ invite_id }) => ({ kind: 'link' as const, id: invite_id }),
  }),
  route('POST', '/invites/:invite_id/resend', {
    summary: 'Send an invitation again',
    section: 'organization §9.4',
    auth: 'user',
    scope: 'account',
    roleRequirements: INVITERS,
    dto: InvitationDto,
    useCase: ResendInvitation,
    toInput: ({ invite_id }) => ({ id: invite_id }),
  }),
  route('POST', '/realm/test_welcome_bot_custom_message', {
    summary: 'Send your custom welcome message as a test',
    section: 'organization §10.6',
    tag: 'Organization',
    withoutPage: 'scripts',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: TestWelcomeMessageDto,
    useCase: TestWelcomeMessage,
    toInput: ({ welcome_message_custom_text: text }) => ({ text }),
    response: wire.fields({ message_id: wire.integer() }),
    present: (id) => ({ message_id: id }),
  }),
];

export const INVITATIONS = {
  tag: 'Invitations',
  routes: () => invitationRoutes,
  errors: INVITATION_WIRE_ERRORS,
  events: {
    'invitations.changed': toAll(form('invites_changed'), () => ({})),
  } satisfies Presenters<keyof InvitationEventTypes>,
} satisfies HttpFeature;
