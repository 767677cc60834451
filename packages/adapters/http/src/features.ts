import type { AnyEventType } from '@parley/domain/kernel';
import { CHANNELS } from './channels/channels.js';
import type { HttpFeature } from './declarations/feature.js';
import { fixedSection } from './declarations/register-section.js';
import { joinParts, type MessagePart, type Presenters } from './delivery/event-presenter.js';
import { EVENT_STREAMS } from './events/event-streams.js';
import { EVENTS } from './events/events.js';
import { EXPORTS } from './exports/exports.js';
import { IMPORTS } from './exports/owner-imports.js';
import { PERSON_EXPORTS } from './exports/person-exports.js';
import { BRANDING } from './files/branding.js';
import { CUSTOM_EMOJI } from './files/custom-emoji.js';
import { EMOJI } from './files/emoji.js';
import { FILES } from './files/files.js';
import { IMAGES } from './files/images.js';
import { PICTURES } from './files/pictures.js';
import { GROUPS } from './groups/groups.js';
import { INTEGRATION_FEATURE } from './integrations/integrations.js';
import { AUDIT } from './membership/audit.js';
import { BOTS } from './membership/bots.js';
import { ERASURES } from './membership/erasures.js';
import { HOST_DATA } from './membership/host-data.js';
import { INVITATIONS } from './membership/invitations.js';
import { SCIM } from './membership/scim/scim.js';
import { DRAFTS } from './messages/drafts.js';
import { HOLDS } from './messages/holds.js';
import { MESSAGES } from './messages/messages.js';
import { MUTED_USERS } from './messages/muted-users.js';
import { NAVIGATION_VIEWS } from './messages/navigation-views.js';
import { REACTIONS } from './messages/reactions.js';
import { SCHEDULING } from './messages/scheduling.js';
import { SNIPPETS } from './messages/snippets.js';
import { PAGES } from './pages/pages.js';
import { INCOMING_EMAIL } from './push/incoming-email.js';
import { PUSH } from './push/push.js';
import { WEB_PUSH } from './push/web-push.js';
import { ALLOWED_DOMAINS } from './realms/allowed-domains.js';
import { CALLS } from './realms/calls.js';
import { LINKIFIERS } from './realms/linkifiers.js';
import { PLAYGROUNDS } from './realms/playgrounds.js';
import { REALMS } from './realms/realms.js';
import { SERVER_SETTINGS } from './realms/server-settings.js';
import { SETTINGS } from './realms/setting-errors.js';
import { ALERT_WORDS } from './users/alert-words.js';
import { AUTHENTICATION } from './users/authentication.js';
import { AVATARS } from './users/avatars.js';
import { ONBOARDING } from './users/onboarding.js';
import { PRESENCE } from './users/presence.js';
import { SLASH_COMMANDS } from './users/slash-commands.js';
import { STATUSES } from './users/statuses.js';
import { USERS } from './users/users.js';
import { ErrorReplies } from './wire/reply.js';
import * as wire from './wire/schema.js';

const NONE = wire.listOf(wire.anything());

/** Fixed register fields of features that are not implemented yet. An implemented feature replaces its line. */
const PLANNED = {
  registerSections: () => [
    fixedSection(
      'realm_billing',
      { realm_billing: wire.fields({ has_pending_sponsorship_request: wire.boolean() }) },
      { realm_billing: { has_pending_sponsorship_request: false } },
    ),
    fixedSection('realm_embedded_bots', { realm_embedded_bots: NONE }, { realm_embedded_bots: [] }),
    fixedSection('tenor', { tenor_api_key: wire.text() }, { tenor_api_key: '' }),
    fixedSection('klipy', { klipy_api_key: wire.text() }, { klipy_api_key: '' }),
  ],
} satisfies HttpFeature;

/** All features, in the order of their register sections. No other file of this package lists all features. */
const ALL = [
  SERVER_SETTINGS,
  AUTHENTICATION,
  IMAGES,
  PICTURES,
  AVATARS,
  BRANDING,
  EMOJI,
  CUSTOM_EMOJI,
  EVENTS,
  EVENT_STREAMS,
  SETTINGS,
  PLANNED,
  INTEGRATION_FEATURE,
  ALLOWED_DOMAINS,
  LINKIFIERS,
  PLAYGROUNDS,
  CALLS,
  INVITATIONS,
  PAGES,
  SCIM,
  MESSAGES,
  REACTIONS,
  HOST_DATA,
  BOTS,
  PUSH,
  WEB_PUSH,
  INCOMING_EMAIL,
  PRESENCE,
  STATUSES,
  SCHEDULING,
  FILES,
  EXPORTS,
  IMPORTS,
  PERSON_EXPORTS,
  ERASURES,
  AUDIT,
  HOLDS,
  DRAFTS,
  SNIPPETS,
  NAVIGATION_VIEWS,
  ONBOARDING,
  MUTED_USERS,
  ALERT_WORDS,
  CHANNELS,
  GROUPS,
  REALMS,
  USERS,
  SLASH_COMMANDS,
] as const satisfies readonly HttpFeature[];

export const FEATURES: readonly HttpFeature[] = ALL;

type EventsOf<F> = F extends { readonly events: infer E } ? Extract<keyof E, AnyEventType> : never;

/** Fails to compile if an event has no presenter. */
export const EVENT_PRESENTERS: Presenters<AnyEventType> = merged('events') as Presenters<
  EventsOf<(typeof ALL)[number]>
>;

export const ERROR_REPLIES = new ErrorReplies(merged('errors'));

/** Fields that features add to messages. */
export const MESSAGE_PARTS: MessagePart = joinParts(FEATURES.flatMap(({ messageParts = [] }) => messageParts));

function merged<K extends 'events' | 'errors'>(kind: K): NonNullable<HttpFeature[K]> {
  return Object.assign({}, ...FEATURES.map((feature) => feature[kind]));
}
