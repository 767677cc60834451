import type { AnyEventType } from '@parley/domain/kernel';
import { CHANNELS } from './channels/channel.feature.js';
import { EVENTS } from './events/event.feature.js';
import type { Presenters } from './events/event-presenter.js';
import { fixedSection } from './events/register-section.js';
import { EXPORTS } from './exports/export.feature.js';
import type { HttpFeature } from './feature.js';
import { BRANDING } from './files/branding.feature.js';
import { CUSTOM_EMOJI } from './files/custom-emoji.feature.js';
import { EMOJI } from './files/emoji.feature.js';
import { FILES } from './files/file.feature.js';
import { IMAGES } from './files/image.feature.js';
import { PICTURES } from './files/picture.feature.js';
import { GROUPS } from './groups/group.feature.js';
import { ErrorReplies } from './kernel/error-replies.js';
import * as wire from './kernel/wire-schema.js';
import { BOTS } from './membership/bot.feature.js';
import { INVITATIONS } from './membership/invitation.feature.js';
import { DRAFTS } from './messages/draft.feature.js';
import { MESSAGES } from './messages/message.feature.js';
import { joinParts, type MessagePart } from './messages/message-parts.js';
import { MUTED_USERS } from './messages/muted-user.feature.js';
import { NAVIGATION_VIEWS } from './messages/navigation-view.feature.js';
import { REACTIONS } from './messages/reaction.feature.js';
import { SCHEDULING } from './messages/scheduling.feature.js';
import { SNIPPETS } from './messages/snippet.feature.js';
import { PAGES } from './pages/page.feature.js';
import { PUSH } from './push/push.feature.js';
import { ALLOWED_DOMAINS } from './realms/allowed-domain.feature.js';
import { CALLS } from './realms/call.feature.js';
import { LINKIFIERS } from './realms/linkifier.feature.js';
import { PLAYGROUNDS } from './realms/playground.feature.js';
import { REALMS } from './realms/realm.feature.js';
import { SERVER_SETTINGS } from './realms/server-settings.feature.js';
import { SETTINGS } from './realms/setting.feature.js';
import { ALERT_WORDS } from './users/alert-word.feature.js';
import { AUTHENTICATION } from './users/authentication.feature.js';
import { AVATARS } from './users/avatar.feature.js';
import { ONBOARDING } from './users/onboarding.feature.js';
import { PRESENCE } from './users/presence.feature.js';
import { STATUSES } from './users/status.feature.js';
import { USERS } from './users/user.feature.js';

const NONE = wire.listOf(wire.anything());

/** What register answers of features that are still to come: each takes the place of its line. */
const PLANNED = {
  registerSections: () => [
    fixedSection(
      'realm_billing',
      { realm_billing: wire.fields({ has_pending_sponsorship_request: wire.boolean() }) },
      { realm_billing: { has_pending_sponsorship_request: false } },
    ),
    fixedSection('realm_embedded_bots', { realm_embedded_bots: NONE }, { realm_embedded_bots: [] }),
    fixedSection(
      'realm_incoming_webhook_bots',
      { realm_incoming_webhook_bots: NONE },
      { realm_incoming_webhook_bots: [] },
    ),
    fixedSection('giphy', { giphy_api_key: wire.text() }, { giphy_api_key: '' }),
    fixedSection('tenor', { tenor_api_key: wire.text() }, { tenor_api_key: '' }),
    fixedSection('klipy', { klipy_api_key: wire.text() }, { klipy_api_key: '' }),
  ],
} satisfies HttpFeature;

/** All of them, and no other file of this package names them all. Sections of register's answer come in this order. */
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
  SETTINGS,
  PLANNED,
  ALLOWED_DOMAINS,
  LINKIFIERS,
  PLAYGROUNDS,
  CALLS,
  INVITATIONS,
  PAGES,
  MESSAGES,
  REACTIONS,
  BOTS,
  PUSH,
  PRESENCE,
  STATUSES,
  SCHEDULING,
  FILES,
  EXPORTS,
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
] as const satisfies readonly HttpFeature[];

export const FEATURES: readonly HttpFeature[] = ALL;

type EventsOf<F> = F extends { readonly events: infer E } ? Extract<keyof E, AnyEventType> : never;

/** The compiler reports an event here that no feature presents. */
export const EVENT_PRESENTERS: Presenters<AnyEventType> = merged('events') as Presenters<
  EventsOf<(typeof ALL)[number]>
>;

export const ERROR_REPLIES = new ErrorReplies(merged('errors'));

/** What is shown with messages. */
export const MESSAGE_PARTS: MessagePart = joinParts(FEATURES.flatMap(({ messageParts = [] }) => messageParts));

function merged<K extends 'events' | 'errors'>(kind: K): NonNullable<HttpFeature[K]> {
  return Object.assign({}, ...FEATURES.map((feature) => feature[kind]));
}
